// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The program's malloc() asks the dynamic linker for its caller. A thread that opens or closes
 * an object has the linker's lock, and waits for a change that is under way.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "plugin.h"
#include "toggles.h"

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
