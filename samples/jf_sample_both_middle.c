// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Sample: the part that is the same in a kernel module and in a program. */
#include "jf_sample_both.h"

DEFINE_JF_KEY_FALSE(both_checked);
DEFINE_JF_TRACE(both_item);

static long plain(long value)
{
	return value;
}

static long squared(long value)
{
	return value * value;
}

DEFINE_DYNFUNC(both_weigh, plain);

long both_sum(const long *items, unsigned int num)
{
	unsigned int i;
	long sum = 0;

	for (i = 0; i < num; i++) {
		/* Costs a nop, until a user enables it. */
		if (jf_branch_unlikely(&both_checked) && items[i] < 0)
			continue;
		sum += dynfunc_call(both_weigh, items[i]);
		jf_trace_both_item(i, items[i]);
	}
	return sum;
}

static void largest(void *data, unsigned int nr, long value)
{
	long *max = data;

	if (!nr || value > *max)
		*max = value;
}

static int both_change(long (*weigh)(long value), bool checked)
{
	struct jf_batch b;

	jf_batch_init(&b);
	dynfunc_batch_set(&b, both_weigh, weigh);
	jf_key_batch_set(&b, &both_checked, checked);
	return jf_batch_commit(&b);
}

int both_run(void (*say)(const char *what, long value))
{
	static const long items[] = { 3, -4, 5 };
	long max = 0;
	int err;

	say("as they are", both_sum(items, 3));
	err = both_change(squared, true);
	if (err)
		return err;
	say("squares, checked", both_sum(items, 3));
	err = register_jf_trace_both_item(largest, &max);
	if (err)
		return err;
	both_sum(items, 3);
	say("the largest", max);
	err = unregister_jf_trace_both_item(largest, &max);
	if (!err)
		err = both_change(plain, false);
	/* After this no task is in largest(), which uses max. */
	jf_quiesce();
	if (!err)
		say("as at first", both_sum(items, 3));
	return err;
}
