/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Sums of calls: how the agent counts them by their duration, and jf-trace reads that. Counters of
 * mode count are of the events "object:function" for calls that have begun, "/total", "/within",
 * "/self" and "/max" after that for nanoseconds, "/left" for calls that were left without a return,
 * and "/b0" and so on for calls of a bucket, which have returned.
 * Calls within another one of the same function are in "/within", and not in "/total". Those that
 * have begun, have not returned and were not left, go on.
 *
 * Two buckets for each power of two, from 8 ns on: [8, 12), [12, 16), [16, 24) and so on; the first
 * one has all shorter calls, the last one all longer ones.
 *
 * API:
 *   jf_sum_bucket(ns)	the bucket of a duration
 *   jf_sum_begin(bucket)	the shortest duration of a bucket
 *   jf_sum_name(name)		the length of the function's name within an event's name
 */
#ifndef JF_SUMS_H
#define JF_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JF_SUM_BUCKETS	69
/* Numbers of a function, with the one for its calls; and functions that can have numbers. */
#define JF_SUM_NUMBERS	(JF_SUM_BUCKETS + 6)
/* Numbers that sums leave to records and counts: each is taken as long as the process lives. */
#define JF_SUM_SPARE	8192
#define JF_SUM_FUNCTIONS	((UINT16_MAX - JF_SUM_SPARE) / JF_SUM_NUMBERS)
/* Why others have none: in the folder's list of refused probes. */
#define JF_SUM_BEYOND	"a process has no numbers for sums of so many functions"

static inline unsigned int jf_sum_bucket(uint64_t ns)
{
	unsigned int log, bucket;

	if (ns < 8)
		return 0;
	log = 63U - (unsigned int)__builtin_clzll(ns);
	bucket = 1 + 2 * (log - 3) + (unsigned int)(ns >> (log - 1) & 1);
	return bucket < JF_SUM_BUCKETS ? bucket : JF_SUM_BUCKETS - 1;
}

static inline uint64_t jf_sum_begin(unsigned int bucket)
{
	return bucket ? (UINT64_C(2) + (bucket - 1) % 2) << ((bucket - 1) / 2 + 2) : 0;
}

/* All of them in a name that no sum has. */
static inline size_t jf_sum_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? (size_t)(slash - name) : strlen(name);
}

#endif /* JF_SUMS_H */
