// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program in C, in which nothing can be thrown. Then a plugin comes that is in C++,
 * and a probe of it throws, in a chain: with -fexceptions, a flag that
 * pkg-config gives, the read section has ended. Else it ends with its thread.
 */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>
#include <pthread.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

#ifdef __EXCEPTIONS
#define ENDS		0
#else
#define ENDS		-ETIMEDOUT
#endif

static int sum;
static pthread_barrier_t caught, looked;

void program_fires(int i);
void program_fires(int i)
{
	jf_trace_rx(i);
}

static void quiet(void *data, int i)
{
	*(int *)data += i;
}

static void *calls(void *arg)
{
	int (*catches)(void) = (int (*)(void))dlsym(arg, "plugin_catches");

	MUST(catches() == 1, "not caught");
	MUST(sum == 0, "the one after it was called");
	pthread_barrier_wait(&caught);
	pthread_barrier_wait(&looked);
	return NULL;
}

int main(int argc, char **argv)
{
	void (*throws)(void *, int);
	void *plugin;
	pthread_t t;
	int err;

	(void)argc;
	alarm(10);
	MUST(!register_jf_trace_rx(quiet, &sum), "register");
	plugin = open_plugin(argv[0]);
	throws = (void (*)(void *, int))dlsym(plugin, "plugin_throws");
	MUST(!register_jf_trace_prio_rx(throws, NULL, JF_TRACE_PRIO_DEFAULT + 1), "register");
	pthread_barrier_init(&caught, NULL, 2);
	pthread_barrier_init(&looked, NULL, 2);
	MUST(!pthread_create(&t, NULL, calls, plugin), "thread");
	pthread_barrier_wait(&caught);
	err = jf_quiesce_timeout(ENDS ? 100 : 3000);
	MUST(err == ENDS, "quiesce: %s", strerror(-err));
	pthread_barrier_wait(&looked);
	pthread_join(t, NULL);
	MUST(!jf_quiesce_timeout(3000), "the thread has ended");
	return 0;
}
