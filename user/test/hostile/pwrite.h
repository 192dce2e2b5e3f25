/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Stands in front of the system call by which the library writes text: the kernel sends those of
 * pwrite64() to a handler, which calls instead(). A program that includes this defines
 * _GNU_SOURCE, and instead(), which returns the result of pwrite().
 */
#ifndef HOSTILE_PWRITE_H
#define HOSTILE_PWRITE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "hostile.h"

static ssize_t instead(int fd, const void *bytes, size_t num, off_t at);

static inline ssize_t real_pwrite(int fd, const void *bytes, size_t num, off_t at)
{
	struct iovec v = { (void *)(unsigned long)bytes, num };

	return pwritev(fd, &v, 1, at);
}

static void on_pwrite(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	int err = errno;
	ssize_t done;

	(void)sig, (void)info;
	done = instead((int)regs[REG_RDI], (const void *)regs[REG_RSI], (size_t)regs[REG_RDX], regs[REG_R10]);
	regs[REG_RAX] = done < 0 ? -errno : done;
	errno = err;
}

/* Where there are no filters the program ends: nothing can be shown. */
__attribute__((__constructor__))
static void stand_in_front(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(f) / sizeof(f[0]), f };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	action.sa_sigaction = on_pwrite;
	sigaction(SIGSYS, &action, NULL);
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return;
	printf("# no filters here\n");
	fflush(stdout);
	_exit(0);
}

/* It fails where its argument is true, an expression that sets errno. */
#define FAILING_PWRITE(fails)						\
	static ssize_t instead(int fd, const void *bytes, size_t num, off_t at) \
	{								\
		return (fails) ? -1 : real_pwrite(fd, bytes, num, at);	\
	}

#endif /* HOSTILE_PWRITE_H */
