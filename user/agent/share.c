// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * clone() with the parent's memory, and no variables of threads for the child, which runs beside
 * its parent: both have the same ring, and a store that is one instruction for the sake of signal
 * handlers is not atomic for another processor. The agent's clone() stands before libc's,
 * as LD_PRELOAD has it, and says so before there are two. From then on each of them asks for its
 * number, and takes a lock, for each record (aside.c). A child that a system call makes without
 * libc's function is not known.
 */
#include "share.h"
#include "record.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>

typedef int clone_fn(int (*fn)(void *arg), void *stack, int flags, void *arg, ...);

static clone_fn *next;

/**
 * jf_share_begin() - find libc's clone()
 *
 * By a constructor: it takes the lock of dlopen().
 */
void jf_share_begin(void)
{
	if (!next)
		next = (clone_fn *)(uintptr_t)dlsym(RTLD_NEXT, "clone");
}

/* A child of vfork() does not run beside its parent, and a thread has variables of its own. */
static bool is_beside(int flags)
{
	return (flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM;
}

__attribute__((__visibility__("default")))
int clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...)
{
	void *ptid, *tls, *ctid;
	va_list args;

	/* As libc's own does it, whether they are there or not. */
	va_start(args, arg);
	ptid = va_arg(args, void *);
	tls = va_arg(args, void *);
	ctid = va_arg(args, void *);
	va_end(args);
	jf_share_begin();
	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (is_beside(flags))
		jf_record_share();
	return next(fn, stack, flags, arg, ptid, tls, ctid);
}
