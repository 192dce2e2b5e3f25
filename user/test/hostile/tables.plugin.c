// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_TRUE(plugin_key);
struct jf_key other = __JF_KEY_INIT("other", 0, 0);

/* It says that it stands in for a key, at an address without one. */
static struct jf_ent_rec nowhere __JF_RECORD("__jf_ents") = {
	&other.ent, (struct jf_ent *const *)0x7770000000, 1, sizeof(struct jf_key)
};

int plugin_is_on(void);
int plugin_is_on(void)
{
	return jf_branch_unlikely(&plugin_key);
}
