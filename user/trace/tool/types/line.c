// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The text of an argument in the line of its function. */
#include "line.h"
#include "die.h"

#include <string.h>

#define LABELS_MAX	64

const char *const registers[REGISTERS] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9" };

bool is_name(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	return len && len <= NAME_LENGTH && !(*name >= '0' && *name <= '9') &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == len;
}

void put_argument(struct arguments *a, const char *name, uint64_t size, bool sign, char how)
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

void put_labels(struct arguments *a, Dwarf_Die *type)
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
