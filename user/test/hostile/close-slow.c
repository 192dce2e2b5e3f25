// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A plugin is closed while the program exits, and a thread is in a probe of it for
 * much longer than exit() waits.
 */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>
#include <pthread.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static void *plugin;

static void *fires(void *arg)
{
	jf_trace_rx(1);
	return arg;
}

static void close_it(void)
{
	dlclose(plugin);
	/* The probe returns in here. */
	usleep(1500000);
}

int main(int argc, char **argv)
{
	pthread_t t;
	volatile int *inside;

	(void)argc;
	alarm(20);
	if (!has_mseal()) {
		printf("# skipped: no mseal()\n");
		return 0;
	}
	plugin = open_plugin(argv[0]);
	inside = (volatile int *)dlsym(plugin, "plugin_inside");
	MUST(!register_jf_trace_rx((void (*)(void *, int))dlsym(plugin, "plugin_probe"),
				   NULL), "register");
	MUST(!pthread_create(&t, NULL, fires, NULL), "thread");
	while (!*inside)
		;
	atexit(close_it);
	return 0;
}
