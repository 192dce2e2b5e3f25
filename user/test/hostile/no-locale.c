// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Errors are reported without strerror(), which may open a converter for the locale: with
 * the lock of the dynamic linker, while the library's own is held.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "hostile.h"
#include "writes.h"

static int denied, asked;

OPEN_INSTEAD(!strcmp(path, "/proc/self/mem"), (denied++, errno = EACCES, -1))

/* In place of libc's. */
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
