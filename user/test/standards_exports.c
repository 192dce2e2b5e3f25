// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A shared object that exports one of each kind. */
#include "standards.h"

int other_one(int i)
{
	return i + 1;
}

int other_gpl(int i)
{
	return i + 2;
}

DEFINE_JF_KEY_TRUE(other_key);
EXPORT_JF_KEY(other_key);
DEFINE_JF_KEY_FALSE(other_key_gpl);
EXPORT_JF_KEY_GPL(other_key_gpl);
DEFINE_JF_KEY_ARRAY_FALSE(other_keys, 4);
EXPORT_JF_KEY_ARRAY(other_keys);
DEFINE_JF_KEY_ARRAY_TRUE(other_keys_gpl, 4);
EXPORT_JF_KEY_ARRAY_GPL(other_keys_gpl);
DEFINE_DYNFUNC(other_func, other_one);
EXPORT_DYNFUNC(other_func);
DEFINE_DYNFUNC(other_func_gpl, other_gpl);
EXPORT_DYNFUNC_GPL(other_func_gpl);
DEFINE_JF_TRACE(other_rx);
EXPORT_JF_TRACE(other_rx);
DEFINE_JF_TRACE(other_rx_gpl);
EXPORT_JF_TRACE_GPL(other_rx_gpl);
DEFINE_JF_TRACE(other_tick);
EXPORT_JF_TRACE_CALL(other_tick);
DEFINE_JF_TRACE(other_tick_gpl);
EXPORT_JF_TRACE_CALL_GPL(other_tick_gpl);
