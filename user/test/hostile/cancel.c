// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A thread is cancelled while it changes keys: the next change need not wait for it. */
#include <jumpfunc/branch.h>
#include <pthread.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static void *changes(void *arg)
{
	for (;;) {
		(void)!jf_key_enable(&key);
		(void)!jf_key_disable(&key);
		pthread_testcancel();
	}
	return arg;
}

int main(void)
{
	pthread_t t;
	int i;

	alarm(10);
	for (i = 0; i < 50; i++) {
		MUST(!pthread_create(&t, NULL, changes, NULL), "thread");
		usleep(200);
		pthread_cancel(t);
		pthread_join(t, NULL);
		MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "round %d", i);
	}
	return 0;
}
