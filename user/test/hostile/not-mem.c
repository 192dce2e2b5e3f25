// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The file with the name /proc/self/mem is any file, as it may be in a chroot. A change either
 * fails or is done, and writes nothing there but a number.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <sys/wait.h>

#include "hostile.h"
#include "writes.h"

DEFINE_JF_KEY_FALSE(key);

static int replaced;

OPEN_INSTEAD(replaced && !strcmp(path, "/proc/self/mem"), memfd_create("mem", MFD_CLOEXEC))

static __attribute__((__noinline__)) int is_on(void)
{
	return jf_branch_unlikely(&key);
}

static void child(void)
{
	struct jf_stats s;
	int i, err, on;

	replaced = 1;
	for (i = 1; i < 6; i++) {
		err = i & 1 ? jf_key_enable(&key) : jf_key_disable(&key);
		on = err ? !(i & 1) : i & 1;
		jf_stats_get(&s, sizeof(s));
		MUST(!err || err == -EOPNOTSUPP, "%d: %s", i, strerror(-err));
		MUST(is_on() == on && jf_key_enabled(&key) == on, "%d: %s, %s", i,
		     strerror(-err), s.writer);
		MUST(strcmp(s.writer, "mem"), "%d: written to another file", i);
	}
}

int main(void)
{
	int status;
	pid_t p;

	MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "changes");
	p = fork();
	if (!p) {
		child();
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "status %#x", status);
	return 0;
}
