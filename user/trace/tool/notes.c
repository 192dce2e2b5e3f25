// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes of an ELF file: events of JF_TRACE_EVENT(), USDT notes, functions.
 *
 * An event is a static structure, __jf_event_NAME, so it is in the table of symbols, which strip
 * removes. The names in it are pointers: in a file that is loaded anywhere these are 0, and a
 * relocation's addend says where they lead.
 */
#include "tool.h"
#include "elf.h"
#include "../demangle.h"
#include "../glob.h"
#include "../kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/trace_event.h>

#define EVENT_PREFIX	"__jf_event_"
#define NAME_MAX_	256
/* Of a function: its description by a process has to fit into a message (control.h). */
#define FUNCTION_MAX	3840
/* A file that has more was made to waste time, or, by many symbols of one long name, memory. */
#define FOUND_MAX	(4u << 20)
#define BYTES_MAX	(256u << 20)

static char *copy(const char *text)
{
	char *p = malloc(strlen(text) + 1);

	if (p)
		memcpy(p, text, strlen(text) + 1);
	return p;
}

static int add(struct found_list *list, const char *kind, const char *group, const char *name, const char *detail)
{
	struct found f;

	list->bytes += strlen(group) + strlen(name) + strlen(detail);
	if (list->bytes > BYTES_MAX)
		return -ENOMEM;
	f = (struct found){ kind, copy(group), copy(name), copy(detail), 1 };
	if (list->num == list->room && list->num < FOUND_MAX) {
		size_t room = list->room ? list->room * 2 : 256;
		struct found *more = realloc(list->found, room * sizeof(*more));

		if (more) {
			list->found = more;
			list->room = room;
		}
	}
	if (!f.group || !f.name || !f.detail || list->num == list->room) {
		free(f.group);
		free(f.name);
		free(f.detail);
		return -ENOMEM;
	}
	list->found[list->num++] = f;
	return 0;
}

int found_function(struct found_list *list, const char *group, const char *name)
{
	return add(list, "function", group, name, "");
}

void found_free(struct found_list *list)
{
	size_t i;

	for (i = 0; i < list->num; i++) {
		free(list->found[i].group);
		free(list->found[i].name);
		free(list->found[i].detail);
	}
	free(list->found);
	memset(list, 0, sizeof(*list));
}

static int by_name(const void *x, const void *y)
{
	const struct found *a = (const struct found *)x, *b = (const struct found *)y;
	int order = strcmp(a->kind, b->kind);

	if (!order)
		order = strcmp(a->group, b->group);
	return order ? order : strcmp(a->name, b->name);
}

void found_sort(struct found_list *list)
{
	size_t i, n = 0;

	if (list->num)
		qsort(list->found, list->num, sizeof(*list->found), by_name);
	for (i = 0; i < list->num; i++) {
		if (n && !by_name(&list->found[n - 1], &list->found[i])) {
			list->found[n - 1].places += list->found[i].places;
			free(list->found[i].group);
			free(list->found[i].name);
			free(list->found[i].detail);
		} else {
			list->found[n++] = list->found[i];
		}
	}
	list->num = n;
}

size_t glob_length(const char *glob)
{
	return (size_t)(jf_pattern_types(glob) - glob);
}

static enum jf_kind kind_of(const char *kind)
{
	return !strcmp(kind, "event") ? JF_KIND_EVENT : !strcmp(kind, "function") ? JF_KIND_FUNCTION :
	       !strcmp(kind, "call") ? JF_KIND_CALL : JF_KIND_NOTE;
}

/* A pattern of calls fits functions, as files have these and no calls. */
static bool kind_fits(enum jf_kind of, const char *kind)
{
	return of == JF_KIND_ANY || !kind || of == kind_of(kind) || ((of == JF_KIND_CALL || of == JF_KIND_TIME) && kind_of(kind) == JF_KIND_FUNCTION);
}

bool glob_matches(const char *text, const char *kind, const char *group, const char *name)
{
	enum jf_kind of = jf_kind_of(&text);
	size_t len = glob_length(text);
	char glob[NAME_MAX_];

	if (len >= sizeof(glob) || !kind_fits(of, kind))
		return false;
	memcpy(glob, text, len);
	glob[len] = 0;
	if (jf_glob_matches_probe(glob, group, name))
		return true;
	return (!kind || kind_of(kind) == JF_KIND_FUNCTION) && (of == JF_KIND_ANY || of == JF_KIND_FUNCTION || of == JF_KIND_CALL) &&
	       jf_demangled_fits(demangler(), glob, group, name);
}

/* --- USDT notes ------------------------------------------------------------------------- */

/* A string that ends before @end, and where the next one begins. */
static const char *next_string(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

/* Three addresses of 8 bytes, then provider, name and operands. */
static int add_note(struct found_list *list, const char *desc, uint64_t size)
{
	const char *at = desc + 24, *end = desc + size, *group, *name, *args;
	char detail[160];
	uint64_t where, semaphore;

	if (size < 24)
		return 0;
	memcpy(&where, desc, 8);
	memcpy(&semaphore, desc + 16, 8);
	group = next_string(&at, end);
	name = group ? next_string(&at, end) : NULL;
	args = name ? next_string(&at, end) : NULL;
	if (!args || !*group || !*name)
		return 0;
	snprintf(detail, sizeof(detail), "at 0x%llx%s%s%.100s", (unsigned long long)where,
		 semaphore ? ", semaphore" : "", *args ? ", arguments " : "", args);
	return add(list, "note", group, name, detail);
}

/*
 * A note: sizes of name and descriptor, type, name, descriptor, the latter two filled up to 4
 * bytes.
 */
static int add_notes(struct found_list *list, const char *data, uint64_t size)
{
	uint64_t at = 0, name, desc;
	uint32_t head[3];
	int err = 0;

	while (!err && size - at >= sizeof(head)) {
		memcpy(head, data + at, sizeof(head));
		at += sizeof(head);
		name = ((uint64_t)head[0] + 3) & ~UINT64_C(3);
		desc = ((uint64_t)head[1] + 3) & ~UINT64_C(3);
		if (name > size - at || head[1] > size - at - name)
			break;
		if (head[2] == 3 && head[0] == sizeof("stapsdt") && !memcmp(data + at, "stapsdt", sizeof("stapsdt")))
			err = add_note(list, data + at + name, head[1]);
		at += name;
		at += desc < size - at ? desc : size - at;
	}
	return err;
}

/* --- events --------------------------------------------------------------------------- */

/**
 * struct pointer - a pointer of the file
 * @at: its address
 * @to: where it leads
 */
struct pointer {
	uint64_t	at;
	uint64_t	to;
};

/**
 * struct pointers - two for each event: system, name
 * @pointer: they
 * @num:     how many
 * @room:    for how many
 */
struct pointers {
	struct pointer	*pointer;
	size_t		num;
	size_t		room;
};

static int add_pointers(struct pointers *p, uint64_t event)
{
	if (p->num == p->room) {
		size_t room = p->room ? p->room * 2 : 64;
		struct pointer *more = room > FOUND_MAX ? NULL : realloc(p->pointer, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->pointer = more;
		p->room = room;
	}
	p->pointer[p->num++] = (struct pointer){ event + offsetof(struct jf_event, system), 0 };
	p->pointer[p->num++] = (struct pointer){ event + offsetof(struct jf_event, name), 0 };
	return 0;
}

static int by_address(const void *x, const void *y)
{
	const struct pointer *a = (const struct pointer *)x, *b = (const struct pointer *)y;

	return a->at < b->at ? -1 : a->at > b->at;
}

static void apply_relocations(struct pointers *p, const char *data, uint64_t size)
{
	struct pointer key, *found;
	Elf64_Rela r;
	uint64_t at;

	for (at = 0; size - at >= sizeof(r); at += sizeof(r)) {
		memcpy(&r, data + at, sizeof(r));
		/* A pointer into this file has no symbol. */
		if (ELF64_R_SYM(r.r_info))
			continue;
		key.at = r.r_offset;
		found = bsearch(&key, p->pointer, p->num, sizeof(key), by_address);
		if (found)
			found->to = (uint64_t)r.r_addend;
	}
}

static int add_events(struct found_list *list, struct elf *e, struct pointers *p)
{
	char group[NAME_MAX_], name[NAME_MAX_], *data;
	uint64_t size;
	size_t i;
	int err = 0;

	if (!p->num)
		return 0;
	/*
	 * They stay in pairs: events do not overlap, or the file is damaged, and so are the names.
	 */
	qsort(p->pointer, p->num, sizeof(*p->pointer), by_address);
	for (i = 0; i < p->num; i++)
		if (!elf_at(e, p->pointer[i].at, &p->pointer[i].to, 8))
			p->pointer[i].to = 0;
	for (i = 0; i < e->num; i++) {
		if (e->sh[i].sh_type != SHT_RELA || elf_section(e, i, &data, &size))
			continue;
		apply_relocations(p, data, size);
		free(data);
	}
	for (i = 0; i + 1 < p->num && !err; i += 2)
		if (elf_string_at(e, p->pointer[i].to, group, sizeof(group)) && *group &&
		    elf_string_at(e, p->pointer[i + 1].to, name, sizeof(name)) && *name)
			err = add(list, "event", group, name, "");
	return err;
}

/* --- symbols -------------------------------------------------------------------------- */

/* Also one of a program from before events had filters. */
static bool is_event_size(uint64_t size)
{
	return size == sizeof(struct jf_event) || size == offsetof(struct jf_event, chooser);
}

static int add_symbols(struct found_list *list, struct pointers *p, struct elf *e, size_t nr, const char *group)
{
	char *data = NULL, *strings = NULL;
	uint64_t size, strings_size = 0, at;
	const char *name;
	Elf64_Sym s;
	int err;

	err = elf_section(e, nr, &data, &size);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (e->sh[nr].sh_link < e->num)
		err = elf_section(e, e->sh[nr].sh_link, &strings, &strings_size);
	for (at = 0; !err && size - at >= sizeof(s); at += sizeof(s)) {
		memcpy(&s, data + at, sizeof(s));
		name = elf_string(strings, strings_size, s.st_name);
		if (s.st_shndx == SHN_UNDEF || !*name || strlen(name) >= FUNCTION_MAX)
			continue;
		if (ELF64_ST_TYPE(s.st_info) == STT_OBJECT && is_event_size(s.st_size) &&
		    !strncmp(name, EVENT_PREFIX, strlen(EVENT_PREFIX)))
			err = add_pointers(p, s.st_value);
		else if (ELF64_ST_TYPE(s.st_info) == STT_FUNC || ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC)
			err = add(list, "function", group, name, ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC ?
				  "another function chooses it as the program starts" : "");
	}
	free(strings);
	free(data);
	return err == -ENOMEM ? err : 0;
}

int found_in(struct found_list *list, struct elf *e, const char *group)
{
	struct pointers p = { NULL, 0, 0 };
	bool table = false;
	uint64_t size;
	char *data;
	size_t i;
	int err = 0;

	for (i = 0; i < e->num; i++)
		table |= e->sh[i].sh_type == SHT_SYMTAB;
	for (i = 0; i < e->num && !err; i++) {
		/* The symbols of dynamic linkers are in the full table, too, if that is there. */
		if (e->sh[i].sh_type == (table ? SHT_SYMTAB : SHT_DYNSYM)) {
			err = add_symbols(list, &p, e, i, group);
		} else if (e->sh[i].sh_type == SHT_NOTE && !strcmp(elf_section_name(e, i), ".note.stapsdt") &&
			   !elf_section(e, i, &data, &size)) {
			err = add_notes(list, data, size);
			free(data);
		}
	}
	if (!err)
		err = add_events(list, e, &p);
	free(p.pointer);
	return err;
}
