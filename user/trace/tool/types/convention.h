/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Where arguments are at the entry of a function. */
#ifndef JF_TYPES_CONVENTION_H
#define JF_TYPES_CONVENTION_H

#include "line.h"
#include "die.h"

/* Classes of an aggregate of 16 bytes at most, at @at. False: they are not known. */
bool classify(Dwarf_Die *type, uint64_t at, enum class *classes, unsigned int depth);
/* How a class is passed: 1 by a pointer, 0 as it is, -1: it is not known. */
int by_pointer(const struct arguments *a, Dwarf_Die *type);
/* True: an argument is in another register at the entry than in the next one of its kind. */
bool is_elsewhere(const struct arguments *a, Dwarf_Die *param);
/* 1: the first register has a pointer to the room for the value that is returned; -1: not known. */
int returns_by_pointer(const struct arguments *a, Dwarf_Die *function);

#endif /* JF_TYPES_CONVENTION_H */
