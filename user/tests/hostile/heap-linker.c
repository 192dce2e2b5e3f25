// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The program's malloc() asks the dynamic linker who calls. Who opens or closes an object
 * has the linker's lock, and waits for a change that is under way.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plugin.h"
#include "heap.h"

DEFINE_JF_KEY_FALSE(key);

static __thread int changes;
static _Atomic int stop;

static void heap_enter(void)
{
	Dl_info info;

	if (!changes)
		return;
	/* Time for the other thread to get there. */
	usleep(2000);
	dladdr((void *)heap_enter, &info);
}

static void heap_leave(void)
{
}

static void *toggle(void *arg)
{
	changes = 1;
	while (!stop) {
		jf_key_enable(&key);
		jf_key_disable(&key);
	}
	return arg;
}

/* A site: without one nothing would be changed. */
int is_on(void);
int is_on(void)
{
	return jf_branch_unlikely(&key);
}

int main(int argc, char **argv)
{
	pthread_t t;
	int i;

	(void)argc;
	alarm(20);
	pthread_create(&t, NULL, toggle, NULL);
	for (i = 0; i < 200; i++) {
		void *plugin = open_plugin(argv[0]);

		MUST(!dlclose(plugin), "%s", dlerror());
	}
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
