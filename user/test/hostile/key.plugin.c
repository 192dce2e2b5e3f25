// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object with tables. */
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_FALSE(plugin_key);

int plugin(void);
int plugin(void)
{
	return jf_branch_unlikely(&plugin_key);
}
