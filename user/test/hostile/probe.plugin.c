// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that others lead into. */
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_FALSE(plugin_key);

void plugin_probe(void *data, int i);
int plugin_two(int i);

void plugin_probe(void *data, int i)
{
	(void)data;
	jf_branch_unlikely(&plugin_key) ? (void)i : (void)0;
}

int plugin_two(int i)
{
	return i + 2;
}
