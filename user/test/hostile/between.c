// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A tracer sets a breakpoint between two sites just when the library writes them, and
 * takes it back in the same way. Neither is undone: else the tracer would see nothing,
 * or the process die of a breakpoint that no tracer knows of.
 *
 * With a CROWD of further sites only the second holds (between-many.c).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "pwrite.h"

DEFINE_JF_KEY_FALSE(key);

/* In this order, and close to each other. */
#define NEAR								\
	__attribute__((__noinline__, __aligned__(16), __section__(".text.near"), __no_reorder__))

NEAR int first(void);
NEAR int traced(void);
NEAR int last(void);
NEAR int first(void) { return jf_branch_unlikely(&key); }
NEAR int traced(void) { return 1; }
NEAR int last(void) { return jf_branch_unlikely(&key); }

#ifdef CROWD
#define ONE	n += jf_branch_unlikely(&key);
#define TEN	ONE ONE ONE ONE ONE ONE ONE ONE ONE ONE
__attribute__((__noinline__)) int crowd(void)
{
	int n = 0;

	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
	return n;
}
#else
#define crowd()	(100 * first())
#endif

static int fd = -1, writes;
static unsigned char next;

/* Before it changes sites the library writes to each page once. */
static int changes_sites(off_t at)
{
	return at >= (off_t)(unsigned long)first && at < (off_t)(unsigned long)last + 16 &&
	       ++writes > 1;
}

static ssize_t instead(int to, const void *bytes, size_t num, off_t at)
{
	if (fd >= 0 && changes_sites(at))
		real_pwrite(fd, &next, 1, (off_t)(unsigned long)traced);
	return real_pwrite(to, bytes, num, at);
}

static unsigned char stands(void)
{
	return *(const volatile unsigned char *)(unsigned long)traced;
}

int main(void)
{
	unsigned char was = stands();
	struct jf_stats s;
	int i;

	MUST((char *)first < (char *)traced && (char *)traced < (char *)last, "not in order");
	MUST(!jf_key_enable(&key), "enable");
	jf_stats_get(&s, sizeof(s));
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0 || strcmp(s.writer, "mem")) {
		printf("# not here\n");
		return 0;
	}
	for (i = 0; i < 4; i++) {
		next = i & 1 ? was : 0xcc;
		writes = 0;
#ifdef CROWD
		/* It is there already, and goes during the change. */
		next = 0xcc;
		MUST(pwrite(fd, &next, 1, (off_t)(unsigned long)traced) == 1, "set");
		next = was;
		writes = 0;
#endif
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "change %d", i);
		MUST(first() == (i & 1) && last() == (i & 1) && crowd() == 100 * (i & 1),
		     "change %d", i);
		MUST(writes > 1, "the sites were not written");
		MUST(stands() == next, "%#x instead of %#x", stands(), next);
	}
	return 0;
}
