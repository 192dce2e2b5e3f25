// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object is closed while callbacks that lead into it wait for a thread. */
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plugin.h"

static _Atomic int inside;

static void *reads(void *arg)
{
	jf_read_lock();
	inside = 1;
	usleep(200000);
	jf_read_unlock();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;
	void *plugin;
	int called = 0;

	(void)argc;
	alarm(20);
	plugin = open_plugin(argv[0]);
	pthread_create(&t, NULL, reads, NULL);
	while (!inside)
		;
	ask_plugin(plugin, &called);
	dlclose(plugin);
	MUST(called, "the callback was not called");
	pthread_join(t, NULL);
	jf_quiesce_barrier();
	return 0;
}
