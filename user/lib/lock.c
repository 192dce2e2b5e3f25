// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The lock of all objects, entities and sites, and the forks of the program.
 *
 * The holder of the lock opens and writes files, and a thread can be cancelled there: it would
 * never drop the lock, nor remove its breakpoints. A signal handler that forks would wait for the
 * thread that it interrupted. So the holder blocks signals and cancellation. Its own mask and state
 * are restored before a handler runs: a handler that leaves by longjmp() would keep ours for ever.
 *
 * The lock is held over a fork, so that no change is under way. Handlers of the program that are
 * older than the library's run in the meantime: before the fork they come after the library's, and
 * after the fork before them. A handler that calls the library would wait for its own thread. So a
 * thread knows that it forks. Its changes are refused: it is not clear whether they are for the
 * parent, the child or both. For all other calls the lock is lent: other threads go on, and the
 * forking thread can wait for them. A child has no other threads, so its part ends there.
 */
#include "lib.h"
#include "mask.h"
#include "text.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static struct jf_mutex lock = JF_MUTEX_INIT;

void jf_signals_of_others(sigset_t *set)
{
	static const int own[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS };
	size_t i;

	sigfillset(set);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(set, own[i]);
}

void jf_keep_off(struct jf_before *b)
{
	sigset_t others;

	jf_signals_of_others(&others);
	pthread_sigmask(SIG_BLOCK, &others, &b->signals);
	b->cancel = jf_cancel_forbid(&b->signals);
}

void jf_let_in(const struct jf_before *b)
{
	jf_cancel_allow(b->cancel, &b->signals);
}

void jf_mutex_lock(struct jf_mutex *m)
{
	struct jf_before b;

	jf_keep_off(&b);
	pthread_mutex_lock(&m->mutex);
	m->before = b;
}

void jf_mutex_unlock(struct jf_mutex *m)
{
	struct jf_before b = m->before;

	pthread_mutex_unlock(&m->mutex);
	jf_let_in(&b);
}

void jf_mutex_renew(struct jf_mutex *m)
{
	pthread_mutex_init(&m->mutex, NULL);
}

static void drop_lock(bool renew, const struct jf_before *b)
{
	if (renew)
		jf_mutex_renew(&lock);
	else
		pthread_mutex_unlock(&lock.mutex);
	jf_let_in(b);
}

/* Another thread that takes the lock can collect messages: so these are copied before. */
static void __attribute__((__noinline__)) drop_and_say(bool renew, const struct jf_before *b)
{
	char text[JF_UNSAID_SIZE];
	int err = errno;

	jf_say_take(text);
	drop_lock(renew, b);
	/* This cancels no thread: the change is done, and the program must learn of it. */
	jf_write_text(STDERR_FILENO, text);
	errno = err;
}

static void drop(bool renew)
{
	struct jf_before b = lock.before;

	jf_say_later(false);
	if (jf_say_waits())
		drop_and_say(renew, &b);
	else
		drop_lock(renew, &b);
}

static void take(void)
{
	struct jf_before b;

	jf_keep_off(&b);
	pthread_mutex_lock(&lock.mutex);
	lock.before = b;
	jf_say_later(true);
}

/* --- forks ------------------------------------------------------------------------ */

static struct jf_fork_part *fork_parts, **last_fork_part = &fork_parts;
static __thread enum {
	NONE, HOLDS, LENDS, OVER
} forks __JF_OF_THREAD;
/* The process that forks; true: a thread has the lock that it lent itself. With the lock held. */
static int forking;
static bool lent;
/* A filter of system calls may end the program for one: the agent says so. */
uint8_t __jf_quiet;
/* The fork began so. With the lock held. */
static bool quiet_fork;

void jf_at_fork(struct jf_fork_part *part)
{
	*last_fork_part = part;
	last_fork_part = &part->next;
}

/* The lock alone. Parts of the library are not told: nothing is changed beneath such a filter. */
static bool hold_quietly(void)
{
	if (!__atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&lock.mutex);
	quiet_fork = true;
	return true;
}

static void hold(void)
{
	const struct jf_fork_part *p;

	if (hold_quietly())
		return;
	take();
	for (p = fork_parts; p; p = p->next)
		if (p->before)
			p->before();
	forking = getpid();
	forks = HOLDS;
}

static void let_go(void)
{
	const struct jf_fork_part *p;

	for (p = fork_parts; p; p = p->next)
		if (p->parent)
			p->parent();
	drop(false);
}

/* The lock is held, by the one thread that is left. */
static void let_child_go(void)
{
	const struct jf_fork_part *p;

	for (p = fork_parts; p; p = p->next)
		if (p->child)
			p->child();
	drop(true);
}

void jf_fork_in_child(void)
{
	if (forks != HOLDS || getpid() == forking)
		return;
	forks = OVER;
	let_child_go();
}

bool jf_fork_pause(void)
{
	jf_fork_in_child();
	if (forks != HOLDS)
		return false;
	forks = LENDS;
	let_go();
	return true;
}

void jf_fork_resume(bool paused)
{
	if (paused)
		hold();
}

static void parent_goes_on(void)
{
	if (forks == NONE && quiet_fork) {
		quiet_fork = false;
		pthread_mutex_unlock(&lock.mutex);
	}
	if (forks == HOLDS)
		let_go();
	forks = NONE;
}

static void child_begins(void)
{
	if (forks == NONE && quiet_fork) {
		quiet_fork = false;
		jf_mutex_renew(&lock);
	}
	if (forks == HOLDS)
		let_child_go();
	forks = NONE;
}

void jf_lock(void)
{
	bool paused = jf_fork_pause();

	take();
	lent = paused;
}

void jf_unlock(void)
{
	bool paused = lent;

	lent = false;
	drop(false);
	jf_fork_resume(paused);
}

int jf_lock_to_change(void)
{
	if (forks != NONE)
		return -EDEADLK;
	jf_lock();
	return 0;
}

bool jf_lock_soon(void)
{
	/* A real-time thread that does not sleep would keep the one that has it from going on. */
	static const struct timespec a_while = { .tv_nsec = 1000000 };
	uint64_t until = jf_now_ns() + JF_SOON_NS;
	bool paused = jf_fork_pause();
	struct jf_before b;

	jf_keep_off(&b);
	while (pthread_mutex_trylock(&lock.mutex)) {
		if (jf_now_ns() > until) {
			jf_let_in(&b);
			jf_fork_resume(paused);
			return false;
		}
		nanosleep(&a_while, NULL);
	}
	lock.before = b;
	jf_say_later(true);
	lent = paused;
	return true;
}

/* Signals come in when a child lets go, whose handlers may have sections. */
__attribute__((__constructor__(JF_BEGINS_LAST)))
static void forks_begin(void)
{
	pthread_atfork(hold, parent_goes_on, child_begins);
}
