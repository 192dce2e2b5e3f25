// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* It has a site of a key of the program. */
#include <jumpfunc/branch.h>

DECLARE_JF_KEY(key);
IMPORT_JF_KEY(key);

int plugin_key(int *value);
int plugin_key(int *value)
{
	int on = jf_branch_unlikely(&key);

	*value = jf_key_enabled(&key);
	return on;
}
