// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tests of the userspace engine; prints TAP.
 *
 * The engine is included rather than linked, with its membarrier and its
 * allocations going through here: so the tests stop in the middle of a batch,
 * look at every byte and every mapping, run the half-patched code, and let
 * every single allocation fail once.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* All that jf_engine.c includes too: its words must not meet the macros. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/membarrier.h>

/* The n-th allocation from now fails; 0 lets all succeed. */
static unsigned long fail_at;

static bool fails_now(void)
{
	if (!fail_at || --fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

static void *test_malloc(size_t size)
{
	return fails_now() ? NULL : malloc(size);
}

static void *test_calloc(size_t nr, size_t size)
{
	return fails_now() ? NULL : calloc(nr, size);
}

static void *test_realloc(void *p, size_t size)
{
	return fails_now() ? NULL : realloc(p, size);
}

static void *test_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	return fails_now() ? MAP_FAILED : mmap(at, size, prot, flags, fd, offset);
}

static long test_membarrier(int command);
static int test_clock_gettime(clockid_t clock, struct timespec *now);

#define malloc(size)			test_malloc(size)
#define calloc(nr, size)		test_calloc(nr, size)
#define realloc(p, size)		test_realloc(p, size)
#define mmap(...)			test_mmap(__VA_ARGS__)
#define syscall(nr, command, flags, cpu) test_membarrier(command)
#define clock_gettime(clock, now)	test_clock_gettime(clock, now)
#ifndef JF_ENGINE
#define JF_ENGINE "jf_engine.c"
#endif
#include JF_ENGINE
#undef malloc
#undef calloc
#undef realloc
#undef mmap
#undef syscall
#undef clock_gettime

#include "emit.h"
#include "tap.h"

/* Called behind each SYNC_CORE broadcast of a batch: step is 1, 2 or 3. */
static void (*at_sync)(int step);
static int sync_step;

static long test_membarrier(int command)
{
	long ret = syscall(SYS_membarrier, command, 0, 0);

	if (command == MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE && at_sync)
		at_sync(++sync_step);
	return ret;
}

/*
 * Called when a batch looks at the clock, which it does between its last look at
 * the old bytes and its first INT3, for the time that sites stand at INT3.
 */
static void (*at_clock)(void);

static int test_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (at_clock)
		at_clock();
	return clock_gettime(clock, now);
}

/* --- fixture ---------------------------------------------------------------- */

/*
 * Stubs of one text. Targets return their number over the argument; a call
 * stub returns just the argument when its call is a nop.
 */
#define TAG_SHIFT	56
#define TAGGED(tag, arg)	((uint64_t)(tag) << TAG_SHIFT | (arg))
#define ARG		0x123456789abcdeULL
#define NR_TARGETS	3

typedef uint64_t (*stub_fn)(uint64_t arg);

static struct jf_text *text;
static uint8_t *targets[NR_TARGETS + 1];	/* [1] to [NR_TARGETS] */
static uint8_t *cursor;				/* free text begins here */

static void put_code(void *dest, const struct jf_emit *e)
{
	struct jf_batch batch;

	if (!jf_emit_ok(e)) {
		printf("Bail out! test code does not assemble: %d\n", e->err);
		exit(1);
	}
	jf_batch_init(&batch);
	if (jf_batch_code(&batch, dest, e->buf, e->used) || jf_batch_commit(&batch)) {
		printf("Bail out! cannot write test code: %s\n", batch.error);
		exit(1);
	}
}

static uint8_t *put(struct jf_emit *e)
{
	uint8_t *at = cursor;

	put_code(at, e);
	cursor = (uint8_t *)(((uintptr_t)at + e->used + 63) & ~63UL);
	return at;
}

/* A function that calls through a site; returns the site. */
static uint8_t *put_call_stub(jf_insn_t insn, stub_fn *stub)
{
	uint8_t buf[64];
	struct jf_emit e;
	size_t site;

	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
	jf_emit(&e, 4, 0x48, 0x83, 0xec, 0x08);	/* sub $8,%rsp */
	jf_emit(&e, 3, 0x48, 0x89, 0xf8);	/* mov %rdi,%rax */
	site = e.used;
	jf_emit_insn(&e, insn);
	jf_emit(&e, 4, 0x48, 0x83, 0xc4, 0x08);	/* add $8,%rsp */
	jf_emit(&e, 1, 0xc3);
	*stub = (stub_fn)(uintptr_t)cursor;
	return put(&e) + site;
}

static uint8_t *put_tail_stub(void *target, stub_fn *stub)
{
	uint8_t buf[64];
	struct jf_emit e;

	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
	jf_emit_jmp(&e, (uintptr_t)target);
	*stub = (stub_fn)(uintptr_t)cursor;
	return put(&e);
}

#define TAG_OFF	0xa0
#define TAG_ON	0xa1

/* nop or jmp to a label: falls through to TAG_OFF, else TAG_ON. */
static uint8_t *put_branch_stub(bool inverted, stub_fn *stub, uint8_t **label)
{
	uint8_t buf[96];
	struct jf_emit e;
	size_t off = JF_INSN_SIZE + 10 + 4;

	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
	*label = cursor + off;
	if (inverted)
		jf_emit_jmp(&e, (uintptr_t)*label);
	else
		jf_emit_insn(&e, jf_insn_nop());
	jf_emit_mov_rax(&e, TAGGED(inverted ? TAG_ON : TAG_OFF, 0));
	jf_emit(&e, 4, 0x48, 0x09, 0xf8, 0xc3);	/* or %rdi,%rax; ret */
	jf_emit_mov_rax(&e, TAGGED(inverted ? TAG_OFF : TAG_ON, 0));
	jf_emit(&e, 4, 0x48, 0x09, 0xf8, 0xc3);
	*stub = (stub_fn)(uintptr_t)cursor;
	return put(&e);
}

static void make_fixture(void)
{
	uint64_t i;

	text = jf_text_create(1 << 20, (const void *)make_fixture);
	if (!text) {
		printf("Bail out! no text: %s\n", strerror(errno));
		exit(1);
	}
	cursor = jf_text_base(text);
	for (i = 1; i <= NR_TARGETS; i++) {
		uint8_t buf[64];
		struct jf_emit e;

		jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
		jf_emit_mov_rax(&e, TAGGED(i, 0));
		jf_emit(&e, 4, 0x48, 0x09, 0xf8, 0xc3);	/* or %rdi,%rax; ret */
		targets[i] = put(&e);
	}
}

static jf_insn_t call_insn(const void *site, const void *target)
{
	jf_insn_t insn = 0;

	jf_insn_call(&insn, (uintptr_t)site, (uintptr_t)target);
	return insn;
}

static void add_site(void *addr, enum jf_site_form form, struct jf_func *func,
		     struct jf_key *key, void *label)
{
	struct jf_site_desc desc = {
		.addr = addr, .form = form, .func = func, .key = key, .label = label,
	};

	must(jf_sites_add(&desc, 1), "jf_sites_add");
}

static void remove_site(void *addr)
{
	must(jf_sites_remove(&addr, 1), "jf_sites_remove");
}

static uint64_t broadcasts(void)
{
	struct jf_stats stats;

	jf_stats_get(&stats);
	return stats.sync_broadcasts;
}

/* --- what a site does in each state ----------------------------------------- */

static void test_call_site(void)
{
	struct jf_func op = JF_FUNC_INIT("op", NULL, JF_NULL_NOP);
	stub_fn stub;
	uint8_t *site = put_call_stub(jf_insn_nop(), &stub);
	size_t i;

	add_site(site, JF_SITE_CALL, &op, NULL, NULL);
	CHECK(stub(ARG) == ARG, "nop");
	for (i = 1; i <= NR_TARGETS; i++) {
		CHECK(!dynfunc_update(&op, targets[i]), "target %zu", i);
		CHECK(dynfunc_query(&op) == targets[i], "target %zu", i);
		CHECK(stub(ARG) == TAGGED(i, ARG), "target %zu", i);
	}
	CHECK(!dynfunc_update(&op, NULL), "NULL");
	CHECK(stub(ARG) == ARG, "nop again");
	CHECK(jf_insn_load(site) == jf_insn_nop(), "bytes");
	remove_site(site);
	finish("call site: targets and nop");
}

static void test_ret0_site(void)
{
	struct jf_func op = JF_FUNC_INIT("op", NULL, JF_NULL_RET0);
	stub_fn stub;
	uint8_t *site = put_call_stub(jf_insn_ret0(), &stub);

	add_site(site, JF_SITE_CALL, &op, NULL, NULL);
	CHECK(stub(ARG) == 0, "ret0");
	CHECK(!dynfunc_update(&op, targets[2]), "target");
	CHECK(stub(ARG) == TAGGED(2, ARG), "target");
	CHECK(!dynfunc_update(&op, NULL), "NULL");
	CHECK(stub(ARG) == 0, "ret0 again");
	remove_site(site);
	finish("call site: return 0");
}

static void test_tail_site(void)
{
	struct jf_func nop = JF_FUNC_INIT("nop", targets[1], JF_NULL_NOP);
	struct jf_func ret0 = JF_FUNC_INIT("ret0", targets[1], JF_NULL_RET0);
	stub_fn nop_stub, ret0_stub;
	uint8_t *nop_site = put_tail_stub(targets[1], &nop_stub);
	uint8_t *ret0_site = put_tail_stub(targets[1], &ret0_stub);

	add_site(nop_site, JF_SITE_TAIL, &nop, NULL, NULL);
	add_site(ret0_site, JF_SITE_TAIL, &ret0, NULL, NULL);
	CHECK(nop_stub(ARG) == TAGGED(1, ARG), "first target");
	CHECK(!dynfunc_update(&nop, targets[3]), "update");
	CHECK(nop_stub(ARG) == TAGGED(3, ARG), "third target");
	CHECK(!dynfunc_update(&nop, NULL), "NULL");
	nop_stub(ARG);
	CHECK(!dynfunc_update(&ret0, NULL), "NULL");
	CHECK(ret0_stub(ARG) == 0, "ret0");
	CHECK(!dynfunc_update(&ret0, targets[2]), "update");
	CHECK(ret0_stub(ARG) == TAGGED(2, ARG), "second target");
	remove_site(nop_site);
	remove_site(ret0_site);
	finish("trampoline: targets, nothing, return 0");
}

static void test_branches(void)
{
	struct jf_key key = JF_KEY_INIT("key", false);
	stub_fn stubs[2];
	uint8_t *sites[2], *labels[2];
	int i, round;

	for (i = 0; i < 2; i++) {
		sites[i] = put_branch_stub(i, &stubs[i], &labels[i]);
		add_site(sites[i], i ? JF_SITE_BRANCH_INVERTED : JF_SITE_BRANCH, NULL,
			 &key, labels[i]);
	}
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 2; i++)
			CHECK(stubs[i](ARG) == TAGGED(TAG_OFF, ARG), "off, form %d", i);
		CHECK(!jf_key_enable(&key) && jf_key_enabled(&key), "enable");
		for (i = 0; i < 2; i++)
			CHECK(stubs[i](ARG) == TAGGED(TAG_ON, ARG), "on, form %d", i);
		CHECK(!jf_key_disable(&key) && !jf_key_enabled(&key), "disable");
	}
	for (i = 0; i < 2; i++)
		remove_site(sites[i]);
	finish("key: on and off, straight and inverted");
}

/* --- the middle of a batch --------------------------------------------------- */

static struct {
	uint8_t *site;
	jf_insn_t old, new;
	stub_fn stub;
	uint64_t was, want;
	int steps;
} middle;

static void check_middle(int step)
{
	jf_insn_t have = jf_insn_load(middle.site);
	jf_insn_t want = middle.new;
	uint64_t calls = step == 1 ? middle.was : middle.want;
	struct jf_stats before, after;

	if (step == 1)
		want = (middle.old & ~0xffULL) | JF_OPCODE_INT3;
	else if (step == 2)
		want = (middle.new & ~0xffULL) | JF_OPCODE_INT3;
	CHECK(have == want, "step %d: %010llx, not %010llx", step,
	      (unsigned long long)have, (unsigned long long)want);

	/*
	 * Until the first broadcast is over whoever comes here must get the old
	 * one, then the new one, by emulation or not.
	 */
	before.int3_hits = atomic_load(&__jf_self->int3_hits);
	CHECK(middle.stub(ARG) == calls, "step %d", step);
	after.int3_hits = atomic_load(&__jf_self->int3_hits);
	CHECK(after.int3_hits - before.int3_hits == (step < 3), "step %d: %llu traps",
	      step, (unsigned long long)(after.int3_hits - before.int3_hits));
	middle.steps++;
}

static void run_middle(struct jf_switch *sw, uintptr_t state, uint64_t want)
{
	struct jf_batch batch;

	middle.old = jf_insn_load(middle.site);
	must(site_insn(sw->sites[0], state, &middle.new), "site_insn");
	middle.want = want;
	middle.steps = 0;
	if (middle.old == middle.new)
		return;
	middle.was = middle.stub(ARG);

	jf_batch_init(&batch);
	must(batch_add(&batch, sw, state), "batch_add");
	sync_step = 0;
	at_sync = check_middle;
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	at_sync = NULL;
	CHECK(middle.steps == 3, "%d steps", middle.steps);
	CHECK(middle.stub(ARG) == want, "after the batch");
}

/* From every state to every other, run at every step of the protocol. */
static void test_emulation(void)
{
	struct jf_func funcs[] = {
		JF_FUNC_INIT("nop", NULL, JF_NULL_NOP),
		JF_FUNC_INIT("ret0", NULL, JF_NULL_RET0),
		JF_FUNC_INIT("tail", targets[1], JF_NULL_RET0),
	};
	struct jf_key key = JF_KEY_INIT("key", false);
	uint8_t *sites[4], *label;
	stub_fn stubs[4];
	size_t f, from, to;

	sites[0] = put_call_stub(jf_insn_nop(), &stubs[0]);
	sites[1] = put_call_stub(jf_insn_ret0(), &stubs[1]);
	sites[2] = put_tail_stub(targets[1], &stubs[2]);
	sites[3] = put_branch_stub(false, &stubs[3], &label);
	for (f = 0; f < 3; f++)
		add_site(sites[f], f == 2 ? JF_SITE_TAIL : JF_SITE_CALL, &funcs[f], NULL,
			 NULL);
	add_site(sites[3], JF_SITE_BRANCH, NULL, &key, label);

	for (f = 0; f < 3; f++) {
		middle.site = sites[f];
		middle.stub = stubs[f];
		for (from = 0; from <= NR_TARGETS; from++)
			for (to = 0; to <= NR_TARGETS; to++) {
				uint64_t null = f == 0 ? ARG : 0;

				run_middle(&funcs[f].sw, (uintptr_t)targets[from],
					   from ? TAGGED(from, ARG) : null);
				run_middle(&funcs[f].sw, (uintptr_t)targets[to],
					   to ? TAGGED(to, ARG) : null);
			}
	}
	middle.site = sites[3];
	middle.stub = stubs[3];
	run_middle(&key.sw, 1, TAGGED(TAG_ON, ARG));
	run_middle(&key.sw, 0, TAGGED(TAG_OFF, ARG));

	must(jf_sites_remove((void **)sites, 4), "jf_sites_remove");
	finish("protocol: bytes and emulation at each of its steps");
}

/* Registers and flags after an emulated return-0 are those of a real one. */
static uint64_t flags_seen[2];
static int flags_step;

static void check_flags(int step)
{
	if (step == flags_step)
		flags_seen[step - 1] = middle.stub(ARG);
}

static void test_flags(void)
{
	struct jf_func op = JF_FUNC_INIT("op", targets[1], JF_NULL_RET0);
	struct jf_batch batch;
	uint8_t buf[64], *site;
	struct jf_emit e;
	uint64_t real;

	/* Sets CF and OF, runs the site, returns the arithmetic flags. */
	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
	jf_emit(&e, 5, 0xb8, 0xff, 0xff, 0xff, 0x7f);	/* mov $INT_MAX,%eax */
	jf_emit(&e, 3, 0x83, 0xc0, 0x01);		/* add $1,%eax */
	jf_emit(&e, 1, 0xf9);				/* stc */
	site = cursor + e.used;
	jf_emit_insn(&e, call_insn(site, targets[1]));
	jf_emit(&e, 2, 0x9c, 0x58);			/* pushf; pop %rax */
	jf_emit(&e, 5, 0x25, 0xc5, 0x08, 0x00, 0x00);	/* and $OF|SF|ZF|PF|CF,%eax */
	jf_emit(&e, 1, 0xc3);
	middle.stub = (stub_fn)(uintptr_t)cursor;
	put(&e);
	add_site(site, JF_SITE_CALL, &op, NULL, NULL);

	/* Emulated as the new one, and then as the old one. */
	jf_batch_init(&batch);
	must(dynfunc_batch_set(&batch, &op, NULL), "dynfunc_batch_set");
	sync_step = 0;
	flags_step = 2;
	at_sync = check_flags;
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	real = middle.stub(ARG);
	must(dynfunc_batch_set(&batch, &op, targets[1]), "dynfunc_batch_set");
	sync_step = 0;
	flags_step = 1;
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	at_sync = NULL;
	CHECK(real == 0x44, "a real xor gives %#llx", (unsigned long long)real);
	CHECK(flags_seen[0] == real && flags_seen[1] == real, "%#llx and %#llx",
	      (unsigned long long)flags_seen[0], (unsigned long long)flags_seen[1]);
	remove_site(site);
	finish("emulation: flags of return 0");
}

/* --- W^X ---------------------------------------------------------------------- */

static int aliases_seen, wx_seen;

static void scan_maps(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	aliases_seen = 0;
	while (maps && fgets(line, sizeof(line), maps)) {
		char perms[8] = "";

		if (sscanf(line, "%*s %7s", perms) != 1)
			continue;
		if (strchr(perms, 'w') && strchr(perms, 'x'))
			wx_seen++;
		if (strchr(perms, 'w') && strstr(line, "jumpfunc-text"))
			aliases_seen++;
	}
	if (maps)
		fclose(maps);
	else
		wx_seen = -1;
}

static void check_maps(int step)
{
	scan_maps();
	CHECK(aliases_seen == 1, "%d writable aliases at step %d", aliases_seen, step);
}

static void test_wx(void)
{
	struct jf_func op = JF_FUNC_INIT("op", NULL, JF_NULL_NOP);
	struct jf_batch batch;
	stub_fn stub;
	uint8_t *site = put_call_stub(jf_insn_nop(), &stub);

	add_site(site, JF_SITE_CALL, &op, NULL, NULL);
	scan_maps();
	CHECK(!aliases_seen, "%d aliases before", aliases_seen);
	jf_batch_init(&batch);
	must(dynfunc_batch_set(&batch, &op, targets[1]), "dynfunc_batch_set");
	sync_step = 0;
	at_sync = check_maps;
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	at_sync = NULL;
	CHECK(sync_step == 3, "%d broadcasts", sync_step);
	scan_maps();
	CHECK(!aliases_seen, "%d aliases left", aliases_seen);

	/* A batch that fails leaves none either. */
	jf_batch_init(&batch);
	must(dynfunc_batch_set(&batch, &op, (void *)1), "dynfunc_batch_set");
	CHECK(jf_batch_commit(&batch) == -ERANGE, "%s", batch.error);
	scan_maps();
	CHECK(!aliases_seen, "%d aliases left after a failure", aliases_seen);
	CHECK(!wx_seen, "%d mappings were writable and executable", wx_seen);
	remove_site(site);
	finish("W^X: before, at every step of, and after a batch");
}

/* --- batches -------------------------------------------------------------------- */

#define MANY	5000

static struct jf_func many[MANY];
static uint8_t *many_sites[MANY];
static stub_fn many_stubs[MANY];

/* Trampolines back to back, so that they cross lines and pages anyhow. */
static void make_many(void)
{
	static uint8_t buf[MANY * JF_INSN_SIZE];
	static struct jf_site_desc descs[MANY];
	struct jf_emit e;
	size_t i;

	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
	for (i = 0; i < MANY; i++)
		jf_emit_jmp(&e, (uintptr_t)targets[1]);
	for (i = 0; i < MANY; i++) {
		many_sites[i] = cursor + i * JF_INSN_SIZE;
		many_stubs[i] = (stub_fn)(uintptr_t)many_sites[i];
		many[i] = (struct jf_func)JF_FUNC_INIT("many", targets[1],
						       JF_NULL_FORBIDDEN);
		descs[i].addr = many_sites[i];
		descs[i].func = &many[i];
		descs[i].form = JF_SITE_TAIL;
	}
	put(&e);
	must(jf_sites_add(descs, MANY), "jf_sites_add");
}

static void check_many(size_t target, const char *when)
{
	size_t i;

	for (i = 0; i < MANY; i++) {
		CHECK(many_stubs[i](ARG) == TAGGED(target, ARG), "%s: site %zu", when, i);
		CHECK(dynfunc_query(&many[i]) == targets[target], "%s: func %zu", when, i);
	}
}

static void test_broadcasts(void)
{
	static const size_t sizes[] = { 1, 2, 10, 100, 1000, MANY };
	struct jf_batch batch;
	uint64_t before;
	size_t s, i, to = 1;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		to = to % NR_TARGETS + 1;
		jf_batch_init(&batch);
		for (i = 0; i < sizes[s]; i++)
			must(dynfunc_batch_set(&batch, &many[i], targets[to]), "set");
		before = broadcasts();
		CHECK(!jf_batch_commit(&batch), "%s", batch.error);
		CHECK(broadcasts() - before == 3, "%zu sites: %llu broadcasts", sizes[s],
		      (unsigned long long)(broadcasts() - before));
	}
	check_many(to, "after 5000");

	for (i = 0; i < MANY; i++)
		must(dynfunc_batch_set(&batch, &many[i], targets[to]), "set");
	before = broadcasts();
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	CHECK(broadcasts() == before, "nothing to change, yet broadcasts");
	CHECK(!jf_batch_commit(&batch), "an empty batch");
	CHECK(broadcasts() == before, "nothing in the batch, yet broadcasts");

	for (i = 0; i < MANY; i++)
		must(dynfunc_batch_set(&batch, &many[i], targets[1]), "set");
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	finish("batch: three broadcasts for any size, none for no change");
}

/* Commits a batch that must fail, and looks for what it left. */
static void fails_whole(struct jf_batch *batch, int want, const char *what)
{
	uint64_t before = broadcasts();
	int err = jf_batch_commit(batch);

	CHECK(err == want, "%s: %d instead of %d", what, err, want);
	CHECK(broadcasts() == before, "%s: broadcasts", what);
	CHECK(batch->error[0], "%s: no explanation", what);
	check_many(1, what);
}

static void test_range(void)
{
	uintptr_t site = (uintptr_t)many_sites[7];
	uintptr_t last = site + JF_INSN_SIZE + 0x7fffffffUL;
	uintptr_t first = site + JF_INSN_SIZE - 0x80000000UL;
	struct jf_batch batch;
	size_t i, bad;

	CHECK(!dynfunc_update(&many[7], (void *)last), "last in reach");
	CHECK(!dynfunc_update(&many[7], (void *)first), "first in reach");
	CHECK(!dynfunc_update(&many[7], targets[1]), "and back");
	CHECK(dynfunc_update(&many[7], (void *)(last + 1)) == -ERANGE, "one beyond");
	CHECK(dynfunc_update(&many[7], (void *)(first - 1)) == -ERANGE, "one before");

	jf_batch_init(&batch);
	for (bad = 0; bad < 3; bad++) {
		size_t at = bad * (MANY - 1) / 2;

		for (i = 0; i < MANY; i++)
			must(dynfunc_batch_set(&batch, &many[i],
					       i == at ? (void *)0x1000 : targets[2]), "set");
		fails_whole(&batch, -ERANGE, "one of 5000 out of reach");
	}
	finish("batch: out of range, all or nothing");
}

static void test_conflicts(void)
{
	struct jf_batch batch;

	jf_batch_init(&batch);
	must(dynfunc_batch_set(&batch, &many[0], targets[2]), "set");
	must(dynfunc_batch_set(&batch, &many[1], targets[2]), "set");
	must(dynfunc_batch_set(&batch, &many[0], targets[3]), "set");
	fails_whole(&batch, -EINVAL, "same function, different targets");

	must(dynfunc_batch_set(&batch, &many[0], targets[2]), "set");
	must(dynfunc_batch_set(&batch, &many[0], targets[2]), "set");
	CHECK(!jf_batch_commit(&batch), "same function, same target: %s", batch.error);
	CHECK(many_stubs[0](ARG) == TAGGED(2, ARG), "changed");
	CHECK(!dynfunc_update(&many[0], targets[1]), "and back");

	CHECK(dynfunc_batch_set(&batch, &many[0], NULL) == -EINVAL, "NULL not allowed");
	CHECK(dynfunc_update(&many[0], NULL) == -EINVAL, "NULL not allowed");
	jf_batch_abort(&batch);

	must(dynfunc_batch_set(&batch, &many[0], targets[2]), "set");
	jf_batch_abort(&batch);
	CHECK(!jf_batch_commit(&batch), "aborted batches are empty");
	check_many(1, "aborted");
	finish("batch: conflicts, NULL, abort");
}

/* Writes behind the engine's back, as a debugger might. */
static void scribble(uint8_t *at, uint8_t byte)
{
	must(text_map_alias(text), "text_map_alias");
	text->alias[at - text->exec] = byte;
	text_unmap_alias(text);
}

static void test_foreign_bytes(void)
{
	struct jf_batch batch;
	size_t i, b;

	jf_batch_init(&batch);
	for (b = 0; b < JF_INSN_SIZE; b++) {
		uint8_t *victim = many_sites[MANY / 2] + b, was = *victim;
		uint64_t before = broadcasts();

		for (i = 0; i < MANY; i++)
			must(dynfunc_batch_set(&batch, &many[i], targets[2]), "set");
		scribble(victim, b ? (uint8_t)(was + 1) : JF_OPCODE_INT3);
		CHECK(jf_batch_commit(&batch) == (b ? -EILSEQ : -EBUSY), "byte %zu", b);
		CHECK(batch.error[0], "byte %zu: no explanation", b);
		CHECK(broadcasts() == before, "byte %zu: broadcasts", b);
		CHECK(*victim == (b ? (uint8_t)(was + 1) : JF_OPCODE_INT3),
		      "byte %zu was overwritten", b);
		scribble(victim, was);
		check_many(1, "foreign byte");
	}
	finish("batch: foreign bytes at a site");
}

/* --- a byte that appears between the last look and the first INT3 ------------- */

static struct {
	size_t victim;
	uint8_t byte;
	bool done;
} late;

static void byte_appears(void)
{
	uint8_t *at = many_sites[late.victim];

	/* The first look at the clock is before the alias is there. */
	if (!text->alias || late.done)
		return;
	text->alias[at - text->exec] = late.byte;
	late.done = true;
}

/* The one broadcast of the roll-back. */
static void check_undone(int step)
{
	size_t i;

	CHECK(step == 1, "broadcast %d", step);
	for (i = 0; i < MANY; i += 7)
		if (i != late.victim)
			CHECK(many_stubs[i](ARG) == TAGGED(1, ARG), "site %zu", i);
}

static void late_byte(size_t victim, uint8_t byte, uint8_t *dest)
{
	static const uint8_t code[] = { 0x31, 0xc0, 0xc3 };
	uint8_t was = *many_sites[victim], before[sizeof(code)];
	uint64_t syncs = broadcasts();
	struct jf_batch batch;
	size_t i;
	int err;

	late.victim = victim;
	late.byte = byte;
	late.done = false;
	jf_batch_init(&batch);
	for (i = 0; i < MANY; i++)
		must(dynfunc_batch_set(&batch, &many[i], targets[2]), "set");
	if (dest) {
		memcpy(before, dest, sizeof(before));
		must(jf_batch_code(&batch, dest, code, sizeof(code)), "jf_batch_code");
	}
	sync_step = 0;
	at_sync = dest ? NULL : check_undone;
	at_clock = byte_appears;
	err = jf_batch_commit(&batch);
	at_clock = NULL;
	at_sync = NULL;

	CHECK(late.done, "site %zu: nothing appeared", victim);
	CHECK(err == -EBUSY, "site %zu: %d", victim, err);
	CHECK(batch.error[0], "site %zu: no explanation", victim);
	CHECK(broadcasts() - syncs == (dest ? 2 : 1), "site %zu: %llu broadcasts", victim,
	      (unsigned long long)(broadcasts() - syncs));
	CHECK(*many_sites[victim] == byte, "site %zu was overwritten", victim);
	if (dest)
		CHECK(!memcmp(before, dest, sizeof(before)), "code is left behind");
	scan_maps();
	CHECK(!aliases_seen, "%d aliases left", aliases_seen);
	scribble(many_sites[victim], was);
	check_many(1, "a byte that appears late");
	/* Nor does the handler know anything of it. */
	for (i = 0; i < MANY; i++)
		CHECK(atomic_load(&many[i].sw.sites[0]->insn) == jf_insn_load(many_sites[i]),
		      "site %zu would be emulated as something else", i);
}

static void test_late_bytes(void)
{
	uint8_t *dest = cursor;

	late_byte(0, JF_OPCODE_INT3, NULL);
	late_byte(1, 0x90, NULL);
	late_byte(MANY / 2, JF_OPCODE_INT3, NULL);
	late_byte(MANY - 1, 0x90, NULL);
	late_byte(MANY - 1, JF_OPCODE_INT3, dest);
	CHECK(!dynfunc_update(&many[0], targets[3]), "afterwards");
	CHECK(many_stubs[0](ARG) == TAGGED(3, ARG), "afterwards");
	CHECK(!dynfunc_update(&many[0], targets[1]), "and back");
	finish("batch: a foreign byte that appears after the last look");
}

static void test_no_memory(void)
{
	struct jf_batch batch;
	unsigned long nth;
	size_t i;
	int err;

	jf_batch_init(&batch);
	for (nth = 1; nth < 100; nth++) {
		err = 0;
		fail_at = nth;
		for (i = 0; i < 100 && !err; i++)
			err = dynfunc_batch_set(&batch, &many[i], targets[2]);
		if (!err)
			err = jf_batch_commit(&batch);
		if (!err && fail_at) {
			fail_at = 0;
			break;
		}
		fail_at = 0;
		CHECK(err == -ENOMEM, "allocation %lu: %d", nth, err);
		jf_batch_abort(&batch);
		scan_maps();
		CHECK(!aliases_seen, "allocation %lu: %d aliases left", nth, aliases_seen);
		check_many(1, "allocation failed");
	}
	CHECK(nth > 4 && nth < 100, "a batch has %lu allocations", nth - 1);
	for (i = 0; i < 100; i++)
		must(dynfunc_batch_set(&batch, &many[i], targets[1]), "set");
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	check_many(1, "and back");
	finish("batch: every allocation fails once");
}

/* --- sites come and go ----------------------------------------------------------- */

/* A function with one call site, which is not the engine's yet. */
struct stray {
	struct jf_func op;
	struct jf_key key;
	stub_fn stub;
	uint8_t *site;
	struct jf_site_desc d[2];
	void *addrs[2];
};

static void refuse_wrong_sites(struct stray *s)
{
	struct jf_site_desc *d = s->d;

	CHECK(jf_sites_add(d, 2) == -EINVAL, "the same site twice");
	CHECK(!s->op.sw.nr_sites, "a site is left");
	d[1].addr = s->site + 1;
	CHECK(jf_sites_add(d, 2) == -EILSEQ, "no call there");
	d[1].addr = &s->op;
	CHECK(jf_sites_add(d, 2) == -EINVAL, "not in a text");
	d[1].addr = (uint8_t *)jf_text_base(text) + jf_text_size(text) - 4;
	CHECK(jf_sites_add(d, 2) == -EINVAL, "one byte beyond the text");
	d[0].key = &s->key;
	CHECK(jf_sites_add(d, 1) == -EINVAL, "function and key");
	d[0].func = NULL;
	CHECK(jf_sites_add(d, 1) == -EINVAL, "a key at a call");
	d[0].key = NULL;
	d[0].func = &s->op;
	d[0].form = (enum jf_site_form)99;
	CHECK(jf_sites_add(d, 1) == -EINVAL, "no form at all");
	d[0].form = JF_SITE_TAIL;
	CHECK(jf_sites_add(d, 1) == -EILSEQ, "a jmp where a call is");
	d[0].form = JF_SITE_CALL;
}

static void fail_each_allocation_of_add(struct stray *s)
{
	unsigned long nth;
	int err;

	for (nth = 1; nth < 100; nth++) {
		fail_at = nth;
		err = jf_sites_add(s->d, 1);
		if (!err && fail_at) {
			fail_at = 0;
			break;
		}
		fail_at = 0;
		CHECK(err == -ENOMEM, "allocation %lu: %d", nth, err);
		CHECK(!s->op.sw.nr_sites, "allocation %lu: a site is left", nth);
		CHECK(!find_site(atomic_load(&table), (uintptr_t)s->site), "in the table");
	}
	CHECK(nth > 3 && nth < 100, "%lu allocations", nth - 1);
	CHECK(jf_sites_add(s->d, 1) == -EINVAL, "already a site");
	CHECK(s->op.sw.nr_sites == 1, "%zu sites", s->op.sw.nr_sites);
}

static void refuse_code_over_sites(struct stray *s)
{
	struct jf_batch batch;
	uint8_t code = 0xcc;

	jf_batch_init(&batch);
	must(jf_batch_code(&batch, s->site + 4, &code, 1), "jf_batch_code");
	CHECK(jf_batch_commit(&batch) == -EBUSY, "code over a site");
	CHECK(jf_batch_code(&batch, &s->op, &code, 1) == -EINVAL, "code in no text");
	jf_batch_abort(&batch);
}

static void refuse_wrong_removals(struct stray *s)
{
	unsigned long nth;

	CHECK(jf_sites_remove(s->addrs, 2) == -EINVAL, "twice the same");
	s->addrs[1] = s->site + 1;
	CHECK(jf_sites_remove(s->addrs, 2) == -EINVAL, "not a site");
	CHECK(!jf_sites_remove(s->addrs, 0), "none");
	CHECK(jf_sites_remove(s->addrs, MANY * 2) == -EINVAL, "more than there are");
	for (nth = 1; nth <= 2; nth++) {
		fail_at = nth;
		CHECK(jf_sites_remove(s->addrs, 1) == -ENOMEM, "allocation %lu", nth);
		fail_at = 0;
	}
	jf_read_lock();
	CHECK(jf_sites_remove(s->addrs, 1) == -EDEADLK, "inside a section");
	jf_read_unlock();
}

static void refuse_far_label(struct stray *s)
{
	stub_fn stub;
	uint8_t *site = put_call_stub(jf_insn_nop(), &stub);

	s->d[1] = (struct jf_site_desc){
		.addr = site, .key = &s->key, .form = JF_SITE_BRANCH,
		.label = site + JF_INSN_SIZE + 0x80000000UL,
	};
	CHECK(jf_sites_add(&s->d[1], 1) == -ERANGE, "a label out of reach");
}

static void test_sites(void)
{
	struct stray s = {
		.op = JF_FUNC_INIT("op", targets[1], JF_NULL_FORBIDDEN),
		.key = JF_KEY_INIT("key", false),
	};
	unsigned int i;

	s.site = put_call_stub(call_insn(cursor + 7, targets[1]), &s.stub);
	for (i = 0; i < 2; i++) {
		s.d[i] = (struct jf_site_desc){
			.addr = s.site, .func = &s.op, .form = JF_SITE_CALL,
		};
		s.addrs[i] = s.site;
	}
	refuse_wrong_sites(&s);
	fail_each_allocation_of_add(&s);
	refuse_code_over_sites(&s);
	CHECK(!dynfunc_update(&s.op, targets[2]), "update");
	CHECK(s.stub(ARG) == TAGGED(2, ARG), "updated");

	refuse_wrong_removals(&s);
	refuse_far_label(&s);
	CHECK(!dynfunc_update(&s.op, targets[3]), "still there");
	CHECK(s.stub(ARG) == TAGGED(3, ARG), "still there");
	CHECK(!jf_sites_remove(s.addrs, 1), "remove");
	CHECK(!dynfunc_update(&s.op, targets[1]), "no site left to patch");
	CHECK(s.stub(ARG) == TAGGED(3, ARG), "a removed site was patched");
	CHECK(dynfunc_query(&s.op) == targets[1], "query");
	finish("sites: wrong ones, overlaps, failing allocations, removal");
}

/* --- SIGTRAP --------------------------------------------------------------------- */

static volatile sig_atomic_t foreign_traps;
static volatile uintptr_t foreign_ip;

static void foreign_handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)info;
	foreign_traps++;
	foreign_ip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
}

static void plain_handler(int sig)
{
	(void)sig;
	foreign_traps++;
}

static stub_fn put_breakpoint(void)
{
	uint8_t buf[8];
	struct jf_emit e;
	stub_fn stub = (stub_fn)(uintptr_t)cursor;

	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)cursor);
	jf_emit(&e, 5, 0x48, 0x89, 0xf8, 0xcc, 0xc3);	/* mov; int3; ret */
	put(&e);
	return stub;
}

static void test_foreign_traps(void)
{
	stub_fn stub = put_breakpoint();
	struct jf_stats before, after;
	int status = 0;
	pid_t child;

	jf_stats_get(&before);
	CHECK(stub(ARG) == ARG, "goes on behind the INT3");
	CHECK(foreign_traps == 1, "%d traps", (int)foreign_traps);
	CHECK(foreign_ip == (uintptr_t)stub + 4, "at %#lx", (unsigned long)foreign_ip);
	raise(SIGTRAP);
	CHECK(foreign_traps == 2, "%d traps", (int)foreign_traps);
	jf_stats_get(&after);
	CHECK(after.int3_foreign - before.int3_foreign == 2, "counted");

	CHECK(after.int3_hits == before.int3_hits, "counted as ours");

	/* Other kinds of handler behind us. */
	{
		struct sigaction was = engine.previous;

		engine.previous.sa_flags = 0;
		engine.previous.sa_handler = plain_handler;
		CHECK(stub(ARG) == ARG && foreign_traps == 3, "a plain handler");
		engine.previous.sa_handler = SIG_IGN;
		raise(SIGTRAP);
		CHECK(foreign_traps == 3, "ignored");
		engine.previous = was;
	}

	/* With nobody behind us, an INT3 kills as it always did. */
	fflush(stdout);
	child = fork();
	if (!child) {
		memset(&engine.previous, 0, sizeof(engine.previous));
		stub(ARG);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child, "waitpid");
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP, "status %#x", status);
	finish("SIGTRAP: INT3s and signals that are not ours");
}

/* A signal that says it is from an INT3, at a site whose INT3 has gone. */
static void test_vanished(void)
{
	stub_fn stub = put_breakpoint();
	ucontext_t uc;
	siginfo_t info = { .si_code = SI_KERNEL };
	int traps = foreign_traps;

	scribble((uint8_t *)(uintptr_t)stub + 3, 0x90);
	memset(&uc, 0, sizeof(uc));
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)stub + 4;
	on_sigtrap(SIGTRAP, &info, &uc);
	CHECK(uc.uc_mcontext.gregs[REG_RIP] == (greg_t)(uintptr_t)stub + 3,
	      "to be executed again");
	CHECK(foreign_traps == traps, "passed on");
	finish("SIGTRAP: an INT3 that went before the handler came");
}

static void *stranger(void *arg)
{
	(void)arg;
	CHECK(!__jf_self, "a new thread is not registered");
	CHECK(middle.stub(ARG) == middle.want, "emulated for a stranger");
	return NULL;
}

static void let_stranger_call(int step)
{
	pthread_t thread;

	middle.want = step == 1 ? ARG : TAGGED(3, ARG);
	CHECK(!pthread_create(&thread, NULL, stranger, NULL) &&
	      !pthread_join(thread, NULL), "pthread");
}

static void test_stranger(void)
{
	struct jf_func op = JF_FUNC_INIT("op", NULL, JF_NULL_NOP);
	struct jf_batch batch;
	uint8_t *site = put_call_stub(jf_insn_nop(), &middle.stub);
	uint64_t before = atomic_load(&stranger_hits);

	add_site(site, JF_SITE_CALL, &op, NULL, NULL);
	jf_batch_init(&batch);
	must(dynfunc_batch_set(&batch, &op, targets[3]), "dynfunc_batch_set");
	sync_step = 0;
	at_sync = let_stranger_call;
	CHECK(!jf_batch_commit(&batch), "%s", batch.error);
	at_sync = NULL;
	CHECK(atomic_load(&stranger_hits) - before == 2, "%llu hits",
	      (unsigned long long)(atomic_load(&stranger_hits) - before));
	CHECK(!atomic_load(&strangers), "left the handler");
	remove_site(site);
	finish("SIGTRAP: a thread that never registered");
}

/* --- quiesce ----------------------------------------------------------------------- */

static _Atomic int reader_phase;

static void wait_phase(int phase)
{
	while (atomic_load(&reader_phase) < phase)
		usleep(200);
}

static void *reader(void *arg)
{
	(void)arg;
	must(jf_thread_register(), "jf_thread_register");
	jf_read_lock();
	jf_read_lock();
	atomic_store(&reader_phase, 1);
	wait_phase(2);
	jf_read_unlock();
	atomic_store(&reader_phase, 3);
	wait_phase(4);
	jf_read_unlock();
	jf_thread_unregister();
	return NULL;
}

static _Atomic bool quiesced;

static void *quiescer(void *arg)
{
	(void)arg;
	must(jf_quiesce(), "jf_quiesce");
	atomic_store(&quiesced, true);
	return NULL;
}

static void test_quiesce(void)
{
	pthread_t r, q;

	CHECK(jf_thread_register() == -EBUSY, "registered twice");
	jf_read_lock();
	CHECK(jf_quiesce() == -EDEADLK, "inside a section");
	jf_read_lock();
	jf_read_unlock();
	CHECK(jf_quiesce() == -EDEADLK, "still inside a section");
	jf_read_unlock();
	CHECK(!jf_quiesce(), "nobody inside");

	must(-pthread_create(&r, NULL, reader, NULL), "pthread_create");
	wait_phase(1);
	must(-pthread_create(&q, NULL, quiescer, NULL), "pthread_create");
	usleep(20000);
	CHECK(!atomic_load(&quiesced), "did not wait for a nested section");
	atomic_store(&reader_phase, 2);
	wait_phase(3);
	usleep(20000);
	CHECK(!atomic_load(&quiesced), "did not wait for the outer section");
	atomic_store(&reader_phase, 4);
	pthread_join(q, NULL);
	pthread_join(r, NULL);
	CHECK(atomic_load(&quiesced), "never came back");
	finish("quiesce: waits for sections, also nested ones");
}

static void test_reach_of_text(void)
{
	intptr_t distance = (uint8_t *)jf_text_base(text) -
			    (uint8_t *)(uintptr_t)test_reach_of_text;
	struct jf_text *anywhere = jf_text_create(1, NULL);

	CHECK(labs(distance) < 0x7fffffffL - (1 << 20), "distance %#lx", distance);
	CHECK(anywhere && jf_text_size(anywhere) >= 1, "a text anywhere");
	if (anywhere)
		jf_text_destroy(anywhere);
	errno = 0;
	CHECK(!jf_text_create(0, NULL) && errno == EINVAL, "size 0");
	CHECK(!jf_text_create((size_t)INT_MAX + 1, NULL) && errno == EINVAL, "2 GiB");
	finish("text: near the program");
}

/* What cannot be made fails cleanly, whatever it was that ran out. */
static void test_text_no_memory(void)
{
	size_t before = count_texts();
	struct jf_text *made = NULL;
	unsigned long nth;

	for (nth = 1; nth < 500 && !made; nth++) {
		fail_at = nth;
		errno = 0;
		made = jf_text_create(4096, (const void *)make_fixture);
		if (made && fail_at)
			break;
		fail_at = 0;
		/* Addresses that are taken are tried over, so some failures heal. */
		CHECK(made || errno == ENOMEM, "allocation %lu: errno %d", nth, errno);
		CHECK(count_texts() == before + !!made, "%zu texts", count_texts());
		scan_maps();
		CHECK(!aliases_seen, "allocation %lu: %d aliases left", nth, aliases_seen);
		if (made && nth < 10) {
			jf_text_destroy(made);
			made = NULL;
		}
	}
	fail_at = 0;
	CHECK(made, "no text after %lu tries", nth);
	if (made) {
		struct jf_batch batch;
		uint8_t code = 0xc3;

		jf_batch_init(&batch);
		for (nth = 1; nth <= 2; nth++) {
			fail_at = nth;
			CHECK(jf_batch_code(&batch, jf_text_base(made), &code, 1) == -ENOMEM,
			      "allocation %lu", nth);
			CHECK(!batch.nr_codes, "allocation %lu: %zu codes", nth,
			      batch.nr_codes);
		}
		fail_at = 0;
		jf_batch_abort(&batch);
		jf_text_destroy(made);
	}
	CHECK(count_texts() == before, "%zu texts", count_texts());
	finish("text: failing allocations");
}

static void *register_and_go(void *arg)
{
	struct jf_thread **record = arg;

	must(jf_thread_register(), "jf_thread_register");
	*record = __jf_self;
	jf_thread_unregister();
	jf_thread_unregister();
	return NULL;
}

static void test_threads(void)
{
	struct jf_thread *records[3];
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++) {
		must(-pthread_create(&thread, NULL, register_and_go, &records[i]), "thread");
		pthread_join(thread, NULL);
	}
	CHECK(records[0] != __jf_self, "a record of its own");
	CHECK(records[1] == records[0] && records[2] == records[0],
	      "a thread that ends leaves its record to the next");
	finish("threads: records are used again");
}

static void test_exit(void)
{
	struct sigaction now;

	must(jf_sites_remove((void **)many_sites, MANY), "jf_sites_remove");
	CHECK(!atomic_load(&table)->nr_sites, "%zu sites left",
	      atomic_load(&table)->nr_sites);
	jf_text_destroy(text);
	jf_thread_unregister();
	jf_exit();
	CHECK(!sigaction(SIGTRAP, NULL, &now) && now.sa_sigaction == foreign_handler,
	      "the old handler is back");
	scan_maps();
	CHECK(!aliases_seen && !wx_seen, "maps");
	CHECK(!jf_init(), "init again");
	jf_exit();
	finish("exit: gives everything back");
}

int main(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	action.sa_sigaction = foreign_handler;
	sigaction(SIGTRAP, &action, NULL);

	printf("TAP version 13\n1..22\n");
	must(jf_init(), "jf_init");
	CHECK(jf_init() == -EBUSY, "init twice");
	must(jf_thread_register(), "jf_thread_register");
	make_fixture();
	test_reach_of_text();
	test_call_site();
	test_ret0_site();
	test_tail_site();
	test_branches();
	test_emulation();
	test_flags();
	test_wx();
	make_many();
	test_broadcasts();
	test_range();
	test_conflicts();
	test_foreign_bytes();
	test_late_bytes();
	test_no_memory();
	test_sites();
	test_foreign_traps();
	test_vanished();
	test_stranger();
	test_quiesce();
	test_threads();
	test_text_no_memory();
	test_exit();
	return tap_status();
}
