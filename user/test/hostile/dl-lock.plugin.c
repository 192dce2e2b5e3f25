// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that says when it is being closed. */
#include <jumpfunc/branch.h>
#include <stdatomic.h>

DEFINE_JF_KEY_FALSE(plugin_key);

extern _Atomic int *plugin_closing;
_Atomic int *plugin_closing;

void plugin_probe(void *data, int i);
void plugin_probe(void *data, int i)
{
	*(int *)data += jf_branch_unlikely(&plugin_key) ? 100 : i;
}

__attribute__((__destructor__))
static void closes(void)
{
	*plugin_closing = 1;
}
