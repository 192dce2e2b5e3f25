/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The reader of debug information, by elfutils' libdw. It runs in a process of its own (types.c).
 *
 * From top to bottom; a file uses those below it, and none above (harness/lint/parts):
 *   read.c	a file
 *   name.c	lines of names
 *   function.c	functions, each with the line of its arguments
 *   argument.c	arguments of a function, and its result
 *   path.c	paths from an argument to a member
 *   convention.c	where arguments are at the entry
 *   line.c	the text of an argument
 *   wanted.c	functions and paths that the user names
 *   file.c	a file and its debug file
 *   die.c	types and members
 */
#ifndef JF_TYPES_READ_H
#define JF_TYPES_READ_H

#include "../tool.h"

/**
 * struct types - where arguments are told
 * @o:  which functions' are
 * @to: the file
 * @paths: of filters
 * @loaded: the program has been read; the rest are objects that it loads
 */
struct types {
	const struct options	*o;
	FILE			*to;
	const struct paths	*paths;
	bool			loaded;
};

void one_file(const char *path, void *arg);

#endif /* JF_TYPES_READ_H */
