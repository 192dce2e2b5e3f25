// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* There is no memory for a plugin's tables: it works as compiled, and a message says so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <jumpfunc/stats.h>

#include "hostile.h"
#include "maps.h"

/* So many succeed; 0: all do. */
static int left;

FAILING_MMAP(left && !--left)

static unsigned long refused(void)
{
	struct jf_stats stats;

	jf_stats_get(&stats, sizeof(stats));
	return (unsigned long)stats.refused;
}

int main(int argc, char **argv)
{
	unsigned long before = 0;
	char name[4096], text[512];
	int n, fds[2], said, (*set)(int), (*is_on)(void);

	(void)argc;
	alarm(10);
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	MUST(!pipe2(fds, O_NONBLOCK) && dup2(fds[1], STDERR_FILENO) >= 0, "pipe");
	for (n = 1; n < 12; n++) {
		void *plugin;

		left = n;
		plugin = dlopen(name, RTLD_NOW);
		left = 0;
		if (!plugin)
			continue;
		set = (int (*)(int))dlsym(plugin, "plugin_set");
		is_on = (int (*)(void))dlsym(plugin, "plugin_is");
		said = read(fds[0], text, sizeof(text)) > 0;
		if (set(1)) {
			MUST(!is_on(), "%d: it is on", n);
			MUST(said && refused() == ++before, "%d: there is no message", n);
		} else {
			MUST(is_on() && !said, "%d: it is off", n);
		}
		dlclose(plugin);
	}
	MUST(before, "there was always enough memory");
	return 0;
}
