// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callbacks after a quiesce: one thread, begun when the first one is asked for,
 * takes all that wait, quiesces once for them, and calls them in their order.
 *
 * It blocks all signals but SIGTRAP, which INT3 needs. A child of fork() has no
 * such thread; what waited in the parent waits there, and in the child as well:
 * it is called when the child asks for the next one.
 *
 * If no thread can be made, they wait until one can, or until somebody waits for
 * them, who then calls them. Whoever asks for one may be in the very section that
 * it is to wait for, or hold a lock that it takes.
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

/* A callback that runs. What @head points to may be gone already. */
struct call {
	void			(*func)(struct jf_quiesce_head *head);
	struct jf_quiesce_head	*head;
};

/**
 * struct round - what a thread has taken
 * @calling: the callback that it is in
 * @rest:    those that follow
 * @next:    of all rounds
 * @outer:   the one whose callback began this one
 */
struct round {
	struct call		calling;
	struct jf_quiesce_head	*rest;
	struct round		*next;
	struct round		*outer;
};

static struct round *rounds;
/* This thread's. */
static __thread struct round *own __attribute__((__tls_model__("initial-exec")));

/* With the lock held, which is dropped meanwhile. */
static void call_rest(struct round *r)
{
	struct call before = r->calling, call;

	while ((call.head = r->rest)) {
		r->rest = call.head->next;
		call.func = call.head->func;
		r->calling = call;
		pthread_mutex_unlock(&lock);
		call.func(call.head);
		pthread_mutex_lock(&lock);
		r->calling = before;
		done++;
		pthread_cond_broadcast(&changed);
	}
}

/* With the lock held, which is dropped meanwhile. */
static void call_all(void)
{
	struct round r = { { NULL, NULL }, first, rounds, own }, **p;

	rounds = &r;
	own = &r;
	first = NULL;
	last = &first;
	pthread_mutex_unlock(&lock);
	jf_quiesce();
	pthread_mutex_lock(&lock);
	call_rest(&r);
	own = r.outer;
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
	if (first && !have_thread)
		have_thread = begin_thread();
	pthread_cond_broadcast(&changed);
}

/* The same for those who wait, and may do it themselves. */
static void begin_or_call(void)
{
	begin_calls();
	if (first && !have_thread)
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

	begin_or_call();
	while (done < until)
		pthread_cond_wait(&changed, &lock);
	end_wait(state);
}

static bool is_in(const struct jf_mod *m, const struct call *call)
{
	return jf_mod_has(m, (uintptr_t)call->func) || jf_mod_has(m, (uintptr_t)call->head);
}

static bool some_in(const struct jf_mod *m, const struct jf_quiesce_head *h)
{
	for (; h; h = h->next) {
		struct call call = { h->func, (struct jf_quiesce_head *)h };

		if (is_in(m, &call))
			return true;
	}
	return false;
}

static bool lead_into(const struct jf_mod *m)
{
	const struct round *r = rounds;

	while (r && !is_in(m, &r->calling) && !some_in(m, r->rest))
		r = r->next;
	return r || some_in(m, first);
}

/* A callback closes an object: nobody else would call those that follow it. */
static void call_own(const struct jf_mod *m)
{
	struct round *r;

	for (r = own; r; r = r->outer)
		if (some_in(m, r->rest))
			call_rest(r);
	if (own && some_in(m, first))
		call_all();
}

bool jf_callbacks_wait(const struct jf_mod *m, uint64_t limit_ns)
{
	int state = begin_wait();
	struct timespec until;
	int err = 0;

	call_own(m);
	if (lead_into(m))
		begin_or_call();
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
