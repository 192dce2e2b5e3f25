/* SPDX-License-Identifier: GPL-2.0 */
/* A tracepoint, and a probe for data of any module. */
#ifndef JF_TRACE_LEND_H
#define JF_TRACE_LEND_H

#include <jumpfunc/tracepoint.h>

DECLARE_JF_TRACE(lend, JF_PROTO(int x), JF_ARGS(x), JF_BARE);

void jf_trace_lend_probe(void *data, int x);

#endif /* JF_TRACE_LEND_H */
