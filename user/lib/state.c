// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The lock, the statistics, what the environment asks for, and messages. */
#include "lib.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct jf_stats jf_stats;
_Atomic bool jf_exiting;

void jf_lock(void)
{
	pthread_mutex_lock(&lock);
}

void jf_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void jf_lock_child(void)
{
	pthread_mutex_init(&lock, NULL);
}

/* A debugger takes each SIGTRAP for its own, and stops. */
static bool is_traced(void)
{
	char text[2048], *line;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (got < 0)
		return false;
	text[got] = '\0';
	line = strstr(text, "TracerPid:");
	return line && strtol(line + strlen("TracerPid:"), NULL, 10) != 0;
}

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
	else if (s && (!strcmp(s, "mem") || !strcmp(s, "remap")))
		o->writer = s;
	else if (s && *s)
		jf_say(false, "JUMPFUNC_WRITER=%s is none of mem, remap, none", s);
	s = secure_getenv("JUMPFUNC_TRAP");
	if (s && !strcmp(s, "never"))
		o->no_trap = true;
	else if (s && *s && strcmp(s, "always"))
		jf_say(false, "JUMPFUNC_TRAP=%s is neither never nor always", s);
	else if (!s || !*s)
		o->no_trap = is_traced();
	strcpy(jf_stats.form, o->no_trap ? "flip" : "int3");
}

/* With the lock held, or in the first constructor. */
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

void jf_say(bool verbose, const char *fmt, ...)
{
	char text[512] = "libjumpfunc: ";
	size_t at = strlen(text);
	va_list args;
	ssize_t done;
	int err = errno;

	if (verbose && !jf_options()->verbose)
		return;
	va_start(args, fmt);
	vsnprintf(text + at, sizeof(text) - at - 1, fmt, args);
	va_end(args);
	strcat(text, "\n");
	done = write(STDERR_FILENO, text, strlen(text));
	(void)done;
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

/* --- fork ---------------------------------------------------------- */

static void at_fork_child(void)
{
	jf_lock_child();
	jf_readers_child();
	jf_sync_child();
	jf_writer_child();
}

__attribute__((__constructor__(101)))
static void library_comes(void)
{
	pthread_atfork(jf_lock, jf_unlock, at_fork_child);
}
