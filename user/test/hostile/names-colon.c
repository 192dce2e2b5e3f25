// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The file of an object has a colon in its name, as the separator of patterns is one. */
#include <jumpfunc/list.h>

#include "plugin.h"

static int set(const char *file, const char *name)
{
	char names[4096];

	snprintf(names, sizeof(names), "%s:%s", file, name);
	return jf_keys_set(names, true);
}

int main(int argc, char **argv)
{
	char as[4096], file[4096], *slash;
	void *plugin;

	(void)argc;
	snprintf(file, sizeof(file), "%s.plugin.so", argv[0]);
	snprintf(as, sizeof(as), "%s:1:2.plugin.so", argv[0]);
	unlink(as);
	MUST(!link(file, as), "%m");
	plugin = dlopen(as, RTLD_NOW);
	unlink(as);
	MUST(plugin, "%s", dlerror());
	slash = strrchr(as, '/');
	slash = slash ? slash + 1 : as;
	MUST(set(slash, "other_key") == -ENOENT && set(slash, "plugin_*") == 1, "%s", slash);
	MUST(set("*:1:2.*", "plugin_key") == 1 && set("*:1:3.*", "plugin_key") == -ENOENT, "a pattern");
	MUST(set("*", "plugin_key") == 1, "any file");
	MUST(!dlclose(plugin), "%s", dlerror());
	return 0;
}
