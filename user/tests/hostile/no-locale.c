// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * What fails is said without strerror(), which may open a converter for the locale: with
 * the lock of the dynamic linker, while the library's own is held.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "hostile.h"

static int denied, asked;

/* In place of libc's. */
int open(const char *path, int flags, ...)
{
	if (strcmp(path, "/proc/self/mem"))
		return openat(AT_FDCWD, path, flags, 0);
	denied++;
	errno = EACCES;
	return -1;
}

char *strerror(int err)
{
	(void)err;
	asked++;
	return "asked";
}

DEFINE_JF_KEY_FALSE(key);

int main(void)
{
	struct jf_stats s;

	alarm(10);
	MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "enable");
	jf_stats_get(&s, sizeof(s));
	MUST(denied && !strcmp(s.writer, "remap"), "denied %d times, %s", denied, s.writer);
	MUST(strstr(s.why, "mem: ") && !asked, "%s", s.why);
	return 0;
}
