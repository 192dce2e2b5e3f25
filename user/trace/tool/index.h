/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Where in an array the element of two numbers is. An index of all zeros is empty.
 *
 * API:
 *   index_at(x, a, b)	the place of the element's number: INDEX_NONE, to be set, if it is new;
 *			NULL: no memory
 *   index_free(x)	empty again
 */
#ifndef JF_INDEX_H
#define JF_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE	SIZE_MAX

/**
 * struct index_slot - an element, if @used
 * @a:    both numbers
 * @b:    of it
 * @at:   its number
 * @used: it is one
 */
struct index_slot {
	uint64_t	a;
	uint64_t	b;
	size_t		at;
	int		used;
};

/**
 * struct index - a table of hashes
 * @slot: of elements, with free ones between them
 * @room: of @slot: a power of two, or 0
 * @num:  elements
 * @seed: of hashes, so that a hostile file does not know them
 */
struct index {
	struct index_slot	*slot;
	size_t			room;
	size_t			num;
	uint64_t		seed;
};

size_t *index_at(struct index *x, uint64_t a, uint64_t b);
void index_free(struct index *x);

#endif /* JF_INDEX_H */
