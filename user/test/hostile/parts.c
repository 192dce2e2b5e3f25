// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * An object of two parts that were linked on their own before, with hidden names made
 * local: each has keys, and an object's structure, of the same names.
 */
#include <jumpfunc/stats.h>

#include "plugin.h"

static struct jf_stats stats(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s;
}

int main(int argc, char **argv)
{
	int (*is_on[2])(void), (*set[2])(int);
	struct jf_stats s;
	void *plugin;
	int i;

	(void)argc;
	alarm(10);
	for (i = 0; i < 3; i++) {
		plugin = open_plugin(argv[0]);
		is_on[0] = (int (*)(void))dlsym(plugin, "is_on1");
		is_on[1] = (int (*)(void))dlsym(plugin, "is_on2");
		set[0] = (int (*)(int))dlsym(plugin, "set1");
		set[1] = (int (*)(int))dlsym(plugin, "set2");
		s = stats();
		MUST(!s.refused && s.objects == 1 && s.keys == 2, "%d refused, %d keys",
		     (int)s.refused, (int)s.keys);
		MUST(!set[1](1) && !is_on[0]() && is_on[1]() == 2, "the second one");
		MUST(!set[0](1) && is_on[0]() == 1 && is_on[1]() == 2, "both");
		MUST(!set[1](0) && is_on[0]() == 1 && !is_on[1](), "the first one");
		MUST(!dlclose(plugin), "%s", dlerror());
		MUST(!stats().objects && !stats().keys, "it is still known");
	}
	return 0;
}
