// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The lock, the statistics, what the environment asks for, and messages. */
#include "lib.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef JF_BREAK
enum jf_break jf_break;
#endif

static struct jf_mutex lock = JF_MUTEX_INIT;
struct jf_stats jf_stats = { .writer = "none" };

void jf_signals_of_others(sigset_t *set)
{
	static const int own[] = { SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS };
	size_t i;

	sigfillset(set);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(set, own[i]);
}

/*
 * The holder of the lock opens and writes files, where a thread can be cancelled: it would
 * never drop the lock, nor remove its breakpoints. And a signal handler that forks would
 * wait for the thread that it interrupted. The thread's own mask and state are restored
 * before a handler runs: one that leaves by longjmp() would keep ours for ever.
 */
void jf_keep_off(struct jf_before *b)
{
	sigset_t others;

	jf_signals_of_others(&others);
	pthread_sigmask(SIG_BLOCK, &others, &b->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &b->cancel);
}

void jf_let_in(const struct jf_before *b)
{
	pthread_setcancelstate(b->cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &b->signals, NULL);
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

/*
 * What is to be said while the lock is held is written when that is dropped and signals are
 * let in: standard error may be a pipe that is full, and the thread that reads it may
 * wait for the lock, or be the same one, in a signal handler.
 */
#define UNSAID_SIZE	4096
static struct {
	char text[UNSAID_SIZE];
	size_t num;
	unsigned int lost;
} unsaid;

/* Only the thread that has set it finds itself there. Another value is no news. */
static _Atomic uintptr_t holder;

static uintptr_t this_thread(void)
{
	return (uintptr_t)pthread_self();
}

static void lock_taken(void)
{
	atomic_store_explicit(&holder, this_thread(), memory_order_relaxed);
}

static bool lock_is_mine(void)
{
	return atomic_load_explicit(&holder, memory_order_relaxed) == this_thread();
}

static void say_later(const char *text)
{
	size_t num = strlen(text);

	if (num >= UNSAID_SIZE - unsaid.num) {
		unsaid.lost++;
		return;
	}
	memcpy(unsaid.text + unsaid.num, text, num + 1);
	unsaid.num += num;
}

/* After this another thread may collect messages: so these are copied before. */
static void __attribute__((__noinline__)) drop_and_say(const struct jf_before *b, bool renew)
{
	char text[UNSAID_SIZE + 64];
	size_t num = unsaid.num;
	int err = errno;

	memcpy(text, unsaid.text, num + 1);
	if (unsaid.lost)
		snprintf(text + num, sizeof(text) - num, "libjumpfunc: %u more messages\n",
			 unsaid.lost);
	unsaid.num = 0;
	unsaid.lost = 0;
	if (renew)
		jf_mutex_renew(&lock);
	else
		pthread_mutex_unlock(&lock.mutex);
	pthread_setcancelstate(b->cancel, NULL);
	pthread_sigmask(SIG_SETMASK, &b->signals, NULL);
	/* The thread is not cancelled there: its change is done, and it shall hear. */
	jf_write_text(STDERR_FILENO, text);
	errno = err;
}

static void drop(bool renew)
{
	struct jf_before b = lock.before;

	atomic_store_explicit(&holder, 0, memory_order_relaxed);
	if (unsaid.num || unsaid.lost) {
		drop_and_say(&b, renew);
		return;
	}
	if (renew)
		jf_mutex_renew(&lock);
	else
		pthread_mutex_unlock(&lock.mutex);
	jf_let_in(&b);
}

static void take(void)
{
	struct jf_before b;

	jf_keep_off(&b);
	pthread_mutex_lock(&lock.mutex);
	lock.before = b;
	lock_taken();
}

/* --- forks ------------------------------------------------------------------------ */

/*
 * The lock is held over a fork, so that no change is under way. Handlers of the program
 * that are older than the library's run meanwhile: before the fork they come after these,
 * and after the fork before them. If they call the library they would wait for their own
 * thread. So a thread knows that it forks. What would change something is refused: it is
 * not clear whether for the parent, the child or both. For all else the lock is lent:
 * other threads go on, which may be waited for. A child has no others, so that its part is
 * over from there on.
 */
static struct jf_fork_part *fork_parts, **last_fork_part = &fork_parts;
static __thread enum {
	NONE, HOLDS, LENDS, OVER
} forks __JF_OF_THREAD;
/* The process that forks; and that a thread has the lock that it lent itself. With the lock held. */
static int forking;
static bool lent;

void jf_at_fork(struct jf_fork_part *part)
{
	*last_fork_part = part;
	last_fork_part = &part->next;
}

static void hold(void)
{
	const struct jf_fork_part *p;

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
	if (forks == HOLDS)
		let_go();
	forks = NONE;
}

static void child_begins(void)
{
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
	lock_taken();
	lent = paused;
	return true;
}

/* --- exit ------------------------------------------------------------------------- */

/*
 * Functions for exit() run in the reverse order of their registration. What the
 * constructors of a linked shared object register is older than what glibc has
 * for destructors, and comes too late. But before all that exit() has the
 * destructors of its thread's data, which otherwise have run only if the thread is at
 * its end.
 */
extern int __cxa_thread_atexit_impl(void (*func)(void *), void *arg, void *dso)
	__attribute__((__weak__));
extern void *__dso_handle __attribute__((__visibility__("hidden")));

static _Atomic bool exiting;
static __thread bool data_gone __JF_OF_THREAD;

static void exit_begins(void)
{
	atomic_store(&exiting, true);
}

static void data_goes(void *arg)
{
	(void)arg;
	data_gone = true;
}

void jf_at_exit(void)
{
	atexit(exit_begins);
}

bool jf_exits(void)
{
	return atomic_load(&exiting) || data_gone;
}

/* --- options, messages, statistics ------------------------------------------------ */

/* Changes by breakpoints, and what a change is without: see jf_stats.form. */
#if JF_HAVE_PATCHING && defined(__x86_64__)
#define HAVE_TRAP	true
#define FORM		"flip"
#else
#define HAVE_TRAP	false
#define FORM		(JF_HAVE_PATCHING ? "store" : "load")
#endif

/* Nothing points to the environment: programs write their titles over it. */
static void read_options(struct jf_options *o)
{
	const char *s = secure_getenv("JUMPFUNC");

	if (s && !strcmp(s, "off"))
		o->off = true;
	else if (s && !strcmp(s, "verbose"))
		o->verbose = true;
	else if (s && *s)
		jf_say(false, "JUMPFUNC=%s is neither off nor verbose", s);
	s = secure_getenv("JUMPFUNC_WRITER");
	if (s && !strcmp(s, "none"))
		o->off = true;
	else if (s && !strcmp(s, "mem"))
		o->writer = "mem";
	else if (s && !strcmp(s, "remap"))
		o->writer = "remap";
	else if (s && *s)
		jf_say(false, "JUMPFUNC_WRITER=%s is none of mem, remap, none", s);
	s = secure_getenv("JUMPFUNC_TRAP");
	if (s && !strcmp(s, "always"))
		o->int3 = HAVE_TRAP;
	else if (s && *s && strcmp(s, "never"))
		jf_say(false, "JUMPFUNC_TRAP=%s is neither never nor always", s);
	o->perf_map = secure_getenv("JUMPFUNC_PERF_MAP");
	strcpy(jf_stats.form, o->int3 ? "int3" : FORM);
}

/* With the lock held. The first one to ask is a constructor. */
const struct jf_options *jf_options(void)
{
	static struct jf_options options;
	static bool known;

	if (!known) {
		known = true;
		read_options(&options);
	}
	return &options;
}

/* A pipe may have no reader, or the file be too large: no reason to die. */
bool jf_write_text(int fd, const char *text)
{
	static const struct timespec now;
	sigset_t fatal, before, old;
	int sig = 0, cancel;
	long done;

	sigemptyset(&fatal);
	sigaddset(&fatal, SIGPIPE);
	sigaddset(&fatal, SIGXFSZ);
	sigpending(&before);
	pthread_sigmask(SIG_BLOCK, &fatal, &old);
	/* Not write(), where a thread can be cancelled: it may wait, and handlers come. */
	done = syscall(SYS_write, fd, text, strlen(text));
	if (done < 0)
		sig = errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
	if (sig && !sigismember(&before, sig)) {
		sigdelset(&fatal, sig == SIGPIPE ? SIGXFSZ : SIGPIPE);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
		sigtimedwait(&fatal, NULL, &now);
		pthread_setcancelstate(cancel, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return done > 0;
}

void jf_say(bool verbose, const char *fmt, ...)
{
	char text[512] = "libjumpfunc: ";
	size_t at = strlen(text);
	va_list args;
	int err = errno;

	if (verbose && !jf_options()->verbose)
		return;
	va_start(args, fmt);
	vsnprintf(text + at, sizeof(text) - at - 1, fmt, args);
	va_end(args);
	strcat(text, "\n");
	if (lock_is_mine())
		say_later(text);
	else
		jf_write_text(STDERR_FILENO, text);
	errno = err;
}

uint64_t jf_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

void jf_stats_get(struct jf_stats *stats, size_t size)
{
	jf_lock();
	/* They say what the form is, and this may be the first use of the library. */
	jf_options();
	memset(stats, 0, size);
	memcpy(stats, &jf_stats, size < sizeof(jf_stats) ? size : sizeof(jf_stats));
	jf_unlock();
}

/*
 * The targets of dynamic functions without one. Both can stand in for functions
 * of any type: arguments travel in registers or in the caller's frame.
 */
void jf_nop(void)
{
}

long jf_ret0(void)
{
	return 0;
}

/* --- the library is loaded ----------------------------------------------------- */

/*
 * In a shared object that contains the static library: signal handlers and the
 * ends of threads lead into it, so it stays, as libjumpfunc.so does (-z nodelete).
 * A static program has no such thing, and its linker would warn of dlopen().
 */
extern void *dlsym(void *handle, const char *name) __attribute__((__weak__));

static int own_name(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t at = (uintptr_t)own_name;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || at - (info->dlpi_addr + p->p_vaddr) >= p->p_memsz)
			continue;
		if (getauxval(AT_PHDR) != (uintptr_t)info->dlpi_phdr)
			*(const char **)arg = info->dlpi_name;
		return 1;
	}
	return 0;
}

__attribute__((__constructor__(JF_BEGINS)))
static void library_comes(void)
{
	const char *name = NULL;
	void *(*pin)(const char *object, int flags) = NULL;

	dl_iterate_phdr(own_name, &name);
	if (dlsym && name)
		pin = (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
	if (pin)
		pin(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	/* Later, other threads may change the environment. */
	jf_lock();
	jf_options();
	jf_unlock();
	/* When this thread's data go, as C++ does. */
	if (__cxa_thread_atexit_impl)
		__cxa_thread_atexit_impl(data_goes, NULL, &__dso_handle);
}

/* Signals come in when a child lets go, whose handlers may have sections. */
__attribute__((__constructor__(JF_BEGINS_LAST)))
static void forks_begin(void)
{
	pthread_atfork(hold, parent_goes_on, child_begins);
}
