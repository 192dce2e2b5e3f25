// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Filters of system calls (seccomp). A string is copied by the kernel (record.c), and a filter may kill the process
 * for that call. No thread can find out without a system call whether it has one. So it is looked for when strings are
 * asked for, and prctl() and syscall(), by which programs and libraries install theirs, are the agent's before they are
 * libc's (entry.S). From the first one on no string is read in the process, in whatever thread it is: it may be
 * passed on to others, and threads that come later have their creator's.
 *
 * One that a program installs by an instruction of its own is not seen.
 */
#include "agent.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jumpfunc/batch.h>

/* How long a filter waits for threads that are copying. */
#define QUIESCE_MS	2000

bool jf_filtered;
/* The user knows the filter. */
static bool always;

/* libc's, which come next, for entry.S. */
long (*jf_real_syscall)(long nr, ...) JF_HIDDEN;
int (*jf_real_prctl)(int option, ...) JF_HIDDEN;

/* Is "Seccomp:" of a thread 0? What cannot be read may be anything. */
static bool has_filter(const char *thread)
{
	char path[64], status[8192], *at;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread) >= (int)sizeof(path))
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* It has ended. */
	if (fd < 0)
		return errno != ENOENT;
	n = read(fd, status, sizeof(status) - 1);
	close(fd);
	if (n <= 0)
		return errno != ESRCH;
	status[n] = 0;
	at = strstr(status, "\nSeccomp:");
	return !at || at[strcspn(at + 1, "012") + 1] != '0';
}

/**
 * jf_filter_look() - see whether a thread has a filter
 *
 * Before the first string is read.
 */
void jf_filter_look(void)
{
	struct dirent *e;
	bool found;
	DIR *dir;

	if (always || jf_filtered)
		return;
	dir = opendir("/proc/self/task");
	found = !dir;
	while (!found && (e = readdir(dir)))
		found = *e->d_name != '.' && has_filter(e->d_name);
	if (dir)
		closedir(dir);
	if (found)
		__atomic_store_n(&jf_filtered, true, __ATOMIC_RELAXED);
}

/**
 * jf_filter_begin() - find what the agent's functions go on to
 * @trusted: strings are read whatever filter there is
 *
 * By a constructor.
 */
void jf_filter_begin(bool trusted)
{
	always = trusted;
	jf_real_syscall = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
	jf_real_prctl = (int (*)(int, ...))(uintptr_t)dlsym(RTLD_NEXT, "prctl");
}

/* entry.S: before prctl() or syscall() is carried out. */
JF_HIDDEN void jf_filter_seen(long nr, long a, long b);
void jf_filter_seen(long nr, long a, long b)
{
	int saved = errno;

	if (always || jf_filtered || (nr == SYS_prctl ? (int)a != PR_SET_SECCOMP :
				      a != SECCOMP_SET_MODE_STRICT && a != SECCOMP_SET_MODE_FILTER))
		return;
	/* Pairs with copy_string(): a thread sees it, or is in a read section that is waited for. */
	__atomic_store_n(&jf_filtered, true, __ATOMIC_SEQ_CST);
	/* Another thread may be about to copy, and get this one's filter. */
	if (nr == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER && b & SECCOMP_FILTER_FLAG_TSYNC)
		jf_quiesce_timeout(QUIESCE_MS);
	errno = saved;
}

/* entry.S: in other constructors, before that of the agent. */
JF_HIDDEN long jf_early_syscall(long nr, long a, long b, long c, long d, long e, long f);
long jf_early_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	if ((unsigned long)ret < -4095UL)
		return ret;
	errno = (int)-ret;
	return -1;
}

JF_HIDDEN int jf_early_prctl(int option, long a, long b, long c, long d);
int jf_early_prctl(int option, long a, long b, long c, long d)
{
	return (int)jf_early_syscall(SYS_prctl, option, a, b, c, d, 0);
}
