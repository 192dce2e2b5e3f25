// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Types and members, as debug information describes them. The file can be damaged: types can have
 * themselves in them, so each search ends after some steps.
 */
#include "die.h"

#include <string.h>

/* Looked at for one argument: types of a damaged file can have themselves in them. */
#define MEMBERS_MAX	(1U << 16)

uint64_t number_of(Dwarf_Die *die, unsigned int name, uint64_t missing)
{
	Dwarf_Attribute a;
	Dwarf_Word n;

	return dwarf_attr_integrate(die, name, &a) && !dwarf_formudata(&a, &n) ? n : missing;
}

bool type_of(Dwarf_Die *die, Dwarf_Die *type, bool *is_const)
{
	Dwarf_Attribute a;
	Dwarf_Die at = *die;
	unsigned int i;

	for (i = 0; i < DEPTH_MAX; i++) {
		if (!dwarf_attr_integrate(&at, DW_AT_type, &a) || !dwarf_formref_die(&a, type))
			return false;
		switch (dwarf_tag(type)) {
		case DW_TAG_const_type:
			if (is_const)
				*is_const = true;
			break;
		case DW_TAG_typedef:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		at = *type;
	}
	return false;
}

bool is_pointer(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:
		return true;
	}
	return false;
}

bool is_aggregate(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

unsigned int members;

bool too_many_members(void)
{
	return members >= MEMBERS_MAX;
}

bool next_member(Dwarf_Die *member)
{
	members++;
	return !too_many_members() && !dwarf_siblingof(member, member);
}

bool has_integer(Dwarf_Die *die, unsigned int name, uint64_t *n)
{
	Dwarf_Attribute a;
	Dwarf_Word word;

	if (!dwarf_attr_integrate(die, name, &a) || dwarf_formudata(&a, &word))
		return false;
	*n = word;
	return true;
}

enum class class_of_base(Dwarf_Die *type, uint64_t size)
{
	switch (number_of(type, DW_AT_encoding, 0)) {
	case DW_ATE_boolean:
	case DW_ATE_signed:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return size == 1 || size == 2 || size == 4 || size == 8 ? INTEGER : UNKNOWN;
	case DW_ATE_float:
		return size == 4 || size == 8 ? SSE : UNKNOWN;
	}
	return UNKNOWN;
}

bool label_of(Dwarf_Die *enumerator, long long *value)
{
	Dwarf_Attribute a;
	Dwarf_Sword with_sign;
	Dwarf_Word n;
	unsigned int form;

	if (!dwarf_attr(enumerator, DW_AT_const_value, &a))
		return false;
	form = dwarf_whatform(&a);
	if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
		if (dwarf_formsdata(&a, &with_sign))
			return false;
		*value = with_sign;
		return true;
	}
	if (dwarf_formudata(&a, &n))
		return false;
	*value = (long long)n;
	return true;
}

/* One with a negative label is signed. */
static bool is_signed_enum(Dwarf_Die *type)
{
	long long value;
	Dwarf_Die child;

	if (!dwarf_child(type, &child))
		do {
			if (label_of(&child, &value) && value < 0)
				return true;
		} while (!dwarf_siblingof(&child, &child));
	return false;
}

bool is_char(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 && dwarf_diename(type) && !strcmp(dwarf_diename(type), "char");
}

bool is_string(Dwarf_Die *type)
{
	bool is_const = false;
	Dwarf_Die to;

	return dwarf_tag(type) == DW_TAG_pointer_type && type_of(type, &to, &is_const) && is_const && is_char(&to);
}

bool element_of(Dwarf_Die *member, Dwarf_Die *type)
{
	Dwarf_Die at = *member;
	unsigned int i;

	for (i = 0; i < DEPTH_MAX; i++) {
		if (!type_of(&at, type, NULL))
			return false;
		if (dwarf_tag(type) != DW_TAG_array_type)
			return true;
		at = *type;
	}
	return false;
}

bool is_integer(Dwarf_Die *type, uint64_t *size, bool *sign)
{
	uint64_t encoding = number_of(type, DW_AT_encoding, 0);

	*size = (uint64_t)dwarf_bytesize(type);
	if (dwarf_tag(type) == DW_TAG_enumeration_type) {
		*sign = is_signed_enum(type);
		return *size == 1 || *size == 2 || *size == 4 || *size == 8;
	}
	*sign = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return dwarf_tag(type) == DW_TAG_base_type && class_of_base(type, *size) == INTEGER;
}
