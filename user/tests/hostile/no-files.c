// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Children of fork() that may open no file any more: one that has changed nothing before
 * cannot change text, and one that has can.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static void child(int before)
{
	const struct rlimit none = { 0, 0 };
	int err;

	if (before)
		MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "before");
	MUST(!setrlimit(RLIMIT_NOFILE, &none), "%m");
	err = jf_key_enable(&key);
	MUST(err == (before ? 0 : -EMFILE), "%d: %s", before, strerror(-err));
	MUST(jf_branch_unlikely(&key) == !!before, "%d: it is something else", before);
	_exit(0);
}

int main(void)
{
	struct jf_stats s;
	int i, status;
	pid_t p;

	alarm(10);
	MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "changes");
	jf_stats_get(&s, sizeof(s));
	if (strcmp(s.writer, "mem")) {
		printf("# not here\n");
		return 0;
	}
	for (i = 0; i < 2; i++) {
		fflush(stdout);
		p = fork();
		if (!p)
			child(i);
		waitpid(p, &status, 0);
		MUST(!status, "%d: %#x", i, status);
	}
	return 0;
}
