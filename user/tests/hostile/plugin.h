/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The plugin of a hostile program: the shared object that stands beside it. */
#ifndef HOSTILE_PLUGIN_H
#define HOSTILE_PLUGIN_H

#include <dlfcn.h>
#include "hostile.h"

static inline void *open_plugin(const char *program)
{
	char name[4096];
	void *plugin;

	snprintf(name, sizeof(name), "%s.plugin.so", program);
	plugin = dlopen(name, RTLD_NOW);
	MUST(plugin, "%s", dlerror());
	return plugin;
}

#endif /* HOSTILE_PLUGIN_H */
