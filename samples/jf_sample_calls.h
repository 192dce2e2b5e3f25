/* SPDX-License-Identifier: GPL-2.0 */
/* Sample: probe functions. None of them is defined anywhere. */
#ifndef JF_SAMPLE_CALLS_H
#define JF_SAMPLE_CALLS_H

#include <jumpfunc/calls.h>

/* A job begins; a part of it is done; it is over. */
void __dtrace_jobs___begin(unsigned int id, const char *name);
void __dtrace_jobs___part(unsigned int id, u8 part, long a, long b, long c, long d, long e, long f);
void __dtrace_jobs___end(unsigned int id, int result);

/* True if the first has a subscriber. Else its name need not be made. */
int __dtraceenabled_jobs___begin(void);

int sample_calls_job(unsigned int id);
/* So many names were made. */
extern unsigned int sample_calls_names;

#endif /* JF_SAMPLE_CALLS_H */
