/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Arrays of probes: for the kernel module (kernel/tracepoint/probes.c) and for libjumpfunc
 * (user/lib/trace.c). No kernel header is needed.
 *
 * API, where @num is the number of probes of an array, which may be 0:
 *   jf_array_count(array, num, match, arg)	how many match
 *   jf_array_add(to, from, num, &add)		fill @to (@num + 1) with those of @from
 *						and one more: after those of the same
 *						priority
 *   jf_array_del(to, from, num, match, arg)	fill @to with those that do not match
 *   jf_probe_same(p, q)			a match: the same function and data
 *
 * The includer has defined struct jf_probe (func, data, prio). The includer also defines the end of
 * an array. Tasks walk arrays that are published: those are not written again, so each change fills
 * a new one.
 */
#ifndef JF_PROBES_H
#define JF_PROBES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

typedef bool (*jf_probe_match)(const struct jf_probe *p, const void *arg);

static inline bool jf_probe_same(const struct jf_probe *p, const void *arg)
{
	const struct jf_probe *q = arg;

	return p->func == q->func && p->data == q->data;
}

static inline size_t jf_array_count(const struct jf_probe *array, size_t num,
				    jf_probe_match match, const void *arg)
{
	size_t i, n = 0;

	for (i = 0; i < num; i++)
		n += match(&array[i], arg);
	return n;
}

static inline void jf_array_add(struct jf_probe *to, const struct jf_probe *from, size_t num,
				const struct jf_probe *add)
{
	size_t i, n = 0;

	for (i = 0; i < num && from[i].prio >= add->prio; i++)
		to[n++] = from[i];
	to[n++] = *add;
	for (; i < num; i++)
		to[n++] = from[i];
}

static inline void jf_array_del(struct jf_probe *to, const struct jf_probe *from, size_t num,
				jf_probe_match match, const void *arg)
{
	size_t i, n = 0;

	for (i = 0; i < num; i++)
		if (!match(&from[i], arg))
			to[n++] = from[i];
}

#endif /* JF_PROBES_H */
