// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that is opened during a change, with a site of its own. */
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_FALSE(scale_plugin_key);

int scale_plugin(void);
int scale_plugin(void)
{
	return jf_branch_unlikely(&scale_plugin_key);
}
