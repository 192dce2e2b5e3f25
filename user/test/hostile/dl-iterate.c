// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A callback of dl_iterate_phdr() holds a lock of the dynamic linker, and changes a key.
 * At the same time another thread opens an object, whose tables are looked for by the same way.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <jumpfunc/branch.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plugin.h"

DEFINE_JF_KEY_FALSE(key);

static atomic_long rounds;
static atomic_bool stop;

static int change(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	(void)arg;
	MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "change");
	rounds++;
	return 0;
}

static void *iterate(void *arg)
{
	while (!stop) {
		dl_iterate_phdr(change, NULL);
		/* dlopen() needs that lock, too, and it is not a fair one. */
		usleep(100);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int i;

	(void)argc;
	alarm(20);
	MUST(!pthread_create(&thread, NULL, iterate, NULL), "a thread");
	while (!rounds)
		usleep(100);
	for (i = 0; i < 100; i++)
		dlclose(open_plugin(argv[0]));
	stop = true;
	pthread_join(thread, NULL);
	MUST(!jf_branch_unlikely(&key), "off");
	return 0;
}
