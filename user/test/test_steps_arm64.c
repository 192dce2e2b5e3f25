// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A transaction on aarch64 (lib/arm64/patch.c) that fails at each of its steps: in which order
 * text is written and threads are synchronised, and the instruction of each site afterwards.
 *
 * It is linked with the library's objects, whose calls of jf_writer_write(), jf_sync_cores() and
 * syscall() come here first (--wrap). With -DPLUGIN it is the shared object that is closed.
 *
 * usage: test_steps_arm64 PLUGIN
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef PLUGIN
#include <jumpfunc/branch.h>

/* So that it has tables. */
static DEFINE_JF_KEY_FALSE(own);

int plugin_twice(int x);
int plugin_thrice(int x);
void plugin_closes(void);

int plugin_twice(int x)
{
	return 2 * x + jf_branch_unlikely(&own);
}

int plugin_thrice(int x)
{
	return 3 * x;
}

/* As dlclose() does it, but its data are still there to be looked at. */
void plugin_closes(void)
{
	__jf_object_unregister(&__jf_object);
}
#else
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#include "tap.h"

#define SITES	6
#define BRK	0xd4200000U
#define NOP	0xd503201fU

static DEFINE_JF_KEY_FALSE(key);

/* One site each: a compiler makes several of one where others are near. */
#define ONE(n)								\
static __attribute__((__noinline__)) int taken##n(void)			\
{									\
	return jf_branch_unlikely(&key);				\
}
ONE(0)
ONE(1)
ONE(2)
ONE(3)
ONE(4)
ONE(5)

/* How many branches are taken. */
static int count(void)
{
	return taken0() + taken1() + taken2() + taken3() + taken4() + taken5();
}

/* --- failures -------------------------------------------------------------------- */

int __real_jf_writer_write(uintptr_t addr, const void *bytes, size_t num);
int __wrap_jf_writer_write(uintptr_t addr, const void *bytes, size_t num);
bool __real_jf_sync_cores(void);
bool __wrap_jf_sync_cores(void);

/*
 * Bit n: the write, or the broadcast, of that number, from 0, since begin(). Writes that are lost
 * are said to have been done. No thread but this one is there, so a broadcast that fails has no
 * effect.
 */
static struct {
	uint64_t no_write, lost;
	unsigned int no_sync;
	int err;
} fail;

/* A letter for each: W, and B for a broadcast. */
static char done[128];
static unsigned int writes, syncs;
static uintptr_t at[128];

static void note(char what)
{
	size_t end = strlen(done);

	if (end < sizeof(done) - 1)
		done[end] = what;
}

int __wrap_jf_writer_write(uintptr_t addr, const void *bytes, size_t num)
{
	unsigned int n = writes++;

	note('W');
	CHECK(num == 4 && addr % 4 == 0, "%zu bytes at %#lx", num, (unsigned long)addr);
	if (n < sizeof(at) / sizeof(at[0]))
		at[n] = addr;
	if (n < 64 && fail.no_write >> n & 1)
		return fail.err;
	if (n < 64 && fail.lost >> n & 1)
		return 0;
	return __real_jf_writer_write(addr, bytes, num);
}

bool __wrap_jf_sync_cores(void)
{
	bool fails = syncs < 32 && fail.no_sync >> syncs & 1;

	syncs++;
	note('B');
	return !fails && __real_jf_sync_cores();
}

static unsigned int seals;

/* mseal(), which emulators and older kernels do not have, is said to have been done. */
long __real_syscall(long nr, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	const long mseal = 462;

	if (nr != mseal)
		return __real_syscall(nr, a, b, c, d, e, f);
	seals++;
	return 0;
}

static void begin(void)
{
	memset(&fail, 0, sizeof(fail));
	memset(done, 0, sizeof(done));
	writes = 0;
	syncs = 0;
}

/* --- text of sites ---------------------------------------------------------------- */

static uintptr_t site[SITES];
static uint32_t off[SITES], on[SITES];

static uint32_t text(unsigned int i)
{
	return *(const volatile uint32_t *)site[i];
}

static void text_set(unsigned int i, uint32_t insn)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)(site[i] & ~(page - 1));

	must(mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC) ? -errno : 0, "mprotect");
	*(volatile uint32_t *)site[i] = insn;
	__builtin___clear_cache((char *)site[i], (char *)site[i] + 4);
	must(mprotect(start, page, PROT_READ | PROT_EXEC) ? -errno : 0, "mprotect");
}

/* All of them have the expected instruction, but @but. */
static void expect(const uint32_t *want, unsigned int but, uint32_t word)
{
	unsigned int i;

	for (i = 0; i < SITES; i++)
		CHECK(text(i) == (i == but ? word : want[i]), "site %u has %08x", i, text(i));
}

static void expect_off(void)
{
	expect(off, SITES, 0);
	CHECK(!count(), "%d branches are taken", count());
	CHECK(!jf_key_enabled(&key), "the key is on");
}

static void expect_on(void)
{
	expect(on, SITES, 0);
	CHECK(count() == SITES, "%d branches are taken", count());
	CHECK(jf_key_enabled(&key), "the key is off");
}

/* Nothing fails any more: the next changes go through, whatever was left. */
static void recovers(void)
{
	int err;

	begin();
	err = jf_key_enable(&key);
	CHECK(!err, "on: %s", strerror(-err));
	expect_on();
	err = jf_key_disable(&key);
	CHECK(!err, "off: %s", strerror(-err));
	expect_off();
}

/* B, @there writes, @back writes, B. */
static void expect_done(unsigned int there, unsigned int back)
{
	char want[sizeof(done)] = "B";

	memset(want + 1, 'W', there + back);
	want[1 + there + back] = 'B';
	CHECK(!strcmp(done, want), "%s, not %s", done, want);
}

/* --- tests -------------------------------------------------------------------------- */

static void order(void)
{
	unsigned int i, j;

	begin();
	must(jf_key_enable(&key), "a key");
	CHECK(writes == SITES, "%u writes", writes);
	expect_done(SITES, 0);
	for (i = 0; i < SITES; i++) {
		site[i] = at[i];
		on[i] = text(i);
		for (j = 0; j < i; j++)
			CHECK(at[j] < at[i], "not by address");
	}
	must(jf_key_disable(&key), "a key");
	for (i = 0; i < SITES; i++)
		off[i] = text(i);
	expect_off();
	must(jf_key_enable(&key), "a key");
	expect_on();
	must(jf_key_disable(&key), "a key");
	finish("a broadcast, each site once, a broadcast");
}

uint64_t jf_replacements(void);

static void write_fails(void)
{
	static const struct { int err, want; } how[] = {
		{ -ENOMEM, -ENOMEM }, { -EPERM, -EOPNOTSUPP }, { -EIO, -EOPNOTSUPP },
	};
	uint64_t replaced;
	unsigned int i, k;
	int err;

	for (i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		for (k = 0; k < SITES; k++) {
			begin();
			fail.err = how[i].err;
			fail.no_write = 1ULL << k;
			replaced = jf_replacements();
			err = jf_key_enable(&key);
			CHECK(err == how[i].want, "write %u: %s", k, strerror(-err));
			/*
			 * A thread can be in a former target: the object that has the target is
			 * waited for.
			 */
			CHECK(jf_replacements() > replaced, "nothing counts as replaced");
			/* How much of the last one was written is not known. */
			expect_done(k + 1, k + 1);
			expect_off();
			recovers();
		}
	}
	finish("a write fails: nothing is changed");
}

/* The first and the second attempt to store the old instruction fail, too. */
static void back_at_last(void)
{
	int err;

	begin();
	fail.err = -ENOMEM;
	fail.no_write = 7ULL << 3;
	err = jf_key_enable(&key);
	CHECK(err == -ENOMEM, "%s", strerror(-err));
	expect_done(4, 4 + 2);
	expect_off();
	recovers();
	finish("the third attempt to take a site back succeeds");
}

/* ... and no later one, either: a site that holds its old instruction needs none. */
static void all_writes_fail(void)
{
	int err;

	begin();
	fail.err = -EPERM;
	fail.no_write = ~0ULL;
	err = jf_key_enable(&key);
	CHECK(err == -EOPNOTSUPP, "%s", strerror(-err));
	expect_done(1, 3);
	expect_off();
	recovers();

	/* The second write fails as well, after the first one has been taken back. */
	begin();
	fail.err = -ENOMEM;
	fail.no_write = ~0ULL & ~1ULL & ~(1ULL << 2);
	err = jf_key_enable(&key);
	CHECK(err == -ENOMEM, "%s", strerror(-err));
	expect_done(2, 1 + 3);
	expect_off();
	recovers();
	finish("a write fails, and cannot be repeated: nothing is changed");
}

static void stays(void)
{
	unsigned int j;
	int err;

	for (j = 0; j < 3; j++) {
		begin();
		fail.err = -EPERM;
		/* Sites 0 to 2 are changed, 3 fails; j cannot be taken back. */
		fail.no_write = 1ULL << 3 | 7ULL << (4 + j);
		err = jf_key_enable(&key);
		CHECK(err == -EIO, "%s", strerror(-err));
		expect_done(4, 4 + 2);
		expect(off, j, on[j]);
		/* The value counts as set. */
		CHECK(jf_key_enabled(&key), "the key is off");
		begin();
		err = jf_key_disable(&key);
		CHECK(!err, "%s", strerror(-err));
		expect_off();
		recovers();
	}
	finish("a site cannot be taken back: -EIO, and the next change does it");
}

static void sync_fails(void)
{
	int err;

	begin();
	fail.no_sync = 1;
	err = jf_key_enable(&key);
	CHECK(err == -EOPNOTSUPP, "%s", strerror(-err));
	CHECK(!strcmp(done, "B"), "%s", done);
	expect_off();
	recovers();
	finish("the first broadcast fails: nothing is written");

	begin();
	fail.err = -EPERM;
	fail.no_write = 1ULL << 2;
	fail.no_sync = 2;
	err = jf_key_enable(&key);
	CHECK(err == -EIO, "%s", strerror(-err));
	expect(off, SITES, 0);
	recovers();
	finish("the broadcast after taking back fails: -EIO");

	begin();
	fail.no_sync = 2;
	err = jf_key_enable(&key);
	CHECK(!err, "%s", strerror(-err));
	expect_on();
	must(jf_key_disable(&key), "a key");
	recovers();
	finish("the last broadcast fails: the change is made");
}

static void lost(void)
{
	unsigned int k;
	int err;

	for (k = 0; k < SITES; k++) {
		begin();
		fail.lost = 1ULL << k;
		err = jf_key_enable(&key);
		CHECK(err == -EIO, "write %u: %s", k, strerror(-err));
		expect(on, k, off[k]);
		begin();
		err = jf_key_disable(&key);
		CHECK(!err, "%s", strerror(-err));
		recovers();
	}
	finish("a site does not hold what was written: -EIO, and the next change does it");
}

static void others(void)
{
	unsigned int k;
	int err;

	for (k = 0; k < SITES; k++) {
		text_set(k, BRK);
		begin();
		err = jf_key_enable(&key);
		CHECK(err == -EBUSY, "%s", strerror(-err));
		CHECK(!writes, "%u writes", writes);
		expect(off, k, BRK);
		text_set(k, 0x91000000);	/* add x0, x0, #0 */
		err = jf_key_enable(&key);
		CHECK(err == -EILSEQ, "%s", strerror(-err));
		CHECK(!writes, "%u writes", writes);
		expect(off, k, 0x91000000);
		text_set(k, off[k]);
		recovers();
	}
	finish("what another writer has changed is refused, and stays");
}

/* --- an object is closed -------------------------------------------------------------- */

static int once(int x) { return x; }
DEFINE_DYNFUNC(first, once);
DEFINE_DYNFUNC(second, once);
static __attribute__((__noinline__)) int call_first(int x) { return dynfunc_first(x) + 0 * x; }
static __attribute__((__noinline__)) int call_second(int x) { return dynfunc_second(x) + 0 * x; }

static struct {
	int (*twice)(int x), (*thrice)(int x);
	void (*closes)(void);
} plugin;

static void *plugin_symbol(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	must(found ? 0 : -ENOENT, name);
	return found;
}

/*
 * Two functions lead into it. As it may be closed, they do by their pointers, for which text was
 * written.
 */
static void plugin_open(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle)
		printf("# %s\n", dlerror());
	must(handle ? 0 : -ENOENT, path);
	plugin.twice = (int (*)(int))(uintptr_t)plugin_symbol(handle, "plugin_twice");
	plugin.thrice = (int (*)(int))(uintptr_t)plugin_symbol(handle, "plugin_thrice");
	plugin.closes = (void (*)(void))(uintptr_t)plugin_symbol(handle, "plugin_closes");
	begin();
	must(dynfunc_update(first, plugin.twice), "a function");
	must(dynfunc_update(second, plugin.thrice), "a function");
	CHECK(writes == 2, "%u writes", writes);
	CHECK(call_first(5) == 10 && call_second(5) == 15, "%d %d", call_first(5), call_second(5));
	begin();
}

/* Nothing leads there any more, and so it has not to stay, whatever stands at the sites. */
static void closes(const char *want)
{
	seals = 0;
	plugin.closes();
	CHECK(!strcmp(done, want), "%s, not %s", done, want);
	CHECK(call_first(5) == 5 && call_second(5) == 5, "%d %d", call_first(5), call_second(5));
	CHECK(!seals, "it stays");
	begin();
	must(dynfunc_update(first, once), "a function");
	CHECK(call_first(5) == 5 && call_second(5) == 5, "%d %d", call_first(5), call_second(5));
}

static void closed_whole(void)
{
	closes("BWWB");
}

/*
 * One is written, and then nothing can be any more: it is not taken back, and the other one stays.
 */
static void closed_half(void)
{
	fail.err = -EPERM;
	fail.no_write = ~1ULL;
	closes("BWWWWWWWWB");
}

static void closed_lost(void)
{
	fail.lost = 3;
	closes("BWWB");
}

/* Both are as they were, but that is not known of all cores. */
static void closed_unheard(void)
{
	fail.err = -EPERM;
	fail.no_write = 2;
	fail.no_sync = 2;
	closes("BWWWWB");
}

/* Before it is closed, to other values than they lead to. */
static void closed_after(void)
{
	struct jf_batch b;
	int err;

	fail.err = -EPERM;
	fail.no_write = ~1ULL;
	jf_batch_init(&b);
	dynfunc_batch_set(&b, first, once);
	dynfunc_batch_set(&b, second, once);
	err = jf_batch_commit(&b);
	CHECK(err == -EIO, "%s", strerror(-err));
	CHECK(call_first(5) == 5 && call_second(5) == 5, "%d %d", call_first(5), call_second(5));
	memset(done, 0, sizeof(done));
	closes("");
}

/* A process for each: a failure would disturb the others. */
static void closed(const char *path, void (*how)(void), const char *name)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		plugin_open(path);
		how();
		fflush(stdout);
		_exit(failures_here ? 1 : 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "status %#x", status);
	finish(name);
}

int main(int argc, char **argv)
{
	must(argc > 1 ? 0 : -EINVAL, "usage: test_steps_arm64 PLUGIN");
	order();
	write_fails();
	all_writes_fail();
	back_at_last();
	sync_fails();
	stays();
	lost();
	others();
	closed(argv[1], closed_whole, "an object is closed: what leads there falls back");
	closed(argv[1], closed_half, "... also where text cannot be written to the end");
	closed(argv[1], closed_lost, "... or does not hold what was written");
	closed(argv[1], closed_unheard, "... or the broadcast after taking back fails");
	closed(argv[1], closed_after, "... or that was so before");
	return tap_status();
}
#endif /* PLUGIN */
