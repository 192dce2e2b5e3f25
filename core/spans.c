// SPDX-License-Identifier: GPL-2.0
/* Sets of pieces of text; an address is looked up while all CPUs are stopped. */
#include "core/spans.h"

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

int jf_spans_add(struct jf_spans *s, unsigned long start, unsigned long end)
{
	struct jf_span *span;

	if (start >= end)
		return 0;
	if (s->num == s->max) {
		unsigned int max = s->max ? 2 * s->max : 16;

		span = kvmalloc_array(max, sizeof(*span), GFP_KERNEL);
		if (!span)
			return -ENOMEM;
		if (s->num)
			memcpy(span, s->span, s->num * sizeof(*span));
		kvfree(s->span);
		s->span = span;
		s->max = max;
	}
	s->span[s->num].start = start;
	s->span[s->num++].end = end;
	return 0;
}

static int jf_span_cmp(const void *a, const void *b)
{
	const struct jf_span *x = a, *y = b;

	if (x->start < y->start)
		return -1;
	return x->start > y->start;
}

/* In order, and those that touch or overlap made one. */
void jf_spans_sort(struct jf_spans *s)
{
	unsigned int i, n = 0;

	if (!s->num)
		return;
	sort(s->span, s->num, sizeof(*s->span), jf_span_cmp, NULL);
	for (i = 1; i < s->num; i++) {
		if (s->span[i].start > s->span[n].end)
			s->span[++n] = s->span[i];
		else
			s->span[n].end = max(s->span[n].end, s->span[i].end);
	}
	s->num = n + 1;
}

void jf_spans_free(struct jf_spans *s)
{
	kvfree(s->span);
	memset(s, 0, sizeof(*s));
}

bool jf_spans_has(const struct jf_spans *s, unsigned long addr)
{
	unsigned int lo = 0, hi = s->num;

	/* Nearly all that is asked for is far away. */
	if (!hi || addr < s->span[0].start || addr >= s->span[hi - 1].end)
		return false;
	/* The last one that begins at or before @addr. */
	while (hi - lo > 1) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (s->span[mid].start <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return addr < s->span[lo].end;
}
