/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sample: the public header of a module with tracepoints.
 */
#ifndef JF_SAMPLE_TRACE_H
#define JF_SAMPLE_TRACE_H

#include <jumpfunc/tracepoint.h>

/* A job begins; it is over, and took so long. */
DECLARE_JF_TRACE(sample_job_begin, JF_PROTO(unsigned int id), JF_ARGS(id));
DECLARE_JF_TRACE(sample_job_end, JF_PROTO(unsigned int id, u64 ns, int result),
		 JF_ARGS(id, ns, result));

#endif /* JF_SAMPLE_TRACE_H */
