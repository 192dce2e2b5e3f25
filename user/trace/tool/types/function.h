/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Functions of a file that patterns want. */
#ifndef JF_TYPES_FUNCTION_H
#define JF_TYPES_FUNCTION_H

#include "wanted.h"
#include "file.h"
#include "../links.h"

struct symbol;

/**
 * struct reading - of a file
 * @path:   of it, as it is told
 * @real:   the same without links, or NULL
 * @to:     gets the lines
 * @symbol: those that are wanted, by address
 * @num:    of them
 * @bias:   of debug information
 * @cxx:    the present unit is of C++
 * @clang:  and made by that
 * @paths:  of filters
 */
struct reading {
	const char	*path;
	const char	*real;
	FILE		*to;
	struct symbol	*symbol;
	size_t		num;
	Dwarf_Addr	bias;
	bool		cxx;
	bool		clang;
	const struct paths *paths;
};

void read_symbols(struct reading *r, Dwfl_Module *m, const struct options *o, const struct links *links);
void put_arguments(struct reading *r, const struct file *f);

#endif /* JF_TYPES_FUNCTION_H */
