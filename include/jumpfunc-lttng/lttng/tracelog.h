/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * lttng_ust_tracelog(level, "format", ...): a string, and where it comes from, in an event
 * lttng_ust_tracelog:LEVEL. See <lttng/tracepoint.h>, of this folder.
 */
#ifndef JF_LTTNG_TRACELOG_H
#define JF_LTTNG_TRACELOG_H

#include "jumpfunc-log.h"

#define lttng_ust_tracelog(level, ...)		__JF_LOG(level, __jf_log, __VA_ARGS__)
#define lttng_ust_vtracelog(level, format, args)	__JF_LOG(level, __jf_vlog, format, args)
#define tracelog				lttng_ust_tracelog

#endif /* JF_LTTNG_TRACELOG_H */
