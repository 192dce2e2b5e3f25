// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program in C, in which nothing can be thrown. Then a plugin comes that is in C++,
 * and a probe of it throws, in a chain.
 */
#include <dlfcn.h>
#include <jumpfunc/tracepoint.h>

#include "plugin.h"

DECLARE_JF_TRACE(rx, PROTO(int i), ARGS(i));
DEFINE_JF_TRACE(rx);

static int sum;

void program_fires(int i);
void program_fires(int i)
{
	jf_trace_rx(i);
}

static void quiet(void *data, int i)
{
	*(int *)data += i;
}

int main(int argc, char **argv)
{
	void (*throws)(void *, int);
	int (*catches)(void);
	void *plugin;

	(void)argc;
	alarm(10);
	MUST(!register_jf_trace_rx(quiet, &sum), "register");
	plugin = open_plugin(argv[0]);
	throws = (void (*)(void *, int))dlsym(plugin, "plugin_throws");
	catches = (int (*)(void))dlsym(plugin, "plugin_catches");
	MUST(!register_jf_trace_prio_rx(throws, NULL, JF_TRACE_PRIO_DEFAULT + 1), "register");
	MUST(catches() == 1, "not caught");
	MUST(sum == 0, "the one behind it was called");
	return 0;
}
