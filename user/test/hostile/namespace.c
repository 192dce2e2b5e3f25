// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A first process of a PID namespace makes another one without telling libc. Both
 * have the same number, and the child has the parent's files.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static int is_on(void)
{
	return jf_branch_unlikely(&key);
}

static long process(void)
{
	return syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
}

int main(void)
{
	int status;
	long p;

	alarm(20);
	p = process();
	if (p < 0) {
		printf("# skipped: no PID namespaces: %s\n", strerror(errno));
		return 0;
	}
	if (!p) {
		MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "parent");
		MUST(getpid() == 1 && !is_on(), "parent");
		p = process();
		if (!p) {
			MUST(getpid() == 1, "child");
			MUST(!jf_key_enable(&key), "child's enable");
			MUST(is_on(), "child's branch");
			_exit(0);
		}
		waitpid((pid_t)p, &status, __WALL);
		MUST(!is_on(), "the child has written to the parent");
		MUST(!status, "child: %x", status);
		_exit(0);
	}
	waitpid((pid_t)p, &status, 0);
	MUST(!status, "%x", status);
	return 0;
}
