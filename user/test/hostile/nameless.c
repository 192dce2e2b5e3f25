// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A filter does not let threads know their numbers: the word of one that has ended is
 * not told from the others by it, and no other one may be taken for it.
 */
#include <jumpfunc/batch.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hostile.h"

static _Atomic int inside, go;
static pthread_key_t key;

/* To the last round of destructors, so that the word is not released. */
static void late(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	pthread_setspecific(key, arg);
}

static void *ends(void *arg)
{
	pthread_setspecific(key, &key);
	jf_read_lock();
	jf_read_unlock();
	return arg;
}

static void *stays(void *arg)
{
	jf_read_lock();
	inside = 1;
	while (!go)
		usleep(1000);
	jf_read_unlock();
	return arg;
}

static void *passes(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	return arg;
}

static void run(void *(*func)(void *))
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, func, NULL), "thread");
	pthread_join(t, NULL);
}

int main(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(f) / sizeof(f[0]), f };
	pthread_t t;

	alarm(10);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		printf("# no filters here\n");
		return 0;
	}
	pthread_key_create(&key, late);
	run(ends);
	MUST(!pthread_create(&t, NULL, stays, NULL), "thread");
	while (!inside)
		usleep(100);
	MUST(jf_quiesce_timeout(50) == -ETIMEDOUT, "it is not waited for");
	run(passes);
	MUST(jf_quiesce_timeout(50) == -ETIMEDOUT, "it is not waited for any more");
	go = 1;
	pthread_join(t, NULL);
	MUST(!jf_quiesce_timeout(1000), "no thread is inside");
	return 0;
}
