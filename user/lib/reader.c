// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Read sections: which threads can be inside of replaced code.
 *
 *   quiesce				read section
 *   -------				------------
 *   1 advance the grace period		a word = grace period it saw
 *   2 broadcast			b executes sites, images, probes
 *   3 wait while a word is older	c word = 0
 *
 *   If a is before the reader's part of 2, then 3 sees it and waits. If it is
 *   after, then all of b is after 2, and so after everything that was patched
 *   before the quiesce: the section cannot reach the replaced code. One pass
 *   is enough since grace periods are 64-bit numbers that never come again:
 *   a section that began late with an old number only makes the next one wait.
 *
 * A thread gets a word with its first section, which may be in a signal handler
 * that has interrupted anything: so there is no allocation but of whole pages, by
 * a system call, and the lock around the words is held with all signals blocked,
 * for a look and never while waiting.
 *
 * It gives the word back when it ends, by a destructor. Where that would allocate
 * (glibc, if 32 keys were there before), and in the last round of destructors, it
 * does not. Then its number shows that it has ended, when a thread would wait for it,
 * gets the same number, or looks for words that are free. Words are never unmapped,
 * so that all this can be done while threads come and go.
 *
 * The SIGTRAP handler is such a section, too, with a word of its own. A thread
 * that has none does not get one for that: such handlers are counted.
 */
#include "lib.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Signals handlers of one thread may be in each other: so many sections deep. */
#define NEST_MASK	0xffffULL
#define GRACE_PERIOD	0x10000ULL

__thread struct jf_reader *__jf_reader __JF_OF_THREAD;
uint64_t __jf_grace_period = GRACE_PERIOD;

#define WORDS	1024

struct words {
	struct words		*next;
	struct jf_reader	reader[WORDS];
};

/* The first ones cost memory only where they are used. */
static struct words first_words, *words = &first_words;
/* Of the newest ones so many were given away at least once. */
static size_t used;
/* The next ones, made in good time: where memory is short no thread need wait for them. */
static struct words *spare;
static struct jf_reader *unused;
static atomic_flag readers_lock = ATOMIC_FLAG_INIT;
/* This process, of which vfork() and clone() know nothing. */
static int own_pid;
/* Of a clock's number: that it is a thread's, of the time that it has run. */
#define THREAD_CLOCK	6
/* Handlers of threads that are not in the list. */
static _Atomic uint64_t strangers;

static pthread_key_t at_thread_end;
static bool have_key;
/* Of this thread's destructors; some threads may have ended without giving their word back. */
static __thread unsigned int rounds __JF_OF_THREAD;
static _Atomic bool left_behind;

/*
 * ThreadSanitizer sees the program's accesses, and not the order that is made here: all accesses
 * before a section's end, or a thread's, are over. It is told only by threads that end and by those
 * that wait: a first section can be in ThreadSanitizer's own code, where a thread begins.
 */
extern void __tsan_acquire(void *addr) __attribute__((__weak__));
extern void __tsan_release(void *addr) __attribute__((__weak__));

static void sanitizer_releases(const void *addr)
{
	if (__tsan_release)
		__tsan_release((void *)(uintptr_t)addr);
}

static void sanitizer_acquires(const void *addr)
{
	if (__tsan_acquire)
		__tsan_acquire((void *)(uintptr_t)addr);
}

#define SPINS	100

/* sched_yield() does not help: a real-time thread yields only to threads of its priority. */
static void nap(unsigned int spins)
{
	static const struct timespec t = { .tv_nsec = 50000 };

	if (spins < SPINS)
		jf_relax();
	else
		nanosleep(&t, NULL);
}

/*
 * Some threads can be cancelled anywhere. Unlike jf_keep_off(), faults are kept off,
 * too: nothing in here makes one, and the handler of one that is sent may come upon
 * a site, which would wait for the thread that it interrupted. Sandboxes answer system
 * calls in a handler of SIGSYS: so with the lock held, or signals blocked, there is
 * none but those that change the mask.
 */
static void list_lock(struct jf_before *b)
{
	unsigned int spins = 0;
	sigset_t all;

	sigfillset(&all);
	/* With JUMPFUNC_TRAP=always, an INT3 while it is blocked would be the end. */
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &all, &b->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &b->cancel);
	/* Pairs with list_unlock(): the lists are as the last one has left them. */
	while (atomic_flag_test_and_set_explicit(&readers_lock, memory_order_acquire)) {
		if (spins++ < SPINS) {
			jf_relax();
			continue;
		}
		pthread_sigmask(SIG_SETMASK, &b->signals, NULL);
		nap(spins);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	}
}

static void list_unlock(const struct jf_before *b)
{
	/* Pairs with list_lock(). */
	atomic_flag_clear_explicit(&readers_lock, memory_order_release);
	jf_let_in(b);
}

/* All that were ever given away; with the lock held. */
static struct jf_reader *next_reader(struct words **w, size_t *at)
{
	size_t nr;

	for (; *w; *w = (*w)->next, *at = 0) {
		nr = *w == words ? used : WORDS;
		if (*at < nr)
			return &(*w)->reader[(*at)++];
	}
	return NULL;
}

#define for_each_reader(r, w, at)					\
	for (w = words, at = 0; (r = next_reader(&w, &at));)

/*
 * Also the words of a section in which it ended. fork() does not take the lock:
 * a child may find these lists between any two stores, so that they are made in order.
 * Then it misses some words at worst.
 */
static void release(struct jf_reader *r)
{
	r->word = 0;
	r->handler = 0;
	r->tid = 0;
	r->holders++;
	r->next = unused;
	/*
	 * Partner: take() in such a child. The word that it finds has a successor, and no number.
	 */
	__atomic_store_n(&unused, r, __ATOMIC_RELEASE);
}

/*
 * The first thread stays until the others have ended, and a signal can be sent to it. A
 * first section in a signal handler may come here, and be cancelled at any time.
 */
static bool first_has_ended(void)
{
	char stat[64], *end;
	ssize_t nr = -1;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		nr = syscall(SYS_read, fd, stat, sizeof(stat));
		syscall(SYS_close, fd);
	}
	/* The name, in brackets, may have others in it; the state follows. */
	end = nr > 0 ? memrchr(stat, ')', (size_t)nr) : NULL;
	return end && end + 2 < stat + nr && end[2] == 'Z';
}

/*
 * Of a copy of this process that no fork() made, the threads are not known, and one without a
 * number is not one that tgkill() misses.
 */
static bool is_alive(const struct jf_reader *r)
{
	int pid = getpid();

	/* With a key, it has said so itself. */
	if (!have_key && r->pid == pid && r->tid == pid && first_has_ended())
		return false;
	return pid != r->pid || !syscall(SYS_tgkill, pid, r->tid, 0) || errno != ESRCH;
}

/*
 * True if the thread of @r has ended. Then its word is given back. With the lock held, which is
 * dropped during the call: the words that were looked at before stay where they are.
 */
static bool release_dead(struct jf_reader *r, struct jf_before *b)
{
	struct jf_reader was = { .tid = r->tid, .pid = r->pid, .holders = r->holders };
	bool alive;

	list_unlock(b);
	alive = is_alive(&was);
	list_lock(b);
	/* Another thread may have released it, and a third one have it by now. */
	if (!alive && r->holders == was.holders)
		release(r);
	return !alive;
}

/* Words of those who ended without a word. With the lock held, which is dropped during the call. */
static void collect(struct jf_before *b)
{
	struct jf_reader *r;
	struct words *w;
	size_t at;

	for_each_reader(r, w, at)
		if (r->tid)
			release_dead(r, b);
}

/* Of the one who had this number before. */
static void collect_one(int tid)
{
	struct jf_reader *r;
	struct words *w;
	size_t at;

	for_each_reader(r, w, at)
		if (r->tid == tid)
			release(r);
}

static struct jf_reader *take(void)
{
	struct jf_reader *r = unused;

	if (r) {
		unused = r->next;
		return r;
	}
	if (used < WORDS)
		return &words->reader[used++];
	return NULL;
}

static bool use_spare(void)
{
	struct words *more = spare;

	if (!more)
		return false;
	/*
	 * In this order, as in release(): @used is of whatever is the first. Partners:
	 * use_spare() in a child, for which the spare is gone where it is in the list, and
	 * next_reader(), which does not see 0 together with the words of before.
	 */
	spare = NULL;
	more->next = words;
	__atomic_store_n(&words, more, __ATOMIC_RELEASE);
	__atomic_store_n(&used, 0, __ATOMIC_RELEASE);
	return true;
}

/* Without the lock. */
static bool make_spare(void)
{
	struct words *more = mmap(NULL, sizeof(*more), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct jf_before old;

	if (more == MAP_FAILED)
		return false;
	list_lock(&old);
	if (!spare) {
		spare = more;
		more = NULL;
	}
	list_unlock(&old);
	if (more)
		munmap(more, sizeof(*more));
	return true;
}

/*
 * Other destructors may have sections after this one, and get another word, or be in
 * one around this one, and keep theirs. A section that is open in the last round is over:
 * its code has left the stack. Its word stays this thread's for destructors that come later;
 * collect_one() finds it.
 */
static void thread_ends(void *arg)
{
	struct jf_reader *r = arg;
	struct jf_before old;

	/*
	 * In the last round ThreadSanitizer has forgotten the thread. Pairs with is_occupied().
	 * Without the lock: an agent can record ThreadSanitizer's functions.
	 */
	if (rounds + 1 < PTHREAD_DESTRUCTOR_ITERATIONS)
		sanitizer_releases(&readers_lock);
	list_lock(&old);
	rounds++;
	if (__jf_reader == r && !r->word) {
		__jf_reader = NULL;
		release(r);
		r = NULL;
	} else if (__jf_reader == r && rounds >= PTHREAD_DESTRUCTOR_ITERATIONS) {
		r->word = 0;
	}
	list_unlock(&old);
	/* In the last round that is without effect. */
	if (r) {
		left_behind = true;
		pthread_setspecific(at_thread_end, r);
	}
}

/*
 * The identity of this thread. The child of vfork() has the data of its parent's thread,
 * whose word it takes: libc knows that thread by its number, and tells it as a part of
 * the number of a clock. It also does so where a filter denies the system calls.
 */
static void own_number(int *tid, int *pid)
{
	clockid_t clock;

	*tid = (int)syscall(SYS_gettid);
	*pid = getpid();
	if (*tid > 0 && (!own_pid || *pid == own_pid))
		return;
	if (pthread_getcpuclockid(pthread_self(), &clock) || (clock & 7) != THREAD_CLOCK)
		return;
	if (*tid > 0 && *tid != ~(clock >> 3))
		*pid = own_pid;
	*tid = ~(clock >> 3);
}

/*
 * With the lock held, which is dropped during the call; a signal handler may have been faster.
 * Without memory it waits until another thread ends.
 */
static struct jf_reader *take_or_wait(struct jf_before *b)
{
	unsigned int spins = 0;
	struct jf_reader *r;
	bool made;

	while (!(r = __jf_reader) && !(r = take())) {
		collect(b);
		if (unused || used < WORDS || use_spare())
			continue;
		list_unlock(b);
		made = make_spare();
		if (!made)
			nap(spins++);
		list_lock(b);
	}
	return r;
}

/* In a thread that has no word. */
struct jf_reader *__jf_reader_list(void)
{
	int err = errno, tid, pid;
	struct jf_before old;
	struct jf_reader *r;
	bool few;

	jf_fork_in_child();
	own_number(&tid, &pid);
	list_lock(&old);
	if (rounds || !have_key)
		left_behind = true;
	if (left_behind && !__jf_reader && tid > 0)
		collect_one(tid);
	r = take_or_wait(&old);
	if (!__jf_reader) {
		r->pid = pid;
		/*
		 * 0 is for free words. After take(): a child releases words that have a number.
		 * Partner: child_begins().
		 */
		__atomic_store_n(&r->tid, tid > 0 ? tid : -1, __ATOMIC_RELEASE);
		__jf_reader = r;
		if (have_key)
			pthread_setspecific(at_thread_end, r);
	}
	few = used > WORDS / 2 && !spare;
	list_unlock(&old);
	if (few)
		make_spare();
	errno = err;
	return r;
}

bool jf_in_section(void)
{
	return __jf_reader && __jf_reader->word;
}

bool jf_handler_enter(void)
{
	struct jf_reader *r = __jf_reader;
	bool listed = r;

	/* Acquire: as in jf_read_lock(). Pairs with jf_grace_begin(). */
	if (listed)
		__atomic_store_n(&r->handler,
				 __atomic_load_n(&__jf_grace_period, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	else
		atomic_fetch_add(&strangers, 1);
	/*
	 * Pairs with jf_sync_memory() in jf_grace_begin(): the thread that waits finds us, or we
	 * find the changes before.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	return listed;
}

void jf_handler_leave(bool listed)
{
	/* Pairs, as the store does, with is_older() and begun_in(): nothing is used any more. */
	atomic_signal_fence(memory_order_seq_cst);
	if (listed)
		__atomic_store_n(&__jf_reader->handler, 0, __ATOMIC_RELEASE);
	else
		atomic_fetch_sub(&strangers, 1);
}

/* As a handler of a thread that has no word: handlers that have one may interrupt this. */
void jf_look_begin(void)
{
	/* A full barrier. Pairs with jf_sync_memory(), as the fence in jf_handler_enter() does. */
	atomic_fetch_add(&strangers, 1);
}

void jf_look_end(void)
{
	/* Pairs with the load in wait_until(): nothing is used any more. */
	atomic_fetch_sub(&strangers, 1);
}

static bool is_older(const uint64_t *word, uint64_t now)
{
	/* Pairs with jf_read_unlock() and jf_handler_leave(): their data is free. */
	uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	sanitizer_acquires(word);
	return seen && seen < now;
}

/* An agent can record ThreadSanitizer's functions, with the lock held: that takes a word. */
static void list_lock_to_wait(struct jf_before *b)
{
	if (__tsan_acquire && !__jf_reader)
		__jf_reader_list();
	list_lock(b);
}

/* True if another thread than this one is in a section that began before @now. */
static bool is_occupied(bool handlers_only, uint64_t now)
{
	struct jf_reader *r;
	bool found = false;
	struct words *w;
	struct jf_before old;
	size_t at;

	list_lock_to_wait(&old);
	for_each_reader(r, w, at) {
		if (!r->tid || r == __jf_reader)
			continue;
		found = is_older(&r->handler, now) ||
			(!handlers_only && is_older(&r->word, now));
		found = found && !release_dead(r, &old);
		if (found)
			break;
	}
	list_unlock(&old);
	/* Of threads that have ended: pairs with thread_ends(). */
	sanitizer_acquires(&readers_lock);
	return found;
}

uint64_t jf_grace_begin(void)
{
	/*
	 * Pairs with the loads in jf_read_lock() and jf_handler_enter(), which come before
	 * later ones: a reader of the new number sees the replacement, and is not waited for.
	 */
	uint64_t now = __atomic_add_fetch(&__jf_grace_period, GRACE_PERIOD,
					  __ATOMIC_SEQ_CST);

	/* Pairs with the fences there: a reader of the old one is seen, or sees all that, too. */
	jf_sync_memory();
	return now;
}

static uint64_t begun_in(const uint64_t *word)
{
	/* Pairs with jf_read_unlock() and jf_handler_leave(), as in is_older(). */
	uint64_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

	sanitizer_acquires(word);
	return seen ? seen & ~NEST_MASK : UINT64_MAX;
}

/* The one whose section is the oldest, or NULL. With the lock held. */
static struct jf_reader *oldest_reader(uint64_t *began)
{
	struct jf_reader *r, *oldest = NULL;
	struct words *w;
	size_t at;

	*began = UINT64_MAX;
	for_each_reader(r, w, at) {
		uint64_t word = begun_in(&r->word), handler = begun_in(&r->handler);
		uint64_t t = word < handler ? word : handler;

		if (r->tid && t < *began) {
			*began = t;
			oldest = r;
		}
	}
	return oldest;
}

uint64_t jf_grace_oldest(void)
{
	struct jf_reader *r;
	struct jf_before old;
	uint64_t began;

	if (atomic_load(&strangers))
		return 0;
	list_lock_to_wait(&old);
	while ((r = oldest_reader(&began)) && release_dead(r, &old))
		;
	list_unlock(&old);
	/* As in is_occupied(). */
	sanitizer_acquires(&readers_lock);
	return began;
}

/* False: it took longer than @limit_ns. */
static bool wait_until(bool handlers_only, uint64_t limit_ns)
{
	uint64_t now = jf_grace_begin();
	uint64_t start = jf_now_ns(), told = start;
	unsigned int spins = 0;

	while (is_occupied(handlers_only, now)) {
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
		nap(spins++);
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

/* Sections may wait for the lock. */
static bool quiesce_for(uint64_t limit_ns)
{
	bool paused = jf_fork_pause(), done = jf_wait_readers_for(limit_ns);

	jf_fork_resume(paused);
	return done;
}

void jf_quiesce(void)
{
	quiesce_for(UINT64_MAX);
}

int jf_quiesce_timeout(unsigned long timeout)
{
	uint64_t ns;

	if (__builtin_mul_overflow((uint64_t)timeout, 1000000ULL, &ns))
		ns = UINT64_MAX;
	return quiesce_for(ns) ? 0 : -ETIMEDOUT;
}

/* Of all threads only this one is left; it may be in a section. */
static void child_begins(void)
{
	struct jf_reader *r;
	struct words *w;
	size_t at;
	int tid, pid;

	atomic_flag_clear(&readers_lock);
	for_each_reader(r, w, at)
		if (r->tid && r != __jf_reader)
			release(r);
	own_pid = getpid();
	if (__jf_reader) {
		own_number(&tid, &pid);
		__jf_reader->tid = tid > 0 ? tid : -1;
		__jf_reader->pid = pid;
	}
	atomic_store(&strangers, 0);
}

__attribute__((__constructor__(JF_BEGINS)))
static void readers_begin(void)
{
	static struct jf_fork_part forks = { .child = child_begins };

	jf_at_fork(&forks);
	own_pid = getpid();
	have_key = !pthread_key_create(&at_thread_end, thread_ends);
#ifdef __GLIBC__
	/* Others live in memory that a thread gets when it first needs it. */
	if (have_key && at_thread_end >= 32) {
		pthread_key_delete(at_thread_end);
		have_key = false;
	}
#endif
}
