// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * One loaded object: its names, its file, and the places of its text and data.
 *
 * The file can have been replaced since it was mapped. So its headers and notes, the build id
 * among them, are compared with those in memory; and the bytes of each place, before a change.
 */
#include "module.h"
#include "elf.h"
#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/lib/text.h"
#include "user/trace/demangle.h"
#include "user/trace/glob.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"

#define PAGE	4096UL

/* The last part of the name that execve() was given, or NULL. */
static char *executed;

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
 * The name by which the user has executed it is shown, and the file's own name fits, too. A number
 * is a descriptor, and no name.
 */
static void name_program(struct jf_module *m)
{
	const char *own = m->name;

	if (!executed || !executed[strspn(executed, "0123456789")] || !strcmp(executed, own))
		return;
	m->name = executed;
	set_alias(m, own);
}

/*
 * The file's own name. The path of a shared object often names a symbolic link; some files
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

/**
 * jf_module_meant() - can a glob match functions of an object
 * @m:    the object
 * @glob: the glob; one without a group means functions of all objects
 */
bool jf_module_meant(const struct jf_module *m, const char *glob)
{
	const char *end = jf_group_end(glob);
	char group[JF_PATTERN_MAX];

	/* A file may have a colon in its name. */
	if (!end || strchr(m->name, ':') || (m->alias && strchr(m->alias, ':')))
		return true;
	snprintf(group, sizeof(group), "%.*s", (int)(end - glob), glob);
	return jf_glob_matches(group, m->name) || (m->alias && jf_glob_matches(group, m->alias));
}

static bool is_libstdcxx(const struct jf_module *m)
{
	return !strncmp(m->name, "libstdc++.so.6", 14);
}

/* libstdc++ is there, and not relocated. */
static bool awaited;

static int is_demangler(const struct jf_symbol *symbol, void *arg)
{
	if (strcmp(symbol->name, "__cxa_demangle"))
		return 0;
	demangler = (jf_cxa_fn *)(*(const uintptr_t *)arg + symbol->value);
	return 1;
}

/*
 * The dynamic linker says that an object has come before it relocates the object. It relocates the
 * slots of calls last: each is an offset in the object until then, and 0 later if it is of a weak
 * symbol that nothing has. Without slots it is not known.
 */
static bool is_relocated(const struct jf_module *m, const struct jf_elf *elf)
{
	struct jf_section slots = jf_elf_section(elf, ".rela.plt");
	uintptr_t size = m->end - m->base, at, slot;
	Elf64_Rela r;

	if (!slots.data || slots.size < sizeof(r))
		return false;
	for (at = 0; slots.size - at >= sizeof(r); at += sizeof(r)) {
		memcpy(&r, slots.data + at, sizeof(r));
		if (r.r_offset > size - sizeof(slot))
			return false;
		slot = *(const uintptr_t *)(m->base + r.r_offset);
		if (slot && slot < size)
			return false;
	}
	return true;
}

/**
 * jf_module_demangler() - find __cxa_demangle(), for jf_module_matches()
 * @m: an object, which may have it
 *
 * One that has come with the present objects is not called before the next look. libstdc++ is never
 * unloaded: it has unique symbols. The function calls malloc()'s family alone.
 *
 * Return: 0: the walk goes on
 */
int jf_module_demangler(struct jf_module *m, void *unused)
{
	struct jf_elf elf;

	(void)unused;
	if (demangler || !is_libstdcxx(m) || jf_module_open(m, &elf))
		return 0;
	awaited = !is_relocated(m, &elf);
	if (!awaited)
		jf_elf_functions(&elf, is_demangler, &m->base);
	jf_module_close(m, &elf);
	return 0;
}

/**
 * jf_module_awaits() - libstdc++ has come, and names of C++ are not known yet
 *
 * Return: true if jf_module_demangler() can find it later
 */
bool jf_module_awaits(void)
{
	return awaited;
}

/**
 * jf_module_awaited() - find the first function of libstdc++ that is called
 * @m:    an object
 * @size: bytes that it has
 *
 * Return: the function, if jf_module_awaits() and @m is libstdc++, or 0
 */
uintptr_t jf_module_awaited(struct jf_module *m, size_t *size)
{
	struct jf_section init = { NULL, 0, 0 };
	struct jf_elf elf;

	if (!awaited || !is_libstdcxx(m) || jf_module_open(m, &elf))
		return 0;
	init = jf_elf_section(&elf, ".init");
	jf_module_close(m, &elf);
	*size = init.size;
	return init.data ? m->base + init.addr : 0;
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
 * The segment at the begin of the file, which has the program headers. NULL: the file has no such
 * segment.
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

static void stamp_file(struct jf_module *m, int fd)
{
	struct stat st = { .st_ino = 0 };

	fstat(fd, &st);
	m->stamp = (struct jf_stamp){ st.st_ino, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec };
}

static int open_file(struct jf_module *m, int fd, struct jf_elf *elf)
{
	int err = map_file(fd, elf);

	if (!err && (jf_elf_check(elf) || !is_same(elf, m))) {
		unmap_file(elf);
		elf->data = NULL;
		err = -ENOEXEC;
	}
	if (!err) {
		name_file(m, fd);
		stamp_file(m, fd);
	}
	return err;
}

static int open_path(struct jf_module *m, const char *path, struct jf_elf *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0)
		return -errno;
	err = open_file(m, fd, elf);
	close(fd);
	return err;
}

/* One of those that jf-trace has opened for a process that cannot do so. */
static int open_handed(struct jf_module *m, struct jf_elf *elf)
{
	const int *fd = NULL;
	unsigned int i, num = __jf_control_files(&fd);

	for (i = 0; i < num; i++)
		if (!open_file(m, fd[i], elf))
			return 0;
	return -ENOENT;
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
 * The mapping at @at. A line that does not fit into the buffer ends the search: no open() takes its
 * path.
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

/**
 * jf_module_open() - open an object's file, unless it is open
 * @m:   the object
 * @elf: is filled in, for jf_module_close()
 *
 * Return: 0 or -errno; -ENOEXEC: the file is another one
 */
int jf_module_open(struct jf_module *m, struct jf_elf *elf)
{
	int err;

	elf->data = NULL;
	if (m->file)
		return 0;
	err = open_path(m, m->path, elf);
	if (err && (!open_mapped(m, elf) || !open_handed(m, elf)))
		err = 0;
	m->unread = err;
	if (!err)
		m->file = elf;
	return err;
}

/**
 * jf_module_close() - undo jf_module_open()
 * @m:   the object
 * @elf: as there
 */
void jf_module_close(struct jf_module *m, struct jf_elf *elf)
{
	if (!elf->data)
		return;
	m->file = NULL;
	unmap_file(elf);
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

/**
 * jf_module_text() - how much text of an object follows an address
 * @m:  the object
 * @at: the address
 *
 * Return: bytes; 0: no text is there, or the text can be written to
 */
size_t jf_module_text(const struct jf_module *m, uintptr_t at)
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

/*
 * The kernel reads a set of signals first, and then refuses the way of changing them. Each page is
 * asked for, not by its last bytes.
 */
bool jf_module_shows(uintptr_t at, size_t num)
{
	uintptr_t end = at + num;

	for (at &= ~7UL; at < end; at = (at | (PAGE - 1)) + 1)
		if (call4(SYS_rt_sigprocmask, -1, (long)at, 0, 8) == -EFAULT)
			return false;
	return true;
}

/**
 * jf_module_semaphore() - a note's semaphore
 * @m:  the object
 * @at: its address
 *
 * Return: NULL if no data of the object is there
 */
uint16_t *jf_module_semaphore(const struct jf_module *m, uintptr_t at)
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

/* --- the object ----------------------------------------------------------------------- */

static uint64_t hash_more(uint64_t hash, const void *data, size_t num)
{
	const uint8_t *bytes = (const uint8_t *)data;
	size_t i;

	/* FNV-1a */
	for (i = 0; i < num; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/**
 * jf_module_identity() - a hash of an object's headers and notes, which is_same() compares, too
 * @info: of dl_iterate_phdr()
 *
 * Another object of the same name and place has another hash.
 */
uint64_t jf_module_identity(const struct dl_phdr_info *info)
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

/**
 * jf_module_new() - an object that is not known yet
 * @info: of dl_iterate_phdr()
 *
 * Return: NULL without memory; else the object, without notes and sites
 */
struct jf_module *jf_module_new(const struct dl_phdr_info *info)
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
		name_program(m);
	m->base = info->dlpi_addr;
	m->phdr = info->dlpi_phdr;
	m->phnum = info->dlpi_phnum;
	m->identity = jf_module_identity(info);
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

/**
 * jf_module_refuses() - can there be a probe
 * @m:        the object
 * @function: it would be a function's entry
 * @at:       where
 *
 * An object with a libjumpfunc in it has no probes at functions. A breakpoint in its SIGTRAP
 * handler would end the process, and nothing says which functions that handler calls.
 *
 * Return: NULL, or why not
 */
const char *jf_module_refuses(const struct jf_module *m, bool function, uintptr_t at)
{
	size_t i = jf_first_from(m->sites, m->nr_sites, at - (JF_TEXT_MAX - 1));

	if (m->copy && function)
		return "its object has a libjumpfunc of its own";
	if (i == m->nr_sites || m->sites[i] >= at + JF_TEXT_MAX)
		return NULL;
	return function ? "a site of libjumpfunc is there" :
			  "a site of libjumpfunc is there (the program itself records a probe of libjumpfunc's <sys/sdt.h>)";
}
