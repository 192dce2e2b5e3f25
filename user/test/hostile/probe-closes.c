// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A probe closes the object that the next probe of the same call is in. No thread can
 * wait for itself, so the object stays, where the kernel can do that (6.10).
 */
#include <jumpfunc/tracepoint.h>
#include <sys/syscall.h>

#include "plugin.h"

DECLARE_JF_TRACE(event, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(event);
EXPORT_JF_TRACE(event);

static void *plugin;

static void closes(void *data, int i)
{
	(void)data;
	(void)i;
	if (plugin)
		dlclose(plugin);
	plugin = NULL;
}

int main(int argc, char **argv)
{
	int (*start)(int *), seen = 0;

	(void)argc;
	/* mseal() of nothing */
	if (syscall(462, 0UL, 0UL, 0UL)) {
		printf("# no mseal() here\n");
		return 0;
	}
	plugin = open_plugin(argv[0]);
	start = (int (*)(int *))dlsym(plugin, "plugin_start");
	MUST(start && !start(&seen), "the plugin's probe");
	MUST(!register_jf_trace_prio_event(closes, NULL, 10), "a probe");
	jf_trace_event(1);
	/* It was in the same image, or is gone. */
	MUST(seen <= 1, "%d calls", seen);
	seen = 0;
	jf_trace_event(1);
	MUST(!seen, "a call of a probe that is gone");
	return 0;
}
