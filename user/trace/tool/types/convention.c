// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The calling convention says where an argument is at the entry, System V's for x86-64. A function
 * has no list of arguments if its convention is another one, as __ms_abi__: by an attribute of the
 * function, or by a register of an argument at the entry. Functions of gcc -O0 have neither.
 */
#include "convention.h"
#include "line.h"
#include "die.h"

#include <string.h>

/* The number that debug information has for it. */
#define XMM0		17

static bool put_class(enum class *classes, uint64_t at, enum class class)
{
	if (at >= 16 || class == UNKNOWN)
		return false;
	if (classes[at / 8] != INTEGER)
		classes[at / 8] = class;
	return true;
}

bool classify(Dwarf_Die *type, uint64_t at, enum class *classes, unsigned int depth)
{
	uint64_t size = is_pointer(type) ? 8 : (uint64_t)dwarf_bytesize(type);
	Dwarf_Die member, of;
	int tag = dwarf_tag(type);

	if (depth == DEPTH_MAX || !size || size > 16)
		return false;
	if (is_pointer(type) || tag == DW_TAG_enumeration_type)
		return !(at % size) && put_class(classes, at, INTEGER);
	if (tag == DW_TAG_base_type)
		return !(at % size) && put_class(classes, at, class_of_base(type, size));
	if (!is_aggregate(type) || dwarf_child(type, &member))
		return false;
	do {
		tag = dwarf_tag(&member);
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		/* A static one is no part of it. */
		if (dwarf_hasattr(&member, DW_AT_external) || dwarf_hasattr(&member, DW_AT_declaration))
			continue;
		if (dwarf_hasattr(&member, DW_AT_bit_size) || !type_of(&member, &of, NULL) ||
		    !classify(&of, at + number_of(&member, DW_AT_data_member_location, 0), classes, depth + 1))
			return false;
	} while (next_member(&member));
	return !too_many_members();
}

/* True: a method can be one that copies an object, or ends it. */
static bool is_special(Dwarf_Die *method, Dwarf_Die *class)
{
	const char *name = dwarf_diename(method);
	Dwarf_Die param, type, to;

	if (name && *name == '~')
		return true;
	if (dwarf_hasattr(method, DW_AT_type) || dwarf_child(method, &param))
		return false;
	do {
		if (dwarf_tag(&param) == DW_TAG_formal_parameter && !dwarf_hasattr(&param, DW_AT_artificial) &&
		    type_of(&param, &type, NULL) && is_pointer(&type) && type_of(&type, &to, NULL) &&
		    dwarf_dieoffset(&to) == dwarf_dieoffset(class))
			return true;
	} while (!dwarf_siblingof(&param, &param));
	return false;
}

/* True: a class of C++ is copied byte by byte, as far as its description says. */
static bool is_trivial(Dwarf_Die *class, unsigned int depth)
{
	Dwarf_Die child, of;
	const char *name;

	if (depth == DEPTH_MAX || dwarf_child(class, &child))
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (is_special(&child, class))
				return false;
			break;
		case DW_TAG_inheritance:
		case DW_TAG_member:
			name = dwarf_diename(&child);
			if (dwarf_hasattr(&child, DW_AT_virtuality) || (name && !strncmp(name, "_vptr", 5)))
				return false;
			if (dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration))
				break;
			if (!element_of(&child, &of) || (is_aggregate(&of) && !is_trivial(&of, depth + 1)))
				return false;
			break;
		}
	} while (next_member(&child));
	return !too_many_members();
}

int by_pointer(const struct arguments *a, Dwarf_Die *type)
{
	switch (number_of(type, DW_AT_calling_convention, 0)) {
	case DW_CC_pass_by_reference:
		return 1;
	case DW_CC_pass_by_value:
		return 0;
	}
	return !a->cxx || is_trivial(type, 0) ? 0 : -1;
}

bool is_elsewhere(const struct arguments *a, Dwarf_Die *param)
{
	static const unsigned int ints[REGISTERS] = { 5, 4, 1, 2, 8, 9 };
	Dwarf_Attribute at;
	Dwarf_Op *op;
	size_t len;
	unsigned int reg;

	if (!dwarf_attr_integrate(param, DW_AT_location, &at) || dwarf_getlocation_addr(&at, a->entry, &op, &len, 1) != 1 || len != 1 ||
	    op->atom < DW_OP_reg0 || op->atom > DW_OP_reg31)
		return false;
	reg = op->atom - DW_OP_reg0;
	if (reg >= XMM0 && reg < XMM0 + VECTORS)
		return reg != XMM0 + a->vectors;
	return a->ints == REGISTERS || reg != ints[a->ints];
}

int returns_by_pointer(const struct arguments *a, Dwarf_Die *function)
{
	enum class classes[2] = { NOTHING, NOTHING };
	Dwarf_Die type;
	int pointer;

	members = 0;
	if (!type_of(function, &type, NULL) || !is_aggregate(&type))
		return 0;
	pointer = by_pointer(a, &type);
	if (pointer)
		return pointer;
	if (dwarf_bytesize(&type) > 16)
		return 1;
	return classify(&type, 0, classes, 0) ? 0 : -1;
}
