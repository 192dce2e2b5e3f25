// SPDX-License-Identifier: GPL-2.0
/*
 * A thread that blocks all signals, as in each program that has one thread for
 * them, meets a site while it is changed.
 */
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <signal.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
static volatile int stop;
static long sum;

static void *calls(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!stop)
		sum += jf_branch_unlikely(&key);
	return arg;
}

int main(void)
{
	pthread_t t;
	int i;

	alarm(20);
	pthread_create(&t, NULL, calls, NULL);
	usleep(1000);
	for (i = 0; i < 2000; i++) {
		if (i & 1)
			jf_key_enable(&key);
		else
			jf_key_disable(&key);
	}
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
