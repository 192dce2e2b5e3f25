// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>
DEFINE_JF_KEY_FALSE(plugin_key);
int plugin_set(int on);
int plugin_is(void);
void plugin_section(void);
int plugin_set(int on)
{
	return on ? jf_key_enable(&plugin_key) : jf_key_disable(&plugin_key);
}
int plugin_is(void)
{
	return jf_branch_unlikely(&plugin_key);
}
void plugin_section(void) { jf_read_lock(); jf_read_unlock(); }
