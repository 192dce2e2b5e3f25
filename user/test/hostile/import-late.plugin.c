// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>

DECLARE_JF_KEY(app_key);
IMPORT_JF_KEY(app_key);

int plugin_is(void);
int plugin_is(void)
{
	return jf_branch_unlikely(&app_key) + 2 * jf_branch_likely(&app_key) +
	       4 * jf_key_enabled(&app_key);
}

int plugin_set(int on);
int plugin_set(int on)
{
	return on ? jf_key_enable(&app_key) : jf_key_disable(&app_key);
}
