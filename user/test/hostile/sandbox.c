// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A sandbox that is as narrow as user/README.md says that it can be, in a program of
 * several threads. In one that is narrower changes fail and change nothing.
 */
#include <jumpfunc/branch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

#define MAX_CALLS	16

/*
 * The first two are the test's own. The rest is in an order in which each has no use
 * without the next ones.
 */
static const int needed[] = {
	SYS_exit_group, SYS_write, SYS_newfstatat, SYS_futex, SYS_exit, SYS_close, SYS_clone,
	436 /* close_range */, SYS_openat, SYS_pwrite64, SYS_membarrier,
};

static void *waits(void *arg)
{
	pause();
	return arg;
}

static void allow(size_t num)
{
	struct sock_filter f[2 * MAX_CALLS + 2];
	struct sock_fprog prog = { .filter = f };
	unsigned short n = 0;
	size_t i;

	f[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					      offsetof(struct seccomp_data, nr));
	for (i = 0; i < num; i++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      (unsigned int)needed[i], 0, 1);
		f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	prog.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}

/* 0: it succeeded, 1: it failed and changed nothing */
static int change(size_t num)
{
	int status, err;
	pthread_t t;
	pid_t p = fork();

	if (!p) {
		pthread_create(&t, NULL, waits, NULL);
		if (jf_key_enable(&key) || jf_key_disable(&key))
			_exit(2);
		allow(num);
		err = jf_key_enable(&key);
		_exit(jf_branch_unlikely(&key) != !err ? 3 : !!err);
	}
	waitpid(p, &status, 0);
	MUST(WIFEXITED(status), "status %#x", status);
	return WEXITSTATUS(status);
}

int main(void)
{
	size_t num = sizeof(needed) / sizeof(needed[0]);
	int all = change(num);

	if (all == 77) {
		printf("# no filters here\n");
		return 0;
	}
	MUST(!all, "with all that is needed: %d", all);
	while (num-- > 2)
		MUST(change(num) == 1, "without system call %d", needed[num]);
	return 0;
}
