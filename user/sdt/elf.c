// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Object files of x86-64: checked when they are read, so that no other part has to doubt a number.
 *
 * Read is the file's own content: sections are looked at where they lie. Sections to be changed are
 * copied first. The file that is written has all sections in the order of their numbers, so that
 * nothing in it depends on where the one that was read had them.
 */
#include "jf_sdt.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Tables of LLVM that name symbols by their numbers. */
#define LLVM_ADDRSIG		0x6fff4c03
#define LLVM_CALL_GRAPH		0x6fff4c09	/* weights: of its relocations' symbols */

/* Relocations in as few bits as can be. */
#define CREL			0x40000014

/* Sections may ask for so much, and together for so much, which bounds the size of the new file. */
#define ALIGN_MAX	(1UL << 21)
#define ALIGN_ALL	(1UL << 26)

bool refuse(struct object *o, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!o->err)
		o->err = strdup(text);
	return false;
}

/* Of a kind that is not read at all. */
static bool refuse_foreign(struct object *o, const char *why)
{
	o->foreign = true;
	return refuse(o, "%s", why);
}

static bool has_content(const Elf64_Shdr *h)
{
	return h->sh_type != SHT_NOBITS && h->sh_type != SHT_NULL;
}

/* --- reading ---------------------------------------------------------------------- */

static bool read_header(struct object *o, const uint8_t *data, size_t size)
{
	static const char bitcode[] = { 'B', 'C', (char)0xc0, (char)0xde };

	if (size >= sizeof(bitcode) && !memcmp(data, bitcode, sizeof(bitcode)))
		return refuse(o, "is for link-time optimisation (LLVM): compile it without -flto");
	if (size < sizeof(o->eh) || memcmp(data, ELFMAG, SELFMAG))
		return refuse(o, "is no object file");
	memcpy(&o->eh, data, sizeof(o->eh));
	if (o->eh.e_ident[EI_CLASS] != ELFCLASS64 || o->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    o->eh.e_machine != EM_X86_64)
		return refuse_foreign(o, "is not for x86-64");
	if (o->eh.e_type != ET_REL)
		return refuse(o, "is linked already: calls can be found in object files only");
	/* Then their number stands in the first one. */
	if (!o->eh.e_shnum && o->eh.e_shoff)
		return refuse_foreign(o, "has too many sections");
	if (o->eh.e_shentsize != sizeof(Elf64_Shdr) || !o->eh.e_shnum || o->eh.e_phnum ||
	    o->eh.e_shnum >= SHN_LORESERVE || o->eh.e_shoff > size ||
	    (size - o->eh.e_shoff) / sizeof(Elf64_Shdr) < o->eh.e_shnum)
		return refuse(o, "has no table of sections that is understood");
	return true;
}

static bool read_sections(struct object *o, const uint8_t *data, size_t size)
{
	size_t i, all = 0, gaps = 0;

	o->room = o->eh.e_shnum + 64;
	o->secs = calloc(o->room, sizeof(*o->secs));
	if (!o->secs)
		return refuse(o, "no memory");
	o->num = o->eh.e_shnum;
	for (i = 0; i < o->num; i++) {
		struct section *s = &o->secs[i];

		memcpy(&s->h, data + o->eh.e_shoff + i * sizeof(s->h), sizeof(s->h));
		if (s->h.sh_addralign > ALIGN_MAX || s->h.sh_addralign & (s->h.sh_addralign - 1))
			return refuse(o, "section %zu has an alignment that is none", i);
		if (!has_content(&s->h))
			continue;
		if (s->h.sh_offset > size || s->h.sh_size > size - s->h.sh_offset)
			return refuse(o, "section %zu is not in the file", i);
		s->data = data + s->h.sh_offset;
		s->size = s->h.sh_size;
		all += s->size;
		gaps += s->h.sh_addralign;
		if (all > size || gaps > ALIGN_ALL)
			return refuse(o, "sections overlap");
	}
	return true;
}

static bool is_strings(const struct object *o, size_t sec)
{
	const struct section *s = &o->secs[sec];

	return sec && sec < o->num && s->h.sh_type == SHT_STRTAB && s->size && s->size < UINT32_MAX / 2 &&
	       !s->data[0] && !s->data[s->size - 1];
}

static bool read_symbols(struct object *o)
{
	size_t i, num;

	for (i = 1; i < o->num; i++) {
		const Elf64_Shdr *h = &o->secs[i].h;

		if (h->sh_type == SHT_SYMTAB_SHNDX)
			return refuse_foreign(o, "has too many sections");
		if (h->sh_type != SHT_SYMTAB)
			continue;
		if (o->symtab)
			return refuse(o, "has two tables of symbols");
		o->symtab = i;
	}
	/* Without symbols it calls nothing. */
	if (!o->symtab)
		return true;
	o->strtab = o->secs[o->symtab].h.sh_link;
	if (!is_strings(o, o->strtab) || o->secs[o->symtab].h.sh_entsize != sizeof(Elf64_Sym) ||
	    o->secs[o->symtab].size % sizeof(Elf64_Sym))
		return refuse(o, "has no table of symbols that is understood");
	num = symbol_num(o);
	if (!num || o->secs[o->symtab].h.sh_info > num || num > UINT32_MAX / 2)
		return refuse(o, "has no table of symbols that is understood");
	for (i = 0; i < num; i++) {
		Elf64_Sym s = symbol_get(o, i);

		if (s.st_name >= o->secs[o->strtab].size ||
		    (s.st_shndx >= o->num && s.st_shndx < SHN_LORESERVE) || s.st_shndx == SHN_XINDEX ||
		    (i >= o->secs[o->symtab].h.sh_info && ELF64_ST_BIND(s.st_info) == STB_LOCAL))
			return refuse(o, "symbol %zu is not understood", i);
	}
	return true;
}

static bool read_relocs(struct object *o)
{
	size_t i, n, num = o->symtab ? symbol_num(o) : 0;

	for (i = 1; i < o->num; i++) {
		const struct section *s = &o->secs[i];
		/* One that is not there might be, when there are more sections. */
		bool loaded = s->h.sh_info >= o->num || o->secs[s->h.sh_info].h.sh_flags & SHF_ALLOC;

		if ((s->h.sh_type == SHT_REL || s->h.sh_type == CREL) && loaded)
			return refuse(o, "has relocations of a kind that is not understood, in section %zu", i);
		if (s->h.sh_type != SHT_RELA)
			continue;
		if (!o->symtab || s->h.sh_link != o->symtab || s->h.sh_entsize != sizeof(Elf64_Rela) ||
		    s->size % sizeof(Elf64_Rela) || !s->h.sh_info || s->h.sh_info >= o->num)
			return refuse(o, "has relocations that are not understood, in section %zu", i);
		for (n = 0; n < reloc_num(o, i); n++)
			if (ELF64_R_SYM(reloc_get(o, i, n).r_info) >= num)
				return refuse(o, "relocation %zu of section %zu is of no symbol", n, i);
	}
	return true;
}

static bool read_groups(struct object *o)
{
	size_t i, n;

	for (i = 1; i < o->num; i++) {
		const struct section *s = &o->secs[i];

		if (s->h.sh_link >= o->num)
			return refuse(o, "section %zu belongs to one that is not there", i);
		if (s->h.sh_type == SHT_GROUP && (s->size < 4 || s->size % 4 || s->h.sh_link != o->symtab || !o->symtab ||
						  s->h.sh_info >= symbol_num(o)))
			return refuse(o, "group %zu is not understood", i);
		for (n = 4; s->h.sh_type == SHT_GROUP && n < s->size; n += 4) {
			uint32_t nr;

			memcpy(&nr, s->data + n, sizeof(nr));
			if (!nr || nr >= o->num)
				return refuse(o, "group %zu is not understood", i);
		}
	}
	return true;
}

bool object_read(struct object *o, const char *file, const uint8_t *data, size_t size)
{
	size_t i;

	memset(o, 0, sizeof(*o));
	o->file = file;
	if (!read_header(o, data, size) || !read_sections(o, data, size))
		return false;
	o->shstrtab = o->eh.e_shstrndx;
	if (!is_strings(o, o->shstrtab))
		return refuse(o, "has no names of sections");
	for (i = 0; i < o->num; i++)
		if (o->secs[i].h.sh_name >= o->secs[o->shstrtab].size)
			return refuse(o, "section %zu has no name", i);
	return read_symbols(o) && read_relocs(o) && read_groups(o);
}

void object_free(struct object *o)
{
	size_t i;

	for (i = 0; i < o->num; i++)
		free(o->secs[i].own);
	free(o->secs);
	free(o->err);
	memset(o, 0, sizeof(*o));
}

/* --- sections --------------------------------------------------------------------- */

const char *section_name(const struct object *o, size_t sec)
{
	return (const char *)o->secs[o->shstrtab].data + o->secs[sec].h.sh_name;
}

size_t section_find(const struct object *o, const char *name)
{
	size_t i;

	for (i = 1; i < o->num; i++)
		if (!strcmp(section_name(o, i), name))
			return i;
	return 0;
}

static bool make_room(struct object *o, struct section *s, size_t more)
{
	size_t room = s->room ? s->room : s->size;
	uint8_t *own;

	if (more > SIZE_MAX / 4 - s->size)
		return refuse(o, "no memory");
	if (s->own && s->size + more <= s->room)
		return true;
	while (room < s->size + more)
		room = room * 2 + 64;
	own = realloc(s->own, room + 1);
	if (!own)
		return refuse(o, "no memory");
	if (!s->own && s->size)
		memcpy(own, s->data, s->size);
	s->own = own;
	s->data = own;
	s->room = room;
	return true;
}

bool section_append(struct object *o, size_t sec, const void *bytes, size_t num)
{
	struct section *s = &o->secs[sec];

	if (!make_room(o, s, num))
		return false;
	if (num)
		memcpy(s->own + s->size, bytes, num);
	s->size += num;
	s->h.sh_size = s->size;
	return true;
}

uint8_t *section_own(struct object *o, size_t sec)
{
	return make_room(o, &o->secs[sec], 0) ? o->secs[sec].own : NULL;
}

static uint32_t add_string(struct object *o, size_t sec, const char *string)
{
	size_t at = o->secs[sec].size;

	return section_append(o, sec, string, strlen(string) + 1) ? (uint32_t)at : 0;
}

size_t section_add(struct object *o, const char *name, uint32_t type, uint64_t flags, uint64_t align)
{
	/* The last ones are the likely ones. */
	size_t same = o->num - 1;
	uint32_t string;
	struct section *more;

	while (same && strcmp(section_name(o, same), name))
		same--;
	string = same ? o->secs[same].h.sh_name : add_string(o, o->shstrtab, name);

	if (!string)
		return 0;
	if (o->num + 1 >= SHN_LORESERVE) {
		refuse(o, "has too many sections");
		return 0;
	}
	if (o->num == o->room) {
		more = realloc(o->secs, o->room * 2 * sizeof(*more));
		if (!more) {
			refuse(o, "no memory");
			return 0;
		}
		o->secs = more;
		o->room *= 2;
	}
	memset(&o->secs[o->num], 0, sizeof(*o->secs));
	o->secs[o->num].h = (Elf64_Shdr){ .sh_name = string, .sh_type = type, .sh_flags = flags, .sh_addralign = align };
	return o->num++;
}

/* --- symbols and relocations ------------------------------------------------------ */

size_t symbol_num(const struct object *o)
{
	return o->secs[o->symtab].size / sizeof(Elf64_Sym);
}

Elf64_Sym symbol_get(const struct object *o, size_t sym)
{
	Elf64_Sym s;

	memcpy(&s, o->secs[o->symtab].data + sym * sizeof(s), sizeof(s));
	return s;
}

bool symbol_set(struct object *o, size_t sym, Elf64_Sym s)
{
	uint8_t *own = section_own(o, o->symtab);

	if (own)
		memcpy(own + sym * sizeof(s), &s, sizeof(s));
	return own;
}

const char *symbol_name(const struct object *o, size_t sym)
{
	return (const char *)o->secs[o->strtab].data + symbol_get(o, sym).st_name;
}

uint32_t symbol_string(struct object *o, const char *name)
{
	return add_string(o, o->strtab, name);
}

size_t symbol_find(const struct object *o, const char *name)
{
	size_t i;

	for (i = o->secs[o->symtab].h.sh_info; i < symbol_num(o); i++)
		if (!strcmp(symbol_name(o, i), name))
			return i;
	return 0;
}

size_t symbol_add(struct object *o, const char *name, unsigned char info, unsigned char other, uint16_t sec,
		  uint64_t value, uint64_t size)
{
	Elf64_Sym s = { .st_info = info, .st_other = other, .st_shndx = sec, .st_value = value, .st_size = size };

	s.st_name = symbol_string(o, name);
	if (!s.st_name || !section_append(o, o->symtab, &s, sizeof(s)))
		return 0;
	return symbol_num(o) - 1;
}

/*
 * Of a table of relocations, whose entries have a number of a symbol at the same place, of whatever
 * form they are.
 */
static bool renumber_relocs(struct object *o, size_t sec, size_t entry, size_t first, size_t num)
{
	uint8_t *own;
	size_t at;

	if (o->secs[sec].h.sh_entsize != entry || o->secs[sec].size % entry)
		return refuse(o, "has relocations that are not understood, in section %zu", sec);
	own = section_own(o, sec);
	for (at = 0; own && at < o->secs[sec].size; at += entry) {
		Elf64_Rel r;

		memcpy(&r, own + at, sizeof(r));
		if (ELF64_R_SYM(r.r_info) < first)
			continue;
		r.r_info += (Elf64_Xword)num << 32;
		memcpy(own + at, &r, sizeof(r));
	}
	return own;
}

static bool put_uleb(struct object *o, size_t sec, uint64_t v)
{
	uint8_t byte;

	do {
		byte = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		if (!section_append(o, sec, &byte, 1))
			return false;
		v >>= 7;
	} while (v);
	return true;
}

/* Symbols whose addresses are compared: numbers of variable length. */
static bool renumber_addrsig(struct object *o, size_t sec, size_t first, size_t num)
{
	struct section *s = &o->secs[sec], old = *s;
	unsigned int shift = 0;
	uint64_t v = 0;
	bool ok = true;
	size_t at;

	*s = (struct section){ .h = old.h };
	for (at = 0; ok && at < old.size; at++) {
		if (shift > 28) {
			ok = refuse(o, "section %zu is not understood", sec);
			break;
		}
		v |= (uint64_t)(old.data[at] & 0x7f) << shift;
		shift += 7;
		if (old.data[at] & 0x80)
			continue;
		ok = put_uleb(o, sec, v < first ? v : v + num);
		v = 0;
		shift = 0;
	}
	if (ok && shift)
		ok = refuse(o, "section %zu is not understood", sec);
	free(old.own);
	return ok;
}

static bool renumber(struct object *o, size_t sec, size_t first, size_t num)
{
	Elf64_Shdr *h = &o->secs[sec].h;

	if (h->sh_link != o->symtab)
		return true;
	switch (h->sh_type) {
	case SHT_RELA:
		return renumber_relocs(o, sec, sizeof(Elf64_Rela), first, num);
	case SHT_REL:
		return renumber_relocs(o, sec, sizeof(Elf64_Rel), first, num);
	case SHT_GROUP:
		h->sh_info += h->sh_info < first ? 0 : (uint32_t)num;
		return true;
	case LLVM_ADDRSIG:
		return renumber_addrsig(o, sec, first, num);
	case LLVM_CALL_GRAPH:
		return true;
	default:
		return refuse(o, "section %zu has symbols in a form that is not understood", sec);
	}
}

size_t symbols_insert(struct object *o, size_t num)
{
	size_t first = o->secs[o->symtab].h.sh_info, size = sizeof(Elf64_Sym), i;
	static const Elf64_Sym none;
	uint8_t *own;

	for (i = 1; i < o->num; i++)
		if (!renumber(o, i, first, num))
			return 0;
	for (i = 0; i < num; i++)
		if (!section_append(o, o->symtab, &none, size))
			return 0;
	own = section_own(o, o->symtab);
	if (!own)
		return 0;
	memmove(own + (first + num) * size, own + first * size, (symbol_num(o) - num - first) * size);
	memset(own + first * size, 0, num * size);
	o->secs[o->symtab].h.sh_info = (uint32_t)(first + num);
	return first;
}

size_t reloc_num(const struct object *o, size_t rela)
{
	return o->secs[rela].size / sizeof(Elf64_Rela);
}

Elf64_Rela reloc_get(const struct object *o, size_t rela, size_t i)
{
	Elf64_Rela r;

	memcpy(&r, o->secs[rela].data + i * sizeof(r), sizeof(r));
	return r;
}

/* --- writing ---------------------------------------------------------------------- */

static size_t aligned(size_t at, size_t to)
{
	return to > 1 ? (at + to - 1) & ~(to - 1) : at;
}

uint8_t *object_write(const struct object *o, size_t *size)
{
	size_t at = sizeof(o->eh), table, i;
	Elf64_Ehdr eh = o->eh;
	uint8_t *data;

	for (i = 0; i < o->num; i++)
		if (has_content(&o->secs[i].h))
			at = aligned(at, o->secs[i].h.sh_addralign) + o->secs[i].size;
	table = aligned(at, 8);
	*size = table + o->num * sizeof(Elf64_Shdr);
	data = calloc(1, *size);
	if (!data)
		return NULL;
	eh.e_shoff = table;
	eh.e_shnum = (uint16_t)o->num;
	memcpy(data, &eh, sizeof(eh));
	at = sizeof(eh);
	for (i = 0; i < o->num; i++) {
		const struct section *s = &o->secs[i];
		Elf64_Shdr h = s->h;

		if (has_content(&h)) {
			at = aligned(at, h.sh_addralign);
			h.sh_offset = at;
			h.sh_size = s->size;
			if (s->size)
				memcpy(data + at, s->data, s->size);
			at += s->size;
		} else if (h.sh_type == SHT_NOBITS) {
			h.sh_offset = at;
		}
		memcpy(data + table + i * sizeof(h), &h, sizeof(h));
	}
	return data;
}
