// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* It changes keys of the program by its own names for them. */
#include <jumpfunc/branch.h>

DECLARE_JF_KEY(app_gone);
IMPORT_JF_KEY(app_gone);
DECLARE_JF_KEY(app_stays);
IMPORT_JF_KEY(app_stays);

int plugin_add_gone(struct jf_batch *b);
int plugin_add_gone(struct jf_batch *b)
{
	return jf_key_batch_set(b, &app_gone, true);
}

int plugin_add_stays(struct jf_batch *b);
int plugin_add_stays(struct jf_batch *b)
{
	return jf_key_batch_set(b, &app_stays, true);
}
