// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callbacks after a quiesce: one thread, begun when the first one is asked for,
 * takes all that wait, quiesces once for them, and calls them in their order. It ends
 * when none was asked for in a second: a process ends with its last thread.
 *
 * It blocks all signals but those that a callback causes itself. A child of fork() has no such
 * thread; callbacks that waited in the parent wait there, and in the child as well: they are called
 * when the child asks for the next one.
 *
 * If no thread can be made, callbacks wait until one can, or until a thread waits for
 * them and then calls them itself; it also does so while one is being made. A thread that
 * asks for a callback does not call it: it may be in the very section that the callback
 * waits for, or hold a lock that the callback takes.
 */
#include "lib.h"

#include <limits.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where a long has 32 bits, this one takes the libc's struct timespec if its time has 64. */
#if defined(SYS_futex_time64) && (!defined(SYS_futex) || (defined(__USE_TIME_BITS64) && !defined(__LP64__)))
#undef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

static struct jf_mutex lock = JF_MUTEX_INIT;
/* Not every libc comes with the kernel's headers: FUTEX_..._PRIVATE. */
enum { WAIT = 0 | 128, WAKE = 1 | 128 };
/* So long the thread waits for the next one. */
#define IDLE_NS	1000000000ULL

/* Counts events that threads can have waited for. */
static _Atomic uint32_t changes;
static struct jf_quiesce_head *first, **last = &first;
/*
 * NONE to MAKING: the caller that begins one. MAKING to LIVES: that caller or the thread.
 * MAKING to NONE: that caller, if the thread could not be made. LIVES to NONE: the thread,
 * at its end. Anything to NONE: a child.
 */
static enum { NONE, MAKING, LIVES } thread;
/* Each has a number: of the last one that was asked for, and that a round has taken. */
static uint64_t asked, taken;

/* A callback that runs. What @head points to may be gone already. */
struct call {
	void			(*func)(struct jf_quiesce_head *head);
	struct jf_quiesce_head	*head;
};

/**
 * struct round - the callbacks that a thread has taken
 * @calling: the callback that it is in
 * @rest:    those that follow
 * @begun:   the number of the last one that was called
 * @done:    all up to this one have returned, of which one may have called later ones
 * @next:    of all rounds
 * @outer:   the one whose callback began this one
 * @inherited: the callback that it is in has forked, this is the child, and it has not
 *	     returned here, which it may never do
 *
 * One thread at a time has some: callbacks are called in their order.
 */
struct round {
	struct call		calling;
	struct jf_quiesce_head	*rest;
	uint64_t		begun;
	uint64_t		done;
	struct round		*next;
	struct round		*outer;
	bool			inherited;
};

static struct round *rounds;
/* This thread's. */
static __thread struct round *own __JF_OF_THREAD;

/* A signal handler that forks would wait for the thread that it interrupted. */
static void take_lock(void)
{
	jf_mutex_lock(&lock);
}

static void drop_lock(void)
{
	jf_mutex_unlock(&lock);
}

static void wake_all(void)
{
	atomic_fetch_add(&changes, 1);
	syscall(SYS_futex, &changes, WAKE, INT_MAX, NULL, NULL, 0);
}

/* With the lock held, which is dropped during the wait, and signals are let in. */
static void wait_for_change(uint64_t limit_ns)
{
	struct timespec t = { (time_t)(limit_ns / 1000000000), (long)(limit_ns % 1000000000) };
	uint32_t seen = atomic_load(&changes);

	drop_lock();
	syscall(SYS_futex, &changes, WAIT, seen, limit_ns == UINT64_MAX ? NULL : &t, NULL, 0);
	take_lock();
}

/* With the lock held, which is dropped during the call. */
static void call_rest(struct round *r)
{
	struct call before = r->calling, call;

	while ((call.head = r->rest)) {
		r->rest = call.head->next;
		call.func = call.head->func;
		r->calling = call;
		r->begun++;
		drop_lock();
		call.func(call.head);
		take_lock();
		r->calling = before;
		r->inherited = false;
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

	take_lock();
	r->calling = (struct call){ NULL, NULL };
	r->done = r->begun;
	wake_all();
	finish(r);
	drop_lock();
}

/* With the lock held, which is dropped during the call. */
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

/* With the lock held: the first @num of those that wait, the last of which @end ends. */
static void take(struct round *r, struct jf_quiesce_head **end, uint64_t num)
{
	*r = (struct round){
		.rest = first, .begun = taken, .done = taken, .next = rounds, .outer = own,
	};
	first = *end;
	*end = NULL;
	if (!first)
		last = &first;
	taken += num;
	rounds = r;
	own = r;
}

/* With the lock held, which is dropped during the calls. Some wait. */
static void call_all(void)
{
	struct round r;

	take(&r, last, asked - taken);
	drop_lock();
	jf_quiesce();
	take_lock();
	finish(&r);
}

static bool is_own(const struct round *r)
{
	const struct round *o = own;

	while (o && o != r)
		o = o->outer;
	return o;
}

/* True if another thread calls callbacks, or is about to. */
static bool others_call(void)
{
	const struct round *r = rounds;

	while (r && (r->inherited || is_own(r)))
		r = r->next;
	return r;
}

static void thread_ends(void *arg);

/* With the lock held, which is dropped during the wait. False: no callback was asked for. */
static bool wait_for_work(void)
{
	uint64_t start = jf_now_ns(), took;

	while (!first || others_call()) {
		took = jf_now_ns() - start;
		if (!first && took >= IDLE_NS)
			return false;
		wait_for_change(first ? UINT64_MAX : IDLE_NS - took);
	}
	return true;
}

static void *work(void *arg)
{
	pthread_cleanup_push(thread_ends, arg);
	take_lock();
	thread = LIVES;
	while (wait_for_work())
		call_all();
	/* A caller that asks from here on begins another thread. */
	thread = NONE;
	drop_lock();
	pthread_cleanup_pop(0);
	return NULL;
}

static bool make_thread(void)
{
	pthread_attr_t attr;
	sigset_t others, old;
	pthread_t t;
	int err;

	jf_signals_of_others(&others);
	pthread_sigmask(SIG_SETMASK, &others, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&t, &attr, work, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

/*
 * With the lock held, which is dropped during the wait, but no signal is let in. glibc takes
 * memory for a thread, and the program's malloc() may wait for a thread that forks with
 * malloc()'s lock held and waits for ours.
 */
static void begin_thread(void)
{
	struct jf_before before = lock.before;
	bool made;

	thread = MAKING;
	pthread_mutex_unlock(&lock.mutex);
	made = make_thread();
	pthread_mutex_lock(&lock.mutex);
	lock.before = before;
	if (!made)
		thread = NONE;
	/* Else it may have come to its end. */
	else if (thread == MAKING)
		thread = LIVES;
}

/*
 * With the lock held, which can be dropped during the call. In a child there may be callbacks
 * and no thread.
 */
static void begin_calls(void)
{
	if (first && thread == NONE)
		begin_thread();
	wake_all();
}

/* True if a thread that waits for callbacks must call those that wait. */
static bool must_call(void)
{
	return first && !others_call() && (own || thread != LIVES);
}

/*
 * In a callback: those that were asked for since then need another one. None is called
 * here: after one more pthread_exit() glibc would return to frames that no longer exist.
 */
static void thread_ends(void *arg)
{
	(void)arg;
	take_lock();
	thread = NONE;
	begin_calls();
	drop_lock();
}

void jf_call_quiesced(struct jf_quiesce_head *head,
		      void (*func)(struct jf_quiesce_head *head))
{
	bool paused = jf_fork_pause();

	head->next = NULL;
	head->func = func;
	take_lock();
	*last = head;
	last = &head->next;
	asked++;
	begin_calls();
	drop_lock();
	jf_fork_resume(paused);
}

/* Callbacks can be called during this, and no other thread would call those that follow. */
static int begin_wait(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	take_lock();
	return state;
}

static void end_wait(int state)
{
	drop_lock();
	pthread_setcancelstate(state, NULL);
}

/* The last one that has returned, and all before it. */
static uint64_t all_done(void)
{
	const struct round *r;
	uint64_t nr = taken;

	for (r = rounds; r; r = r->next)
		if (!r->inherited && r->done < nr)
			nr = r->done;
	return nr;
}

void jf_quiesce_barrier(void)
{
	bool paused = jf_fork_pause();
	int state = begin_wait();
	uint64_t until = asked;

	begin_calls();
	while (all_done() < until)
		if (must_call())
			call_all();
		else
			wait_for_change(UINT64_MAX);
	end_wait(state);
	jf_fork_resume(paused);
}

static bool is_in(const struct jf_mod *m, const struct call *call)
{
	return jf_mod_has(m, (uintptr_t)call->func) || jf_mod_has(m, (uintptr_t)call->head);
}

static bool head_leads_into(const struct jf_mod *m, struct jf_quiesce_head *h)
{
	struct call call = { h->func, h };

	return is_in(m, &call);
}

static bool some_in(const struct jf_mod *m, struct jf_quiesce_head *h)
{
	while (h && !head_leads_into(m, h))
		h = h->next;
	return h;
}

static bool lead_into(const struct jf_mod *m)
{
	const struct round *r = rounds;

	while (r && !is_in(m, &r->calling) && !some_in(m, r->rest))
		r = r->next;
	return r || some_in(m, first);
}

/* A callback closes an object: no other thread would call those that follow it. */
static void call_own(const struct jf_mod *m)
{
	struct round *r;

	for (r = own; r; r = r->outer)
		if (some_in(m, r->rest))
			call_rest(r);
}

/*
 * With the lock held, which is dropped during the calls: those that lead into @m, and those in
 * front of them. The caller of dlclose() has the dynamic linker's lock, for which a section
 * may wait; nothing is taken before all sections are over.
 */
static void call_into(const struct jf_mod *m, uint64_t limit_ns)
{
	struct jf_quiesce_head **p, **end = NULL;
	uint64_t until = asked, nr, num = 0;
	struct round r;
	bool quiet;

	drop_lock();
	quiet = jf_wait_readers_for(limit_ns);
	take_lock();
	if (!quiet || !must_call())
		return;
	/* Sections of later ones were not waited for. */
	for (p = &first, nr = 1; *p && taken + nr <= until; p = &(*p)->next, nr++) {
		if (!head_leads_into(m, *p))
			continue;
		end = &(*p)->next;
		num = nr;
	}
	if (!end)
		return;
	take(&r, end, num);
	finish(&r);
}

bool jf_callbacks_wait(const struct jf_mod *m, uint64_t limit_ns)
{
	int state = begin_wait();
	uint64_t start = jf_now_ns(), took, rest;
	bool left;

	call_own(m);
	if (lead_into(m))
		begin_calls();
	/* Not less than a second. */
	if (limit_ns < 1000000000)
		limit_ns = 1000000000;
	while (!(left = !lead_into(m)) && (took = jf_now_ns() - start) < limit_ns) {
		rest = limit_ns == UINT64_MAX ? limit_ns : limit_ns - took;
		/* A section that the caller is in is not over. */
		if (some_in(m, first) && must_call() && !jf_in_section())
			call_into(m, rest);
		else
			wait_for_change(rest);
	}
	end_wait(state);
	return left;
}

static void child_begins(void)
{
	struct round *r;

	jf_mutex_renew(&lock);
	thread = NONE;
	/*
	 * The callback that the parent's thread was in is the parent's, unless that thread has
	 * forked.
	 */
	rounds = own;
	for (r = own; r; r = r->outer) {
		r->next = r->outer;
		r->inherited = true;
	}
}

__attribute__((__constructor__(JF_BEGINS)))
static void callbacks_begin(void)
{
	static struct jf_fork_part forks = { take_lock, drop_lock, child_begins, NULL };

	jf_at_fork(&forks);
}
