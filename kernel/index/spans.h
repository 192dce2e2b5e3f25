/* SPDX-License-Identifier: GPL-2.0 */
/* Pieces of text, to search for on stacks. */
#ifndef JF_SPANS_H
#define JF_SPANS_H

#include <linux/types.h>

/**
 * struct jf_span - a piece of text
 * @start: its first byte
 * @end:   the byte after its last one
 * @tag: its whole, such as a function's address; 0: it stands for itself
 * @record: of replaced code: where that begins; 0: it has no record
 */
struct jf_span {
	unsigned long	start;
	unsigned long	end;
	unsigned long	tag;
	unsigned long	record;
};

/**
 * struct jf_spans - pieces of text to search for on stacks
 * @span: they, once jf_spans_sort() has been called: in order, none overlapping
 * @num:  how many there are
 * @max:  for how many there is room
 */
struct jf_spans {
	struct jf_span	*span;
	unsigned int	num;
	unsigned int	max;
};

/* For sort() and bsearch(): things whose first member is an address, by that. */
int jf_addr_cmp(const void *a, const void *b);

/* -ENOMEM. An empty span is not added. */
int jf_spans_add(struct jf_spans *s, unsigned long start, unsigned long end);
int jf_spans_add_tagged(struct jf_spans *s, unsigned long start,
			unsigned long end, unsigned long tag);
/* Give the tag, and the record, to all from number @first on. */
void jf_spans_tag(struct jf_spans *s, unsigned int first, unsigned long tag,
		  unsigned long record);
/*
 * In order, none overlapping. Where two overlap that have the same tag, or one
 * that has none, they become one; otherwise the later one begins where it did and
 * the earlier one ends there, unless it goes on after the later one: then they
 * become one without a tag.
 */
void jf_spans_sort(struct jf_spans *s);
void jf_spans_free(struct jf_spans *s);
/* The one that holds @addr, or NULL. Any context. Of spans that have been sorted. */
const struct jf_span *jf_spans_find(const struct jf_spans *s, unsigned long addr);

static inline bool jf_spans_has(const struct jf_spans *s, unsigned long addr)
{
	return jf_spans_find(s, addr);
}

/*
 * Make room for one more after the @num elements of @size bytes in an array that
 * has room for @max. 0, or -ENOMEM with nothing changed. May sleep.
 */
int jf_grow(void **array, unsigned int num, unsigned int *max, size_t size);

#endif /* JF_SPANS_H */
