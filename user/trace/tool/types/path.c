// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Paths from an argument to a member, "order->next->price", as filters and patterns have them. The
 * agent gets the register, the offsets of the pointers to follow, and the form of the value.
 */
#include "path.h"
#include "line.h"
#include "wanted.h"
#include "die.h"
#include "../../choice.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* As in the agent. */
#define LOADS_MAX	6
#define PATHS_MAX	192
#define TEXT_MAX	(JF_CHOICE_TEXT - 1)
#define WHY_MAX		128

/**
 * struct place - of a value that a path leads to
 * @type:   of it, without names and qualifiers
 * @in_register: it is the argument itself
 * @offset: from a pointer on; all but the last lead to a pointer
 * @num:    of these
 * @bits:   of a bit field, or 0
 * @shift:  of it
 * @why:    the path leads nowhere, in words without blanks; ""
 */
struct place {
	Dwarf_Die	type;
	bool		in_register;
	int64_t		offset[LOADS_MAX];
	unsigned int	num;
	unsigned int	bits;
	unsigned int	shift;
	char		why[WHY_MAX];
};

/* Always false. Blanks become '_'. */
__attribute__((__format__(__printf__, 2, 3)))
static bool lost(struct place *p, const char *format, ...)
{
	va_list args;
	char *c;

	va_start(args, format);
	vsnprintf(p->why, sizeof(p->why), format, args);
	va_end(args);
	for (c = p->why; *c; c++)
		if (*c <= ' ')
			*c = '_';
	return false;
}

/* A bit field: in its first byte, and from which bit on. */
static bool take_bit_field(struct place *p, Dwarf_Die *member, uint64_t *offset)
{
	uint64_t bits, first, size;

	p->bits = 0;
	if (!has_integer(member, DW_AT_bit_size, &bits))
		return true;
	if (!has_integer(member, DW_AT_data_bit_offset, &first)) {
		/* The older form counts from the other end of a word. */
		if (!has_integer(member, DW_AT_bit_offset, &first) || !has_integer(member, DW_AT_byte_size, &size) || first + bits > 8 * size)
			return false;
		first = 8 * *offset + 8 * size - first - bits;
	}
	*offset = first / 8;
	p->shift = first % 8;
	p->bits = (unsigned int)bits;
	return bits && p->shift + bits <= 64;
}

/*
 * Finds a member by its name, also in nameless ones and in base classes. 1: it is there, 0: it is
 * not, -1: p->why has the reason.
 */
static int find_member(struct place *p, Dwarf_Die *class, const char *name, size_t len, uint64_t base, unsigned int depth)
{
	Dwarf_Die child, of;
	const char *own;
	uint64_t offset;
	int found = 0;

	if (depth == DEPTH_MAX || dwarf_child(class, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&child, DW_AT_external) ||
		    dwarf_hasattr(&child, DW_AT_declaration))
			continue;
		own = dwarf_diename(&child);
		offset = 0;
		if (dwarf_hasattr(&child, DW_AT_data_member_location) && !has_integer(&child, DW_AT_data_member_location, &offset)) {
			if (tag == DW_TAG_member && own && jf_choice_is(own, name, len))
				return lost(p, "its place is computed"), -1;
			continue;
		}
		if (tag == DW_TAG_inheritance ? dwarf_hasattr(&child, DW_AT_virtuality) : own && !jf_choice_is(own, name, len))
			continue;
		if (!type_of(&child, &of, NULL))
			continue;
		if (own && tag == DW_TAG_member) {
			if (!take_bit_field(p, &child, &offset))
				return lost(p, "a bit field of that form is not known"), -1;
			p->offset[p->num - 1] += (int64_t)(base + offset);
			p->type = of;
			return 1;
		}
		if (is_aggregate(&of))
			found = find_member(p, &of, name, len, base + offset, depth + 1);
	} while (!found && next_member(&child));
	return found || !too_many_members() ? found : (lost(p, "it has too many members"), -1);
}

/* The value is a pointer, and the place is now where it leads. */
static bool follow(struct place *p)
{
	Dwarf_Die to;

	if (!is_pointer(&p->type) || !type_of(&p->type, &to, NULL))
		return lost(p, "what is before it is no pointer to a known type");
	if (p->num == LOADS_MAX)
		return lost(p, "it follows more than %d pointers", LOADS_MAX);
	p->in_register = false;
	p->offset[p->num++] = 0;
	p->type = to;
	return true;
}

static bool is_reference(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_reference_type || dwarf_tag(type) == DW_TAG_rvalue_reference_type;
}

static bool take_name(struct place *p, const char *name, size_t len, bool arrow)
{
	const char *class;
	int found;

	if (arrow ? !is_pointer(&p->type) : is_pointer(&p->type) && !is_reference(&p->type))
		return lost(p, arrow ? "what is before '->' is no pointer" : "what is before '.' is a pointer: '->'");
	if (is_pointer(&p->type) && !follow(p))
		return false;
	/* A reference to a pointer. */
	if (arrow && is_pointer(&p->type) && !follow(p))
		return false;
	if (!is_aggregate(&p->type) || p->in_register)
		return lost(p, "what has '%.*s' in it is no structure", (int)len, name);
	class = dwarf_diename(&p->type) ? dwarf_diename(&p->type) : "the structure";
	if (dwarf_hasattr(&p->type, DW_AT_declaration))
		return lost(p, "%.60s is not defined in the file that has the function", class);
	found = find_member(p, &p->type, name, len, 0, 0);
	return found > 0 || (!found && lost(p, "%.60s has no member '%.*s'", class, (int)len, name));
}

/* Elements of an array of one dimension. False: it is another one. *num 0: any. */
static bool count_elements(Dwarf_Die *array, uint64_t *num)
{
	Dwarf_Die child;
	unsigned int dimensions = 0;
	uint64_t n;

	*num = 0;
	if (dwarf_child(array, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type || ++dimensions > 1)
			return false;
		if (has_integer(&child, DW_AT_count, &n))
			*num = n;
		else if (has_integer(&child, DW_AT_upper_bound, &n) && n < INT32_MAX)
			*num = n + 1;
	} while (!dwarf_siblingof(&child, &child));
	return dimensions == 1;
}

static bool take_index(struct place *p, uint64_t nr)
{
	bool array = dwarf_tag(&p->type) == DW_TAG_array_type;
	uint64_t num = 0;
	Dwarf_Die of;
	int64_t size;

	if (array && !count_elements(&p->type, &num))
		return lost(p, "an array of several dimensions");
	if (array && num && nr >= num)
		return lost(p, "the array has %llu elements", (unsigned long long)num);
	if (array ? !type_of(&p->type, &of, NULL) : !follow(p))
		return array ? lost(p, "the array is of no known type") : false;
	if (array)
		p->type = of;
	size = is_pointer(&p->type) ? 8 : dwarf_bytesize(&p->type);
	if (size <= 0 || nr > INT32_MAX / (uint64_t)size)
		return lost(p, "the size of an element is not known");
	p->offset[p->num - 1] += (int64_t)nr * size;
	return true;
}

/* @text: after the argument's name. */
static bool walk(struct place *p, const char *text)
{
	size_t len;

	while (*text) {
		if (p->bits)
			return lost(p, "a bit field has no members");
		if (*text == '[') {
			if (strlen(text) > 9 && strcspn(text, "]") > 9)
				return lost(p, "the index is too large");
			if (!take_index(p, strtoull(text + 1, NULL, 10)))
				return false;
			text += strcspn(text, "]") + 1;
			continue;
		}
		len = strcspn(text + 1 + (*text == '-'), "-.[");
		if (!take_name(p, text + 1 + (*text == '-'), len, *text == '-'))
			return false;
		text += 1 + (*text == '-') + len;
	}
	return true;
}

/* Writable or not: a member that is asked for as a text. */
static bool is_text_pointer(Dwarf_Die *type)
{
	Dwarf_Die to;

	return dwarf_tag(type) == DW_TAG_pointer_type && type_of(type, &to, NULL) && is_char(&to);
}

/* The value's form, as the agent reads it. NULL: it has none. */
static const char *form_of(struct place *p, char *buf, size_t size)
{
	uint64_t bytes, num;
	Dwarf_Die of;
	bool sign;

	if (is_integer(&p->type, &bytes, &sign) && p->bits)
		snprintf(buf, size, "%s%ub%u.%u", sign ? "-" : "", (p->shift + p->bits + 7) / 8, p->shift, p->bits);
	else if (is_integer(&p->type, &bytes, &sign))
		snprintf(buf, size, "%s%u", sign ? "-" : "", (unsigned int)bytes);
	else if (is_pointer(&p->type))
		return is_text_pointer(&p->type) ? "8s" : "8p";
	else if (dwarf_tag(&p->type) == DW_TAG_base_type && class_of_base(&p->type, bytes) == SSE)
		snprintf(buf, size, "%uf", (unsigned int)bytes);
	else if (dwarf_tag(&p->type) == DW_TAG_array_type && count_elements(&p->type, &num) && num && type_of(&p->type, &of, NULL) && is_char(&of))
		snprintf(buf, size, "%ut", num > TEXT_MAX ? TEXT_MAX : (unsigned int)num);
	else
		return NULL;
	return buf;
}

static void put_path(struct arguments *a, const char *path, size_t name, Dwarf_Die *type, const char *reg)
{
	struct place p = { .type = *type, .in_register = true };
	const char *form;
	char buf[32];
	unsigned int i;
	bool found;

	members = 0;
	found = walk(&p, path + name);
	form = found ? form_of(&p, buf, sizeof(buf)) : NULL;
	if (found && !form)
		lost(&p, is_aggregate(&p.type) ? "it is a structure, whose members have names of their own" : "values of its type are not shown");
	for (i = 0; i < p.num; i++)
		if (form && (p.offset[i] > INT32_MAX || p.offset[i] < INT32_MIN) && !lost(&p, "it is too far away"))
			form = NULL;
	if (!form) {
		fprintf(a->to, " %s=?%s", path, p.why);
		return;
	}
	fprintf(a->to, " %s=%s@%%%s", path, form, reg);
	for (i = 0; i < p.num; i++)
		fprintf(a->to, "%+lld", (long long)p.offset[i]);
	put_labels(a, &p.type);
}

void put_paths(struct arguments *a, const char *name, Dwarf_Die *type)
{
	size_t len = strlen(name);
	const struct path *p = a->paths->path, *end = p + a->paths->num;

	for (; p < end && a->nr_paths < PATHS_MAX; p++)
		if (p->globs & a->globs && !strncmp(p->text, name, len) && p->text[len] && strchr("-.[", p->text[len])) {
			put_path(a, p->text, len, type, registers[a->ints - 1]);
			a->nr_paths++;
		}
}
