// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A plugin imports a key that has changed before. Its branches are written; where text
 * cannot be written any more its key keeps its first value, as its branches do.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "plugin.h"
#include "pwrite.h"
#include "writes.h"

DEFINE_JF_KEY_FALSE(app_key);
EXPORT_JF_KEY(app_key);

static int denied;

FAILING_PWRITE(denied && (errno = EPERM))
FAILING_MREMAP(denied && (errno = EPERM))

static int (*is)(void), (*set)(int on);

static void *opened(const char *program)
{
	void *plugin = open_plugin(program);

	is = (int (*)(void))dlsym(plugin, "plugin_is");
	set = (int (*)(int on))dlsym(plugin, "plugin_set");
	return plugin;
}

int main(int argc, char **argv)
{
	void *plugin = opened(argv[0]);
	int err;

	(void)argc;
	alarm(10);
	MUST(is() == 0 && !jf_key_enable(&app_key) && is() == 7, "it follows: %d", is());
	dlclose(plugin);
	plugin = opened(argv[0]);
	MUST(is() == 7 && !set(0) && is() == 0 && !jf_branch_unlikely(&app_key), "%d", is());
	dlclose(plugin);

	MUST(!jf_key_enable(&app_key), "enable");
	denied = 1;
	plugin = opened(argv[0]);
	MUST(is() == 0 && jf_branch_unlikely(&app_key), "%d", is());
	/* Now it is a key of the plugin's own, and cannot be changed. */
	err = set(1);
	MUST(err == -EOPNOTSUPP && is() == 0, "%s", strerror(-err));
	err = jf_key_disable(&app_key);
	MUST(err == -EOPNOTSUPP && jf_branch_unlikely(&app_key), "%s", strerror(-err));
	dlclose(plugin);
	return 0;
}
