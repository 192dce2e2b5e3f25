// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Sections in the destructors of a thread's data, to the very last one. */
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <pthread.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
static pthread_key_t mine;

/* As allocators do it that want to be the last one. */
static void again(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	pthread_setspecific(mine, arg);
}

static void *thread(void *arg)
{
	jf_read_lock();
	jf_read_unlock();
	pthread_setspecific(mine, arg);
	return NULL;
}

int main(void)
{
	pthread_t t;
	int i;

	alarm(10);
	pthread_key_create(&mine, again);
	for (i = 0; i < 100; i++) {
		MUST(!pthread_create(&t, NULL, thread, &key), "thread");
		pthread_join(t, NULL);
		jf_quiesce();
	}
	return 0;
}
