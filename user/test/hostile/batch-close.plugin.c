// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object with a key that others change. */
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_FALSE(plugin_key);

struct jf_key *plugin_get(void);
struct jf_key *plugin_get(void)
{
	return &plugin_key;
}
