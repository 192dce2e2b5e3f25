// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Loads a plugin with events, has it record, closes it, and again. usage: host PLUGIN */
#include <dlfcn.h>
#include <stdio.h>

#include <jumpfunc/record.h>

int main(int argc, char **argv)
{
	void (*records)(int num);
	void *plugin;
	int i;

	for (i = 1; i < 4; i++) {
		plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
		if (!plugin) {
			printf("%s\n", dlerror());
			return 1;
		}
		*(void **)(&records) = dlsym(plugin, "plugin_records");
		records(i);
		dlclose(plugin);
	}
	return 0;
}
