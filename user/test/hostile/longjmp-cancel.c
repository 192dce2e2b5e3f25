// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A signal handler leaves by siglongjmp(), whatever it has interrupted: a change, or the
 * first section of a thread. The thread can be cancelled as before.
 */
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static _Atomic int stop;
static volatile int armed, left;
static sigjmp_buf away;
static pthread_t changes;

static void on_usr1(int sig)
{
	(void)sig;
	if (!armed)
		return;
	armed = 0;
	siglongjmp(away, 1);
}

static void *sends(void *arg)
{
	while (!stop) {
		pthread_kill(changes, SIGUSR1);
		usleep(20);
	}
	return arg;
}

int main(void)
{
	static int i, state;
	pthread_t t;

	alarm(50);
	changes = pthread_self();
	signal(SIGUSR1, on_usr1);
	MUST(!pthread_create(&t, NULL, sends, NULL), "thread");
	for (i = 1; left < 2000; i++) {
		if (!sigsetjmp(away, 1)) {
			armed = 1;
			(void)(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key));
			armed = 0;
			continue;
		}
		left++;
		MUST(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) && state == PTHREAD_CANCEL_ENABLE,
		     "not after %d", left);
	}
	stop = 1;
	pthread_join(t, NULL);
	MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "a change");
	return 0;
}
