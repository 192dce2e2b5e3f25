// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A tracer has a uprobe on the first instruction of a function, which is a branch, while its
 * key changes, and takes it away. Then the kernel gives back the first byte that the file
 * has. The program does so itself, and, where there are uprobes, has the kernel do it. Each
 * case has a process of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "again.h"

DEFINE_JF_KEY_FALSE(key);

static int zero(void) { return 0; }
static int unity(void) { return 1; }
DEFINE_DYNFUNC(number, zero);

#define ENTRY	__attribute__((__noinline__, __noclone__, __aligned__(64)))

/* No more than that: the compiler has nothing to put before the branch. */
ENTRY int begins(void);
ENTRY int begins(void)
{
	return jf_branch_unlikely(&key);
}

/* One that a tracer can have. */
ENTRY __attribute__((__patchable_function_entry__(1))) int follows(void);
ENTRY __attribute__((__patchable_function_entry__(1))) int follows(void)
{
	return jf_branch_unlikely(&key);
}

/* A call is all that it does, perhaps in a frame. */
ENTRY int calls(void);
ENTRY int calls(void)
{
	return dynfunc_call(number) + 2;
}

static int mem;

static unsigned char *entry(int (*f)(void))
{
	unsigned char *at = (unsigned char *)(unsigned long)f;

	/* endbr64 */
	return memcmp(at, "\xf3\x0f\x1e\xfa", 4) ? at : at + 4;
}

static void put(unsigned char *at, unsigned char byte)
{
	MUST(pwrite(mem, &byte, 1, (off_t)(unsigned long)at) == 1, "%m");
}

static int set(int on)
{
	return on ? jf_key_enable(&key) : jf_key_disable(&key);
}

static void must_be(int on)
{
	MUST(jf_key_enabled(&key) == on, "the value");
	MUST(begins() == on && follows() == on, "%d, %d", begins(), follows());
}

/* A breakpoint comes when the key is @on, and the file's byte goes. */
static void comes_and_goes(int on)
{
	unsigned char *at = entry(begins), linked = *at;

	MUST(!set(on), "before");
	put(at, 0xcc);
	MUST(set(!on) == -EBUSY && jf_key_enabled(&key) == on, "changed under a breakpoint");
	put(at, linked);
	must_be(on);
	MUST(!set(!on), "after");
	must_be(!on);
	MUST(!set(on), "again");
	must_be(on);
}

/* The same at the byte that changes: no thread executes the bytes that are left then. */
static void torn(int on)
{
	unsigned char *at = entry(begins), linked;

	while (*at != 0x0f && *at != 0xe9)
		at++;
	linked = *at;
	MUST(!set(on), "before");
	put(at, 0xcc);
	MUST(set(!on) == -EBUSY, "changed under a breakpoint");
	put(at, linked);
	MUST(!set(!on), "what is left is not repaired");
	must_be(!on);
	MUST(!set(on), "again");
	must_be(on);
}

static unsigned long offset(const void *p)
{
	unsigned long at = (unsigned long)p, from, to, off, found = 0;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &off) == 3 && at >= from && at < to)
			found = at - from + off;
	if (f)
		fclose(f);
	return found;
}

static int uprobe(const void *at)
{
	struct perf_event_attr a = { .size = sizeof(a), .sample_period = 1 };
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	static char path[4096];
	int type;

	if (!f || fscanf(f, "%d", &type) != 1 || readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return -1;
	fclose(f);
	a.type = (unsigned int)type;
	a.config1 = (unsigned long)path;
	a.config2 = offset(at);
	return (int)syscall(SYS_perf_event_open, &a, getpid(), -1, -1, 0UL);
}

/* The kernel refuses it, or nothing changes while it is there. */
static void real(int on)
{
	int fd, err;

	MUST(!set(on), "before");
	fd = uprobe(entry(begins));
	err = set(!on);
	MUST(fd < 0 ? !err : err == -EBUSY, "%s", strerror(-err));
	if (fd >= 0)
		close(fd);
	must_be(err ? on : !on);
	MUST(!set(on), "after");
	must_be(on);
	MUST(!set(!on), "again");
	must_be(!on);
}

static void real_before(int on)
{
	int fd = uprobe((void *)(unsigned long)follows);

	printf("# %s\n", fd < 0 ? "no uprobes here" : "a uprobe");
	MUST(!set(on), "under it");
	must_be(on);
	MUST(!set(!on), "under it");
	must_be(!on);
	close(fd);
	must_be(!on);
}

/* A trampoline jumps, as compiled and later: it loads the pointer, or is as before. */
static void real_trampoline(int on)
{
	int (*now)(void) = on ? unity : zero, (*other)(void) = on ? zero : unity;
	int fd, err;

	MUST(!dynfunc_update(number, now) && dynfunc_call(number) == on, "before");
	fd = uprobe(entry(dynfunc_number));
	MUST(dynfunc_call(number) == on, "with a uprobe");
	err = dynfunc_update(number, other);
	MUST(fd < 0 ? !err : err == -EBUSY, "%s", strerror(-err));
	MUST(dynfunc_call(number) == (err ? on : !on), "refused");
	close(fd);
	MUST(dynfunc_call(number) == (err ? on : !on), "without it");
	MUST(!dynfunc_update(number, other) && dynfunc_call(number) == !on, "after");
}

/*
 * The byte of a call that a breakpoint replaces is never written. The kernel executes the
 * call that the file has, which is one of the trampoline.
 */
static void at_call(int on)
{
	int (*now)(void) = on ? unity : zero, (*other)(void) = on ? zero : unity;
	unsigned char *at = entry(calls);
	int fd;

	while (*at != 0xe8 && at < entry(calls) + 16)
		at++;
	if (*at != 0xe8 || getenv("JUMPFUNC_TRAP")) {
		printf("# no call whose first byte stays\n");
		return;
	}
	MUST(!dynfunc_update(number, now) && calls() == on + 2, "before");
	put(at, 0xcc);
	MUST(!dynfunc_update(number, other) && *at == 0xcc, "a debugger's breakpoint is in the way");
	put(at, 0xe8);
	MUST(calls() == !on + 2, "without it");
	fd = uprobe(at);
	MUST(calls() == !on + 2, "with a uprobe");
	MUST(!dynfunc_update(number, now), "a uprobe is in the way");
	MUST(calls() == on + 2, "changed with a uprobe");
	close(fd);
	MUST(calls() == on + 2, "without the uprobe");
	MUST(!dynfunc_update(number, other) && calls() == !on + 2, "after");
}

static const struct {
	const char *name;
	void (*run)(int on);
	int on;
} cases[] = {
	{ "off", comes_and_goes, 0 }, { "on", comes_and_goes, 1 },
	{ "torn, off", torn, 0 }, { "torn, on", torn, 1 },
	{ "real, off", real, 0 }, { "real, on", real, 1 },
	{ "real, before, off", real_before, 0 }, { "real, before, on", real_before, 1 },
	{ "real, trampoline, as compiled", real_trampoline, 0 }, { "real, trampoline", real_trampoline, 1 },
	{ "at a call, off", at_call, 0 }, { "at a call, on", at_call, 1 },
};

static void one(const char *name)
{
	struct jf_stats s;
	size_t i;

	MUST(!set(1) && !set(0), "changes");
	jf_stats_get(&s, sizeof(s));
	mem = open("/proc/self/mem", O_RDWR);
	if (mem < 0 || strcmp(s.writer, "mem")) {
		printf("# not here\n");
		return;
	}
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, name))
			cases[i].run(cases[i].on);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc > 1) {
		one(argv[1]);
		return 0;
	}
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		must_run(argv[0], cases[i].name, NULL);
	return 0;
}
