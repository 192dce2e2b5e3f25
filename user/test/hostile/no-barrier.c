// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A kernel without membarrier(): several threads wait at the same time. */
#include <jumpfunc/batch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hostile.h"

#define THREADS	4

static void deny(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl");
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), "seccomp");
}

static void *waits(void *arg)
{
	int i;

	for (i = 0; i < 20000; i++)
		jf_quiesce();
	return arg;
}

int main(void)
{
	pthread_t t[THREADS];
	int i;

	alarm(50);
	deny();
	for (i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, waits, NULL), "thread");
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
