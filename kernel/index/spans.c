// SPDX-License-Identifier: GPL-2.0
/* Sets of pieces of text; an address is looked up while all CPUs are stopped. */
#include "index/spans.h"

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

int jf_grow(void **array, unsigned int num, unsigned int *max, size_t size)
{
	unsigned int more = *max ? 2 * *max : 16;
	void *new;

	if (num < *max)
		return 0;
	new = kvmalloc_array(more, size, GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	if (num)
		memcpy(new, *array, num * size);
	kvfree(*array);
	*array = new;
	*max = more;
	return 0;
}

int jf_spans_add_tagged(struct jf_spans *s, unsigned long start,
			unsigned long end, unsigned long tag)
{
	int err;

	if (start >= end)
		return 0;
	err = jf_grow((void **)&s->span, s->num, &s->max, sizeof(*s->span));
	if (err)
		return err;
	s->span[s->num].start = start;
	s->span[s->num].tag = tag;
	s->span[s->num].record = 0;
	s->span[s->num++].end = end;
	return 0;
}

int jf_spans_add(struct jf_spans *s, unsigned long start, unsigned long end)
{
	return jf_spans_add_tagged(s, start, end, 0);
}

void jf_spans_tag(struct jf_spans *s, unsigned int first, unsigned long tag,
		  unsigned long record)
{
	for (; first < s->num; first++) {
		s->span[first].tag = tag;
		s->span[first].record = record;
	}
}

int jf_addr_cmp(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	if (*x < *y)
		return -1;
	return *x > *y;
}

/* Join @next to @last, which begins no later, or cut @last short. False: neither. */
static bool jf_span_join(struct jf_span *last, const struct jf_span *next)
{
	bool same = last->tag == next->tag;

	if (next->start > last->end || (next->start == last->end && !same))
		return false;
	/*
	 * A function's span begins with the padding in front of it, which the one
	 * before counts as its own.
	 */
	if (!same && last->tag && next->tag && next->start > last->start &&
	    next->end >= last->end) {
		last->end = next->start;
		return false;
	}
	last->end = max(last->end, next->end);
	if (!same)
		last->tag = 0;
	return true;
}

void jf_spans_sort(struct jf_spans *s)
{
	unsigned int i, n = 0;

	if (!s->num)
		return;
	sort(s->span, s->num, sizeof(*s->span), jf_addr_cmp, NULL);
	for (i = 1; i < s->num; i++)
		if (!jf_span_join(&s->span[n], &s->span[i]))
			s->span[++n] = s->span[i];
	s->num = n + 1;
}

void jf_spans_free(struct jf_spans *s)
{
	kvfree(s->span);
	memset(s, 0, sizeof(*s));
}

const struct jf_span *jf_spans_find(const struct jf_spans *s, unsigned long addr)
{
	unsigned int lo = 0, hi = s->num;

	/* Nearly all that is asked for is far away. */
	if (!hi || addr < s->span[0].start || addr >= s->span[hi - 1].end)
		return NULL;
	/* The last one that begins at or before @addr. */
	while (hi - lo > 1) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (s->span[mid].start <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return addr < s->span[lo].end ? &s->span[lo] : NULL;
}
