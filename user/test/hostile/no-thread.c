// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * No thread can be made for callbacks. They are not called while the caller is in the section that
 * uses their memory, nor with its locks held.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>

#include "hostile.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int called;

/* In place of libc's. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		   void *arg)
{
	(void)t, (void)attr, (void)start, (void)arg;
	return EAGAIN;
}

static void callback(struct jf_quiesce_head *head)
{
	(void)head;
	pthread_mutex_lock(&lock);
	called++;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	static struct jf_quiesce_head first, second;

	alarm(10);
	jf_read_lock();
	jf_call_quiesced(&first, callback);
	MUST(!called, "called in the section that it waits for");
	jf_read_unlock();

	pthread_mutex_lock(&lock);
	jf_call_quiesced(&second, callback);
	pthread_mutex_unlock(&lock);
	jf_quiesce_barrier();
	MUST(called == 2, "called %d", called);
	return 0;
}
