// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Calls of libc's functions by which the program installs a filter of system calls, or a handler of
 * SIGTRAP, or forbids itself the counter of the processor: the agent's part comes before the
 * function's own work.
 */
#include "watch.h"
#include "spot.h"
#include "own.h"
#include "aside.h"
#include "saved.h"
#include "seccomp.h"

#include <asm/prctl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <jumpfunc/record.h>

#include "user/lib/text.h"

/* Not in the headers of older kernels. */
#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#define PR_SYS_DISPATCH_ON		1
#endif

static uint64_t replace_handler(uint64_t reg)
{
	const uint64_t *r = (const uint64_t *)(uintptr_t)reg;

	return (uint64_t)(int64_t)__jf_trap_replace((const struct sigaction *)(uintptr_t)r[6], (struct sigaction *)(uintptr_t)r[2]);
}

/*
 * By sigaction(): the library's handler stays in front, and the function is left with nothing to
 * change or to tell. The functions that the library calls for that must not come back here.
 */
void jf_watch_handler(uint64_t *reg)
{
	int saved = errno;
	uint64_t ret = 1;

	if ((uint32_t)reg[7] != SIGTRAP)
		return;
	if (jf_is_quiet())
		jf_aside_quietly(replace_handler, (uint64_t)(uintptr_t)reg, &ret);
	else
		ret = jf_aside(replace_handler, (uint64_t)(uintptr_t)reg, JF_ASIDE_STACK);
	if (!ret)
		reg[6] = reg[2] = 0;
	errno = saved;
}

/* From then on the thread's system calls become signals (SIGSYS), except in a given text. */
static bool dispatches(uint32_t what, uint32_t how)
{
	return what == PR_SET_SYSCALL_USER_DISPATCH && how == PR_SYS_DISPATCH_ON;
}

/* Not so of a call that asks whether the kernel has filters, with none. */
static bool installs(uint32_t nr, const uint64_t *reg, bool direct)
{
	uint64_t mode = direct ? reg[6] : reg[2], filter = direct ? reg[2] : reg[1];

	if (nr == SYS_prctl && dispatches((uint32_t)(direct ? reg[7] : reg[6]), (uint32_t)mode))
		return true;
	return nr == SYS_seccomp ? (uint32_t)reg[6] == SECCOMP_SET_MODE_STRICT || filter : (uint32_t)mode == SECCOMP_MODE_STRICT || filter;
}

/*
 * Threads that may not read the counter of the processor die of that. A thread begins without it if
 * its creator has none: so one PR_SET_TSC counts for all threads. The strict mode permits no new
 * thread.
 */
static bool no_counter;
static __thread bool is_strict __attribute__((__tls_model__("initial-exec")));

bool jf_watch_is_blind(void)
{
	return __atomic_load_n(&no_counter, __ATOMIC_RELAXED) || is_strict;
}

static void set_counter(bool forbidden)
{
	__atomic_store_n(&no_counter, forbidden, __ATOMIC_RELAXED);
	if (forbidden)
		__atomic_store_n(&jf_without_counter, true, __ATOMIC_RELAXED);
}

static uint64_t become_quiet(uint64_t others)
{
	jf_aside_quiet(others);
	return 0;
}

/* By one of libc's functions, before its own work: seccomp.c. */
void jf_watch_call(const struct jf_spot *spot, const uint64_t *reg, bool own)
{
	/*
	 * Of a system call, as int: its number, if that is no part of the function, and its first
	 * argument.
	 */
	uint32_t nr = (uint32_t)reg[7], what = (uint32_t)reg[6], arg = (uint32_t)reg[spot->watch == JF_WATCH_PRCTL ? 6 : 2];
	bool others = false;

	if (spot->watch == JF_WATCH_SIGACTION)
		return;
	if (spot->watch == JF_WATCH_ARCH_PRCTL) {
		what = nr;
		nr = SYS_arch_prctl;
	}
	if (spot->watch == JF_WATCH_PRCTL) {
		what = nr;
		nr = SYS_prctl;
	}
	if (nr == SYS_prctl && what == PR_SET_TSC)
		set_counter(arg == PR_TSC_SIGSEGV);
	if (nr == SYS_arch_prctl && what == ARCH_SET_FS)
		jf_own_give_up();
	if (nr == SYS_prctl ? what != PR_SET_SECCOMP && !dispatches(what, arg) :
	    nr != SYS_seccomp || (what != SECCOMP_SET_MODE_STRICT && what != SECCOMP_SET_MODE_FILTER))
		return;
	if (nr == SYS_seccomp)
		others = what == SECCOMP_SET_MODE_FILTER && reg[2] & SECCOMP_FILTER_FLAG_TSYNC;
	/*
	 * Pairs with jf_memory_string(): a thread sees it, or is in a read section, for which this
	 * one waits.
	 */
	__atomic_fetch_or(&jf_filtered, JF_FILTERED, __ATOMIC_SEQ_CST);
	/* A filter of a thread without variables is that thread's, as a rule. */
	if (!own) {
		/* Pairs with jf_aside(). */
		if (others)
			__atomic_store_n(&__jf_quiet, 1, __ATOMIC_SEQ_CST);
		return;
	}
	if (!jf_is_quiet() && installs(nr, reg, spot->watch == JF_WATCH_PRCTL))
		jf_aside(become_quiet, others, JF_HOOK_STACK);
	is_strict |= nr == SYS_seccomp ? what == SECCOMP_SET_MODE_STRICT : what == PR_SET_SECCOMP && arg == SECCOMP_MODE_STRICT;
}
