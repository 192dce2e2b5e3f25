// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A thread that can be cancelled anywhere is cancelled while the library enters it
 * into the list of readers.
 */
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <pthread.h>

#include "hostile.h"

static _Atomic int here, cancelled, survived;
static __thread int is_reader;

/* Called in the middle of that. */
int pthread_setspecific(pthread_key_t key, const void *value)
{
	int (*real)(pthread_key_t, const void *) =
		(int (*)(pthread_key_t, const void *))dlsym(RTLD_NEXT, "pthread_setspecific");

	if (is_reader && !here) {
		here = 1;
		while (!cancelled)
			;
	}
	return real(key, value);
}

static void *reads(void *arg)
{
	int old;

	is_reader = 1;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	jf_read_lock();
	jf_read_unlock();
	pthread_testcancel();
	survived = 1;
	return arg;
}

int main(void)
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, reads, NULL), "thread");
	while (!here)
		;
	pthread_cancel(t);
	cancelled = 1;
	pthread_join(t, NULL);
	MUST(!survived, "not cancelled");
	jf_quiesce();
	return 0;
}
