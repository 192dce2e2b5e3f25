/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The exports of standards_exports.c for standards.c and standards.cc. */
#ifndef STANDARDS_H
#define STANDARDS_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif
int other_one(int i);
int other_gpl(int i);
#ifdef __cplusplus
}
#endif

DECLARE_JF_KEY_TRUE(other_key);
DECLARE_JF_KEY(other_key_gpl);
DECLARE_JF_KEY_ARRAY(other_keys, 4);
DECLARE_JF_KEY_ARRAY_TRUE(other_keys_gpl, 4);
DECLARE_DYNFUNC(other_func, other_one);
DECLARE_DYNFUNC(other_func_gpl, other_gpl);
DECLARE_JF_TRACE(other_rx, JF_PROTO(int *sum, int i), JF_ARGS(sum, i));
DECLARE_JF_TRACE(other_rx_gpl, JF_PROTO(int *sum, int i), JF_ARGS(sum, i));
DECLARE_JF_TRACE_NOARGS(other_tick);
DECLARE_JF_TRACE_NOARGS(other_tick_gpl);

#endif /* STANDARDS_H */
