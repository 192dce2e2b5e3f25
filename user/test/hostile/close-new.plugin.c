// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_FALSE(plugin_key);

int plugin_set(int on);
int plugin_set(int on)
{
	return on ? jf_key_enable(&plugin_key) : jf_key_disable(&plugin_key);
}

int plugin_two(int i);
int plugin_two(int i)
{
	return i + 2;
}

void plugin_probe(void *data, int i);
void plugin_probe(void *data, int i)
{
	(void)data, (void)i;
}
