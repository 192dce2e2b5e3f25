// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The functions of a file that patterns want, each with the line of its arguments. A function has
 * no line if its compiler can have changed the calling convention: it is a clone, or local and made
 * by clang, or neither C nor C++.
 */
#include "function.h"
#include "argument.h"
#include "line.h"
#include "die.h"
#include "../tool.h"

#include <stdlib.h>
#include <string.h>

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

static int by_address(const void *x, const void *y)
{
	const struct symbol *a = (const struct symbol *)x, *b = (const struct symbol *)y;

	return a->at < b->at ? -1 : a->at > b->at;
}

void read_symbols(struct reading *r, Dwfl_Module *m, const struct options *o, const struct links *links)
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

void put_arguments(struct reading *r, const struct file *f)
{
	Dwarf_Die *unit = NULL;

	while (r->num && (unit = dwfl_module_nextcu(f->module, unit, &r->bias)))
		if (is_c(r, unit))
			dwarf_getfuncs(unit, one_function, r, 0);
}
