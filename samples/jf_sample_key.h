/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sample: the public header of a module with jump labels.
 */
#ifndef JF_SAMPLE_KEY_H
#define JF_SAMPLE_KEY_H

#include <jumpfunc/branch.h>

/* Counted: enabled while a user wants statistics. */
DECLARE_JF_KEY(sample_stats);

void sample_account_slow(unsigned int len);

/* Costs its callers a nop, in whatever module they are, until it is wanted. */
static inline void sample_account(unsigned int len)
{
	if (jf_branch_unlikely(&sample_stats))
		sample_account_slow(len);
}

void sample_send(unsigned int len);

#endif /* JF_SAMPLE_KEY_H */
