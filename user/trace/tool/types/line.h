/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The text of an argument in the line of its function. */
#ifndef JF_TYPES_LINE_H
#define JF_TYPES_LINE_H

#include "die.h"

#include <stdio.h>

#define NAME_LENGTH	36
#define REGISTERS	6
#define VECTORS		8

struct paths;

/**
 * struct arguments - of a function, as they are told
 * @to:      the line
 * @cxx:     it is of C++
 * @ints:    registers that are taken
 * @vectors: of the other kind
 * @num:     arguments that are in the line
 * @entry:   where the function begins
 * @paths:   that filters name
 * @globs:   patterns that it matches: a bit for each
 * @nr_paths: in the line
 */
struct arguments {
	FILE		*to;
	bool		cxx;
	unsigned int	ints;
	unsigned int	vectors;
	unsigned int	num;
	Dwarf_Addr	entry;
	const struct paths *paths;
	uint64_t	globs;
	unsigned int	nr_paths;
};

extern const char *const registers[REGISTERS];
bool is_name(const char *name);
void put_argument(struct arguments *a, const char *name, uint64_t size, bool sign, char how);
/* Those whose names a trace can have. */
void put_labels(struct arguments *a, Dwarf_Die *type);

#endif /* JF_TYPES_LINE_H */
