// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* It brings libjumpfunc.so, and imports from a program that has the static library. */
#include "other-copy.h"

IMPORT_JF_KEY(app_on);
IMPORT_DYNFUNC(app_op, app_first);
DEFINE_JF_KEY_FALSE(own);

int plugin_on(void)
{
	return jf_branch_unlikely(&app_on);
}

int plugin_op(int i)
{
	return dynfunc_call(app_op, i);
}

int plugin_set(int on)
{
	return on ? jf_key_enable(&app_on) : jf_key_disable(&app_on);
}

int plugin_own(int on)
{
	int err = on ? jf_key_enable(&own) : jf_key_disable(&own);

	return err ? err : jf_branch_unlikely(&own);
}
