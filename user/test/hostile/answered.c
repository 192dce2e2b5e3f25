// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A sandbox answers system calls in a handler for SIGSYS, as those of browsers do: the
 * kernel kills a thread that makes one while that signal is blocked.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static const int asked[] = {
	SYS_getpid, SYS_gettid, SYS_tgkill, SYS_nanosleep, SYS_clock_nanosleep, SYS_pwrite64,
};
#define NR_ASKED	(sizeof(asked) / sizeof(asked[0]))

static pid_t pid;
static volatile int answers;

static long answer(const greg_t *regs)
{
	struct iovec v = { (void *)regs[REG_RSI], (size_t)regs[REG_RDX] };

	switch (regs[REG_RAX]) {
	case SYS_getpid:
		return pid;
	case SYS_gettid:
		return -EPERM;
	case SYS_tgkill:
		return -ESRCH;
	case SYS_membarrier:
		return -EPERM;
	case SYS_pwrite64:
		return pwritev((int)regs[REG_RDI], &v, 1, regs[REG_R10]);
	default:
		return 0;
	}
}

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int err = errno;

	(void)sig;
	regs[REG_RAX] = info->si_syscall;
	regs[REG_RAX] = answer(regs);
	answers++;
	errno = err;
}

/* Without membarrier() a program of one thread writes text all the same. */
static int trap(unsigned int nr)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(f) / sizeof(f[0]), f };
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	action.sa_sigaction = on_sigsys;
	sigaction(SIGSYS, &action, NULL);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* Its word stays in the list when it ends. */
static void *ends_inside(void *arg)
{
	jf_read_lock();
	return arg;
}

/* Also those of callbacks. */
static void callback(struct jf_quiesce_head *head)
{
	(void)head;
	getpid();
	usleep(1);
}

static void child(unsigned int nr)
{
	static struct jf_quiesce_head head;
	pthread_t t;
	int before;

	alarm(5);
	pid = getpid();
	if (trap(nr))
		_exit(77);
	before = answers;
	if (jf_key_enable(&key) || !jf_branch_unlikely(&key))
		_exit(2);
	if (nr == SYS_pwrite64)
		_exit(answers >= before + 2 ? 0 : 3);
	jf_read_lock();
	jf_read_unlock();
	pthread_create(&t, NULL, ends_inside, NULL);
	pthread_join(t, NULL);
	if (jf_quiesce_timeout(1000))
		_exit(4);
	jf_call_quiesced(&head, callback);
	jf_quiesce_barrier();
	_exit(0);
}

int main(void)
{
	size_t i;

	alarm(30);
	for (i = 0; i < NR_ASKED; i++) {
		pid_t p = fork();
		int status;

		if (!p)
			child((unsigned int)asked[i]);
		waitpid(p, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
			printf("# no filters here\n");
			return 0;
		}
		MUST(!status, "system call %d: status %#x", asked[i], status);
	}
	return 0;
}
