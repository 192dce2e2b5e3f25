// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Threads do not execute the bytes that are written to /proc/self/mem, and no error says so. */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "pwrite.h"

DEFINE_JF_KEY_FALSE(key);

/* By eight bytes the library asks whose memory it is. */
static ssize_t instead(int fd, const void *bytes, size_t num, off_t at)
{
	return num == 8 ? real_pwrite(fd, bytes, num, at) : (ssize_t)num;
}

int main(void)
{
	struct jf_stats stats;
	int err;

	err = jf_key_enable(&key);
	MUST(!err, "%s", strerror(-err));
	MUST(jf_branch_unlikely(&key), "stale");
	jf_stats_get(&stats, sizeof(stats));
	MUST(!strcmp(stats.writer, "remap"), "%s", stats.writer);
	return 0;
}
