// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Threads that can be cancelled anywhere are cancelled in the SIGTRAP handler. */
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <sched.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static _Atomic int begun, stop;
static volatile long sum;

static void *calls(void *arg)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	begun = 1;
	for (;;)
		sum += jf_branch_unlikely(&key);
	return arg;
}

static void *changes(void *arg)
{
	int i;

	for (i = 0; !stop; i++)
		MUST(!(i & 1 ? jf_key_disable(&key) : jf_key_enable(&key)), "change");
	return arg;
}

int main(void)
{
	pthread_t caller, changer;
	int i;

	alarm(100);
	MUST(!pthread_create(&changer, NULL, changes, NULL), "thread");
	for (i = 0; i < 600; i++) {
		begun = 0;
		MUST(!pthread_create(&caller, NULL, calls, NULL), "thread");
		while (!begun)
			sched_yield();
		usleep(100 + (unsigned int)i % 100);
		pthread_cancel(caller);
		pthread_join(caller, NULL);
		MUST(!jf_quiesce_timeout(5000), "round %d: a thread that is gone", i);
	}
	stop = 1;
	pthread_join(changer, NULL);
	return 0;
}
