// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callbacks after a quiesce: one thread, begun when the first one is asked for,
 * takes all that wait, quiesces once for them, and calls them in their order.
 *
 * It blocks all signals but SIGTRAP, which INT3 needs. A child of fork() has no
 * such thread; what waited in the parent waits there, and in the child as well:
 * it is called when the child asks for the next one.
 */
#include "lib.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct jf_quiesce_head *first, **last = &first;
static bool have_thread;
/* How many were asked for, and how many have returned. */
static uint64_t asked, done;

/* What a thread has taken: the callback that it is in, and those that follow. */
struct round {
	void			(*calling)(struct jf_quiesce_head *head);
	struct jf_quiesce_head	*rest;
	struct round		*next;
};

static struct round *rounds;

/* With the lock held, which is dropped meanwhile. */
static void call_all(void)
{
	struct round r = { NULL, first, rounds }, **p;
	struct jf_quiesce_head *head;

	rounds = &r;
	first = NULL;
	last = &first;
	pthread_mutex_unlock(&lock);
	jf_quiesce();
	pthread_mutex_lock(&lock);
	while ((head = r.rest)) {
		r.rest = head->next;
		r.calling = head->func;
		pthread_mutex_unlock(&lock);
		r.calling(head);
		pthread_mutex_lock(&lock);
		r.calling = NULL;
		done++;
		pthread_cond_broadcast(&changed);
	}
	for (p = &rounds; *p && *p != &r; p = &(*p)->next)
		;
	if (*p)
		*p = r.next;
}

static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!first)
			pthread_cond_wait(&changed, &lock);
		call_all();
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

/* With the lock held. In a child there may be callbacks and no thread. */
static void begin_calls(void)
{
	if (!first)
		return;
	if (!have_thread)
		have_thread = begin_thread();
	pthread_cond_broadcast(&changed);
	/* Then it is done here. */
	if (!have_thread)
		call_all();
}

void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head))
{
	head->next = NULL;
	head->func = func;
	pthread_mutex_lock(&lock);
	*last = head;
	last = &head->next;
	asked++;
	begin_calls();
	pthread_mutex_unlock(&lock);
}

/* To wait is to be cancelled with the lock held. */
static int begin_wait(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	return state;
}

static void end_wait(int state)
{
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
}

void jf_quiesce_barrier(void)
{
	int state = begin_wait();
	uint64_t until = asked;

	begin_calls();
	while (done < until)
		pthread_cond_wait(&changed, &lock);
	end_wait(state);
}

static bool is_in(const struct jf_mod *m, void (*func)(struct jf_quiesce_head *head))
{
	return (uintptr_t)func >= m->start && (uintptr_t)func < m->end;
}

static bool some_in(const struct jf_mod *m, const struct jf_quiesce_head *h)
{
	while (h && !is_in(m, h->func))
		h = h->next;
	return h;
}

static bool lead_into(const struct jf_mod *m)
{
	const struct round *r = rounds;

	while (r && !is_in(m, r->calling) && !some_in(m, r->rest))
		r = r->next;
	return r || some_in(m, first);
}

bool jf_callbacks_wait(const struct jf_mod *m, uint64_t limit_ns)
{
	int state = begin_wait();
	struct timespec until;
	int err = 0;

	if (lead_into(m))
		begin_calls();
	clock_gettime(CLOCK_REALTIME, &until);
	/* Not less than a second. */
	if (limit_ns != UINT64_MAX)
		until.tv_sec += limit_ns < 1000000000ULL ? 1 : (time_t)(limit_ns / 1000000000ULL);
	while (lead_into(m) && !err)
		err = limit_ns != UINT64_MAX ?
			pthread_cond_timedwait(&changed, &lock, &until) :
			pthread_cond_wait(&changed, &lock);
	end_wait(state);
	return !err;
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
	rounds = NULL;
	/* What the parent's thread was at is the parent's. */
	done = asked;
	for (h = first; h; h = h->next)
		done--;
}
