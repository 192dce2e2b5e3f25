// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* While an object is being closed nothing new can lead into it. */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>
#include <pthread.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

int one(int i);
int one(int i) { return i + 1; }
DEFINE_DYNFUNC(op, one);

static void *plugin;
static _Atomic int inside, leave;

static void *reads(void *arg)
{
	jf_read_lock();
	inside = 1;
	while (!leave)
		usleep(1000);
	jf_read_unlock();
	return arg;
}

static void *closes(void *arg)
{
	dlclose(plugin);
	return arg;
}

int main(int argc, char **argv)
{
	void (*probe)(void *, int);
	int (*two)(int), (*set)(int);
	pthread_t reader, closer;
	int err, probe_err;

	(void)argc;
	alarm(20);
	plugin = open_plugin(argv[0]);
	probe = (void (*)(void *, int))dlsym(plugin, "plugin_probe");
	two = (int (*)(int))dlsym(plugin, "plugin_two");
	set = (int (*)(int))dlsym(plugin, "plugin_set");
	MUST(!set(1), "set");
	pthread_create(&reader, NULL, reads, NULL);
	while (!inside)
		;
	pthread_create(&closer, NULL, closes, NULL);
	/* That thread may take its time to begin: until then it is no error. */
	while (!(err = dynfunc_update(op, two)))
		usleep(1000);
	probe_err = register_jf_trace_rx(probe, NULL);
	leave = 1;
	pthread_join(closer, NULL);
	pthread_join(reader, NULL);
	jf_trace_rx(1);
	MUST(dynfunc_op(1) == 2, "op");
	MUST(err == -EBUSY && probe_err == -EBUSY, "%d, %d", err, probe_err);
	return 0;
}
