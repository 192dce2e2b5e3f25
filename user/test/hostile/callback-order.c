// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A callback closes an object that the next one leads into, which is called before the
 * first one has returned. A thread that waits for the first one goes on waiting.
 */
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plugin.h"

int closed_calls;
static _Atomic int begun, requested, returned, early;
static void *plugin;

static void closes(struct jf_quiesce_head *head)
{
	(void)head;
	begun = 1;
	while (!requested)
		usleep(100);
	dlclose(plugin);
	usleep(300000);
	returned = 1;
}

static void *waits(void *arg)
{
	jf_quiesce_barrier();
	early = !returned;
	return arg;
}

int main(int argc, char **argv)
{
	static struct jf_quiesce_head head;
	void (*request)(void);
	pthread_t t;

	(void)argc;
	alarm(10);
	plugin = open_plugin(argv[0]);
	request = (void (*)(void))dlsym(plugin, "plugin_request");
	jf_call_quiesced(&head, closes);
	while (!begun)
		usleep(100);
	MUST(!pthread_create(&t, NULL, waits, NULL), "thread");
	/* It waits for one callback, then there are two. */
	usleep(100000);
	request();
	requested = 1;
	pthread_join(t, NULL);
	MUST(!early, "it runs on");
	jf_quiesce_barrier();
	MUST(closed_calls == 1, "called %d", closed_calls);
	return 0;
}
