// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The library stopped at each step of common/x86/protocol.h, on real text and real cores:
 * the bytes of each site, and the results of another thread that runs through the
 * half-patched code. Then a byte that changes after the last comparison.
 *
 * It is linked with the library's objects, whose calls of jf_sync_cores() and
 * jf_now_ns() come here first (--wrap). The first one ends a step; patch.c asks for
 * the time between its comparison and the first guard.
 *
 * usage: test_steps	JUMPFUNC_TRAP= says which guards there are
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "inside.h"
#include "tap.h"
#include "common/x86/insn.h"

#define NOINLINE	static __attribute__((__noinline__))
#define TAG(n, x)	((long)(n) << 40 | (x))
#define ARG		0x12345678L
#define MAX_SITES	400
#define MAX_CALLS	6
#define MAX_STEPS	4

/* --- patched sites ------------------------------------------------------------ */

NOINLINE long target1(long x) { return TAG(1, x); }
NOINLINE long target2(long x) { return TAG(2, x); }
NOINLINE long target3(long x) { return TAG(3, x); }

static long noted;
NOINLINE void note1(long x) { noted = TAG(1, x); }
NOINLINE void note2(long x) { noted = TAG(2, x); }
NOINLINE void note3(long x) { noted = TAG(3, x); }

DEFINE_DYNFUNC(plain, target1);
DEFINE_DYNFUNC(hemmed, target1);
DEFINE_DYNFUNC_RET0(zero, target1);
DEFINE_DYNFUNC_NULL(hook, note1);
static DEFINE_JF_KEY_FALSE(key);
static DEFINE_JF_KEY_FALSE(straight);
static DEFINE_JF_KEY_FALSE(many);
static DEFINE_JF_KEY_FALSE(other);

/* A call, a jump at the end, and the trampoline by its name. */
NOINLINE long call_plain(long x) { return dynfunc_call(plain, x) + 0 * noted; }
__attribute__((__optimize__("O2"))) NOINLINE long last_plain(long x) { return dynfunc_call(plain, x); }
NOINLINE long name_plain(long x) { return dynfunc_plain(x) + 0 * noted; }
NOINLINE long call_hemmed(long x) { return dynfunc_call(hemmed, x) + 0 * noted; }
NOINLINE long call_zero(long x) { return dynfunc_call(zero, x) + 0 * noted; }
__attribute__((__optimize__("O2"))) NOINLINE long last_zero(long x) { return dynfunc_call(zero, x); }
NOINLINE long name_zero(long x) { return dynfunc_zero(x) + 0 * noted; }
NOINLINE long call_hook(long x) { noted = 0; dynfunc_call(hook, x); return noted; }
NOINLINE long name_hook(long x) { noted = 0; dynfunc_hook(x); return noted; }
NOINLINE long unlikely(long x) { return TAG(1 + jf_branch_unlikely(&key), x); }
NOINLINE long likely(long x) { return TAG(1 + jf_branch_likely(&key), x); }
NOINLINE long alone(long x) { return TAG(1 + jf_branch_unlikely(&straight), x); }

#define ONE(n)		(n) += jf_branch_unlikely(&many)
#define EIGHT(n)	ONE(n); ONE(n); ONE(n); ONE(n); ONE(n); ONE(n); ONE(n); ONE(n)
/* More than EXACT_MAX of patch.c. */
#define MANY		80
NOINLINE long count_many(long x)
{
	long n = x;

	EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n);
	EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n);
	return n;
}
NOINLINE long count_other(long x) { return x + jf_branch_unlikely(&other); }

/* --- stopping -------------------------------------------------------------------- */

bool __real_jf_sync_cores(void);
bool __wrap_jf_sync_cores(void);
uint64_t __real_jf_now_ns(void);
uint64_t __wrap_jf_now_ns(void);

static void (*at_sync)(int step);
static void (*at_clock)(void);
static int steps;

bool __wrap_jf_sync_cores(void)
{
	bool done = __real_jf_sync_cores();

	if (at_sync)
		at_sync(++steps);
	return done;
}

uint64_t __wrap_jf_now_ns(void)
{
	if (at_clock)
		at_clock();
	return __real_jf_now_ns();
}

/* --- the other thread ---------------------------------------------------------------- */

static struct {
	struct jf_ent *ent;
	long (*call[MAX_CALLS])(long);
	unsigned int nr_calls;
	struct inside_site site[MAX_SITES];
	size_t nr_sites;
} it;

/* The observations at one step; the first one is before the change, the last one after it. */
struct seen {
	jf_insn_t bytes[MAX_SITES];
	long result[MAX_CALLS];
	uint64_t traps[MAX_CALLS];
	bool writable;
};

static struct seen seen[MAX_STEPS + 2];
static _Atomic int asked, answered;
static _Atomic bool over;

/* True if anything is writable and executable. */
static bool is_writable(void)
{
	char line[512], perms[8];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %7s", perms) == 1 && perms[1] == 'w' && perms[2] == 'x')
			found = true;
	if (f)
		fclose(f);
	return found;
}

static void look(struct seen *s)
{
	unsigned int i;

	for (i = 0; i < it.nr_sites; i++)
		s->bytes[i] = jf_insn_load(it.site[i].addr);
	for (i = 0; i < it.nr_calls; i++) {
		s->traps[i] = inside_traps();
		s->result[i] = it.call[i](ARG);
		s->traps[i] = inside_traps() - s->traps[i];
	}
	s->writable = is_writable();
}

/* Has made no change, and was not registered. */
static void *caller(void *arg)
{
	int done = 0;

	while (!atomic_load(&over)) {
		if (atomic_load(&asked) == done) {
			sched_yield();
			continue;
		}
		look(&seen[steps <= MAX_STEPS ? steps : MAX_STEPS + 1]);
		atomic_store(&answered, ++done);
	}
	return arg;
}

static void ask(int step)
{
	int nr = atomic_fetch_add(&asked, 1) + 1;

	(void)step;
	while (atomic_load(&answered) != nr)
		sched_yield();
}

/* --- expected observations --------------------------------------------------------------- */

static bool int3;

enum phase { RELAYS, GUARDS, LATE_GUARDS, TAILS, HEADS };

/* A branch that falls through when the change is over: its guard acts as the new instruction. */
static bool is_late(jf_insn_t new)
{
	return !int3 && new == JF_INSN_NOP5;
}

static jf_insn_t with_head(jf_insn_t insn, uint8_t head)
{
	return (insn & ~0xffULL) | head;
}

/* A call without breakpoints has its guard in its last byte, and then leads to a relay. */
static bool is_relayed(const struct inside_site *s)
{
	return !int3 && s->kind == INSIDE_CALL;
}

static jf_insn_t expected(enum phase phase, const struct inside_site *s, jf_insn_t old, jf_insn_t new)
{
	uint8_t guard = int3 ? JF_OPCODE_INT3 : JF_OPCODE_TEST;

	if (old == new || phase == RELAYS || (phase == GUARDS && is_late(new)))
		return old;
	if (phase == HEADS)
		return new;
	if (is_relayed(s))
		return ((phase == TAILS ? new : old) & 0xffffffff) | (jf_insn_t)inside_guard(s) << 32;
	return with_head(phase == TAILS ? new : old, guard);
}

/*
 * The step from which a thread gets the new one. All but branches with a guard as soon as the
 * guards are published; those that are to jump when they are whole.
 */
static bool is_new(enum phase phase, const struct inside_site *s, jf_insn_t new)
{
	if (phase == HEADS || phase <= GUARDS)
		return phase == HEADS;
	return int3 || s->kind != INSIDE_BRANCH || is_late(new);
}

static void check_step(int step, enum phase phase, int last)
{
	const struct seen *s = &seen[step], *old = &seen[0], *new = &seen[last];
	unsigned int i;

	for (i = 0; i < it.nr_sites; i++)
		CHECK(s->bytes[i] == expected(phase, &it.site[i], old->bytes[i], new->bytes[i]),
		      "step %d, site %u: %010llx", step, i, (unsigned long long)s->bytes[i]);
	for (i = 0; i < it.nr_calls; i++) {
		/* Calls beyond the first sites of a key do not tell which one it was. */
		const struct inside_site *site = &it.site[it.nr_calls == 2 && it.nr_sites == 2 ? i : 0];
		jf_insn_t insn = new->bytes[site - it.site];
		bool want_new = is_new(phase, site, insn);

		CHECK(s->result[i] == (want_new ? new : old)->result[i],
		      "step %d, call %u: %#lx", step, i, s->result[i]);
		CHECK(s->traps[i] == (int3 && phase < HEADS && old->result[i] != new->result[i]),
		      "step %d, call %u: %llu traps", step, i, (unsigned long long)s->traps[i]);
	}
	CHECK(!s->writable, "step %d: writable and executable", step);
}

static void begin_entity(struct jf_ent *ent, long (*const *call)(long), unsigned int nr)
{
	unsigned int i;

	it.ent = ent;
	it.nr_calls = nr;
	for (i = 0; i < nr; i++)
		it.call[i] = call[i];
	it.nr_sites = inside_sites(ent, it.site, MAX_SITES);
	CHECK(it.nr_sites, "no sites");
}

/* The batch has one change of @it.ent, which leads to @want. */
static void change(struct jf_batch *b, long want)
{
	bool early = false, late = false, relays = false;
	enum phase phase;
	int step, last;
	unsigned int i;

	steps = 0;
	ask(0);
	at_sync = ask;
	CHECK(jf_batch_commit(b) == 0, "commit");
	at_sync = NULL;
	last = ++steps;
	ask(0);
	if (last > MAX_STEPS + 1) {
		CHECK(0, "%d steps", last - 1);
		return;
	}
	for (i = 0; i < it.nr_sites; i++) {
		if (seen[0].bytes[i] == seen[last].bytes[i])
			continue;
		late |= is_late(seen[last].bytes[i]);
		early |= !is_late(seen[last].bytes[i]);
		relays |= is_relayed(&it.site[i]);
	}
	/* Only if there are some that were not there before. */
	relays &= last - 1 == 3 + early + late;
	phase = relays ? RELAYS : GUARDS;
	CHECK(last - 1 == 2 + early + late + relays || (!early && !late), "%d steps", last - 1);
	for (step = 1; step < last; step++, phase++) {
		if ((phase == GUARDS && !early) || (phase == LATE_GUARDS && !late))
			phase++;
		if (phase == LATE_GUARDS && !late)
			phase++;
		check_step(step, phase, last);
	}
	for (i = 0; i < it.nr_calls; i++) {
		CHECK(seen[last].result[i] == want, "call %u in the end: %#lx", i, seen[last].result[i]);
		CHECK(!seen[last].traps[i], "call %u traps in the end", i);
	}
}

static void (*const to_note[])(long) = { NULL, note1, note2, note3 };
static long (*const to_target[])(long) = { NULL, target1, target2, target3 };

/* From every target, and from none, to every other. */
static void functions(void)
{
	static long (*const plain_calls[])(long) = { call_plain, last_plain, name_plain };
	static long (*const zero_calls[])(long) = { call_zero, last_zero, name_zero };
	static long (*const hook_calls[])(long) = { call_hook, name_hook };
	struct jf_batch b;
	int from, to;

#define FROM_EACH_TO_EACH(name, first, target, null)			\
	for (from = first; from < 4; from++)				\
		for (to = first; to < 4; to++) {			\
			jf_batch_init(&b);				\
			dynfunc_batch_set(&b, name, target[from]);	\
			change(&b, from ? TAG(from, ARG) : (null));	\
			dynfunc_batch_set(&b, name, target[to]);	\
			change(&b, to ? TAG(to, ARG) : (null));		\
		}
	begin_entity(&__jf_func_plain.ent, plain_calls, 3);
	FROM_EACH_TO_EACH(plain, 1, to_target, 0)
	finish("a dynamic function, at each step from each target to each other");
	begin_entity(&__jf_func_zero.ent, zero_calls, 3);
	FROM_EACH_TO_EACH(zero, 0, to_target, 0)
	finish("the same with a form that returns 0");
	begin_entity(&__jf_func_hook.ent, hook_calls, 2);
	FROM_EACH_TO_EACH(hook, 0, to_note, 0)
	finish("the same with a form that does nothing");
}

static void keys(void)
{
	static long (*const one[])(long) = { alone }, (*const two[])(long) = { unlikely, likely };
	struct jf_batch b;
	int round;

	begin_entity(&straight.ent, one, 1);
	for (round = 0; round < 4; round++) {
		jf_batch_init(&b);
		jf_key_batch_set(&b, &straight, !(round & 1));
		change(&b, TAG(round & 1 ? 1 : 2, ARG));
	}
	finish("a branch, at each step on and off");
	begin_entity(&key.ent, two, 2);
	CHECK(it.nr_sites == 2, "%zu sites", it.nr_sites);
	if (it.nr_sites == 2 && ((uintptr_t)it.call[0] > (uintptr_t)it.call[1])) {
		it.call[0] = likely;
		it.call[1] = unlikely;
	}
	for (round = 0; round < 4; round++) {
		jf_batch_init(&b);
		jf_key_batch_set(&b, &key, !(round & 1));
		change(&b, TAG(round & 1 ? 1 : 2, ARG));
	}
	finish("branches both ways, at each step on and off");
}

/* --- a byte that appears after the last look ---------------------------------------------- */

static struct {
	const uint8_t *at;
	uint8_t byte;
	bool done;
} late;

/* As a debugger would. */
static void scribble(const uint8_t *at, uint8_t byte)
{
	int fd = open("/proc/self/mem", O_RDWR);

	CHECK(fd >= 0 && pwrite(fd, &byte, 1, (off_t)(uintptr_t)at) == 1, "/proc/self/mem");
	if (fd >= 0)
		close(fd);
}

static void byte_appears(void)
{
	if (late.done)
		return;
	late.done = true;
	scribble(late.at, late.byte);
}

/* The one broadcast of the way back. */
static void check_undone(int step)
{
	unsigned int i;

	CHECK(step == 1, "broadcast %d", step);
	for (i = 0; i < it.nr_sites; i++)
		CHECK(jf_insn_load(it.site[i].addr) ==
		      (it.site[i].addr == late.at ? with_head(seen[0].bytes[i], late.byte) :
		       seen[0].bytes[i]), "site %u", i);
}

static void late_byte(size_t victim, uint8_t byte)
{
	uint8_t was = *it.site[victim].addr;
	struct jf_batch b;
	unsigned int i;

	late.at = it.site[victim].addr;
	late.byte = byte;
	late.done = false;
	steps = 0;
	ask(0);
	jf_batch_init(&b);
	jf_key_batch_set(&b, it.ent == &many.ent ? &many : &straight, true);
	jf_key_batch_set(&b, &other, true);
	at_sync = check_undone;
	at_clock = byte_appears;
	CHECK(jf_batch_commit(&b) == -EBUSY, "site %zu: it did not fail", victim);
	at_clock = NULL;
	at_sync = NULL;
	CHECK(late.done, "nothing appeared");
	CHECK(steps == 1, "%d broadcasts", steps);
	CHECK(*late.at == byte, "site %zu was overwritten", victim);
	CHECK(count_other(0) == 0 && !jf_key_enabled(&other), "the other key has changed");
	scribble(late.at, was);
	for (i = 0; i < it.nr_sites; i++)
		CHECK(jf_insn_load(it.site[i].addr) == seen[0].bytes[i], "site %u has changed", i);
	CHECK(inside_words(it.site, it.nr_sites), "the handler would do something else");
}

static void late_bytes(void)
{
	static long (*const some[])(long) = { count_many }, (*const one[])(long) = { alone };

	begin_entity(&straight.ent, one, 1);
	late_byte(0, JF_OPCODE_INT3);
	late_byte(0, 0x90);
	finish("a byte that appears after the last look, at a single site");
	begin_entity(&many.ent, some, 1);
	CHECK(it.nr_sites == MANY, "%zu sites", it.nr_sites);
	late_byte(0, 0x90);
	late_byte(0, JF_OPCODE_INT3);
	late_byte(1, 0x90);
	late_byte(MANY / 2, JF_OPCODE_INT3);
	late_byte(MANY - 1, 0x90);
	CHECK(count_many(0) == 0, "some have changed");
	CHECK(jf_key_enable(&many) == 0 && count_many(0) == MANY && jf_key_disable(&many) == 0 &&
	      count_many(0) == 0, "afterwards");
	finish("a byte that appears after the last look, at one of many");
}

/* Each byte of a site, before the comparison: nothing is written. */
static void foreign_bytes(void)
{
	static const size_t victims[] = { 0, 1, MANY / 2, MANY - 1 };
	size_t v, b;

	begin_entity(&many.ent, NULL, 0);
	steps = 0;
	ask(0);
	at_sync = check_undone;
	for (v = 0; v < 4; v++)
		for (b = 0; b < JF_INSN_SIZE; b++) {
			const uint8_t *at = it.site[victims[v]].addr + b;
			uint8_t was = *at, put = b ? (uint8_t)(was + 1) : JF_OPCODE_INT3;

			scribble(at, put);
			CHECK(jf_key_enable(&many) == (b ? -EILSEQ : -EBUSY), "byte %zu", b);
			CHECK(*at == put, "byte %zu was overwritten", b);
			CHECK(!steps, "byte %zu: broadcasts", b);
			scribble(at, was);
		}
	scribble(it.site[3].addr, 0x90);
	CHECK(jf_key_enable(&many) == -EILSEQ, "no breakpoint");
	scribble(it.site[3].addr, jf_insn_byte(seen[0].bytes[3], 0));
	at_sync = NULL;
	CHECK(count_many(0) == 0, "some have changed");
	finish("foreign bytes at a site: what failed was not begun");
}

/* --- calls that change in place ----------------------------------------------------------- */

static const struct inside_site *its_call(void)
{
	size_t i;

	for (i = 0; i < it.nr_sites; i++)
		if (it.site[i].kind == INSIDE_CALL)
			return &it.site[i];
	return NULL;
}

static bool leads(const struct inside_site *s, uintptr_t to)
{
	int32_t distance;

	memcpy(&distance, s->addr + 1, sizeof(distance));
	return (uintptr_t)s->addr + JF_INSN_SIZE + (uintptr_t)(intptr_t)distance == to;
}

/* A debugger's, while the function changes: its byte is never written, the other four are. */
static void breakpoint_at_call(void)
{
	static long (*const calls[])(long) = { call_plain };
	const struct inside_site *s;
	int i;

	begin_entity(&__jf_func_plain.ent, calls, 1);
	s = its_call();
	CHECK(s, "no call");
	for (i = 0; s && i < 4; i++) {
		uint8_t was = *s->addr;

		scribble(s->addr, JF_OPCODE_INT3);
		CHECK(dynfunc_update(plain, i & 1 ? target1 : target2) == 0, "refused");
		CHECK(*s->addr == JF_OPCODE_INT3, "it was overwritten");
		scribble(s->addr, was);
		CHECK(leads(s, (uintptr_t)(i & 1 ? target1 : target2)), "the call leads elsewhere");
		CHECK(call_plain(ARG) == TAG(i & 1 ? 1 : 2, ARG), "the call does something else");
	}
	finish("a breakpoint at a call that changes");
}

static uint64_t away(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s.trampolined;
}

#define HEMS	256
#define HEM	(16UL << 20)
#define PIECES	65536

static struct {
	uintptr_t	at;
	size_t		size;
} piece[PIECES];
static size_t num_pieces;

/* All that is free there, and nothing else: relays of other calls are among the used pages. */
static void take_free(uintptr_t at, size_t size)
{
	void *p = mmap((void *)at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == (void *)at && num_pieces < PIECES) {
		piece[num_pieces].at = at;
		piece[num_pieces++].size = size;
	} else if (p != MAP_FAILED) {
		munmap(p, size);
	} else if (size > 4096) {
		take_free(at, size / 2);
		take_free(at + size / 2, size / 2);
	}
}

/*
 * A page with a jump to target2(), some nine MiB below @site. No other call of this program leads
 * so far: the third byte of its distance is of this call alone, and so are the pages of its relays.
 */
static long (*distant_target(const uint8_t *site))(long)
{
	/* movabs, jmp *%rax */
	uint8_t code[12] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0 };
	uint64_t to = (uintptr_t)target2;
	uintptr_t at = ((uintptr_t)site & ~4095UL) - 0x890000;
	void *p;
	int i;

	memcpy(code + 2, &to, sizeof(to));
	for (i = 0; i < 16; i++, at -= 0x10000) {
		p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p == (void *)at) {
			memcpy(p, code, sizeof(code));
			must(mprotect(p, 4096, PROT_READ | PROT_EXEC) ? -errno : 0, "a page of code");
			return (long (*)(long))at;
		}
		if (p != MAP_FAILED)
			munmap(p, 4096);
	}
	must(-ENOMEM, "a page below the program");
	return NULL;
}

/*
 * Other memory stands wherever relays could be: the call stays as compiled, and is right. When that
 * memory is free the next change has it in place.
 */
static void hemmed_call(void)
{
	static long (*const calls[])(long) = { call_hemmed };
	uint64_t before = away();
	const struct inside_site *s;
	long (*distant)(long);
	int i;

	begin_entity(&__jf_func_hemmed.ent, calls, 1);
	s = its_call();
	CHECK(s && leads(s, (uintptr_t)dynfunc_hemmed), "no call of the trampoline");
	if (!s)
		goto out;
	distant = distant_target(s->addr);
	/* Those beside the program are its own: no relay comes there. */
	for (i = 0; i < HEMS; i++)
		if (i < HEMS / 2 - 1 || i > HEMS / 2 + 1)
			take_free(((uintptr_t)s->addr & ~(HEM - 1)) + (uintptr_t)(i - HEMS / 2) * HEM, HEM);
	CHECK(dynfunc_update(hemmed, distant) == 0, "update");
	CHECK(leads(s, (uintptr_t)dynfunc_hemmed), "it is in place");
	CHECK(away() == before + 1, "it was not counted");
	CHECK(call_hemmed(ARG) == TAG(2, ARG), "another target");
	while (num_pieces--)
		munmap((void *)piece[num_pieces].at, piece[num_pieces].size);
	CHECK(dynfunc_update(hemmed, target3) == 0, "update");
	CHECK(leads(s, (uintptr_t)target3), "it is not in place");
	CHECK(away() == before, "it is counted");
	CHECK(call_hemmed(ARG) == TAG(3, ARG), "another target");
out:
	finish("no memory for relays: by the trampoline");
}

/* --- SIGTRAP ----------------------------------------------------------------------------- */

static volatile sig_atomic_t theirs;

static void their_handler(int sig)
{
	(void)sig;
	theirs++;
}

/*
 * As if an INT3 of ours had gone before the handler came: a signal of the kernel's, and no
 * INT3 in front. A handler that looks again finds an addition there.
 */
__attribute__((__noinline__)) static long vanished(siginfo_t *info)
{
	long ret = SYS_rt_tgsigqueueinfo, pid = getpid(), tid = syscall(SYS_gettid);
	register siginfo_t *r10 __asm__("r10") = info;

	__asm__ volatile("syscall\n\t"
			 "nop; nop; nop; nop"
			 : "+a" (ret)
			 : "D" (pid), "S" (tid), "d" (SIGTRAP), "r" (r10)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

static void sigtrap(void)
{
	siginfo_t info = { .si_signo = SIGTRAP, .si_code = SI_KERNEL };

	/* The library's handler is there, in front of this one. */
	CHECK(jf_key_enable(&straight) == 0 && jf_key_disable(&straight) == 0, "a change");
	theirs = 0;
	CHECK(vanished(&info) == (int3 ? (long)0x90909090 : 0), "it was not looked at again");
	CHECK(theirs == !int3, "it was passed on");
	finish("an INT3 that went before its handler came");
}

int main(void)
{
	struct jf_stats s;
	pthread_t thread;

	signal(SIGTRAP, their_handler);
	jf_stats_get(&s, sizeof(s));
	int3 = !strcmp(s.form, "int3");
	must(-pthread_create(&thread, NULL, caller, NULL), "a thread");
	functions();
	keys();
	late_bytes();
	foreign_bytes();
	if (!int3) {
		breakpoint_at_call();
		hemmed_call();
	}
	sigtrap();
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	return tap_end();
}
