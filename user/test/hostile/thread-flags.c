// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A sandbox kills a process that makes a thread in another way than pthread_create() does,
 * as browsers' have it; and a process that has left its namespace of process ids can make
 * none until it comes back.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "second-thread.h"

DEFINE_JF_KEY_FALSE(key);

/* glibc's, and bionic's; musl has CLONE_DETACHED, too. */
#ifdef __GLIBC__
#define FLAGS	0x3d0f00
#else
#define FLAGS	0x7d0f00
#endif

static void toggle(const char *by)
{
	int err = jf_key_enable(&key);

	MUST(!err && jf_branch_unlikely(&key), "%s", strerror(-err));
	MUST(!jf_key_disable(&key) && !jf_branch_unlikely(&key), "back");
	MUST(!strcmp(writer(), by), "by %s", writer());
}

static void filter(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 */, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FLAGS, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(f) / sizeof(*f), f };
	pthread_t t;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		printf("# no filters here\n");
		return;
	}
	MUST(!pthread_create(&t, NULL, waits, NULL), "the C library has other flags");
	toggle("mem");
}

static void namespaces(void)
{
	int was = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	if (was < 0 || unshare(CLONE_NEWPID)) {
		printf("# no such namespaces here\n");
		return;
	}
	toggle("remap");
	MUST(!setns(was, CLONE_NEWPID), "%m");
	toggle("mem");
}

static void must_run(void (*run)(void))
{
	int status;
	pthread_t t;
	pid_t p = fork();

	if (!p) {
		MUST(!pthread_create(&t, NULL, waits, NULL), "thread");
		toggle("mem");
		run();
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "status %#x", status);
}

int main(void)
{
	MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "changes");
	if (strcmp(writer(), "mem")) {
		printf("# not here\n");
		return 0;
	}
	must_run(filter);
	must_run(namespaces);
	return 0;
}
