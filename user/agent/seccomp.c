// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Filters of system calls (seccomp). A string is copied by the kernel (memory.c), and a filter may
 * kill the process for that call. No thread can find out without a system call whether it has one.
 * So when a probe is first asked for libc's prctl() and syscall(), by which programs and libraries
 * install theirs, are made probes that look at each call (watch.c), and then filters are looked
 * for. From the first one on no string is read in the process, in whatever thread it is: it may be
 * passed on to others, and threads that come later have their creator's. If the two cannot be
 * probes no string is read either.
 *
 * A filter that the program has installed itself can kill for any call that the program does not
 * make. So its threads make none for the agent from then on (jf_aside_quiet()). Those that it had
 * from its begin, as in a container, are no such filters: the agent began beneath them.
 *
 * libc's code, and not the names: the names are bypassed if a program has asked for libc itself, by
 * dlopen(). A filter that a program installs by an instruction of its own is not seen, nor one by
 * another libc (dlmopen()).
 */
#include "seccomp.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jumpfunc/batch.h>

/* How long a filter waits for threads that are copying. */
#define QUIESCE_MS	2000

uint8_t jf_filtered;
/* The user knows the filter. */
static bool always;
/* How many filters the program began with. */
static unsigned int inherited;
/* By enum jf_watch: where libc's functions begin. */
static uintptr_t calls[JF_WATCH_SIGACTION + 1];

/**
 * jf_filter_needed() - are strings to be read as long as there is no filter
 */
bool jf_filter_needed(void)
{
	return !always && !(jf_filtered & JF_FILTERED);
}

/* It is not known how many. */
#define SOME	1U

/*
 * Filters of a thread by its status; before Linux 5.9 none or SOME. None if @thread has ended,
 * unless it is the caller's @own: that one has not. A file that cannot be read may say anything.
 */
static unsigned int filters_of(const char *thread, bool own)
{
	char path[64], status[8192], *at;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread) >= (int)sizeof(path))
		return SOME;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return own || errno != ENOENT ? SOME : 0;
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	if (n <= 0)
		return errno != ESRCH ? SOME : 0;
	status[n] = 0;
	at = strstr(status, "\nSeccomp:");
	if (at && at[strcspn(at + 1, "012") + 1] == '0')
		return 0;
	at = strstr(status, "\nSeccomp_filters:");
	n = at ? atoi(at + sizeof("\nSeccomp_filters:")) : 0;
	return n > 0 ? (unsigned int)n : SOME;
}

/**
 * jf_filter_look() - see whether a thread has a filter
 *
 * Before anything is recorded.
 *
 * Return: true, a thread has one that the program did not begin with
 */
bool jf_filter_look(void)
{
	unsigned int most = 0, num;
	struct dirent *e;
	DIR *dir;

	if (!jf_filter_needed())
		return false;
	dir = opendir("/proc/self/task");
	if (!dir)
		most = SOME;
	while (dir && (e = readdir(dir))) {
		num = *e->d_name == '.' ? 0 : filters_of(e->d_name, false);
		most = num > most ? num : most;
	}
	if (dir)
		closedir(dir);
	if (most)
		__atomic_fetch_or(&jf_filtered, JF_FILTERED, __ATOMIC_RELAXED);
	return dir && most > inherited;
}

static unsigned int own_filters(void)
{
	char thread[24];

	snprintf(thread, sizeof(thread), "%ld", syscall(SYS_gettid));
	return filters_of(thread, true);
}

/**
 * jf_filter_own() - has the calling thread a filter, or is that not known
 */
bool jf_filter_own(void)
{
	return __atomic_load_n(&jf_filtered, __ATOMIC_RELAXED) & JF_FILTERED || own_filters();
}

/**
 * jf_filter_begin() - find the functions to be watched
 * @trusted: strings are read whatever filter there is
 *
 * By a constructor: it takes the lock of dlopen(). libc's own, not those that another object may
 * have in front of them.
 */
void jf_filter_begin(bool trusted)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	always = trusted;
	inherited = own_filters();
	if (!libc)
		return;
	calls[JF_WATCH_PRCTL] = (uintptr_t)dlsym(libc, "prctl");
	calls[JF_WATCH_SYSCALL] = (uintptr_t)dlsym(libc, "syscall");
	calls[JF_WATCH_ARCH_PRCTL] = (uintptr_t)dlsym(libc, "arch_prctl");
	calls[JF_WATCH_SIGACTION] = (uintptr_t)dlsym(libc, "sigaction");
}

/**
 * jf_filter_call() - is a function one of libc's by which filters are installed, or handlers
 * @at: where it begins
 */
enum jf_watch jf_filter_call(uintptr_t at)
{
	return !at ? JF_WATCH_NONE : at == calls[JF_WATCH_PRCTL] ? JF_WATCH_PRCTL :
	       at == calls[JF_WATCH_SYSCALL] ? JF_WATCH_SYSCALL :
	       at == calls[JF_WATCH_ARCH_PRCTL] ? JF_WATCH_ARCH_PRCTL :
	       at == calls[JF_WATCH_SIGACTION] ? JF_WATCH_SIGACTION : JF_WATCH_NONE;
}

/**
 * jf_filter_within() - is one of them there
 * @start: of the object
 * @end:   of it
 */
bool jf_filter_within(uintptr_t start, uintptr_t end)
{
	return calls[JF_WATCH_PRCTL] >= start && calls[JF_WATCH_PRCTL] < end;
}

/**
 * jf_filter_watched() - say whether filters are seen that will be installed
 * @all: those by each of libc's functions are
 */
void jf_filter_watched(bool all)
{
	if (all)
		__atomic_fetch_and(&jf_filtered, (uint8_t)~JF_UNWATCHED, __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(&jf_filtered, JF_UNWATCHED, __ATOMIC_RELAXED);
}

/**
 * jf_filter_wait() - wait until no thread copies a string that began to before a filter was seen
 *
 * Another thread may be about to copy, and get the filter, too.
 */
uint64_t jf_filter_wait(uint64_t unused)
{
	int saved = errno;

	(void)unused;
	jf_quiesce_timeout(QUIESCE_MS);
	errno = saved;
	return 0;
}
