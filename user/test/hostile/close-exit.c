// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program closes its objects in a function that exit() calls, as C++ programs do. Calls into the
 * object that is gone must not be made.
 */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);
int one(int i);
int one(int i) { return i + 1; }
DEFINE_DYNFUNC(op, one);
DEFINE_JF_KEY_FALSE(key);

static void *plugin;

static void at_exit(void)
{
	dlclose(plugin);
	jf_trace_rx(1);
	MUST(dynfunc_op(1) == 2, "op");
	MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "key");
}

int main(int argc, char **argv)
{
	void (*probe)(void *, int);
	int (*two)(int);

	(void)argc;
	alarm(10);
	atexit(at_exit);
	plugin = open_plugin(argv[0]);
	probe = (void (*)(void *, int))dlsym(plugin, "plugin_probe");
	two = (int (*)(int))dlsym(plugin, "plugin_two");
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	MUST(!dynfunc_update(op, two), "update");
	jf_trace_rx(1);
	MUST(dynfunc_op(1) == 3, "op");
	return 0;
}
