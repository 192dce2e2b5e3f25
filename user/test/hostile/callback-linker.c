// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A callback closes an object that one leads into which was asked for later. A section
 * waits for the dynamic linker's lock at that time.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "asks-linker.h"
#include "plugin.h"

static _Atomic int begun, asked;
static int called;
static void *plugin;

static void closes(struct jf_quiesce_head *head)
{
	(void)head;
	begun = 1;
	while (!asked)
		usleep(100);
	closing = 1;
	dlclose(plugin);
}

int main(int argc, char **argv)
{
	static struct jf_quiesce_head head;
	pthread_t t;

	(void)argc;
	alarm(15);
	if (!has_mseal()) {
		printf("# skipped: no mseal(), so dlclose() waits\n");
		return 0;
	}
	plugin = open_plugin(argv[0]);
	jf_call_quiesced(&head, closes);
	while (!begun)
		usleep(100);
	ask_plugin(plugin, &called);
	pthread_create(&t, NULL, asks_linker, NULL);
	while (!inside)
		usleep(100);
	asked = 1;
	pthread_join(t, NULL);
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
	return 0;
}
