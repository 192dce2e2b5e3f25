/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The expected results of calls in the storms. An updater publishes in a word which answers
 * are allowed: the old and the new one while an update runs, only the new one once
 * it has returned. A call that began and ended with the same word must have given
 * an answer that the word allows: no call may come late.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <linux/bits.h>
#include <linux/percpu.h>

/* A number that grows << 3 | the allowed answers, which are 0, 1, 2. Read at once. */
typedef unsigned long oracle_word;

#define ORACLE_ANSWERS	3
#define ORACLE_ALL	(BIT(ORACLE_ANSWERS) - 1)

/* Before the call. */
static __always_inline oracle_word oracle_before(const oracle_word *word)
{
	oracle_word before = READ_ONCE(*word);

	/* Pairs with those of oracle_publish(): the call is between two loads. */
	smp_rmb();
	return before;
}

/* After it: true if this answer was allowed. */
static __always_inline bool oracle_allows(const oracle_word *word, oracle_word before, unsigned int answer)
{
	/* Pairs with those of oracle_publish(): the word is no younger than the call. */
	smp_rmb();
	return before != READ_ONCE(*word) || before & BIT(answer);
}

static inline void oracle_publish(oracle_word *word, unsigned long allowed)
{
	/*
	 * Pair with those around a call. The update itself orders the word against the
	 * text: it has synchronised all CPUs before it returned.
	 */
	smp_mb();
	WRITE_ONCE(*word, ((*word >> ORACLE_ANSWERS) + 1) << ORACLE_ANSWERS | allowed);
	smp_mb();
}

/* Adds the counts of all CPUs to *@sum, a struct whose first members, up to @last, are u64s. */
#define oracle_add(sum, counters, last)					\
do {									\
	size_t __n = offsetofend(typeof(*(sum)), last) / sizeof(u64), __i; \
	int __cpu;							\
									\
	for_each_possible_cpu(__cpu)					\
		for (__i = 0; __i < __n; __i++)				\
			((u64 *)(sum))[__i] += data_race(((u64 *)per_cpu_ptr(counters, __cpu))[__i]); \
} while (0)

#endif /* ORACLE_H */
