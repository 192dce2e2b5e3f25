// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Messages on standard error.
 *
 * A message of the lock's holder waits until the lock is dropped and signals are let in: standard
 * error may be a pipe that is full. The thread that reads it may wait for the lock, or be the same
 * thread in a signal handler.
 */
#include "lib.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* With the lock held. Room is left for the line that counts the lost messages. */
static struct {
	char text[JF_UNSAID_SIZE - 64];
	size_t num;
	unsigned int lost;
} unsaid;

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
	if (jf_lock_is_mine())
		say_later(text);
	else
		jf_write_text(STDERR_FILENO, text);
	errno = err;
}
