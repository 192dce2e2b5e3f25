// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The library's begin, the end of the program, and the statistics. */
#include "lib.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/*
 * Functions for exit() run in the reverse order of their registration. A function that a
 * constructor of a linked shared object registers is older than glibc's for destructors, and comes
 * too late. But before all functions exit() runs the destructors of its thread's data. Otherwise
 * these run only at the end of the thread.
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

void jf_stats_get(struct jf_stats *stats, size_t size)
{
	jf_lock();
	/* The options decide the form, and this can be the first use of the library. */
	jf_options();
	memset(stats, 0, size);
	memcpy(stats, &jf_stats, size < sizeof(jf_stats) ? size : sizeof(jf_stats));
	jf_unlock();
}
