// SPDX-License-Identifier: GPL-2.0
/* Sample: the file with the probes, which are calls of functions that do not exist. */
#include <linux/errno.h>

#include "jf_sample_calls.h"

static noinline int part(unsigned int id, u8 i)
{
	__dtrace_jobs___part(id, i, 1, 2, 3, 4, 5, 6);
	return id % 3 ? 0 : -EIO;
}

static noinline void over(unsigned int id, int result)
{
	/* At a function's end: still a call. */
	__dtrace_jobs___end(id, result);
}

unsigned int sample_calls_names;

static noinline const char *name(void)
{
	sample_calls_names++;
	return "a job";
}

int sample_calls_job(unsigned int id)
{
	int result;

	if (__dtraceenabled_jobs___begin())
		__dtrace_jobs___begin(id, name());
	result = part(id, 200);
	if (result) {
		/* The same probe at another place. */
		__dtrace_jobs___end(id, result);
		return result;
	}
	over(id, part(id, 201));
	return 0;
}
