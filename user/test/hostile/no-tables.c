// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A shared object without tables has a target and a probe, and is closed: calls still lead there,
 * until it is taken back, and nothing may be called before that. Taken back first, all is as it
 * was. One with tables (close-new.c) is taken back by the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#include "plugin.h"

static int one(int i) { return i + 1; }
DEFINE_DYNFUNC(op, one);
DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static int sum;
static void *plugin;
static int (*target)(int i);
static void (*probe)(void *data, int i);

static void lead_there(const char *program)
{
	plugin = open_plugin(program);
	target = (int (*)(int))dlsym(plugin, "plugin_target");
	probe = (void (*)(void *, int))dlsym(plugin, "plugin_probe");
	MUST(target && probe, "%s", dlerror());
	MUST(!dynfunc_update(op, target) && !register_jf_trace_rx(probe, &sum), "change");
	MUST(dynfunc_call(op, 1) == 101, "%d", dynfunc_call(op, 1));
	jf_trace_rx(2);
	MUST(sum == 2, "%d", sum);
	sum = 0;
}

static void take_back(void)
{
	MUST(!dynfunc_update(op, one), "update");
	MUST(!unregister_jf_trace_rx(probe, &sum), "the probe was not there any more");
	MUST(dynfunc_call(op, 1) == 2, "%d", dynfunc_call(op, 1));
	jf_trace_rx(2);
	MUST(sum == 0, "%d", sum);
}

static int is_mapped(const void *p)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char is_there;

	return !syscall(SYS_mincore, (uintptr_t)p & ~(page - 1), page, &is_there);
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(10);
	lead_there(argv[0]);
	take_back();
	jf_quiesce();
	dlclose(plugin);
	MUST(!is_mapped((void *)target), "it is still there");
	lead_there(argv[0]);
	dlclose(plugin);
	MUST(!is_mapped((void *)target), "it is still there");
	/* Else the caveat in user/README.md says too much. */
	MUST(dynfunc_query(op) == (void *)target && jf_trace_rx_enabled(), "it was taken back");
	take_back();
	return 0;
}
