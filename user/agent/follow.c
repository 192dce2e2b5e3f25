// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The thread of the control socket has the rights of the program's own threads. The C library's
 * setuid() and its like change all threads of a process, and end the program if they could do so in
 * some threads only. But prctl() and capset() change one thread: PR_SET_KEEPCAPS,
 * PR_SET_SECUREBITS, capabilities. The thread of the socket would keep the old ones, and the next
 * setuid() ends the program.
 *
 * A filter of seccomp can end the program for the clone() of the new thread. The thread ends for
 * good if the caller has a filter, or can have one.
 *
 * So these two functions stand before libc's, as LD_PRELOAD has it: the thread ends before such a
 * change, and a new thread begins after it, with the rights of the thread that calls. A system call
 * that a program makes without these functions is not seen.
 */
#include "follow.h"
#include "seccomp.h"
#include "busy.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <jumpfunc/record.h>

#include "user/lib/error.h"
#include "user/trace/tell.h"

typedef int prctl_fn(int option, ...);
typedef int capset_fn(void *header, const void *data);

static prctl_fn *next_prctl;
static capset_fn *next_capset;
/* A thread has a filter by prctl(): nothing is known of its denials. */
static bool filtered;

/**
 * jf_follow_begin() - find libc's prctl() and capset()
 *
 * By a constructor: it takes the lock of dlopen().
 */
void jf_follow_begin(void)
{
	next_prctl = (prctl_fn *)(uintptr_t)dlsym(RTLD_NEXT, "prctl");
	next_capset = (capset_fn *)(uintptr_t)dlsym(RTLD_NEXT, "capset");
}

/* True: a thread ended, and another is to begin. */
static bool end_thread(void)
{
	int saved = errno;
	bool ended = !jf_record_control(false);

	errno = saved;
	return ended;
}

static void make_thread(void)
{
	int err;

	if (__atomic_load_n(&filtered, __ATOMIC_RELAXED) || jf_filter_own()) {
		if (jf_may_tell())
			fputs("libjumpfunc-agent: no control from now on: a filter of seccomp may deny a new thread\n", stderr);
		return;
	}
	err = jf_record_control(true);
	if (err && jf_may_tell())
		fprintf(stderr, "libjumpfunc-agent: no control: %s\n", jf_error(-err));
}

static void begin_thread(void)
{
	int saved = errno;

	jf_agent_busy++;
	make_thread();
	jf_agent_busy--;
	errno = saved;
}

__attribute__((__visibility__("default")))
int prctl(int option, ...)
{
	unsigned long arg[4];
	bool ended = false;
	unsigned int i;
	va_list args;
	int ret;

	/* As libc's own does it, whether they are there or not. */
	va_start(args, option);
	for (i = 0; i < 4; i++)
		arg[i] = va_arg(args, unsigned long);
	va_end(args);
	if (option == PR_SET_KEEPCAPS || option == PR_SET_SECUREBITS)
		ended = end_thread();
	if (next_prctl)
		ret = next_prctl(option, arg[0], arg[1], arg[2], arg[3]);
	else
		ret = (int)syscall(SYS_prctl, option, arg[0], arg[1], arg[2], arg[3]);
	if (option == PR_SET_SECCOMP && !ret)
		__atomic_store_n(&filtered, true, __ATOMIC_RELAXED);
	if (ended)
		begin_thread();
	return ret;
}

/* libcap's header declares it, not libc's. */
extern int capset(void *header, const void *data);

__attribute__((__visibility__("default")))
int capset(void *header, const void *data)
{
	bool ended = end_thread();
	int ret = next_capset ? next_capset(header, data) : (int)syscall(SYS_capset, header, data);

	if (ended)
		begin_thread();
	return ret;
}
