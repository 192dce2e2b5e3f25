// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callbacks after a quiesce: one thread, begun when the first one is asked for,
 * takes all that wait, quiesces once for them, and calls them in their order.
 *
 * It blocks all signals but SIGTRAP, which the library itself needs. A child of
 * fork() has no such thread; what waited in the parent waits there, and in the
 * child as well: it is called when the child asks for the next one.
 */
#include "lib.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct jf_quiesce_head *first, **last = &first;
static bool have_thread;
/* How many were asked for, and how many have returned. */
static uint64_t asked, done;

static void call_all(struct jf_quiesce_head *head)
{
	struct jf_quiesce_head *next;
	uint64_t num = 0;

	jf_wait_readers();
	for (; head; head = next, num++) {
		next = head->next;
		head->func(head);
	}
	pthread_mutex_lock(&lock);
	done += num;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	for (;;) {
		struct jf_quiesce_head *head;

		pthread_mutex_lock(&lock);
		while (!first)
			pthread_cond_wait(&changed, &lock);
		head = first;
		first = NULL;
		last = &first;
		pthread_mutex_unlock(&lock);
		call_all(head);
	}
	return arg;
}

static bool begin_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t t;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&t, &attr, work, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head))
{
	struct jf_quiesce_head *mine = NULL;

	head->next = NULL;
	head->func = func;
	pthread_mutex_lock(&lock);
	*last = head;
	last = &head->next;
	asked++;
	if (!have_thread)
		have_thread = begin_thread();
	if (!have_thread) {
		/* Then it is done here. */
		mine = first;
		first = NULL;
		last = &first;
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (mine)
		call_all(mine);
}

void jf_quiesce_barrier(void)
{
	uint64_t until;

	pthread_mutex_lock(&lock);
	until = asked;
	while (done < until && !atomic_load(&jf_exiting))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void jf_callbacks_lock(void)
{
	pthread_mutex_lock(&lock);
}

void jf_callbacks_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void jf_callbacks_child(void)
{
	const struct jf_quiesce_head *h;

	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&changed, NULL);
	have_thread = false;
	/* What the parent's thread was at is the parent's. */
	done = asked;
	for (h = first; h; h = h->next)
		done--;
}
