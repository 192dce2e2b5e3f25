// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * jf_quiesce() called from exit() waits as it does at any other time, also after
 * the destructors of an object that came later.
 */
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static _Atomic bool inside, over;

static void probe(void *data, int i)
{
	(void)data, (void)i;
	inside = true;
	usleep(300000);
	over = true;
}

static void *fires(void *arg)
{
	jf_trace_rx(1);
	return arg;
}

/* As the destructor of a static C++ object would. */
static void at_exit(void)
{
	(void)!unregister_jf_trace_rx(probe, NULL);
	jf_quiesce();
	if (!over) {
		printf("# a probe was still running when jf_quiesce() returned\n");
		fflush(stdout);
		_exit(1);
	}
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	alarm(10);
	atexit(at_exit);
	open_plugin(argv[0]);
	if (register_jf_trace_rx(probe, NULL))
		return 2;
	pthread_create(&t, NULL, fires, NULL);
	while (!inside)
		;
	return 0;
}
