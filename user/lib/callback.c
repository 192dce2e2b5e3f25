// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callbacks after a quiesce: one thread, begun when the first one is asked for,
 * takes all that wait, quiesces once for them, and calls them in their order. It ends
 * when none was asked for in a second: a process ends with its last thread.
 *
 * It blocks all signals but SIGTRAP, which INT3 needs, and SIGSYS, by which sandboxes
 * answer system calls. A child of fork() has no
 * such thread; what waited in the parent waits there, and in the child as well:
 * it is called when the child asks for the next one.
 *
 * If no thread can be made, they wait until one can, or until somebody waits for
 * them, who then calls them. Whoever asks for one may be in the very section that
 * it is to wait for, or hold a lock that it takes.
 */
#include "lib.h"

#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct jf_mutex lock = JF_MUTEX_INIT;
/* Not every libc comes with the kernel's headers: FUTEX_..._PRIVATE. */
enum { WAIT = 0 | 128, WAKE = 1 | 128 };
/* So long the thread waits for the next one. */
#define IDLE_NS	1000000000ULL

/* Counts what those who wait may have waited for. */
static _Atomic uint32_t changes;
static struct jf_quiesce_head *first, **last = &first;
static bool have_thread;
/* Each has a number: of the last one that was asked for, and that a round has taken. */
static uint64_t asked, taken;

/* A callback that runs. What @head points to may be gone already. */
struct call {
	void			(*func)(struct jf_quiesce_head *head);
	struct jf_quiesce_head	*head;
};

/**
 * struct round - what a thread has taken
 * @calling: the callback that it is in
 * @rest:    those that follow
 * @begun:   the number of the last one that was called
 * @done:    all up to this one have returned, of which one may have called later ones
 * @next:    of all rounds
 * @outer:   the one whose callback began this one
 */
struct round {
	struct call		calling;
	struct jf_quiesce_head	*rest;
	uint64_t		begun;
	uint64_t		done;
	struct round		*next;
	struct round		*outer;
};

static struct round *rounds;
/* This thread's. */
static __thread struct round *own __attribute__((__tls_model__("initial-exec")));

/* A signal handler that forks would wait for the thread that it interrupted. */
void jf_callbacks_lock(void)
{
	jf_mutex_lock(&lock);
}

void jf_callbacks_unlock(void)
{
	jf_mutex_unlock(&lock);
}

static void wake_all(void)
{
	atomic_fetch_add(&changes, 1);
	syscall(SYS_futex, &changes, WAKE, INT_MAX, NULL, NULL, 0);
}

/* With the lock held, which is dropped meanwhile, and signals are let in. */
static void wait_for_change(uint64_t limit_ns)
{
	struct timespec t = { (time_t)(limit_ns / 1000000000), (long)(limit_ns % 1000000000) };
	uint32_t seen = atomic_load(&changes);

	jf_callbacks_unlock();
	syscall(SYS_futex, &changes, WAIT, seen, limit_ns == UINT64_MAX ? NULL : &t, NULL, 0);
	jf_callbacks_lock();
}

/* With the lock held, which is dropped meanwhile. */
static void call_rest(struct round *r)
{
	struct call before = r->calling, call;

	while ((call.head = r->rest)) {
		r->rest = call.head->next;
		call.func = call.head->func;
		r->calling = call;
		r->begun++;
		jf_callbacks_unlock();
		call.func(call.head);
		jf_callbacks_lock();
		r->calling = before;
		if (!before.func)
			r->done = r->begun;
		wake_all();
	}
}

static void finish(struct round *r);

/* By pthread_exit(): the round lies on this thread's stack. */
static void callback_exits(void *arg)
{
	struct round *r = arg;

	jf_callbacks_lock();
	r->calling = (struct call){ NULL, NULL };
	r->done = r->begun;
	wake_all();
	finish(r);
	jf_callbacks_unlock();
}

/* With the lock held, which is dropped meanwhile. */
static void finish(struct round *r)
{
	struct round **p;

	pthread_cleanup_push(callback_exits, r);
	call_rest(r);
	pthread_cleanup_pop(0);
	own = r->outer;
	for (p = &rounds; *p && *p != r; p = &(*p)->next)
		;
	if (*p)
		*p = r->next;
}

/* The same. */
static void call_all(void)
{
	struct round r = {
		.rest = first, .begun = taken, .done = taken, .next = rounds, .outer = own,
	};

	rounds = &r;
	own = &r;
	first = NULL;
	last = &first;
	taken = asked;
	jf_callbacks_unlock();
	jf_quiesce();
	jf_callbacks_lock();
	finish(&r);
}

static void thread_ends(void *arg);

/* With the lock held, which is dropped meanwhile. False: nobody asks. */
static bool wait_for_work(void)
{
	uint64_t start = jf_now_ns(), took;

	while (!first && (took = jf_now_ns() - start) < IDLE_NS)
		wait_for_change(IDLE_NS - took);
	return first;
}

static void *work(void *arg)
{
	pthread_cleanup_push(thread_ends, arg);
	jf_callbacks_lock();
	while (wait_for_work())
		call_all();
	/* Whoever asks from here on begins another one. */
	have_thread = false;
	jf_callbacks_unlock();
	pthread_cleanup_pop(0);
	return NULL;
}

static bool make_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t t;
	int err;

	sigfillset(&all);
	sigdelset(&all, SIGTRAP);
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&t, &attr, work, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

/*
 * With the lock held, which is dropped meanwhile, but no signal is let in. glibc takes
 * memory for a thread, and the program's malloc() may wait for somebody who has a lock
 * of its own around a fork(), and waits for ours.
 */
static void begin_thread(void)
{
	struct jf_before before = lock.before;
	bool made;

	/* Nobody else begins one. A child of a fork() does, and has no use for this one. */
	have_thread = true;
	pthread_mutex_unlock(&lock.mutex);
	made = make_thread();
	pthread_mutex_lock(&lock.mutex);
	lock.before = before;
	/* Else it may have come to its end, and another one have been begun. */
	if (!made)
		have_thread = false;
}

/* With the lock held, which may be dropped meanwhile. */
static void begin_calls(void)
{
	if (first && !have_thread)
		begin_thread();
	wake_all();
}

/*
 * With the lock held, which is dropped meanwhile, by those who wait for callbacks: whoever
 * was about to make a thread may have failed. Makes none itself: who closes an object has
 * the dynamic linker's lock.
 */
static void call_or_wait(uint64_t limit_ns)
{
	if (first && !have_thread)
		call_all();
	else
		wait_for_change(limit_ns);
}

/* In a callback: those that follow need another one. */
static void thread_ends(void *arg)
{
	(void)arg;
	jf_callbacks_lock();
	have_thread = false;
	begin_calls();
	if (first && !have_thread)
		call_all();
	jf_callbacks_unlock();
}

void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head))
{
	head->next = NULL;
	head->func = func;
	jf_callbacks_lock();
	*last = head;
	last = &head->next;
	asked++;
	begin_calls();
	jf_callbacks_unlock();
}

/* Callbacks may be called meanwhile, and nobody else would call those that follow. */
static int begin_wait(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	jf_callbacks_lock();
	return state;
}

static void end_wait(int state)
{
	jf_callbacks_unlock();
	pthread_setcancelstate(state, NULL);
}

/* The last one that has returned, and all before it. */
static uint64_t all_done(void)
{
	const struct round *r;
	uint64_t nr = taken;

	for (r = rounds; r; r = r->next)
		if (r->done < nr)
			nr = r->done;
	return nr;
}

void jf_quiesce_barrier(void)
{
	int state = begin_wait();
	uint64_t until = asked;

	/* In a child there may be some and no thread. */
	begin_calls();
	while (all_done() < until)
		call_or_wait(UINT64_MAX);
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
	uint64_t start = jf_now_ns(), took;
	bool left;

	call_own(m);
	/* Not less than a second. */
	if (limit_ns < 1000000000)
		limit_ns = 1000000000;
	while (!(left = !lead_into(m)) && (took = jf_now_ns() - start) < limit_ns)
		call_or_wait(limit_ns == UINT64_MAX ? limit_ns : limit_ns - took);
	end_wait(state);
	return left;
}

void jf_callbacks_child(void)
{
	jf_mutex_renew(&lock);
	have_thread = false;
	/* What the parent's thread was at is the parent's. */
	rounds = NULL;
}
