/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Numbers of names, in the order in which they came. Names of all zeros are empty.
 *
 * API:
 *   names_number(n, text, len)	the number of a name, a part of a text; INDEX_NONE: no memory
 *   n->name[number]		the name, which stays where it is
 *   names_free(n)		empty again
 */
#ifndef JF_NAMES_H
#define JF_NAMES_H

#include "index.h"

/**
 * struct names - each name once
 * @index: of @name, by a hash of the name and the number of those before it with that hash
 * @name:  of each number
 * @num:   how many
 */
struct names {
	struct index	index;
	char		**name;
	size_t		num;
};

size_t names_number(struct names *n, const char *text, size_t len);
void names_free(struct names *n);

#endif /* JF_NAMES_H */
