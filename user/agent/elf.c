// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sections and symbols of a file, each looked at only where the file has it.
 */
#include "elf.h"

#include <elf.h>
#include <string.h>

static const void *part(const struct jf_elf *elf, uint64_t at, uint64_t size)
{
	return at <= elf->size && size <= elf->size - at ? elf->data + at : NULL;
}

/**
 * jf_elf_check() - is it one for this machine
 * @elf: the file
 *
 * Return: 0, -ENOEXEC
 */
int jf_elf_check(const struct jf_elf *elf)
{
	Elf64_Ehdr h;

	if (elf->size < sizeof(h))
		return -ENOEXEC;
	memcpy(&h, elf->data, sizeof(h));
	return !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_ident[EI_CLASS] == ELFCLASS64 &&
	       h.e_ident[EI_DATA] == ELFDATA2LSB && h.e_machine == EM_X86_64 ? 0 : -ENOEXEC;
}

/* Header number @i. Files that were cut need not have them aligned. */
static bool section_at(const struct jf_elf *elf, unsigned int i, Elf64_Shdr *s)
{
	const void *p;
	Elf64_Ehdr h;

	memcpy(&h, elf->data, sizeof(h));
	if (i >= h.e_shnum || h.e_shentsize != sizeof(*s) ||
	    h.e_shoff > elf->size)
		return false;
	p = part(elf, h.e_shoff + (uint64_t)i * sizeof(*s), sizeof(*s));
	if (p)
		memcpy(s, p, sizeof(*s));
	return p;
}

/* A text that ends in @data. */
static const char *text_at(const uint8_t *data, size_t size, uint64_t at)
{
	return at < size && memchr(data + at, 0, size - at) ? (const char *)data + at : NULL;
}

static struct jf_section contents(const struct jf_elf *elf, const Elf64_Shdr *s)
{
	struct jf_section found = { NULL, s->sh_size, s->sh_addr };

	if (s->sh_type != SHT_NOBITS)
		found.data = (const uint8_t *)part(elf, s->sh_offset, s->sh_size);
	return found;
}

/**
 * jf_elf_section() - find a section by its name
 * @elf:  the file, checked
 * @name: of it
 *
 * Return: with @data NULL if the file has no such section, or not its contents
 */
struct jf_section jf_elf_section(const struct jf_elf *elf, const char *name)
{
	struct jf_section none = { NULL, 0, 0 }, names;
	const char *have;
	Elf64_Shdr s;
	Elf64_Ehdr h;
	unsigned int i;

	memcpy(&h, elf->data, sizeof(h));
	if (!section_at(elf, h.e_shstrndx, &s))
		return none;
	names = contents(elf, &s);
	for (i = 0; names.data && section_at(elf, i, &s); i++) {
		have = text_at(names.data, names.size, s.sh_name);
		if (have && !strcmp(have, name))
			return contents(elf, &s);
	}
	return none;
}

static bool is_function(unsigned int type)
{
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* @all: also symbols of no type, as hand-written assembly has them. */
static int symbols_of(const struct jf_section *symbols, const struct jf_section *names, bool all,
		      jf_symbol_fn *fn, void *arg)
{
	struct jf_symbol found;
	Elf64_Sym s;
	size_t at;
	int ret = 0;

	for (at = 0; !ret && symbols->size - at >= sizeof(s); at += sizeof(s)) {
		unsigned int type;

		memcpy(&s, symbols->data + at, sizeof(s));
		type = ELF64_ST_TYPE(s.st_info);
		if (s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE || !s.st_value ||
		    !(is_function(type) || (all && type == STT_NOTYPE)))
			continue;
		found.name = text_at(names->data, names->size, s.st_name);
		found.value = s.st_value;
		found.size = s.st_size;
		found.indirect = type == STT_GNU_IFUNC;
		if (found.name && *found.name)
			ret = fn(&found, arg);
	}
	return ret;
}

static int each_symbol(const struct jf_elf *elf, bool all, jf_symbol_fn *fn, void *arg)
{
	struct jf_section symbols, names;
	Elf64_Shdr s, t;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && section_at(elf, i, &s); i++) {
		if ((s.sh_type != SHT_SYMTAB && s.sh_type != SHT_DYNSYM) ||
		    !section_at(elf, s.sh_link, &t))
			continue;
		symbols = contents(elf, &s);
		names = contents(elf, &t);
		if (symbols.data && names.data)
			ret = symbols_of(&symbols, &names, all, fn, arg);
	}
	return ret;
}

/**
 * jf_elf_functions() - all functions that the file names
 * @elf: the file, checked
 * @fn:  is called for each, for some twice; ends it by another value than 0
 * @arg: its last argument
 *
 * Return: 0, or what @fn returned
 */
int jf_elf_functions(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg)
{
	return each_symbol(elf, false, fn, arg);
}

/**
 * jf_elf_entries() - the same of all symbols that can be a place of text, also of those that are no
 * functions
 * @elf: as jf_elf_functions()
 * @fn:  the same
 * @arg: the same
 *
 * Return: as jf_elf_functions()
 */
int jf_elf_entries(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg)
{
	return each_symbol(elf, true, fn, arg);
}
