// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Arguments of functions, and names of functions that are in a stripped program's debug file alone,
 * for the agent: user/agent/types.c has the form of the lines.
 *
 * elfutils' libdw reads it: of the file itself, of the file that .gnu_debuglink names, or by
 * build-id below /usr/lib/debug; from servers if DEBUGINFOD_URLS is set. It does so in a process of
 * its own, which a damaged file can crash, and which ends after some seconds.
 *
 * The calling convention says where an argument is at the entry, System V's for x86-64. The list of
 * a function ends before the first argument of which that is not known for sure. A function has no
 * list if its compiler can have changed the convention: it is a clone, or local and made by clang,
 * or neither C nor C++. It has none if the convention is another one, as __ms_abi__: by an
 * attribute of the function, or by a register of an argument at the entry. Functions of gcc -O0
 * have neither.
 */
#include "tool.h"
#include "links.h"
#include "../glob.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef JF_HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

/* Of a CPU. */
#define SECONDS		20
/* Of a CPU, in SECONDS of time: with less it waits, and does not read. */
#define LEAST_MS	200
#define DEPTH_MAX	16
/* Looked at for one argument: types of a damaged file can have themselves in them. */
#define MEMBERS_MAX	(1U << 16)
#define NAME_LENGTH	36
#define LABELS_MAX	64
#define REGISTERS	6
#define VECTORS		8
/* As in the agent. */
#define LOADS_MAX	6
#define PATHS_MAX	192
/* Of all patterns. */
#define ALL_PATHS_MAX	2048
#define TEXT_MAX	(JF_CHOICE_TEXT - 1)
#define WHY_MAX		128
/* The number that debug information has for it. */
#define XMM0		17

/* --- types ---------------------------------------------------------------------------- */

/* The class of eight bytes of an argument. */
enum class { NOTHING, INTEGER, SSE, UNKNOWN };

static uint64_t number_of(Dwarf_Die *die, unsigned int name, uint64_t missing)
{
	Dwarf_Attribute a;
	Dwarf_Word n;

	return dwarf_attr_integrate(die, name, &a) && !dwarf_formudata(&a, &n) ? n : missing;
}

/* The type of a DIE without names and qualifiers. False: it is void, or damaged. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type, bool *is_const)
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

static bool is_pointer(Dwarf_Die *type)
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

static bool is_aggregate(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* For the present argument. */
static unsigned int members;

static bool too_many_members(void)
{
	return members >= MEMBERS_MAX;
}

static bool next_member(Dwarf_Die *member)
{
	members++;
	return !too_many_members() && !dwarf_siblingof(member, member);
}

static enum class class_of_base(Dwarf_Die *type, uint64_t size)
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

static bool put_class(enum class *classes, uint64_t at, enum class class)
{
	if (at >= 16 || class == UNKNOWN)
		return false;
	if (classes[at / 8] != INTEGER)
		classes[at / 8] = class;
	return true;
}

/* Classes of an aggregate of 16 bytes at most, at @at. False: they are not known. */
static bool classify(Dwarf_Die *type, uint64_t at, enum class *classes, unsigned int depth)
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

/* --- arguments ------------------------------------------------------------------------ */

static const char *const registers[REGISTERS] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9" };

/**
 * struct path - of filters, or of members that are recorded
 * @text:  order->price
 * @globs: patterns that have it: a bit for each
 */
struct path {
	char		*text;
	uint64_t	globs;
};

/**
 * struct paths - of all patterns
 * @path: each of them
 * @num:  how many
 * @glob: the number of the pattern that is being read
 */
struct paths {
	struct path	path[ALL_PATHS_MAX];
	unsigned int	num;
	unsigned int	glob;
};

/**
 * struct arguments - of a function, as they are told
 * @to:      the line
 * @cxx:     it is of C++
 * @ints:    registers that are taken
 * @vectors: of the other kind
 * @num:     arguments that are in the line
 * @entry:   where the function begins
 * @paths:   that filters name
 * @globs:   patterns that it matches: a bit for each
 * @nr_paths: in the line
 */
struct arguments {
	FILE		*to;
	bool		cxx;
	unsigned int	ints;
	unsigned int	vectors;
	unsigned int	num;
	Dwarf_Addr	entry;
	const struct paths *paths;
	uint64_t	globs;
	unsigned int	nr_paths;
};

static void put_argument(struct arguments *a, const char *name, uint64_t size, bool sign, char how)
{
	fprintf(a->to, " %s=%s%u", name, sign ? "-" : "", (unsigned int)size);
	/* Members are not told within a part of a structure. */
	if (how)
		fputc(how == 'v' ? 'p' : how, a->to);
	if (how == 'f' || how == 'v')
		fprintf(a->to, "@%%xmm%u", a->vectors++);
	else
		fprintf(a->to, "@%%%s", registers[a->ints++]);
	a->num++;
}

static bool is_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len && len <= NAME_LENGTH && !(*name >= '0' && *name <= '9') &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == len;
}

/* The forms of fixed size have no sign: gcc uses them for values from 0 on. */
static bool label_of(Dwarf_Die *enumerator, long long *value)
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

/* Those whose names a trace can have. */
static void put_labels(struct arguments *a, Dwarf_Die *type)
{
	unsigned int seen = 0, num = 0;
	long long value;
	Dwarf_Die child;

	if (dwarf_tag(type) != DW_TAG_enumeration_type || dwarf_child(type, &child))
		return;
	do {
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_enumerator && is_name(name) && label_of(&child, &value))
			fprintf(a->to, "%s%s:%lld", num++ ? "," : "{", name, value);
	} while (++seen < LABELS_MAX && !dwarf_siblingof(&child, &child));
	if (num)
		fputc('}', a->to);
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

static bool is_char(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 && dwarf_diename(type) && !strcmp(dwarf_diename(type), "char");
}

/* True: C calls it const char *. */
static bool is_string(Dwarf_Die *type)
{
	bool is_const = false;
	Dwarf_Die to;

	return dwarf_tag(type) == DW_TAG_pointer_type && type_of(type, &to, &is_const) && is_const && is_char(&to);
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

/* The type of a member; of an array the type of its elements. */
static bool element_of(Dwarf_Die *member, Dwarf_Die *type)
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

/* How a class is passed: 1 by a pointer, 0 as it is, -1: it is not known. */
static int by_pointer(const struct arguments *a, Dwarf_Die *type)
{
	switch (number_of(type, DW_AT_calling_convention, 0)) {
	case DW_CC_pass_by_reference:
		return 1;
	case DW_CC_pass_by_value:
		return 0;
	}
	return !a->cxx || is_trivial(type, 0) ? 0 : -1;
}

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

/* True: an argument is in another register at the entry than in the next one of its kind. */
static bool is_elsewhere(const struct arguments *a, Dwarf_Die *param)
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

/* An integer or an enumeration, with its size and sign. */
static bool is_integer(Dwarf_Die *type, uint64_t *size, bool *sign)
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

/* --- paths ---------------------------------------------------------------------------- */

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

static bool has_integer(Dwarf_Die *die, unsigned int name, uint64_t *n)
{
	Dwarf_Attribute a;
	Dwarf_Word word;

	if (!dwarf_attr_integrate(die, name, &a) || dwarf_formudata(&a, &word))
		return false;
	*n = word;
	return true;
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

/* Those of the function's filters that begin with an argument. */
static void put_paths(struct arguments *a, const char *name, Dwarf_Die *type)
{
	size_t len = strlen(name);
	const struct path *p = a->paths->path, *end = p + a->paths->num;

	for (; p < end && a->nr_paths < PATHS_MAX; p++)
		if (p->globs & a->globs && !strncmp(p->text, name, len) && p->text[len] && strchr("-.[", p->text[len])) {
			put_path(a, p->text, len, type, registers[a->ints - 1]);
			a->nr_paths++;
		}
}

/* --- all arguments --------------------------------------------------------------------- */

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

/* 1: the first register has a pointer to the room for the value that is returned; -1: not known. */
static int returns_by_pointer(const struct arguments *a, Dwarf_Die *function)
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

/**
 * struct symbol - of a function that is wanted
 * @at:    its address, as debug information has it
 * @value: from the object's own 0 on
 * @globs: patterns that it matches: a bit for each
 * @local: no other object sees it
 * @clone: it is not as its source says
 */
struct symbol {
	Dwarf_Addr	at;
	uint64_t	value;
	uint64_t	globs;
	bool		local;
	bool		clone;
};

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

/* False: the function has another calling convention. */
static bool put_function(struct arguments *a, Dwarf_Die *function)
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

/* --- functions of a file ---------------------------------------------------------------- */

static int by_address(const void *x, const void *y)
{
	const struct symbol *a = (const struct symbol *)x, *b = (const struct symbol *)y;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* A bit for each pattern that matches. One that has nothing but wildcards means no function. */
static uint64_t is_wanted(const struct options *o, const struct links *links, const char *group, const char *name)
{
	uint64_t globs = 0;
	unsigned int i;

	_Static_assert(GLOBS_MAX <= 64, "a bit for each");

	for (i = 0; i < o->num_globs; i++) {
		const char *glob = o->globs[i], *text = glob;

		jf_kind_of(&text);
		if (text[strspn(text, "*?")] && links_match(links, glob, "function", group, name))
			globs |= UINT64_C(1) << i;
	}
	return globs;
}

static void read_symbols(struct reading *r, Dwfl_Module *m, const struct options *o, const struct links *links)
{
	int num = dwfl_module_getsymtab(m), i;
	GElf_Addr at;
	GElf_Sym s;

	for (i = 1; i < num; i++) {
		const char *name = dwfl_module_getsym_info(m, i, &s, &at, NULL, NULL, NULL);
		struct symbol *more;
		uint64_t globs;

		if (!name || GELF_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF)
			continue;
		globs = is_wanted(o, links, last_part(r->path), name);
		if (!globs)
			continue;
		if (!(r->num & (r->num - 1))) {
			more = realloc(r->symbol, (r->num ? 2 * r->num : 1) * sizeof(*more));
			if (!more)
				return;
			r->symbol = more;
		}
		r->symbol[r->num++] = (struct symbol){ at, s.st_value, globs, GELF_ST_BIND(s.st_info) == STB_LOCAL, strchr(name, '.') };
	}
	if (r->num)
		qsort(r->symbol, r->num, sizeof(*r->symbol), by_address);
}

static struct symbol *symbol_at(const struct reading *r, Dwarf_Addr at)
{
	struct symbol key = { at + r->bias, 0, 0, false, false };

	return r->num ? bsearch(&key, r->symbol, r->num, sizeof(key), by_address) : NULL;
}

/*
 * The symbol at a function's entry, or NULL. A function in several parts has ranges, of which one
 * begins there; NAME.cold is the symbol of another part.
 */
static struct symbol *symbol_of(Dwarf_Die *function, const struct reading *r, Dwarf_Addr *entry)
{
	Dwarf_Addr base, end;
	struct symbol *s;
	ptrdiff_t at = 0;

	if (!dwarf_entrypc(function, entry))
		return symbol_at(r, *entry);
	while ((at = dwarf_ranges(function, at, &base, entry, &end)) > 0) {
		s = symbol_at(r, *entry);
		if (s && !s->clone)
			return s;
	}
	return NULL;
}

static int one_function(Dwarf_Die *function, void *arg)
{
	struct reading *r = (struct reading *)arg;
	struct symbol *s, *p;
	struct arguments a = { .cxx = r->cxx, .paths = r->paths };
	char *text = NULL;
	size_t size = 0;
	bool known;

	s = symbol_of(function, r, &a.entry);
	if (!s)
		return DWARF_CB_OK;
	/* Of several names that one place has. */
	while (s > r->symbol && s[-1].at == s->at)
		s--;
	for (p = s; p < r->symbol + r->num && p->at == s->at; p++) {
		if (p->clone || (p->local && r->clang))
			return DWARF_CB_OK;
		a.globs |= p->globs;
	}
	a.to = open_memstream(&text, &size);
	if (!a.to)
		return DWARF_CB_OK;
	known = put_function(&a, function);
	fclose(a.to);
	if (known)
		fprintf(r->to, "%s %llx%s%s\n", r->path, (unsigned long long)s->value, size ? "" : " ", text);
	if (known && r->real)
		fprintf(r->to, "%s %llx%s%s\n", r->real, (unsigned long long)s->value, size ? "" : " ", text);
	free(text);
	return DWARF_CB_OK;
}

/* False: it is of another language. */
static bool is_c(struct reading *r, Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	const char *producer = dwarf_attr(unit, DW_AT_producer, &a) ? dwarf_formstring(&a) : NULL;

	r->clang = !producer || !strstr(producer, "GNU");
	r->cxx = false;
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c:		/* C17 */
		return true;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b:		/* C++17 */
	case 0x2e:		/* C++20 */
		r->cxx = true;
		return true;
	}
	return false;
}

/* --- files ---------------------------------------------------------------------------------- */

/**
 * struct file - one that is open
 * @dwfl:   libdw's
 * @module: of it; NULL: libdw cannot read it, or it is for another machine
 * @elf:    of it, and not of its debug file
 */
struct file {
	Dwfl		*dwfl;
	Dwfl_Module	*module;
	Elf		*elf;
};

static void open_file(struct file *f, const char *path)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	GElf_Ehdr head;
	GElf_Addr bias;

	f->dwfl = dwfl_begin(&callbacks);
	f->module = f->dwfl ? dwfl_report_offline(f->dwfl, "", path, -1) : NULL;
	if (f->dwfl)
		dwfl_report_end(f->dwfl, NULL, NULL);
	f->elf = f->module ? dwfl_module_getelf(f->module, &bias) : NULL;
	if (!f->elf || !gelf_getehdr(f->elf, &head) || head.e_machine != EM_X86_64)
		f->module = NULL;
}

static void close_file(struct file *f)
{
	if (f->dwfl)
		dwfl_end(f->dwfl);
}

/* Its own table of symbols was removed. */
static bool is_stripped(const struct file *f)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while ((section = elf_nextscn(f->elf, section)))
		if (gelf_getshdr(section, &head) && head.sh_type == SHT_SYMTAB)
			return false;
	return true;
}

typedef int name_fn(const char *name, const GElf_Sym *s, void *arg);

/* Names that are in a stripped file's debug file. */
static int each_name(const struct file *f, name_fn *fn, void *arg)
{
	int num = f->module && is_stripped(f) ? dwfl_module_getsymtab(f->module) : 0, i, ret = 0;
	GElf_Addr at;
	GElf_Sym s;

	for (i = 1; i < num && !ret; i++) {
		const char *name = dwfl_module_getsym_info(f->module, i, &s, &at, NULL, NULL, NULL);

		if (name && *name && !strpbrk(name, " \n") && GELF_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF)
			ret = fn(name, &s, arg);
	}
	return ret;
}

/**
 * struct naming - of a file
 * @r:       of it
 * @links:   its names
 * @o:       which functions
 * @library: the program loads it
 * @stamp:   tells it from another one of its path
 */
struct naming {
	const struct reading	*r;
	const struct links	*links;
	const struct options	*o;
	bool			library;
	struct stat		stamp;
};

static void put_name_line(const struct naming *n, const char *path, const GElf_Sym *s, const char *name)
{
	fprintf(n->r->to, "%s %llx +%llx %llx.%llx.%lx %s\n", path, (unsigned long long)s->st_value, (unsigned long long)s->st_size,
		(unsigned long long)n->stamp.st_ino, (unsigned long long)n->stamp.st_mtim.tv_sec, n->stamp.st_mtim.tv_nsec, name);
}

/* It names an object, and one function in it. */
static bool is_exact(const char *glob)
{
	const char *text = glob, *colon;

	jf_kind_of(&text);
	colon = jf_group_end(text);
	return colon && strcspn(colon + 1, "*?[") >= glob_length(colon + 1);
}

/*
 * "libc.so.6:*" and "strlen" mean functions that a library offers, whatever is installed; its inner
 * ones have to be named with it. The agent wants to know whether it has libjumpfunc in it.
 */
static bool is_named(const struct naming *n, const char *name)
{
	uint64_t globs = is_wanted(n->o, n->links, last_part(n->r->path), name);
	unsigned int i;

	for (i = 0; i < n->o->num_globs; i++)
		if (globs >> i & 1 && (!n->library || is_exact(n->o->globs[i])))
			return true;
	return !strcmp(name, "__jf_object_register");
}

static int one_name(const char *name, const GElf_Sym *s, void *arg)
{
	const struct naming *n = (const struct naming *)arg;

	if (!is_named(n, name))
		return 0;
	put_name_line(n, n->r->path, s, name);
	if (n->r->real)
		put_name_line(n, n->r->real, s, name);
	return 0;
}

static void put_names(const struct file *f, const struct reading *r, const struct links *links, const struct options *o, bool library)
{
	struct naming n = { .r = r, .links = links, .o = o, .library = library };

	if (!stat(r->path, &n.stamp))
		each_name(f, one_name, &n);
}

static void put_arguments(struct reading *r, const struct file *f)
{
	Dwarf_Die *unit = NULL;

	while (r->num && (unit = dwfl_module_nextcu(f->module, unit, &r->bias)))
		if (is_c(r, unit))
			dwarf_getfuncs(unit, one_function, r, 0);
}

/* The agent's file has a blank after a path, and a line for each function. */
static bool is_path(const char *path)
{
	return *path == '/' && !strpbrk(path, " \n");
}

static void read_file(const char *path, const struct types *t)
{
	char *real = realpath(path, NULL);
	struct reading r = { .path = path, .real = real && strcmp(real, path) && is_path(real) ? real : NULL, .to = t->to, .paths = t->paths };
	struct links links = { NULL, 0 };
	struct file f;

	links_add(&links, path);
	open_file(&f, path);
	put_names(&f, &r, &links, t->o, t->loaded);
	if (f.module && !t->o->registers)
		read_symbols(&r, f.module, t->o, &links);
	put_arguments(&r, &f);
	free(r.symbol);
	links_free(&links);
	close_file(&f);
	free(real);
}

static void one_file(const char *path, void *arg)
{
	struct types *t = (struct types *)arg;

	if (is_path(path))
		read_file(path, t);
	t->loaded = true;
}

static int add_path(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	struct paths *p = *(struct paths *const *)arg;
	unsigned int i;

	(void)step;
	for (i = 0; i < p->num && !jf_choice_is(p->path[i].text, name, len); i++)
		;
	if (i == ALL_PATHS_MAX || strcspn(name, "-.[") >= len)
		return 0;
	if (i == p->num)
		p->path[i] = (struct path){ strndup(name, len), 0 };
	p->path[i].globs |= UINT64_C(1) << p->glob;
	p->num += i == p->num && p->path[i].text;
	return 0;
}

/* Those that are recorded. */
static void add_members(struct paths *p, const char *glob)
{
	struct jf_pattern pattern;
	const char *at;
	size_t len;

	if (jf_pattern_parse(&pattern, glob))
		return;
	for (at = pattern.members; *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		add_path(NULL, at, len, &p);
	}
}

static void find_paths(struct paths *p, const struct options *o)
{
	const struct jf_choice_names names = { add_path, add_path, NULL, &p, NULL };
	struct jf_choice c;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++) {
		p->glob = i;
		jf_choice_parse(&c, jf_choice_begin(o->globs[i]), &names);
		add_members(p, o->globs[i]);
	}
}

/* A busy machine is slow; a wait for a FIFO or a server takes no time of a CPU. */
static void on_alarm(int sig)
{
	static uint64_t last;
	struct timespec t = { 0, 0 };
	uint64_t ms;

	(void)sig;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	if (ms - last < LEAST_MS)
		_exit(1);
	last = ms;
	alarm(SECONDS);
}

/* A section that is compressed says itself how large it becomes. */
static void limit_memory(void)
{
	rlim_t half = (rlim_t)sysconf(_SC_PHYS_PAGES) / 2 * (rlim_t)sysconf(_SC_PAGESIZE);
	struct rlimit memory;

	if (getrlimit(RLIMIT_DATA, &memory) || memory.rlim_cur <= half)
		return;
	memory.rlim_cur = half;
	setrlimit(RLIMIT_DATA, &memory);
}

/* Of a process that reads. */
static void limit_reader(void)
{
	const struct rlimit seconds = { SECONDS, SECONDS }, none = { 0, 0 };
	sigset_t alarmed;

	limit_memory();
	sigemptyset(&alarmed);
	sigaddset(&alarmed, SIGALRM);
	signal(SIGALRM, on_alarm);
	sigprocmask(SIG_UNBLOCK, &alarmed, NULL);
	alarm(SECONDS);
	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_CORE, &none);
}

static void read_all(const struct options *o, const char *program, const char *path)
{
	static struct paths paths;
	struct types t = { o, fopen(path, "wxe"), &paths, false };
	char *real = realpath(program, NULL);

	find_paths(&paths, o);
	limit_reader();
	if (!t.to || !real)
		_exit(1);
	each_file_of(real, one_file, &t);
	_exit(fclose(t.to) != 0);
}

bool types_write(const struct options *o, const char *program, const char *path)
{
	pid_t child;
	int status = -1;

	if (!o->num_globs)
		return false;
	fflush(NULL);
	child = fork();
	if (!child)
		read_all(o, program, path);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		note("the debug information of %s and of what it loads could not be read: arguments are shown as registers", program);
	if (status)
		unlink(path);
	return !status;
}

static int print_name(const char *name, const GElf_Sym *s, void *arg)
{
	(void)s;
	return fprintf((FILE *)arg, "%s\n", name) < 0;
}

/* In a process of its own. */
static void print_names(const char *path, int to)
{
	FILE *out = fdopen(to, "w");
	struct file f;
	int err;

	limit_reader();
	open_file(&f, path);
	err = !out || each_name(&f, print_name, out);
	_exit(err || fclose(out));
}

int types_names(const char *path, int (*fn)(const char *name, void *arg), void *arg)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int out[2], ret = 0;
	pid_t child;
	FILE *f;

	if (pipe2(out, O_CLOEXEC))
		return 0;
	fflush(NULL);
	child = fork();
	if (!child)
		print_names(path, out[1]);
	close(out[1]);
	f = fdopen(out[0], "r");
	while (f && !ret && (n = getline(&line, &room, f)) > 1) {
		line[n - 1] = 0;
		ret = fn(line, arg);
	}
	free(line);
	if (f)
		fclose(f);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

const char *types_library(void)
{
	return "names and types of arguments by libdw";
}

#else

bool types_write(const struct options *o, const char *program, const char *path)
{
	(void)o, (void)program, (void)path;
	return false;
}

int types_names(const char *path, int (*fn)(const char *name, void *arg), void *arg)
{
	(void)path, (void)fn, (void)arg;
	return 0;
}

const char *types_library(void)
{
	return "built without libdw: arguments are registers";
}

#endif
