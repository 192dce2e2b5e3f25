// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* What is written to /proc/self/mem is not what is executed, and no error says so. */
#include <dlfcn.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

/* In place of libc's. By eight bytes the library asks whose memory it is. */
ssize_t pwrite(int fd, const void *bytes, size_t num, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) =
		(ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");

	return num == 8 ? real(fd, bytes, num, at) : (ssize_t)num;
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
