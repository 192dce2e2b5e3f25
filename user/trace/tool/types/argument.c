// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The arguments of a function, and the type of its result. The list of a function ends before the
 * first argument of which the place is not known for sure.
 */
#include "argument.h"
#include "path.h"
#include "convention.h"
#include "line.h"
#include "die.h"

#include <string.h>

/* An aggregate. False: the places after it are not known. */
static bool take_aggregate(struct arguments *a, const char *name, Dwarf_Die *type)
{
	enum class classes[2] = { NOTHING, NOTHING };
	unsigned int ints = 0, vectors = 0, i;
	int pointer = by_pointer(a, type), size = dwarf_bytesize(type);
	char part[NAME_LENGTH + 8];

	if (pointer < 0 || size <= 0)
		return false;
	if (pointer) {
		if (a->ints == REGISTERS)
			return false;
		put_argument(a, name, 8, false, 'p');
		return true;
	}
	/* In memory, where it takes no register. */
	if (size > 16)
		return !dwarf_hasattr(type, DW_AT_alignment);
	if (!classify(type, 0, classes, 0))
		return false;
	for (i = 0; i < 2; i++) {
		ints += classes[i] == INTEGER;
		vectors += classes[i] == SSE;
	}
	/* All of it is in registers, or nothing. */
	if (!(ints + vectors) || (unsigned int)(size + 7) / 8 != ints + vectors || a->ints + ints > REGISTERS || a->vectors + vectors > VECTORS)
		return false;
	for (i = 0; i < ints + vectors; i++) {
		snprintf(part, sizeof(part), "%s_%u", name, i * 8);
		put_argument(a, part, 8, false, classes[i] == SSE ? 'v' : 'p');
	}
	return true;
}

/* False: the list ends here. */
static bool take(struct arguments *a, Dwarf_Die *param, bool prototyped)
{
	const char *name = dwarf_diename(param);
	uint64_t size;
	Dwarf_Die type;
	bool sign;

	members = 0;
	/* It says which of a constructor's two symbols this is, and is not passed. */
	if (name && !strcmp(name, "__in_chrg"))
		return true;
	if (!is_name(name) || !type_of(param, &type, NULL))
		return false;
	if (is_aggregate(&type))
		return take_aggregate(a, name, &type);
	/* On the stack, where it takes no register of those after it. */
	if (is_pointer(&type)) {
		if (a->ints == REGISTERS)
			return true;
		put_argument(a, name, 8, false, is_string(&type) ? 's' : 'p');
		put_paths(a, name, &type);
		return true;
	}
	if (is_integer(&type, &size, &sign)) {
		if (a->ints == REGISTERS)
			return true;
		put_argument(a, name, size, sign, 0);
		put_labels(a, &type);
		put_paths(a, name, &type);
		return true;
	}
	/* Without a prototype a float is passed as a double. */
	if (dwarf_tag(&type) != DW_TAG_base_type || class_of_base(&type, size) != SSE || !(prototyped || a->cxx))
		return false;
	if (a->vectors == VECTORS)
		return true;
	put_argument(a, name, size, false, 'f');
	return true;
}

/* The type of the value in rax, or, of a number with a point, in xmm0. Others are not described. */
static void put_return(struct arguments *a, Dwarf_Die *function, bool pointer)
{
	uint64_t size;
	Dwarf_Die type;
	bool sign;

	if (!type_of(function, &type, NULL))
		return;
	if (pointer || is_pointer(&type)) {
		fputs(" ret=8p@%rax", a->to);
		return;
	}
	if (dwarf_tag(&type) == DW_TAG_base_type && class_of_base(&type, (uint64_t)dwarf_bytesize(&type)) == SSE) {
		fprintf(a->to, " ret=%uf@%%rax", (unsigned int)dwarf_bytesize(&type));
		return;
	}
	if (!is_integer(&type, &size, &sign))
		return;
	fprintf(a->to, " ret=%s%u@%%rax", sign ? "-" : "", (unsigned int)size);
	put_labels(a, &type);
}

bool put_function(struct arguments *a, Dwarf_Die *function)
{
	bool prototyped = dwarf_hasattr_integrate(function, DW_AT_prototyped);
	Dwarf_Die child;
	int pointer = returns_by_pointer(a, function);

	if (number_of(function, DW_AT_calling_convention, DW_CC_normal) != DW_CC_normal)
		return false;
	if (pointer < 0)
		return true;
	put_return(a, function, pointer);
	if (pointer)
		put_argument(a, "returned", 8, false, 'p');
	if (dwarf_child(function, &child))
		return true;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		if (is_elsewhere(a, &child))
			return false;
		if (!take(a, &child, prototyped))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return true;
}
