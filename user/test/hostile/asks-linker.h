/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A section that waits for the dynamic linker's lock, which the caller of dlclose() has. */
#ifndef HOSTILE_ASKS_LINKER_H
#define HOSTILE_ASKS_LINKER_H

#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <unistd.h>

static _Atomic int inside, closing;

/* When another thread is about to close an object, and has had the time to. */
static inline void ask_linker(void)
{
	inside = 1;
	while (!closing)
		;
	usleep(100000);
	dlsym(RTLD_DEFAULT, "nothing");
}

/* A thread. */
static void *asks_linker(void *arg)
{
	jf_read_lock();
	ask_linker();
	jf_read_unlock();
	return arg;
}

#endif /* HOSTILE_ASKS_LINKER_H */
