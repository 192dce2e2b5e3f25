// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The settings of the environment, and messages on standard error, which depend on these.
 *
 * A message of the lock's holder waits until the lock is dropped and signals are let in: standard
 * error may be a pipe that is full. The thread that reads it may wait for the lock, or be the same
 * thread in a signal handler.
 */
#include "lib.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef JF_BREAK
enum jf_break jf_break;
#endif

struct jf_stats jf_stats = { .writer = "none" };

/* If changes can be made by breakpoints, and jf_stats.form of the changes without them. */
#if JF_HAVE_PATCHING && defined(__x86_64__)
#define HAVE_TRAP	true
#define FORM		"flip"
#else
#define HAVE_TRAP	false
#define FORM		(JF_HAVE_PATCHING ? "store" : "load")
#endif

/*
 * The process began without the right to read the processor's counter (PR_SET_TSC), by which the C
 * library's function tells the time. It would die of that.
 */
static bool by_call;

/* Nothing points to the environment: programs write their titles over it. */
static void read_options(struct jf_options *o)
{
	const char *s = secure_getenv("JUMPFUNC");
	int how = PR_TSC_ENABLE;

	by_call = !prctl(PR_GET_TSC, &how) && how != PR_TSC_ENABLE;
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

uint64_t jf_now_ns(void)
{
	struct timespec ts = { 0, 0 };

	if (by_call)
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	else
		clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* --- messages ----------------------------------------------------------------------- */

/* With the lock held. Room is left for the line that counts the lost messages. */
static struct {
	char text[JF_UNSAID_SIZE - 64];
	size_t num;
	unsigned int lost;
} unsaid;

/* Only the thread that has set it finds itself there. */
static _Atomic uintptr_t holder;

static uintptr_t this_thread(void)
{
	return (uintptr_t)pthread_self();
}

void jf_say_later(bool later)
{
	atomic_store_explicit(&holder, later ? this_thread() : 0, memory_order_relaxed);
}

static void say_later(const char *text)
{
	size_t num = strlen(text);

	if (num >= sizeof(unsaid.text) - unsaid.num) {
		unsaid.lost++;
		return;
	}
	memcpy(unsaid.text + unsaid.num, text, num + 1);
	unsaid.num += num;
}

bool jf_say_waits(void)
{
	return unsaid.num || unsaid.lost;
}

void jf_say_take(char *text)
{
	size_t num = unsaid.num;

	memcpy(text, unsaid.text, num + 1);
	if (unsaid.lost)
		snprintf(text + num, JF_UNSAID_SIZE - num, "libjumpfunc: %u more messages\n", unsaid.lost);
	unsaid.num = 0;
	unsaid.lost = 0;
}

/* A pipe without a reader, and a file that is too large, bring no signal. */
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
	if (atomic_load_explicit(&holder, memory_order_relaxed) == this_thread())
		say_later(text);
	else
		jf_write_text(STDERR_FILENO, text);
	errno = err;
}
