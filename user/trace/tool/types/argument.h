/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The arguments of a function, and its result. */
#ifndef JF_TYPES_ARGUMENT_H
#define JF_TYPES_ARGUMENT_H

#include "line.h"

/* False: the function has another calling convention. */
bool put_function(struct arguments *a, Dwarf_Die *function);

#endif /* JF_TYPES_ARGUMENT_H */
