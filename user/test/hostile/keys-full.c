// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * All keys for threads' data are taken when the library comes: it is not told of
 * the ends of threads, whose memory other threads get.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "plugin.h"

static void (*section)(void), (*quiesce)(void);

static void *thread(void *arg)
{
	section();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_key_t key;
	pthread_t t[4];
	void *plugin;
	int i, j;

	(void)argc;
	while (!pthread_key_create(&key, NULL))
		;
	plugin = open_plugin(argv[0]);
	section = (void (*)(void))dlsym(plugin, "plugin_section");
	quiesce = (void (*)(void))dlsym(plugin, "plugin_quiesce");
	for (i = 0; i < 50; i++) {
		for (j = 0; j < 4; j++)
			MUST(!pthread_create(&t[j], NULL, thread, NULL), "thread");
		for (j = 0; j < 4; j++)
			pthread_join(t[j], NULL);
		quiesce();
	}
	return 0;
}
