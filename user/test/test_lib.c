// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tests of libjumpfunc as a program meets it: keys, dynamic functions, batches,
 * tracepoints, statistics. It is built in many ways, and run with each writer.
 *
 * usage: test_lib [WRITER FORM]	the expected values of jf_stats in the end
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "selftests/vectors/table.h"
#include "tap.h"

static void table_fail(const char *what, const char *at, long got, long want)
{
	CHECK(got == want, "%s at '%s': %ld instead of %ld", what, at, got, want);
}

static struct jf_stats stats(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s;
}

static bool patches(void)
{
	return strcmp(stats().writer, "none") != 0;
}

/* --- keys ------------------------------------------------------------------------ */

static DEFINE_JF_KEY_FALSE(one);
static DEFINE_JF_KEY_FALSE(two);

static void key_edges(void)
{
	struct jf_batch b;

	CHECK(jf_key_inc(&one) == 0, "inc");
	one.count = INT_MAX;
	CHECK(jf_key_inc(&one) == -EOVERFLOW, "inc of INT_MAX");
	one.count = 1;
	CHECK(jf_key_dec(&one) == 0 && !jf_key_enabled(&one), "dec");

	jf_batch_init(&b);
	jf_key_batch_set(&b, &one, true);
	jf_key_batch_set(&b, &one, false);
	CHECK(jf_batch_commit(&b) == -EINVAL, "the same twice, with two values");
	CHECK(!jf_key_enabled(&one), "changed by a batch that failed");

	jf_batch_init(&b);
	jf_key_batch_set(&b, &one, true);
	jf_key_batch_set(&b, &one, true);
	CHECK(jf_batch_commit(&b) == 0 && jf_key_enabled(&one), "the same twice");

	/* The second one has two users: none is changed. */
	CHECK(jf_key_inc(&two) == 0 && jf_key_inc(&two) == 0, "inc");
	jf_batch_init(&b);
	jf_key_batch_set(&b, &one, false);
	jf_key_batch_set(&b, &two, false);
	CHECK(jf_batch_commit(&b) == -EBUSY, "off in spite of users");
	CHECK(jf_key_enabled(&one) && jf_branch_unlikely(&one), "half a batch");
	jf_batch_init(&b);
	jf_key_batch_set(&b, &two, false);
	jf_key_batch_set(&b, &one, false);
	CHECK(jf_batch_commit(&b) == -EBUSY && jf_key_count(&one) == 1, "its user is gone");
	CHECK(jf_key_dec(&two) == 0 && jf_key_dec(&two) == 0, "dec");
	CHECK(jf_key_disable(&one) == 0, "disable");

	jf_batch_init(&b);
	jf_key_batch_set(&b, &one, true);
	jf_batch_abort(&b);
	CHECK(jf_batch_commit(&b) == 0 && !jf_branch_unlikely(&one), "an aborted batch");
}

static struct jf_key foreign = { 0, 0, { "foreign", NULL, JF_ENT_KEY, 0, NULL } };

static void key_of_nobody(void)
{
	CHECK(jf_key_enable(&foreign) == -ENODEV, "a key of no table");
	CHECK(!jf_key_enabled(&foreign), "it has changed");
}

/*
 * One transaction, and by its form three broadcasts, four if branches go both ways, or two,
 * whatever the number.
 */
static void broadcasts(void)
{
	struct jf_stats before = stats(), after;
	unsigned int syncs = !strcmp(before.form, "flip") ? 4 : !strcmp(before.form, "store") ? 2 : 3;
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &one, true);
	jf_key_batch_set(&b, &two, true);
	jf_key_batch_set(&b, &jft_t_array_false[1], true);
	CHECK(jf_batch_commit(&b) == 0, "commit");
	after = stats();
	CHECK(after.syncs - before.syncs == (patches() ? syncs : 0), "%llu broadcasts", (unsigned long long)(after.syncs - before.syncs));
	CHECK(after.commits - before.commits == (uint64_t)patches(), "commits");
	CHECK(!patches() || after.patched - before.patched > 5, "only %llu sites",
	      (unsigned long long)(after.patched - before.patched));
	before = after;
	CHECK(jf_key_enable(&one) == 0, "enable again");
	after = stats();
	CHECK(after.syncs == before.syncs && after.commits == before.commits,
	      "a change that is none");
	CHECK(jf_key_disable(&one) == 0 && jf_key_disable(&two) == 0 &&
	      jf_key_disable(&jft_t_array_false[1]) == 0, "disable");
}

static DEFINE_JF_KEY_FALSE(left);
static DEFINE_JF_KEY_FALSE(right);

#define BOTH(n)		(n) += jf_branch_unlikely(&left); (n) += jf_branch_unlikely(&right)
#define EIGHT(n)	BOTH(n); BOTH(n); BOTH(n); BOTH(n); BOTH(n); BOTH(n); BOTH(n); BOTH(n)
#define SITES		72

/* A compiler that adds much between two sites is told so: FAR_SITES. */
#ifdef FAR_SITES
#define WRITES	(6 * SITES + 12)
#else
#define WRITES	(3 * SITES)
#endif

/* Sites of one key are between those of the other. */
__attribute__((__noinline__)) static unsigned int by_turns(void)
{
	unsigned int n = 0;

	EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n); EIGHT(n);
	EIGHT(n);
	return n;
}

/* How often this process has called write() and the like; -1: not known. */
static long writes(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	long num = -1;
	char line[80];

	while (io && fgets(line, sizeof(line), io))
		sscanf(line, "syscw: %ld", &num);
	if (io)
		fclose(io);
	return num;
}

static long writes_for(struct jf_batch *b)
{
	long before = writes();

	CHECK(jf_batch_commit(b) == 0, "commit");
	return writes() - before;
}

/* By one store each, with two for the trial. */
static long most_writes(void)
{
	return strcmp(stats().form, "store") ? WRITES : 2 * SITES + 2;
}

/* Many sites close to each other are written together, whosever they are. */
static void together(void)
{
	struct jf_batch b;
	long num;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &left, true);
	jf_key_batch_set(&b, &right, true);
	num = writes_for(&b);
	CHECK(num <= most_writes(), "%ld writes for %d sites", num, 2 * SITES);
	CHECK(by_turns() == 2 * SITES, "%u", by_turns());
	jf_key_batch_set(&b, &left, false);
	jf_key_batch_set(&b, &right, false);
	num = writes_for(&b);
	CHECK(num <= most_writes(), "%ld writes for %d sites", num, 2 * SITES);
	CHECK(by_turns() == 0, "%u", by_turns());
}

static void transactions(void)
{
	broadcasts();
	finish("one transaction for any number of sites");
	together();
	finish("sites of two keys by turns");
}

/* --- text -------------------------------------------------------------------------- */

#if JF_HAVE_PATCHING
/* Where the site is: it is the first instruction with five bytes of ours. */
__attribute__((__noinline__)) static int branch_alone(void)
{
	return jf_branch_unlikely(&one);
}

#ifdef __x86_64__
#define NOP	0x0f
#define JUMP	0xe9

static int first_opcode(const void *func)
{
	const uint8_t *p = func;
	int i;

	for (i = 0; i < 64; i++) {
		if (!memcmp(p + i, "\x0f\x1f\x44\x00\x00", 5))
			return NOP;
		if (p[i] == JUMP || p[i] == 0xa9)
			return p[i];
	}
	return -1;
}
#else
#define NOP	0xd5
#define JUMP	0x14

/* Compilers begin no function with either. */
static int first_opcode(const void *func)
{
	const uint32_t *p = func;
	int i;

	for (i = 0; i < 16; i++) {
		if (p[i] == 0xd503201f)
			return NOP;
		if (p[i] >> 26 == 5)
			return JUMP;
	}
	return -1;
}
#endif

static void text(void)
{
	const void *func = (const void *)(uintptr_t)branch_alone;
	int off = first_opcode(func);

	CHECK(off == (patches() ? NOP : JUMP), "off: %#x", off);
	CHECK(!branch_alone(), "off");
	CHECK(jf_key_enable(&one) == 0, "enable");
	CHECK(first_opcode(func) == JUMP, "on: %#x", first_opcode(func));
	CHECK(branch_alone(), "on");
	CHECK(jf_key_disable(&one) == 0, "disable");
	CHECK(first_opcode(func) == off, "off again: %#x", first_opcode(func));
}

#else
static void text(void)
{
	struct jf_stats s = stats();

	CHECK(s.sites == 0 && s.patched == 0 && s.commits == 0 && s.syncs == 0, "text was patched");
	CHECK(!jf_branch_unlikely(&one) && jf_key_enable(&one) == 0 && jf_branch_unlikely(&one) &&
	      jf_key_disable(&one) == 0 && !jf_branch_unlikely(&one), "a branch loads its key");
}
#endif

/* No page is writable and executable, ever: here at least after all that. */
static void no_wx(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], perms[8];
	unsigned int seen = 0;

	while (f && fgets(line, sizeof(line), f)) {
		seen++;
		if (sscanf(line, "%*s %7s", perms) == 1)
			CHECK(!(perms[1] == 'w' && perms[2] == 'x'), "%s", line);
	}
	CHECK(!f || seen > 3, "/proc/self/maps");
	if (f)
		fclose(f);
}

#if JF_HAVE_PATCHING
#ifdef __aarch64__
/* Instructions that we did not write. */
static void foreign_byte(void)
{
	static const uint32_t brk = 0xd4200000, other = 0x52800000, nop = 0xd503201f;
	const uint32_t *p = (const uint32_t *)(uintptr_t)branch_alone;
	int mem = open("/proc/self/mem", O_RDWR), i;

	/* An emulator does not see writes there, nor do we write by it then. */
	if (!strcmp(stats().writer, "mem")) {
		for (i = 0; i < 16 && p[i] != nop; i++)
			;
		must(pwrite(mem, &brk, 4, (off_t)(uintptr_t)(p + i)) == 4 ? 0 : -errno, "a breakpoint");
		CHECK(jf_key_enable(&one) == -EBUSY && p[i] == brk && !jf_key_enabled(&one),
		      "a debugger's breakpoint");
		must(pwrite(mem, &other, 4, (off_t)(uintptr_t)(p + i)) == 4 ? 0 : -errno, "another one");
		CHECK(jf_key_enable(&one) == -EILSEQ && p[i] == other && !jf_key_enabled(&one),
		      "another instruction");
		must(pwrite(mem, &nop, 4, (off_t)(uintptr_t)(p + i)) == 4 ? 0 : -errno, "back");
		__builtin___clear_cache((char *)(uintptr_t)(p + i), (char *)(uintptr_t)(p + i + 1));
	}
	CHECK(jf_key_enable(&one) == 0 && branch_alone(), "and now?");
	CHECK(jf_key_disable(&one) == 0 && !branch_alone(), "disable");
	if (mem >= 0)
		close(mem);
}
#else
#ifdef JF_TESTED
#define JF_HAVE_TESTS	1
#else
#define JF_HAVE_TESTS	0
#endif

/* What was there. */
static uint8_t put_byte(FILE *mem, const uint8_t *at, uint8_t byte)
{
	uint8_t was = *at;

	fseek(mem, (long)(uintptr_t)at, SEEK_SET);
	fputc(byte, mem);
	return was;
}

/* A byte that we did not write. */
static void foreign_byte(void)
{
	uint8_t *p = (uint8_t *)(uintptr_t)branch_alone, was;
	FILE *mem = fopen("/proc/self/mem", "r+");
	int i;

	if (!patches() || !mem)
		goto out;
	for (i = 0; i < 64 && memcmp(p + i, "\x0f\x1f\x44\x00\x00", 5); i++)
		;
	setvbuf(mem, NULL, _IONBF, 0);
	was = p[i];
	fseek(mem, (long)(uintptr_t)(p + i), SEEK_SET);
	fputc(0xcc, mem);
	CHECK(jf_key_enable(&one) == -EBUSY, "a debugger's breakpoint");
	CHECK(p[i] == 0xcc && !jf_key_enabled(&one), "it was overwritten");
	fseek(mem, (long)(uintptr_t)(p + i), SEEK_SET);
	fputc(was, mem);
	fseek(mem, (long)(uintptr_t)(p + i + 2), SEEK_SET);
	was = p[i + 2];
	fputc(0x90, mem);
	CHECK(jf_key_enable(&one) == -EILSEQ, "foreign bytes");
	fseek(mem, (long)(uintptr_t)(p + i + 2), SEEK_SET);
	fputc(was, mem);
	/* The bytes before it that belong to the same instruction. */
	was = put_byte(mem, p + i - 1, 0xcc);
	CHECK(jf_key_enable(&one) == -EBUSY && !jf_key_enabled(&one), "a debugger's breakpoint at its beginning");
	put_byte(mem, p + i - 1, 0x90);
	CHECK(jf_key_enable(&one) == -EILSEQ, "another prefix");
	put_byte(mem, p + i - 1, was);
	/* The result of a uprobe: the first byte as compiled. */
	CHECK(JF_HAVE_TESTS || jf_key_enable(&one) == 0, "before a uprobe");
	put_byte(mem, p + i, JF_HAVE_TESTS ? 0xe9 : 0x0f);
	CHECK((JF_HAVE_TESTS ? jf_key_enable(&one) : jf_key_disable(&one)) == 0 &&
	      branch_alone() == JF_HAVE_TESTS, "after a uprobe");
	CHECK(!JF_HAVE_TESTS || jf_key_disable(&one) == 0, "off");
out:
	CHECK(jf_key_enable(&one) == 0 && branch_alone(), "and now?");
	CHECK(jf_key_disable(&one) == 0, "disable");
	if (mem)
		fclose(mem);
}

#endif
#endif

/* --- first values ------------------------------------------------------------------- */

static DEFINE_JF_KEY_FALSE(odd_off);
static DEFINE_JF_KEY_TRUE(odd_on);
static DEFINE_JF_KEY_TRUE(even);

/* As if another source file had a declaration of its own; the last one leads to a test. */
__attribute__((__noinline__)) static int odd(void)
{
	return jf_branch_unlikely((__JF_KEY_TRUE *)&odd_off) +
	       2 * jf_branch_likely((__JF_KEY_TRUE *)&odd_off) +
	       4 * jf_branch_unlikely((__JF_KEY_FALSE *)&odd_on) +
	       8 * jf_branch_likely((__JF_KEY_FALSE *)&odd_on) +
	       16 * jf_branch_unlikely(&even) + 32 * jf_branch_likely(&even) +
	       64 * jf_branch_unlikely((struct jf_key *)&even);
}

static void first_values(void)
{
	CHECK(odd() == 4 + 8 + 16 + 32 + 64, "at first: %d", odd());
	CHECK(jf_key_enable(&odd_off) == 0 && jf_key_disable(&odd_on) == 0, "a change");
	CHECK(odd() == 1 + 2 + 16 + 32 + 64, "changed: %d", odd());
	CHECK(jf_key_disable(&even) == 0 && odd() == 1 + 2, "the other: %d", odd());
	CHECK(jf_key_disable(&odd_off) == 0 && jf_key_enable(&odd_on) == 0 &&
	      jf_key_enable(&even) == 0, "back");
	CHECK(odd() == 4 + 8 + 16 + 32 + 64, "as at first: %d", odd());
}

/* --- functions ---------------------------------------------------------------------- */

static int here(const char *s) { return s[0]; }
static int circle(const char *s);

DEFINE_DYNFUNC(far_one, here);
DEFINE_DYNFUNC(first, here);
DEFINE_DYNFUNC(second, here);

static int circle(const char *s) { return dynfunc_call(far_one, s) + 1; }

static void functions(void)
{
	/* In another shared object, most of the time out of a jump's reach. */
	CHECK(dynfunc_update(far_one, atoi) == 0, "update");
	CHECK(dynfunc_far_one("42") == 42, "a far target");
	CHECK(dynfunc_query(far_one) == (void *)(uintptr_t)atoi, "query");
	CHECK(dynfunc_update(far_one, here) == 0 && dynfunc_far_one("B") == 'B', "back");
	CHECK(dynfunc_update(far_one, circle) == 0, "a function may call");
	CHECK(dynfunc_update(far_one, here) == 0, "back");

#if JF_HAVE_PATCHING
	CHECK(dynfunc_update(first, dynfunc_first) == -EINVAL, "itself");
	CHECK(dynfunc_update(first, dynfunc_second) == 0, "another trampoline");
	CHECK(dynfunc_update(second, dynfunc_first) == -EINVAL, "a circle");
	CHECK(dynfunc_update(second, circle) == 0 && dynfunc_first("A") == 'B', "a chain");
#else
	/* There is no trampoline: the name stands for the present target. */
	CHECK(dynfunc_update(second, circle) == 0 && dynfunc_update(first, dynfunc_second) == 0 &&
	      dynfunc_update(second, here) == 0 && dynfunc_first("A") == 'B', "a value");
#endif
	CHECK(dynfunc_update(first, here) == 0 && dynfunc_update(second, here) == 0, "back");
}

#if JF_HAVE_PATCHING
#define LINKS(x) x(9, 10) x(8, 9) x(7, 8) x(6, 7) x(5, 6) x(4, 5) x(3, 4) x(2, 3) x(1, 2) x(0, 1)
#define LINK(nr, next)	DEFINE_DYNFUNC(link##nr, here);
#define UPDATE(nr, next)						\
	CHECK(dynfunc_update(link##nr, dynfunc_link##next) == 0, "link " #nr);
#define UNLINK(nr, next)						\
	CHECK(dynfunc_update(link##nr, here) == 0, "link " #nr);
LINKS(LINK)
LINK(10, none)

/* Trampolines that lead to each other. */
static void chain(void)
{
	LINKS(UPDATE)
	CHECK(dynfunc_update(link10, circle) == 0 && dynfunc_link0("A") == 'B', "a chain");
	CHECK(dynfunc_update(link10, dynfunc_link0) == -EINVAL, "a large circle");
	CHECK(dynfunc_update(link10, dynfunc_link5) == -EINVAL, "a smaller one");
	CHECK(dynfunc_link0("A") == 'B', "as before");
	LINKS(UNLINK)
	UNLINK(10, none)
}

#endif

/* A batch may ask for the same more than once. */
static void repeated(void)
{
	struct jf_batch b;
	int n, i, err;

	for (n = 1; n < 6; n++) {
		jf_batch_init(&b);
		for (i = 0; i < n; i++) {
			dynfunc_batch_set(&b, first, circle);
			jf_key_batch_set(&b, &one, true);
			jf_key_batch_set(&b, &two, true);
		}
		err = jf_batch_commit(&b);
		CHECK(err == 0, "the same %d times: %d", n, err);
		CHECK(dynfunc_first("A") == 'B' && jf_branch_unlikely(&one) &&
		      jf_branch_likely(&two), "%d times", n);
		CHECK(dynfunc_update(first, here) == 0 && jf_key_disable(&one) == 0 &&
		      jf_key_disable(&two) == 0 && !jf_branch_unlikely(&one), "back");
	}
}

/* --- call sites ----------------------------------------------------------------------- */

struct large { long a[5]; };

static int more(int x) { return x + 1; }
static int less(int x) { return x - 1; }
static int noted;
static void note(int x) { noted += x; }
static double sum(char a, double b, struct large c, float d, long e, short f, int g, long h, int i)
{
	return a + b + (double)c.a[0] + (double)c.a[4] + (double)d + (double)e + f + g + (double)h + i;
}
static double none_of(char a, double b, struct large c, float d, long e, short f, int g, long h, int i)
{
	return -sum(a, b, c, d, e, f, g, h, i);
}

DEFINE_DYNFUNC(op, more);
DEFINE_DYNFUNC(op2, more);
DEFINE_DYNFUNC_NULL(hook, note);
DEFINE_DYNFUNC_RET0(filter, more);
DEFINE_DYNFUNC(shape, sum);

#define NOINLINE __attribute__((__noinline__)) static

/* A call that ends a function is a jump, if it is compiled so. */
#ifdef __clang__
#define TAIL_CALLS
#else
#define TAIL_CALLS __attribute__((__optimize__("O2")))
#endif

NOINLINE int call_op(int x) { return dynfunc_call(op, x) + 10; }
TAIL_CALLS NOINLINE int call_last(int x) { return dynfunc_call(op, x); }
NOINLINE int call_nested(int x) { return dynfunc_call(op, dynfunc_call(op2, x) + call_op(x)) + 1; }
/* It comes to its call by a jump, over bytes that are no instruction. */
#if JF_HAVE_PATCHING && defined(__x86_64__)
#define JUMPS	__asm__ volatile("jmp 1f\n\t.byte 0x0f, 0x04, 0x0f, 0x04\n1:")
#elif JF_HAVE_PATCHING
#define JUMPS	__asm__ volatile("b 1f\n\t.inst 0\n1:")
#else
#define JUMPS
#endif
NOINLINE int call_jumping(int x) { return dynfunc_call(op, __extension__ ({ JUMPS; x + 1; })) + 10; }
NOINLINE int call_hook(int x) { dynfunc_call(hook, x); return noted; }
NOINLINE int call_filter(int x) { return dynfunc_call(filter, x) + 10; }
NOINLINE double call_shape(struct large *l)
{
	return dynfunc_call(shape, 1, 2, *l, 4, 5, 6, 7, 8, 9) + 0.5;
}
/* Nothing but the call: a function that a compiler takes for a leaf could use the red zone. */
NOINLINE int call_beside(int x)
{
	volatile int a[4] = { x, x + 1, x + 2, x + 3 };
	int got = dynfunc_call(op, x);

	return got + a[0] + a[1] + a[2] + a[3];
}

/* By so many MiB, up to 256, the heap can grow. */
static int heap_room(void)
{
	int i;

	for (i = 0; i < 256 && sbrk(1 << 20) != (void *)-1; i++)
		;
	sbrk(-((intptr_t)i << 20));
	return i;
}

/* Relays and images are not in the heap's way, which had room for @before MiB without them. */
static void heap_grows(int before)
{
	int i = heap_room();
	char line[256];
	FILE *maps;

	CHECK(i >= before, "no memory after %d MiB of heap at %p, before: %d", i, sbrk(0), before);
	if (i >= before)
		return;
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		printf("# %s", line);
	if (maps)
		fclose(maps);
}

#if JF_HAVE_PATCHING && defined(__x86_64__)
/* True if one of its calls, or a jump at its end, leads there. */
static bool calls(const void *func, const void *to)
{
	const uint8_t *p = func;
	int32_t disp;
	int i;

	for (i = 0; i < 512; i++) {
		memcpy(&disp, p + i + 1, sizeof(disp));
		if ((p[i] == 0xe8 || p[i] == 0xe9) && p + i + 5 + disp == (const uint8_t *)to)
			return true;
	}
	return false;
}

static bool holds(const void *func, const char *insn)
{
	const char *p = func;
	int i;

	for (i = 0; i < 96; i++)
		if (!memcmp(p + i, insn, 5))
			return true;
	return false;
}

#define CALLS(func, to)							\
	CHECK(calls((void *)(uintptr_t)(func), (void *)(uintptr_t)(to)), #func " does not call " #to)

/*
 * True if memory can become executable. Under a filter it cannot, and there are no relays. Nor are
 * there in a program that is not PIE: all that calls reach is left to the heap.
 */
static bool has_relays(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || (uintptr_t)has_relays < 32UL << 20)
		return false;
	munmap(p, size);
	return true;
}

/* A second change between two targets takes no broadcast for relays. */
static void same_relays(void)
{
	uint64_t syncs;
	int i;

	CHECK(dynfunc_update(op, less) == 0 && dynfunc_update(op, more) == 0, "there and back");
	for (i = 0; i < 4; i++) {
		syncs = stats().syncs;
		CHECK(dynfunc_update(op, i & 1 ? more : less) == 0, "once more");
		CHECK(stats().syncs - syncs == 3, "%llu broadcasts", (unsigned long long)(stats().syncs - syncs));
		CHECK(call_op(1) == (i & 1 ? 12 : 10), "the other target");
	}
}

static void call_text(int room)
{
	bool int3 = patches() && !strcmp(stats().form, "int3");
	bool inplace = patches() && (int3 || has_relays());
	uint64_t away;

	CHECK(!int3 || stats().trampolined == 0, "%llu calls were not found",
	      (unsigned long long)stats().trampolined);
	if (int3) {
		CALLS(call_op, more);
		CALLS(call_last, more);
		CALLS(call_nested, more);
		CALLS(call_jumping, more);
		CALLS(call_shape, sum);
		CHECK(holds((void *)(uintptr_t)call_hook, "\x0f\x1f\x44\x00\x00"), "no nop");
		CHECK(holds((void *)(uintptr_t)call_filter, "\x2e\x2e\x2e\x31\xc0"), "no 0");
	} else {
		CALLS(call_op, dynfunc_op);
		CALLS(call_shape, dynfunc_shape);
		CALLS(call_hook, dynfunc_hook);
	}
	CHECK(dynfunc_update(op, less) == 0 && dynfunc_update(hook, note) == 0 &&
	      dynfunc_update(filter, less) == 0, "update");
	if (inplace) {
		CALLS(call_op, less);
		CALLS(call_last, less);
		CALLS(call_hook, note);
		CALLS(call_filter, less);
		CHECK(!calls((void *)(uintptr_t)call_op, (void *)(uintptr_t)dynfunc_op),
		      "still the trampoline");
	}
	away = stats().trampolined;
	/* Out of reach, mostly. */
	CHECK(dynfunc_update(op, abs) == 0 && call_op(-3) == 13 && call_last(-4) == 4, "far");
	if (inplace && !int3) {
		bool far = calls((void *)(uintptr_t)call_op, (void *)(uintptr_t)dynfunc_op);

		CHECK(stats().trampolined >= away + far, "a call that is not in place, and not counted");
		CHECK(dynfunc_update(op, more) == 0, "near");
		CALLS(call_op, more);
		CALLS(call_last, more);
		CHECK(stats().trampolined == away, "a call that is in place, and counted");
		same_relays();
	}
	heap_grows(room);
	CHECK(dynfunc_update(op, more) == 0 && dynfunc_update(hook, NULL) == 0 &&
	      dynfunc_update(filter, NULL) == 0, "back");
}

#endif

static void call_results(void)
{
	struct large l = { { 100, 0, 0, 0, 1000 } };

	CHECK(call_op(1) == 12 && call_last(1) == 2 && call_beside(1) == 12, "as defined");
	CHECK(call_jumping(1) == 13, "by a jump: %d", call_jumping(1));
	CHECK(call_nested(1) == 2 + 12 + 1 + 1, "nested: %d", call_nested(1));
	noted = 0;
	CHECK(call_hook(5) == 0 && call_filter(5) == 10, "NULL");
	CHECK(call_shape(&l) == 1 + 2 + 1100 + 4 + 5 + 6 + 7 + 8 + 9 + 0.5, "nine arguments");
	CHECK(dynfunc_update(op, less) == 0 && dynfunc_update(hook, note) == 0 &&
	      dynfunc_update(filter, less) == 0 && dynfunc_update(shape, none_of) == 0, "update");
	CHECK(call_op(1) == 10 && call_last(1) == 0 && call_beside(1) == 10, "updated");
	CHECK(call_hook(5) == 5 && call_filter(5) == 14, "no longer NULL");
	CHECK(call_shape(&l) == -1142 + 0.5, "nine arguments");
	CHECK(dynfunc_update(op, more) == 0 && dynfunc_update(hook, NULL) == 0 &&
	      dynfunc_update(filter, NULL) == 0 && dynfunc_update(shape, sum) == 0, "back");
	CHECK(call_op(1) == 12 && call_hook(5) == 5 && call_filter(5) == 10, "NULL again");
}

/* --- tracepoints ---------------------------------------------------------------------- */

DECLARE_JF_TRACE(five, JF_PROTO(int *p, long a, char b, short c, unsigned long d),
		 JF_ARGS(p, a, b, c, d));
DEFINE_JF_TRACE(five);
DECLARE_JF_TRACE(seven, JF_PROTO(int a, int b, int c, int d, int e, int f, long g),
		 JF_ARGS(a, b, c, d, e, f, g));
DEFINE_JF_TRACE(seven);
DECLARE_JF_TRACE_NOARGS(none);
DEFINE_JF_TRACE(none);

#define PROBES	18

static struct {
	int order[64];
	unsigned int nr;
} log_;

static void probe(void *data, int *p, long a, char b, short c, unsigned long d)
{
	CHECK(*p == 7 && a == -5 && b == 'x' && c == -3 && d == ~0UL, "arguments");
	if (log_.nr < 64)
		log_.order[log_.nr++] = *(int *)data;
}

static void probe7(void *data, int a, int b, int c, int d, int e, int f, long g)
{
	CHECK(a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7,
	      "arguments");
	++*(int *)data;
}

static void probe0(void *data)
{
	++*(int *)data;
}

static int called(unsigned int nr)
{
	int p = 7;

	log_.nr = 0;
	jf_trace_five(&p, -5, 'x', -3, ~0UL);
	return log_.nr == nr;
}

static void tracepoints(void)
{
	int data[PROBES], i, j;

	CHECK(called(0) && !jf_trace_five_enabled(), "none");
	for (i = 0; i < PROBES; i++) {
		data[i] = i;
		CHECK(register_jf_trace_five(probe, &data[i]) == 0, "register %d", i);
		CHECK(register_jf_trace_five(probe, &data[i]) == -EEXIST, "twice");
		CHECK(called((unsigned int)i + 1), "%u calls at %d", log_.nr, i);
		for (j = 0; j <= i; j++)
			CHECK(log_.order[j] == j, "order");
	}
	CHECK(jf_trace_five_enabled(), "enabled");
	/* The even ones first. */
	for (i = 0; i < PROBES; i++) {
		int k = i < PROBES / 2 ? 2 * i : 2 * (i - PROBES / 2) + 1;

		CHECK(unregister_jf_trace_five(probe, &data[k]) == 0, "unregister %d", k);
		CHECK(unregister_jf_trace_five(probe, &data[k]) == -ENOENT, "twice");
		CHECK(called((unsigned int)(PROBES - 1 - i)), "%u calls at %d", log_.nr, i);
	}
	jf_quiesce();
	CHECK(!jf_trace_five_enabled(), "disabled");
	/* Where sites change before values do, a thread may come by with what is there now. */
	CHECK(!__jf_trace_five.active, "the iterator would walk an array that is freed");
}

static void priorities(void)
{
	static const int prio[] = { 10, 30, 20, 30, 10 }, order[] = { 1, 3, 2, 0, 4 };
	int data[5], i;

	for (i = 0; i < 5; i++) {
		data[i] = i;
		CHECK(register_jf_trace_prio_five(probe, &data[i], prio[i]) == 0, "register");
	}
	CHECK(called(5), "five");
	for (i = 0; i < 5; i++)
		CHECK(log_.order[i] == order[i], "%d: %d", i, log_.order[i]);
	for (i = 0; i < 5; i++)
		CHECK(unregister_jf_trace_five(probe, &data[i]) == 0, "unregister");
}

static int evaluated(int *n)
{
	return ++*n;
}

static void other_shapes(void)
{
	int n[3] = { 0 }, i, args = 0;

	for (i = 0; i < 3; i++)
		CHECK(register_jf_trace_seven(probe7, &n[i]) == 0, "register");
	jf_trace_seven(1, 2, 3, 4, 5, 6, 7);
	CHECK(n[0] == 1 && n[1] == 1 && n[2] == 1, "on the stack");
	for (i = 0; i < 3; i++)
		CHECK(unregister_jf_trace_seven(probe7, &n[i]) == 0, "unregister");
	CHECK(!__jf_trace_seven.active, "an array that is freed");
	jf_trace_seven(0, 0, 0, 0, 0, 0, 0);

	jf_trace(seven, evaluated(&args), 2, 3, 4, 5, 6, 7);
	CHECK(args == 0, "arguments are evaluated while off");
	CHECK(register_jf_trace_none(probe0, &n[0]) == 0, "register");
	jf_trace_none();
	CHECK(n[0] == 2, "no arguments");
	CHECK(register_jf_trace_none(probe0, &n[1]) == 0, "register");
	jf_trace_none();
	CHECK(n[0] == 3 && n[1] == 2, "no arguments, two probes");
	CHECK(unregister_jf_trace_none(probe0, &n[0]) == 0 &&
	      unregister_jf_trace_none(probe0, &n[1]) == 0, "unregister");
	CHECK(__jf_trace_register(&__jf_trace_none, NULL, NULL, 0) == -EINVAL, "no probe");
}

/* --- sections ------------------------------------------------------------------------- */

static _Atomic int stage;

static void *reader(void *arg)
{
	(void)arg;
	jf_read_lock();
	jf_read_lock();
	jf_read_unlock();
	stage = 1;
	while (stage != 2)
		;
	stage = 3;
	jf_read_unlock();
	return NULL;
}

/* Its stack is too large to be kept: its content goes with the thread. */
static void *short_lived(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	return arg;
}

/* It ends in a section, which has to be over then. */
static void *cut_short(void *arg)
{
	jf_read_lock();
	return arg;
}

extern void __tsan_acquire(void *addr) __attribute__((__weak__));
static pthread_key_t late;

/*
 * The same after the library's last destructor: the library is not told of its end. Nor does
 * ThreadSanitizer know the thread any more then.
 */
static void cut_late(void *arg)
{
	uintptr_t round = (uintptr_t)arg;

	if (round == PTHREAD_DESTRUCTOR_ITERATIONS)
		jf_read_lock();
	else
		pthread_setspecific(late, (void *)(round + 1));
}

static void *ends_late(void *arg)
{
	pthread_setspecific(late, (void *)1);
	return arg;
}

static void cut(void *(*thread)(void *))
{
	pthread_t t;

	must(-pthread_create(&t, NULL, thread, NULL), "a thread");
	pthread_join(t, NULL);
	CHECK(jf_quiesce_timeout(5000) == 0, "a thread that ended in a section is waited for");
}

static void ended_threads(void)
{
	pthread_attr_t attr;
	pthread_t t;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 96UL << 20);
	for (i = 0; i < 4; i++) {
		must(-pthread_create(&t, &attr, short_lived, NULL), "a thread");
		pthread_join(t, NULL);
		jf_quiesce();
	}
	pthread_attr_destroy(&attr);
	CHECK(i == 4, "all of them ended");
	cut(cut_short);
	if (!__tsan_acquire) {
		must(-pthread_key_create(&late, cut_late), "a key");
		cut(ends_late);
		pthread_key_delete(late);
	}
}

static void sections(void)
{
	pthread_t t;

	must(-pthread_create(&t, NULL, reader, NULL), "a thread");
	while (stage != 1)
		;
	CHECK(jf_quiesce_timeout(20) == -ETIMEDOUT, "the reader was not waited for");
	CHECK(jf_quiesce_timeout(0) == -ETIMEDOUT, "a look");
	stage = 2;
	jf_quiesce();
	pthread_join(t, NULL);
	CHECK(stage == 3, "quiesce");
	CHECK(jf_quiesce_timeout(0) == 0, "no thread is left");
	/* The caller's own section is not looked at. */
	jf_read_lock();
	jf_quiesce();
	jf_read_unlock();
}

struct object {
	int number;
	struct jf_quiesce_head head;
};

static int order[4], nr_called;

static void called_back(struct jf_quiesce_head *head)
{
	struct object *o = (struct object *)((char *)head - offsetof(struct object, head));

	if (nr_called < 4)
		order[nr_called] = o->number;
	nr_called++;
	CHECK(stage == 3, "a section is not over");
}

static void callbacks(void)
{
	struct object o[3];
	pthread_t t;
	int i;

	stage = 0;
	must(-pthread_create(&t, NULL, reader, NULL), "a thread");
	while (stage != 1)
		;
	for (i = 0; i < 3; i++) {
		o[i].number = i;
		jf_call_quiesced(&o[i].head, called_back);
	}
	usleep(20000);
	CHECK(nr_called == 0, "called while a section goes on");
	stage = 2;
	pthread_join(t, NULL);
	jf_quiesce_barrier();
	CHECK(nr_called == 3 && order[0] == 0 && order[1] == 1 && order[2] == 2, "the order");
	jf_quiesce_barrier();
}

/* --- SIGTRAP ------------------------------------------------------------------------- */

static volatile sig_atomic_t theirs;

static void their_handler(int sig)
{
	(void)sig;
	theirs++;
}

#if JF_HAVE_PATCHING && defined(__x86_64__)
static struct sigaction theirs_before;
static volatile sig_atomic_t chained;

/* One that passes unknown breakpoints on: to us. */
static void chaining_handler(int sig, siginfo_t *info, void *context)
{
	chained++;
	if (chained < 100 && theirs_before.sa_flags & SA_SIGINFO)
		theirs_before.sa_sigaction(sig, info, context);
}

/* In text of ours, with a byte before it that is no breakpoint. */
static void signal_here(void)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a" (ret)
			 : "a" (SYS_tgkill), "D" (getpid()), "S" (syscall(SYS_gettid)),
			   "d" (SIGTRAP)
			 : "rcx", "r11", "memory");
	CHECK(ret == 0, "tgkill");
}

/* The program has handlers of its own before, between and after changes. */
static void sigtrap(void)
{
	struct sigaction a, now;
	int i;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = chaining_handler;
	a.sa_flags = SA_SIGINFO;
	must(sigaction(SIGTRAP, &a, &theirs_before) ? -errno : 0, "sigaction");
	theirs = 0;
	CHECK(jf_key_enable(&one) == 0 && branch_alone(), "enable");
	CHECK(jf_key_disable(&one) == 0 && !branch_alone(), "disable");
	if (patches() && strcmp(stats().form, "flip")) {
		sigaction(SIGTRAP, NULL, &now);
		CHECK(now.sa_sigaction != chaining_handler, "it is still in front");
	}
	signal_here();
	CHECK(chained == 1, "their signal came %d times", (int)chained);
	__asm__ volatile("int3");
	CHECK(chained == 2, "their breakpoint came %d times", (int)(chained - 1));
	/* Again and again. */
	for (i = 0; i < 40; i++) {
		must(sigaction(SIGTRAP, &a, NULL) ? -errno : 0, "sigaction");
		CHECK(jf_key_enable(&one) == 0 && jf_key_disable(&one) == 0, "round %d", i);
	}
	/* It passes on to us, and we to the one before. */
	if (theirs_before.sa_flags & SA_SIGINFO)
		CHECK(theirs == 2, "the first one was called %d times", (int)theirs);
}
#endif

static void keys_and_functions(int room)
{
	(void)room;
	unsigned int n;

	n = jf_table_keys(table_fail);
	CHECK(n > 1000, "only %u comparisons", n);
	finish("keys: the table that kernels are tested by, too");
	n = jf_table_funcs(table_fail);
	CHECK(n > 50, "only %u comparisons", n);
	finish("dynamic functions: the same");
	key_edges();
	finish("keys: edges");
	key_of_nobody();
	finish("keys: of no table");
	transactions();
	text();
	finish("what stands at a site");
#if JF_HAVE_PATCHING
	foreign_byte();
	finish("what another writer wrote is left alone");
#endif
	first_values();
	finish("keys: what they start with");
	functions();
#if JF_HAVE_PATCHING
	chain();
#endif
	finish("dynamic functions: far targets, circles, many in a row");
	repeated();
	finish("batches: the same several times");
#if JF_HAVE_PATCHING && defined(__x86_64__)
	call_text(room);
	finish("calls lead straight to their targets");
#endif
	call_results();
	finish("calls of all shapes");
}

int main(int argc, char **argv)
{
	bool signals = signal(SIGTRAP, their_handler) != SIG_ERR;
	int room = heap_room();

	keys_and_functions(room);
	tracepoints();
	finish("tracepoints: 0 to 18 probes and back");
	priorities();
	finish("tracepoints: priorities");
	other_shapes();
	finish("tracepoints: none and many arguments");
	sections();
	finish("quiesce waits for sections, and for nothing else");
	ended_threads();
	finish("threads that have ended");
	callbacks();
	finish("callbacks");
	if (signals) {
		raise(SIGTRAP);
		CHECK(theirs == 1, "the handler that was there before");
#if JF_HAVE_PATCHING && defined(__x86_64__)
		sigtrap();
#endif
	}
	CHECK(signals || argc == 4, "signal()");
	finish("SIGTRAPs of others go where they belong");
	no_wx();
	finish("nothing is writable and executable");
	if (argc >= 3) {
		CHECK(!strcmp(stats().writer, argv[1]), "the writer is %s", stats().writer);
		CHECK(!strcmp(stats().form, argv[2]), "the form is %s", stats().form);
		CHECK(stats().refused == 0, "an object was refused");
		finish("the writer that was expected");
	}
	heap_grows(room);
	finish("the heap can grow");
	return tap_end();
}
