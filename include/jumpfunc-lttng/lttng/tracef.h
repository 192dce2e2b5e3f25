/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * lttng_ust_tracef("format", ...): a string in the event lttng_ust_tracef:event. See
 * <lttng/tracepoint.h>, of this folder.
 */
#ifndef JF_LTTNG_TRACEF_H
#define JF_LTTNG_TRACEF_H

#include "jumpfunc-log.h"

#define lttng_ust_tracef(...)			__JF_LOG(__JF_LOG_TRACEF, __jf_log, __VA_ARGS__)
#define lttng_ust_vtracef(format, args)		__JF_LOG(__JF_LOG_TRACEF, __jf_vlog, format, args)
#define tracef					lttng_ust_tracef

#endif /* JF_LTTNG_TRACEF_H */
