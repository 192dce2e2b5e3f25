// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Two executable segments, whose places in the file are not as far apart as in memory.
 * The second is compared to its own place: a byte there that looks like a breakpoint is
 * none, and one that a tracer has set is one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "again.h"

DEFINE_JF_KEY_FALSE(key);

/* run.sh has the linker put this section far after all others. */
#define FAR __attribute__((__noinline__, __section__(".text_far")))

static volatile unsigned int sink;

int near(void);
int far(void);
int traced(void);
__attribute__((__noinline__)) int near(void)
{
	return jf_branch_unlikely(&key);
}

FAR int far(void)
{
	sink = 0xcccccccc;
	return jf_branch_unlikely(&key);
}

/* It is never called. */
FAR int traced(void)
{
	return 1;
}

/* Before all constructors: the library has not replaced the page yet. */
static void trace(int argc, char **argv)
{
	static const unsigned char int3 = 0xcc;
	int fd = argc > 1 && !strcmp(argv[1], "traced") ? open("/proc/self/mem", O_RDWR) : -1;

	if (fd >= 0 && pwrite(fd, &int3, 1, (off_t)(unsigned long)traced) == 1)
		close(fd);
}

__attribute__((__section__(".preinit_array"), __used__))
static void (*const before)(int argc, char **argv) = trace;

static void run(const char *how)
{
	bool is_traced = *(volatile unsigned char *)(unsigned long)traced == 0xcc;
	struct jf_stats s;
	int i, err;

	for (i = 1; i < 4; i++) {
		int on = i & 1 && !is_traced;

		err = i & 1 ? jf_key_enable(&key) : jf_key_disable(&key);
		MUST(err == (is_traced && i & 1 ? -EOPNOTSUPP : 0) && near() == on && far() == on,
		     "%s, %d: %s", how, i, strerror(-err));
	}
	jf_stats_get(&s, sizeof(s));
	MUST(is_traced ? !!strstr(s.why, strerror(EBUSY)) : s.patched && !*s.why,
	     "%s: %llu patched, '%s'", how, (unsigned long long)s.patched, s.why);
}

int main(int argc, char **argv)
{
	alarm(10);
	if (argc > 1) {
		run(argv[1]);
		return 0;
	}
	must_run(argv[0], "plain", "remap");
	must_run(argv[0], "traced", "remap");
	return 0;
}
