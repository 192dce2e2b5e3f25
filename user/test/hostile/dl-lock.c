// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A probe waits for the lock of the dynamic linker, which another thread holds that closes
 * an object and waits for the probe: both have to come to an end. Of three probes the
 * first one does that and is the program's; the second one is the object's, and the
 * thread comes to it when dlclose() has returned. Then the same with nothing left in
 * the object, and a quiesce before: dlclose() has no thread to wait for.
 */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static char name[4096];
static _Atomic int inside, closing, asked;

static void probe(void *data, int i)
{
	(void)data, (void)i;
	inside = 1;
	while (!closing)
		;
	/* Its result is not used. */
	asked += dlsym(RTLD_DEFAULT, "no_such_symbol") == NULL;
}

static void *fires(void *arg)
{
	jf_trace_rx(1);
	return arg;
}

/* It stays if dlclose() has waited in vain, and for nothing else. */
static int is_mapped(void (*func)(void *, int))
{
	return !msync((void *)((uintptr_t)func & -(uintptr_t)sysconf(_SC_PAGESIZE)), 1, MS_ASYNC);
}

/* @leaves: the object is closed with its probe registered. */
static void round_of(int leaves)
{
	void (*plugin_probe)(void *, int);
	static int counted;
	void *plugin;
	pthread_t t;

	inside = closing = asked = 0;
	plugin = dlopen(name, RTLD_NOW);
	MUST(plugin, "%s", dlerror());
	*(_Atomic int **)dlsym(plugin, "plugin_closing") = &closing;
	plugin_probe = (void (*)(void *, int))dlsym(plugin, "plugin_probe");
	MUST(!register_jf_trace_rx(plugin_probe, &counted), "register");
	if (!leaves) {
		MUST(!unregister_jf_trace_rx(plugin_probe, &counted), "unregister");
		jf_quiesce();
	}
	pthread_create(&t, NULL, fires, NULL);
	while (!inside)
		;
	counted = 0;
	MUST(is_mapped(plugin_probe), "it is not there");
	MUST(!dlclose(plugin), "%s", dlerror());
	pthread_join(t, NULL);
	MUST(asked == 1, "%d", asked);
	MUST(counted == leaves, "the object's probe was called %d times", counted);
	MUST(is_mapped(plugin_probe) == leaves, "waited for a thread: %d", !leaves);
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(40);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	round_of(0);
	if (!has_mseal()) {
		printf("# skipped: no mseal(), so dlclose() waits\n");
		return 0;
	}
	round_of(1);
	return 0;
}
