/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Types and members, as debug information describes them. */
#ifndef JF_TYPES_DIE_H
#define JF_TYPES_DIE_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define DEPTH_MAX	16

/* The class of eight bytes of an argument. */
enum class { NOTHING, INTEGER, SSE, UNKNOWN };

uint64_t number_of(Dwarf_Die *die, unsigned int name, uint64_t missing);
/* The type of a DIE without names and qualifiers. False: it is void, or damaged. */
bool type_of(Dwarf_Die *die, Dwarf_Die *type, bool *is_const);
bool is_pointer(Dwarf_Die *type);
bool is_aggregate(Dwarf_Die *type);
/* That were looked at for the present argument. */
extern unsigned int members;
bool too_many_members(void);
bool next_member(Dwarf_Die *member);
bool has_integer(Dwarf_Die *die, unsigned int name, uint64_t *n);
enum class class_of_base(Dwarf_Die *type, uint64_t size);
/* The forms of fixed size have no sign: gcc uses them for values from 0 on. */
bool label_of(Dwarf_Die *enumerator, long long *value);
bool is_char(Dwarf_Die *type);
/* True: C calls it const char *. */
bool is_string(Dwarf_Die *type);
/* The type of a member; of an array the type of its elements. */
bool element_of(Dwarf_Die *member, Dwarf_Die *type);
/* An integer or an enumeration, with its size and sign. */
bool is_integer(Dwarf_Die *type, uint64_t *size, bool *sign);

#endif /* JF_TYPES_DIE_H */
