// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A plugin whose table leads to nowhere: it is refused, and works as compiled. */
#include <dlfcn.h>
#include <jumpfunc/stats.h>

#include "plugin.h"

int main(int argc, char **argv)
{
	struct jf_stats stats;
	int (*is_on)(void);
	void *plugin;

	(void)argc;
	alarm(10);
	plugin = open_plugin(argv[0]);
	jf_stats_get(&stats, sizeof(stats));
	MUST(stats.refused == 1, "it was not refused");
	is_on = (int (*)(void))dlsym(plugin, "plugin_is_on");
	MUST(is_on(), "it does not work");
	dlclose(plugin);
	return 0;
}
