/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Paths from an argument to a member. */
#ifndef JF_TYPES_PATH_H
#define JF_TYPES_PATH_H

#include "line.h"

/* Those of the function's filters that begin with an argument. */
void put_paths(struct arguments *a, const char *name, Dwarf_Die *type);

#endif /* JF_TYPES_PATH_H */
