/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The plugin of a hostile program: the shared object that stands beside it. */
#ifndef HOSTILE_PLUGIN_H
#define HOSTILE_PLUGIN_H

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/syscall.h>

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

/* callback.plugin.c asks for a callback, which sets @called. */
static inline void ask_plugin(void *plugin, int *called)
{
	void (*ask)(int *called) = (void (*)(int *))dlsym(plugin, "plugin_ask");

	MUST(ask, "%s", dlerror());
	ask(called);
}

/* True if this kernel knows mseal(). Without it dlclose() waits for ever where it cannot return. */
static inline bool has_mseal(void)
{
	return !syscall(462, 0UL, 0UL, 0UL) || errno != ENOSYS;
}

#endif /* HOSTILE_PLUGIN_H */
