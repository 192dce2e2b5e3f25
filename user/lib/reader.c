// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Read sections: who may be inside of what was replaced.
 *
 *   quiesce				read section
 *   -------				------------
 *   1 advance the grace period		a word = grace period it saw
 *   2 broadcast			b executes sites, images, probes
 *   3 wait while a word is older	c word = 0
 *
 *   If a is before the reader's part of 2, then 3 sees it and waits. If it is
 *   after, then all of b is after 2, and so after everything that was patched
 *   before the quiesce: the section cannot reach what was replaced. One pass
 *   is enough since grace periods are 64-bit numbers that never come again:
 *   a section that began late with an old number only makes the next one wait.
 *
 * A thread has its word in its own thread-local memory, which is in a list from
 * its first section until it ends. The list has a lock, which is held for a look
 * and never while waiting, with all signals blocked: a signal handler may have
 * the first section of its thread.
 *
 * The SIGTRAP handler is such a section, too, with a word of its own. A thread
 * that is not in the list is not entered for that: such handlers are counted.
 */
#include "lib.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

/* Signals handlers of one thread may be in each other: so many sections deep. */
#define NEST_MASK	0xffffULL
#define GRACE_PERIOD	0x10000ULL

__thread struct jf_reader __jf_reader
	__attribute__((__tls_model__("initial-exec")));
uint64_t __jf_grace_period = GRACE_PERIOD;

static struct jf_reader *readers;
static atomic_flag readers_lock = ATOMIC_FLAG_INIT;
/* Handlers of threads that are not in the list. */
static _Atomic uint64_t strangers;

static pthread_key_t at_thread_end;
static bool have_key;
/* jf_reader.listed of a thread that can be listed no more: its memory goes. */
#define ENDED	2

/*
 * ThreadSanitizer sees what the program does, and not what is done here: that what
 * happened before a section's end, or a thread's, is over.
 */
extern void __tsan_acquire(void *addr) __attribute__((__weak__));
extern void __tsan_release(void *addr) __attribute__((__weak__));

static void sanitizer_acquires(const void *addr)
{
	if (__tsan_acquire)
		__tsan_acquire((void *)(uintptr_t)addr);
}

/* What a thread was before it asked for the list. */
struct before {
	int		cancel;
	sigset_t	signals;
};

/* Some threads can be cancelled anywhere. */
static void list_lock(struct before *b)
{
	sigset_t all;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &b->cancel);
	sigfillset(&all);
	/* With JUMPFUNC_TRAP=always, an INT3 while it is blocked would be the end. */
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &all, &b->signals);
	while (atomic_flag_test_and_set_explicit(&readers_lock, memory_order_acquire))
		sched_yield();
	sanitizer_acquires(&readers_lock);
}

static void list_unlock(const struct before *b)
{
	int ignored;

	if (__tsan_release)
		__tsan_release(&readers_lock);
	atomic_flag_clear_explicit(&readers_lock, memory_order_release);
	pthread_sigmask(SIG_SETMASK, &b->signals, NULL);
	pthread_setcancelstate(b->cancel, &ignored);
}

static void unlist(struct jf_reader *r, bool last)
{
	struct jf_reader **p;
	struct before old;

	list_lock(&old);
	for (p = &readers; *p; p = &(*p)->next)
		if (*p == r) {
			*p = r->next;
			break;
		}
	r->listed = last ? ENDED : 0;
	/* Left behind if the thread ended in one. */
	r->word = 0;
	list_unlock(&old);
}

/*
 * Other destructors may have sections, and so may signal handlers behind the last
 * one. So this one comes again in each round but the last, in which sanitizers take
 * their own data away; from then on nobody waits for this thread's sections.
 */
static void thread_ends(void *arg)
{
	static __thread int rounds __attribute__((__tls_model__("initial-exec")));
	bool last = ++rounds >= PTHREAD_DESTRUCTOR_ITERATIONS - 1;

	unlist(arg, last);
	if (!last)
		pthread_setspecific(at_thread_end, arg);
}

/* Comes before the destructors above, and never again. */
static void data_goes(void *arg)
{
	unlist(arg, true);
}

/* Its memory must not be looked at when it has ended. No key may have been left. */
static bool will_unlist(struct jf_reader *r)
{
	if (have_key)
		return !pthread_setspecific(at_thread_end, r);
	return jf_at_thread_end(data_goes, r);
}

/* Called by jf_read_lock() in a thread that is not in the list. */
void __jf_reader_list(void)
{
	struct jf_reader *r = &__jf_reader;
	bool unseen = false;
	struct before old;

	list_lock(&old);
	/* A signal handler may have been faster. */
	if (!r->listed && will_unlist(r)) {
		r->next = readers;
		readers = r;
		r->listed = 1;
	} else if (!r->listed) {
		r->listed = ENDED;
		unseen = true;
	}
	list_unlock(&old);
	if (unseen)
		jf_say(false, "the end of a thread would not be seen: nobody waits for its sections");
}

bool jf_in_section(void)
{
	return __jf_reader.word;
}

bool jf_handler_enter(void)
{
	struct jf_reader *r = &__jf_reader;
	bool listed = r->listed == 1;

	/* Partner of wait_for(): the broadcast is between them. */
	if (listed)
		__atomic_store_n(&r->handler,
				 __atomic_load_n(&__jf_grace_period, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	else
		atomic_fetch_add(&strangers, 1);
	atomic_signal_fence(memory_order_seq_cst);
	return listed;
}

void jf_handler_leave(bool listed)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (listed)
		__atomic_store_n(&__jf_reader.handler, 0, __ATOMIC_RELEASE);
	else
		atomic_fetch_sub(&strangers, 1);
}

static bool is_older(const uint64_t *word, uint64_t now)
{
	uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	sanitizer_acquires(word);
	return seen && seen < now;
}

/* Is a thread but this one in a section that began before @now? */
static bool somebody(bool handlers_only, uint64_t now)
{
	const struct jf_reader *r;
	bool found = false;
	struct before old;

	list_lock(&old);
	for (r = readers; r && !found; r = r->next) {
		if (r == &__jf_reader)
			continue;
		found = is_older(&r->handler, now) ||
			(!handlers_only && is_older(&r->word, now));
	}
	list_unlock(&old);
	return found;
}

static void nap(unsigned int spins)
{
	static const struct timespec t = { .tv_nsec = 50000 };

	if (spins < 100)
		__builtin_ia32_pause();
	else
		nanosleep(&t, NULL);
}

uint64_t jf_grace_begin(void)
{
	uint64_t now = __atomic_add_fetch(&__jf_grace_period, GRACE_PERIOD,
					  __ATOMIC_SEQ_CST);

	jf_sync_memory();
	return now;
}

bool jf_grace_over(uint64_t grace_period)
{
	return !somebody(false, grace_period) && !atomic_load(&strangers) &&
	       !is_older(&__jf_reader.word, grace_period);
}

/* False: it took longer than @limit_ns. */
static bool wait_until(bool handlers_only, uint64_t limit_ns)
{
	uint64_t now = jf_grace_begin();
	uint64_t start = jf_now_ns(), told = start;
	unsigned int spins = 0;

	while (somebody(handlers_only, now)) {
		uint64_t t = jf_now_ns();

		if (t - start >= limit_ns)
			return false;
		if (t - told > 10000000000ULL) {
			jf_say(false, "still waiting for a thread in a read section or a probe");
			told = t;
		}
		nap(spins++);
	}
	while (atomic_load(&strangers))
		sched_yield();
	return true;
}

/* dlclose() waits here, too, with locks held: no thread is cancelled on its way. */
static bool wait_for(bool handlers_only, uint64_t limit_ns)
{
	bool done;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	done = wait_until(handlers_only, limit_ns);
	pthread_setcancelstate(state, NULL);
	return done;
}

void jf_wait_handlers(void)
{
	wait_for(true, UINT64_MAX);
}

static _Atomic uint64_t replacements, quiesced;

void jf_replaced(void)
{
	atomic_fetch_add(&replacements, 1);
}

uint64_t jf_replacements(void)
{
	return atomic_load(&replacements);
}

bool jf_quiesced(uint64_t nr)
{
	return atomic_load(&quiesced) >= nr;
}

bool jf_wait_readers_for(uint64_t limit_ns)
{
	uint64_t nr = jf_replacements(), was = atomic_load(&quiesced);

	if (jf_broken(QUIESCE))
		return true;
	if (!wait_for(false, limit_ns))
		return false;
	/* The caller's own section was not waited for. */
	while (!jf_in_section() && was < nr)
		if (atomic_compare_exchange_weak(&quiesced, &was, nr))
			break;
	__atomic_fetch_add(&jf_stats.quiesces, 1, __ATOMIC_RELAXED);
	return true;
}

void jf_quiesce(void)
{
	jf_wait_readers_for(UINT64_MAX);
}

int jf_quiesce_timeout(unsigned long timeout)
{
	uint64_t ns;

	if (__builtin_mul_overflow((uint64_t)timeout, 1000000ULL, &ns))
		ns = UINT64_MAX;
	return jf_wait_readers_for(ns) ? 0 : -ETIMEDOUT;
}

/* Of all threads only this one is left; it may be in a section. */
void jf_readers_child(void)
{
	struct jf_reader *r = &__jf_reader;

	atomic_flag_clear(&readers_lock);
	readers = r->listed == 1 ? r : NULL;
	r->next = NULL;
	atomic_store(&strangers, 0);
}

__attribute__((__constructor__(101)))
static void readers_begin(void)
{
	have_key = !pthread_key_create(&at_thread_end, thread_ends);
}
