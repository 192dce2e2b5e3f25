// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A tracer has a breakpoint in a page with sites when the library can only replace pages
 * by copies: in a copy the kernel would not know whose it is, and kill the process.
 * Changes are refused then. Here the program sets it, and denies /proc/self/mem.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "pwrite.h"

DEFINE_JF_KEY_FALSE(key);

int traced(void);
int is_on(void);
__attribute__((__noinline__)) int traced(void)
{
	return 1;
}

__attribute__((__noinline__)) int is_on(void)
{
	return jf_branch_unlikely(&key);
}

static int denied;

FAILING_PWRITE((errno = EPERM, denied))

int main(void)
{
	static const unsigned char int3 = 0xcc;
	struct jf_stats s;
	int fd, err;

	MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "changes");
	jf_stats_get(&s, sizeof(s));
	fd = open("/proc/self/mem", O_RDWR);
	if (fd < 0 || strcmp(s.writer, "mem")) {
		printf("# not here\n");
		return 0;
	}
	MUST(pwrite(fd, &int3, 1, (off_t)(unsigned long)traced) == 1, "the breakpoint");
	denied = 1;
	err = jf_key_enable(&key);
	jf_stats_get(&s, sizeof(s));
	MUST(err == -EOPNOTSUPP && !is_on(), "%s, %s", strerror(-err), s.writer);
	MUST(strstr(s.why, strerror(EBUSY)), "%s", s.why);
	return 0;
}
