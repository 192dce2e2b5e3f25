/* SPDX-License-Identifier: GPL-2.0 */
/* Pieces of text, to look for on stacks. */
#ifndef JF_SPANS_H
#define JF_SPANS_H

#include <linux/types.h>

/**
 * struct jf_span - a piece of text
 * @start: its first byte
 * @end:   the byte behind its last one
 */
struct jf_span {
	unsigned long	start;
	unsigned long	end;
};

/**
 * struct jf_spans - pieces of text to look for on stacks
 * @span: they, once jf_spans_sort() has been called: in order, none overlapping
 * @num:  how many there are
 * @max:  for how many there is room
 */
struct jf_spans {
	struct jf_span	*span;
	unsigned int	num;
	unsigned int	max;
};

/* -ENOMEM. An empty span is not added. */
int jf_spans_add(struct jf_spans *s, unsigned long start, unsigned long end);
void jf_spans_sort(struct jf_spans *s);
void jf_spans_free(struct jf_spans *s);
/* Any context. Of spans that have been sorted. */
bool jf_spans_has(const struct jf_spans *s, unsigned long addr);

/*
 * Make room for one more behind the @num elements of @size bytes in an array that
 * has room for @max. 0, or -ENOMEM with nothing changed. May sleep.
 */
int jf_grow(void **array, unsigned int num, unsigned int *max, size_t size);

#endif /* JF_SPANS_H */
