// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Loaded objects: the program and its shared objects, and the contents of their files about
 * functions and notes.
 *
 * Objects are looked at while the dynamic linker's list is held (dl_iterate_phdr()), so that none
 * is unmapped meanwhile. One that is not there any more took its text with it: its probes are
 * forgotten. So are those of one that has become another of the same name and place, as a plugin
 * does that is compiled and loaded again.
 *
 * A file may be another one by now than that which was mapped: its headers and notes, the build id
 * among them, are compared with those in memory, and each place's bytes before they are changed.
 */
#include "agent.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include <jumpfunc/detail/ring_user.h>
#include <jumpfunc/detail/types.h>

static struct jf_module *modules;
/* The last part of the name that execve() was given, or NULL. */
static char *executed;
/* The same, each found by its place: a walk asks for all. */
#define PARTS	4096
static struct jf_module *by_base[PARTS];
static unsigned int walks;
static unsigned long long adds, subs;

/* --- names --------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The target of the link @name in /proc, or NULL. */
static char *link_of(const char *name)
{
	char path[4096];
	ssize_t n = readlink(name, path, sizeof(path) - 1);

	if (n <= 0)
		return NULL;
	path[n] = 0;
	return strdup(path);
}

static char *path_of(const char *name)
{
	char *path = *name ? NULL : link_of("/proc/self/exe");

	return path ? path : strdup(*name ? name : "/proc/self/exe");
}

/* Without memory it has one name. */
static void set_alias(struct jf_module *m, const char *name)
{
	if (name && *name && !m->alias && strcmp(name, m->name))
		m->alias = strdup(name);
}

/*
 * The file's own name. The path of a shared object is often that of a symbolic link; some files
 * have no name any more.
 */
static void name_file(struct jf_module *m, int fd)
{
	static const char deleted[] = " (deleted)";
	size_t len, end = sizeof(deleted) - 1;
	char name[32], *path;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	path = link_of(name);
	len = path ? strlen(path) : 0;
	if (len > end && !strcmp(path + len - end, deleted))
		path[len - end] = 0;
	if (path)
		set_alias(m, last_part(path));
	free(path);
}

/**
 * jf_modules_begin() - keep the name by which the program was executed
 */
void jf_modules_begin(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);

	executed = name ? strdup(last_part(name)) : NULL;
}

/* Of the program's libstdc++, if it has one. */
static jf_cxa_fn *demangler;

/**
 * jf_module_matches() - does a glob match a function of an object
 * @m:    the object
 * @glob: the glob, as of __jf_glob_matches()
 * @name: of the function
 */
bool jf_module_matches(const struct jf_module *m, const char *glob, const char *name)
{
	if (__jf_glob_matches(glob, m->name, name) || (m->alias && __jf_glob_matches(glob, m->alias, name)))
		return true;
	return jf_demangled_fits(demangler, glob, m->name, name) ||
	       (m->alias && jf_demangled_fits(demangler, glob, m->alias, name));
}

static int is_demangler(const struct jf_symbol *symbol, void *arg)
{
	if (strcmp(symbol->name, "__cxa_demangle"))
		return 0;
	demangler = (jf_cxa_fn *)(*(const uintptr_t *)arg + symbol->value);
	return 1;
}

/**
 * jf_module_demangler() - find __cxa_demangle(), for jf_module_matches()
 * @m: an object, which may have it
 *
 * libstdc++ is never unloaded: it has unique symbols. The function calls malloc()'s family alone.
 *
 * Return: 0: the walk goes on
 */
int jf_module_demangler(struct jf_module *m, void *unused)
{
	struct jf_elf elf;

	(void)unused;
	if (demangler || strncmp(m->name, "libstdc++.so.6", 14) || !jf_module_open(m, &elf))
		return 0;
	jf_elf_functions(&elf, is_demangler, &m->base);
	jf_module_close(m, &elf);
	return 0;
}

/* --- files --------------------------------------------------------------------------- */

static int map_file(int fd, struct jf_elf *elf)
{
	struct stat st;
	int err = 0;
	void *p;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		err = -ENOEXEC;
	p = err ? NULL : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		err = -errno;
	if (err)
		return err;
	elf->data = (const uint8_t *)p;
	elf->size = (size_t)st.st_size;
	return 0;
}

static void unmap_file(struct jf_elf *elf)
{
	munmap((void *)(uintptr_t)elf->data, elf->size);
}

/*
 * The segment that has the program headers, which are read anyway, at the begin of the file; NULL:
 * there is none.
 */
static const ElfW(Phdr) *headers_of(const ElfW(Phdr) *p, unsigned int num, uintptr_t base)
{
	uintptr_t at = (uintptr_t)p - base;
	unsigned int i;

	for (i = 0; i < num; i++)
		if (p[i].p_type == PT_LOAD && !(p[i].p_flags & PF_W) && !p[i].p_offset && at - p[i].p_vaddr < p[i].p_filesz)
			return &p[i];
	return NULL;
}

/* True if it is a note, of which one is made of the whole file, and in that segment. */
static bool is_note(const ElfW(Phdr) *p, const ElfW(Phdr) *in)
{
	return p->p_type == PT_NOTE && p->p_vaddr >= in->p_vaddr && p->p_vaddr - in->p_vaddr <= in->p_filesz &&
	       p->p_filesz <= in->p_filesz - (p->p_vaddr - in->p_vaddr);
}

static bool has(const struct jf_elf *elf, uint64_t offset, uintptr_t at, size_t num)
{
	return offset <= elf->size && num <= elf->size - offset && !memcmp(elf->data + offset, (const void *)at, num);
}

/* True if it is the mapped file. */
static bool is_same(const struct jf_elf *elf, const struct jf_module *m)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr, *in = headers_of(p, m->phnum, m->base);
	ElfW(Ehdr) h;
	unsigned int i;

	memcpy(&h, elf->data, sizeof(h));
	if (h.e_phnum != m->phnum || h.e_phentsize != sizeof(*p) ||
	    !has(elf, h.e_phoff, (uintptr_t)p, m->phnum * sizeof(*p)))
		return false;
	if (in && !has(elf, 0, m->base + in->p_vaddr, sizeof(h)))
		return false;
	for (i = 0; in && i < m->phnum; i++)
		if (is_note(&p[i], in) && !has(elf, p[i].p_offset, m->base + p[i].p_vaddr, p[i].p_filesz))
			return false;
	return true;
}

static int open_path(struct jf_module *m, const char *path, struct jf_elf *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0)
		return -errno;
	err = map_file(fd, elf);
	if (!err && (jf_elf_check(elf) || !is_same(elf, m))) {
		unmap_file(elf);
		err = -ENOEXEC;
	}
	if (!err)
		name_file(m, fd);
	close(fd);
	return err;
}

/**
 * struct mapping - a line of /proc/self/maps
 * @range: its addresses
 * @path:  of its file, as this process sees it
 */
struct mapping {
	char	range[40];
	char	path[4096];
};

/* "start-end rwxp offset device inode   path" */
static bool read_mapping(const char *line, uintptr_t at, struct mapping *to)
{
	const char *path = strchr(line, '/');
	unsigned long start, end;
	int len = 0;

	if (!path || sscanf(line, "%lx-%lx%n", &start, &end, &len) != 2 || at < start || at >= end ||
	    (size_t)len >= sizeof(to->range) || strlen(path) >= sizeof(to->path))
		return false;
	snprintf(to->range, sizeof(to->range), "%.*s", len, line);
	snprintf(to->path, sizeof(to->path), "%s", path);
	return true;
}

/*
 * The mapping at @at. Lines can be of any length; one that has no room is none of a file that
 * can be opened by its name.
 */
static bool find_mapping(uintptr_t at, struct mapping *to)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char buf[sizeof(to->path) + 256], *end;
	bool found = false;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	do {
		n = read(fd, buf + have, sizeof(buf) - 1 - have);
		have += n > 0 ? (size_t)n : 0;
		buf[have] = 0;
		while (!found && (end = strchr(buf, '\n'))) {
			*end = 0;
			found = read_mapping(buf, at, to);
			have -= (size_t)(end + 1 - buf);
			memmove(buf, end + 1, have + 1);
		}
	} while (!found && n > 0 && have < sizeof(buf) - 1);
	close(fd);
	return found;
}

/*
 * A name can lead nowhere, or to another file: it is relative and the program has another folder by
 * now, or the file was removed, or never had a name (memfd_create()). The kernel knows the file
 * that it has mapped. It lets root open that, and others by the file's present name.
 */
static int open_mapped(struct jf_module *m, struct jf_elf *elf)
{
	struct mapping found;
	char path[80];
	int err;

	if (!find_mapping(m->start, &found))
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/map_files/%s", found.range);
	err = open_path(m, path, elf);
	return err ? open_path(m, found.path, elf) : 0;
}

static int open_module(struct jf_module *m, struct jf_elf *elf)
{
	int err = open_path(m, m->path, elf);

	if (err && !open_mapped(m, elf))
		err = 0;
	m->unread = err;
	if (!err)
		m->file = elf;
	return err;
}

static void close_module(struct jf_module *m, struct jf_elf *elf)
{
	m->file = NULL;
	unmap_file(elf);
}

/**
 * jf_module_open() - have an object's file open, unless it is
 * @m:   the object
 * @elf: is filled in, for jf_module_close()
 *
 * Return: false if it cannot be, or is another one
 */
bool jf_module_open(struct jf_module *m, struct jf_elf *elf)
{
	elf->data = NULL;
	return m->file || !open_module(m, elf);
}

/**
 * jf_module_close() - as it was before jf_module_open()
 * @m:   the object
 * @elf: as there
 */
void jf_module_close(struct jf_module *m, struct jf_elf *elf)
{
	if (elf->data)
		close_module(m, elf);
}

/**
 * jf_module_in_file() - the bytes of the open file for text or data
 * @m:   the object
 * @at:  where it is in memory
 * @num: bytes
 *
 * Return: NULL if there are not so many
 */
const uint8_t *jf_module_in_file(const struct jf_module *m, uintptr_t at, size_t num)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr;
	unsigned int i;

	for (i = 0; i < m->phnum; i++) {
		uint64_t offset = at - (m->base + p[i].p_vaddr);

		if (p[i].p_type == PT_LOAD && at >= m->base + p[i].p_vaddr && offset <= p[i].p_filesz &&
		    num <= p[i].p_filesz - offset && p[i].p_offset <= m->file->size &&
		    offset <= m->file->size - p[i].p_offset &&
		    num <= m->file->size - p[i].p_offset - offset)
			return m->file->data + p[i].p_offset + offset;
	}
	return NULL;
}

/* Bytes of text from @at on; 0: it is none, or it may be written to. */
static size_t text_from(const struct jf_module *m, uintptr_t at)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr;
	unsigned int i;

	for (i = 0; i < m->phnum; i++) {
		uintptr_t start = m->base + p[i].p_vaddr, end = start + p[i].p_filesz;

		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X && !(p[i].p_flags & PF_W) &&
		    at >= start && at < end)
			return end - at;
	}
	return 0;
}

/* Where a semaphore is, if it can be one. */
static uint16_t *data_at(const struct jf_module *m, uintptr_t at)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr;
	unsigned int i;

	for (i = 0; i < m->phnum; i++) {
		uintptr_t start = m->base + p[i].p_vaddr, end = start + p[i].p_memsz;

		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_W && at >= start && at + 2 <= end)
			return (uint16_t *)at;
	}
	return NULL;
}

/* --- modules ------------------------------------------------------------------------- */

/* The agent, and its parts. */
static bool is_own(const struct jf_module *m)
{
	const uintptr_t own[] = {
		(uintptr_t)jf_agent_enter, (uintptr_t)__jf_text_change, (uintptr_t)__jf_writer_next,
		(uintptr_t)ZydisDecoderInit, (uintptr_t)getauxval(AT_SYSINFO_EHDR),
	};
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] >= m->start && own[i] < m->end)
			return true;
	return false;
}

/*
 * Sites of libjumpfunc, from the tables in the file. __jf_text_change() knows those that are of the
 * same libjumpfunc as the agent, but not those of a static one that an object brings: that changes
 * them by itself.
 */

static int by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/* lib/call.c */
uintptr_t jf_call_find(uintptr_t from, uintptr_t to, uintptr_t start, uintptr_t end);

/*
 * The call of @to. The record says that the search begins at @at. In the file, since in memory the
 * call may lead to another target by now. 0: it is not found.
 */
static uintptr_t call_from(const struct jf_module *m, uintptr_t at, uintptr_t to)
{
	size_t num = text_from(m, at);
	uintptr_t from = num ? (uintptr_t)jf_module_in_file(m, at, num) : 0, found = 0;

	if (from)
		found = jf_call_find(from, from + (to - at), from, from + num);
	return found ? found - from + at : 0;
}

static int add_sites(struct jf_module *m, const struct jf_section *s)
{
	size_t num = s->data ? s->size / sizeof(struct jf_site_rec) : 0, i;
	uintptr_t *more = num ? realloc(m->sites, (m->nr_sites + num) * sizeof(*more)) : NULL;
	struct jf_site_rec rec;

	if (!num)
		return 0;
	if (!more)
		return -ENOMEM;
	m->sites = more;
	for (i = 0; i < num; i++) {
		uintptr_t from = m->base + s->addr + i * sizeof(rec), at;

		memcpy(&rec, s->data + i * sizeof(rec), sizeof(rec));
		at = from + offsetof(struct jf_site_rec, addr) + (uintptr_t)(intptr_t)rec.addr;
		if (rec.flags & JF_SITE_CALL)
			at = call_from(m, at, from + offsetof(struct jf_site_rec, label) +
				       (uintptr_t)(intptr_t)rec.label);
		if (at)
			more[m->nr_sites++] = at;
	}
	return 0;
}

/*
 * A function of libjumpfunc that each object with tables calls, and that it has if it has the
 * library.
 */
static int is_library(const struct jf_symbol *symbol, void *arg)
{
	(void)arg;
	return !strcmp(symbol->name, "__jf_object_register");
}

static int look_at(struct jf_module *m, const struct jf_elf *elf)
{
	static const char *const tables[] = { "__jf_sites", "__jf_sites_on", "__jf_sites_now" };
	size_t i;
	int err;

	if (m->looked)
		return 0;
	m->nr_sites = 0;
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct jf_section s = jf_elf_section(elf, tables[i]);

		err = add_sites(m, &s);
		if (err)
			return err;
	}
	if (m->nr_sites)
		qsort(m->sites, m->nr_sites, sizeof(*m->sites), by_address);
	/*
	 * Else it need not be known until its functions are asked for: files may have very many
	 * symbols.
	 */
	if (m->nr_sites)
		m->copy = jf_elf_functions(elf, is_library, NULL);
	m->looked = true;
	return 0;
}

/**
 * jf_module_refuses() - may there be a probe
 * @m:        the object
 * @function: it would be a function's entry
 * @at:       where
 *
 * In an object that has a libjumpfunc in it, no function can be a probe: that of its SIGTRAP
 * handler cannot, where a breakpoint would be the end, and nothing says which these are.
 *
 * Return: NULL, or why not
 */
const char *jf_module_refuses(const struct jf_module *m, bool function, uintptr_t at)
{
	size_t i = jf_first_from(m->sites, m->nr_sites, at - (JF_TEXT_MAX - 1));

	if (m->copy && function)
		return "its object has a libjumpfunc of its own";
	return i < m->nr_sites && m->sites[i] < at + JF_TEXT_MAX ? "a site of libjumpfunc is there" : NULL;
}

static void free_module(struct jf_module *m)
{
	struct jf_agent_probe *p;

	while ((p = m->probes)) {
		m->probes = p->next;
		jf_probe_forget(p);
	}
	free(m->path);
	free(m->alias);
	free(m->sites);
	free(m->led_to);
	free(m->names);
	free(m);
}

void jf_module_add(struct jf_module *m, struct jf_agent_probe *p)
{
	struct jf_point *t = p->point;
	size_t num = t->avail < JF_TEXT_MAX ? t->avail : JF_TEXT_MAX;
	const uint8_t *text = t->nr_text ? NULL : jf_module_in_file(m, t->at, num);

	if (text) {
		memcpy(t->text, text, num);
		t->nr_text = (uint8_t)num;
	}
	p->next = m->probes;
	m->probes = p;
}

struct notes {
	struct jf_module	*m;
	int			err;
};

/*
 * Newer notes have an instruction of 5 or 10 bytes that does nothing after that of one byte. It is
 * long enough for a jump, and then a uprobe at the note itself does not matter. Those that know of
 * it have theirs there, too.
 */
static bool has_long_nop(const struct jf_module *m, uintptr_t at)
{
	static const uint8_t five[] = { 0x90, 0x0f, 0x1f, 0x44, 0, 0 };
	static const uint8_t ten[] = { 0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 };
	const uint8_t *p = jf_module_in_file(m, at, sizeof(five)), *q = jf_module_in_file(m, at, sizeof(ten));

	return (p && !memcmp(p, five, sizeof(five))) || (q && !memcmp(q, ten, sizeof(ten)));
}

static int add_note(const struct jf_note *note, void *arg)
{
	struct notes *n = (struct notes *)arg;
	struct jf_module *m = n->m;
	uintptr_t at = m->base + note->pc;
	size_t avail = text_from(m, at);
	struct jf_agent_probe *p;

	/*
	 * Those of libjumpfunc's own tracepoints: beside each is text that the library changes
	 * itself, and JF_TRACE_EVENT() records them without us.
	 */
	if (!strcmp(note->provider, "jumpfunc"))
		return 0;
	if (!avail)
		return 0;
	if (has_long_nop(m, at)) {
		at++;
		avail--;
	}
	p = jf_probe_new(m, note->provider, note->name, at, avail);
	if (!p)
		return n->err = -ENOMEM;
	jf_probe_note(p, note->args, note->semaphore ? data_at(m, m->base + note->semaphore) : NULL);
	jf_module_add(m, p);
	return 0;
}

static void find_notes(struct jf_module *m)
{
	struct jf_section notes, base;
	struct notes n = { m, 0 };
	struct jf_elf elf;

	if (open_module(m, &elf))
		return;
	if (look_at(m, &elf)) {
		close_module(m, &elf);
		return;
	}
	notes = jf_elf_section(&elf, ".note.stapsdt");
	base = jf_elf_section(&elf, ".stapsdt.base");
	if (notes.data)
		jf_notes(&notes, base.addr, add_note, &n);
	close_module(m, &elf);
}

static uint64_t hash_more(uint64_t hash, const void *data, size_t num)
{
	const uint8_t *bytes = (const uint8_t *)data;
	size_t i;

	/* FNV-1a */
	for (i = 0; i < num; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/*
 * Of what tells an object from another one of the same name and place: the same that is_same()
 * compares.
 */
static uint64_t identity(const struct dl_phdr_info *info)
{
	const ElfW(Phdr) *p = info->dlpi_phdr, *in = headers_of(p, info->dlpi_phnum, info->dlpi_addr);
	uint64_t hash = hash_more(UINT64_C(14695981039346656037), p, info->dlpi_phnum * sizeof(*p));
	unsigned int i;

	if (in)
		hash = hash_more(hash, (const void *)(info->dlpi_addr + in->p_vaddr), sizeof(ElfW(Ehdr)));
	for (i = 0; in && i < info->dlpi_phnum; i++)
		if (is_note(&p[i], in))
			hash = hash_more(hash, (const void *)(info->dlpi_addr + p[i].p_vaddr), p[i].p_filesz);
	return hash;
}

static struct jf_module *new_module(const struct dl_phdr_info *info)
{
	struct jf_module *m = calloc(1, sizeof(*m));
	unsigned int i;

	if (!m)
		return NULL;
	m->path = path_of(info->dlpi_name);
	if (!m->path) {
		free(m);
		return NULL;
	}
	m->name = last_part(m->path);
	if (!*info->dlpi_name)
		set_alias(m, executed);
	m->base = info->dlpi_addr;
	m->phdr = info->dlpi_phdr;
	m->phnum = info->dlpi_phnum;
	m->identity = identity(info);
	m->start = UINTPTR_MAX;
	for (i = 0; i < m->phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (m->base + p->p_vaddr < m->start)
			m->start = m->base + p->p_vaddr;
		if (m->base + p->p_vaddr + p->p_memsz > m->end)
			m->end = m->base + p->p_vaddr + p->p_memsz;
	}
	return m;
}

/* True if one of its probes stands there, as the agent alone would have written it. */
static bool is_written(const struct jf_module *m)
{
	const struct jf_agent_probe *p = m->probes;

	while (p && !(p->point->led && jf_point_stands(p->point) && jf_point_is_ours(p->point)))
		p = p->next;
	return p;
}

/*
 * True if all text of the agent was taken away. Another patcher may have done so to
 * some.
 */
static bool is_replaced(const struct jf_module *m)
{
	const struct jf_agent_probe *p = m->probes;

	while (p && !(p->point->led && !jf_point_stands(p->point)))
		p = p->next;
	return p && !is_written(m);
}

static struct jf_module **part_of(uintptr_t base)
{
	return &by_base[(uint64_t)base * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PARTS - 1)];
}

static void add_module(struct jf_module *m)
{
	struct jf_module **part = part_of(m->base);

	m->next = modules;
	modules = m;
	m->beside = *part;
	*part = m;
}

/* @m is what @p leads to in the list of all. */
static void remove_module(struct jf_module **p, struct jf_module *m)
{
	struct jf_module **part = part_of(m->base);

	*p = m->next;
	while (*part != m)
		part = &(*part)->beside;
	*part = m->beside;
}

static struct jf_module *known(const struct dl_phdr_info *info)
{
	struct jf_module *m;

	for (m = *part_of(info->dlpi_addr); m; m = m->beside)
		if (m->seen != walks && m->base == info->dlpi_addr && m->phdr == (const void *)info->dlpi_phdr &&
		    m->phnum == info->dlpi_phnum && (!*info->dlpi_name || !strcmp(m->path, info->dlpi_name)))
			return m;
	return NULL;
}

static int mark(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct jf_module *m = known(info);
	bool same = m && m->identity == identity(info);
	struct jf_agent_probe *p;

	(void)size, (void)arg;
	/*
	 * A program may write over headers. Where there is another of the same name and place, it
	 * is left to be forgotten.
	 */
	if (m && (same ? !is_replaced(m) : is_written(m)))
		m->seen = walks;
	else
		for (p = same ? m->probes : NULL; p; p = p->next)
			jf_point_keep(p->point);
	return 0;
}

/* Another patcher may have left breakpoints of ours, which threads meet. */
static bool any_kept(const struct jf_module *m)
{
	const struct jf_agent_probe *p = m->probes;

	while (p && !p->point->kept)
		p = p->next;
	return p;
}

/*
 * Before a new one is looked at: it may be where one was that has gone, and that one's probes and
 * breakpoints with it.
 */
static void forget_gone(void)
{
	struct jf_module **p, *m;

	walks++;
	dl_iterate_phdr(mark, NULL);
	for (p = &modules; (m = *p);) {
		if (m->seen == walks) {
			p = &m->next;
			continue;
		}
		remove_module(p, m);
		if (!any_kept(m))
			__jf_text_forget(m->start, m->end);
		free_module(m);
	}
	walks++;
}

/**
 * struct walk - through the objects, with the lock of the list of them from begin to end
 * @fn:    for each
 * @arg:   of @fn
 * @begun: it is not the first object
 */
struct walk {
	jf_module_fn	*fn;
	void		*arg;
	bool		begun;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *w = (struct walk *)arg;
	struct jf_module *m;

	if (!w->begun && size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
		if (info->dlpi_subs != subs)
			forget_gone();
		subs = info->dlpi_subs;
		adds = info->dlpi_adds;
	}
	w->begun = true;
	m = known(info);
	if (!m) {
		m = new_module(info);
		if (!m)
			return 0;
		if (is_own(m)) {
			free_module(m);
			return 0;
		}
		find_notes(m);
		add_module(m);
	}
	m->seen = walks;
	return w->fn(m, w->arg);
}

static int count(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)arg;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		return info->dlpi_adds != adds || info->dlpi_subs != subs ? 2 : 1;
	return 2;
}

/**
 * jf_modules_changed() - has an object been loaded or unloaded since jf_modules(), or is there one
 * that was not asked
 *
 * dlopen() puts objects into the list one after the other, and calls the hook after the last: a
 * walk for anything else may find them before.
 */
bool jf_modules_changed(void)
{
	const struct jf_module *m;

	for (m = modules; m; m = m->next)
		if (!m->asked)
			return true;
	return dl_iterate_phdr(count, NULL) == 2;
}

/**
 * struct elsewhere - objects of name spaces that dlmopen() made
 * @num:  how many
 * @name: of the first one, cut to the room
 */
struct elsewhere {
	unsigned int	num;
	char		name[256];
};

/* The lists do not change while dl_iterate_phdr() calls. */
static int count_elsewhere(struct dl_phdr_info *info, size_t size, void *arg)
{
#if __GLIBC_PREREQ(2, 35)
	const struct r_debug_extended *d = (const struct r_debug_extended *)&_r_debug;
	struct elsewhere *e = (struct elsewhere *)arg;
	const struct link_map *l;

	/* The declaration of _r_debug is that of its first version. */
	__asm__("" : "+r" (d));
	for (d = d->base.r_version > 1 ? d->r_next : NULL; d; d = d->r_next)
		for (l = d->base.r_map; l; l = l->l_next)
			if (!e->num++)
				snprintf(e->name, sizeof(e->name), "%s", l->l_name);
#endif
	(void)info, (void)size, (void)arg;
	return 1;
}

/**
 * jf_modules_elsewhere() - objects that jf_modules() does not walk through: those that dlmopen()
 * loaded
 * @name: gets the name of the first one
 * @size: of that
 *
 * Return: how many
 */
unsigned int jf_modules_elsewhere(char *name, size_t size)
{
	struct elsewhere e = { 0, "" };

	dl_iterate_phdr(count_elsewhere, &e);
	snprintf(name, size, "%s", e.name);
	return e.num;
}

/**
 * jf_modules() - walk through all objects
 * @fn:  is called for each; ends it by another value than 0
 * @arg: its last argument
 *
 * Those that are not there any more are forgotten.
 *
 * Return: 0, or what @fn returned
 */
int jf_modules(jf_module_fn *fn, void *arg)
{
	struct walk w = { fn, arg, false };
	int ret;

	walks++;
	ret = dl_iterate_phdr(visit, &w);
	/* It has ended before it has seen all that have come. */
	if (ret)
		adds = 0;
	return ret;
}

/* --- functions ----------------------------------------------------------------------- */

struct functions {
	struct jf_module	*m;
	jf_function_fn		*fn;
	void			*arg;
};

static int one_function(const struct jf_symbol *symbol, void *arg)
{
	const struct functions *f = (const struct functions *)arg;
	uintptr_t at = f->m->base + symbol->value;
	size_t avail = text_from(f->m, at);

	return avail ? f->fn(f->m, symbol, at, avail, f->arg) : 0;
}

/**
 * jf_module_functions() - all functions that an object's file names
 * @m:   the object
 * @fn:  is called for each, for some twice
 * @arg: its last argument
 *
 * Return: 0, what @fn returned, or an error: the file cannot be read, or is another one
 */
int jf_module_functions(struct jf_module *m, jf_function_fn *fn, void *arg)
{
	struct functions f = { m, fn, arg };
	struct jf_elf elf;
	int err = open_module(m, &elf);

	if (err)
		return err;
	err = look_at(m, &elf);
	if (!m->nr_sites)
		m->copy = jf_elf_functions(&elf, is_library, NULL);
	if (!err)
		err = jf_elf_functions(&elf, one_function, &f);
	close_module(m, &elf);
	return err;
}
