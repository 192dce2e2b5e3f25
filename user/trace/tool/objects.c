// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "tool.h"
#include "elf.h"
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *object_name(const struct object *o)
{
	const char *slash = strrchr(o->path, '/');

	return slash ? slash + 1 : o->path;
}

static int by_address(const void *x, const void *y)
{
	const struct function *a = x, *b = y;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* Of an object that is mapped @bias bytes above its addresses. */
static int take_functions(struct object *o, const Elf64_Sym *symbol, size_t num, uint64_t names, uint64_t bias)
{
	size_t i;

	o->function = malloc((num + 1) * sizeof(*o->function));
	if (!o->function)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		unsigned int type = ELF64_ST_TYPE(symbol[i].st_info);
		struct function f = { bias + symbol[i].st_value, 0, elf_string(o->names, names, symbol[i].st_name) };

		f.end = f.at + symbol[i].st_size;
		/* A function that chooses another one is not taken. */
		if (type != STT_FUNC || symbol[i].st_shndx == SHN_UNDEF || f.end < f.at || f.at < o->text || f.end > o->text_end)
			continue;
		o->function[o->num++] = f;
	}
	qsort(o->function, o->num, sizeof(*o->function), by_address);
	return 0;
}

static int read_symbols(struct object *o, const struct elf *e)
{
	uint64_t size, names;
	char *symbols;
	size_t i;
	int err;

	for (i = 0; i < e->num && e->sh[i].sh_type != SHT_DYNSYM; i++)
		;
	if (i == e->num || e->sh[i].sh_link >= e->num)
		return 0;
	err = elf_section(e, i, &symbols, &size);
	if (err)
		return err == -ENODATA ? 0 : err;
	err = elf_section(e, e->sh[i].sh_link, &o->names, &names);
	/* The dynamic linker maps shared objects so that address 0 is the first byte. */
	if (!err)
		err = take_functions(o, (const Elf64_Sym *)(void *)symbols, size / sizeof(Elf64_Sym), names,
				     e->head.e_type == ET_DYN ? o->low : 0);
	free(symbols);
	return err;
}

/* The file at its path, if that is the mapped one; else the mapped one. */
static int open_mapped(const struct object *o, pid_t pid, uint64_t inode, uint64_t end)
{
	char path[PATH_MAX + 64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, o->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == inode)
		return fd;
	if (fd >= 0)
		close(fd);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, o->low, end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* An object that cannot be read has no functions. */
static void read_functions(struct object *o, pid_t pid, uint64_t inode, uint64_t end)
{
	int fd = open_mapped(o, pid, inode, end);
	struct elf e;

	if (fd < 0)
		return;
	if (!elf_open(&e, fd)) {
		o->program = e.head.e_type == ET_EXEC;
		read_symbols(o, &e);
		elf_close(&e);
	}
	close(fd);
}

/**
 * struct mapping - a line of /proc/PID/maps
 * @start: its first byte
 * @end:   the byte after its last one
 * @inode: of its file
 * @path:  of its file
 * @exec:  it can be executed
 */
struct mapping {
	uint64_t	start;
	uint64_t	end;
	uint64_t	inode;
	char		*path;
	bool		exec;
};

static bool parse_mapping(char *line, struct mapping *m)
{
	char rights[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %" SCNu64 " %n", &m->start, &m->end, rights, &m->inode, &at) < 4 ||
	    !at || line[at] != '/')
		return false;
	m->path = line + at;
	m->path[strcspn(m->path, "\n")] = 0;
	m->exec = rights[2] == 'x';
	return true;
}

/* The one that the mapping belongs to, which may be a new one; NULL: no memory. */
static struct object *object_of(struct objects *o, const struct mapping *m)
{
	struct object *last = o->num ? &o->object[o->num - 1] : NULL, *more;

	if (last && !strcmp(last->path, m->path))
		return last;
	more = realloc(o->object, (o->num + 1) * sizeof(*more));
	if (!more)
		return NULL;
	o->object = more;
	last = &more[o->num];
	*last = (struct object){ .path = strdup(m->path), .low = m->start };
	if (!last->path)
		return NULL;
	o->num++;
	return last;
}

/* Where each object is: its first mapping's end, and its file's number, too. */
static int read_maps(struct objects *o, FILE *f, uint64_t (**first)[2])
{
	char line[PATH_MAX + 128];
	struct mapping m;
	uint64_t (*more)[2];
	size_t before;
	struct object *last;

	while (fgets(line, sizeof(line), f)) {
		if (!parse_mapping(line, &m))
			continue;
		before = o->num;
		last = object_of(o, &m);
		if (!last)
			return -ENOMEM;
		if (o->num > before) {
			more = realloc(*first, o->num * sizeof(*more));
			if (!more)
				return -ENOMEM;
			*first = more;
			more[before][0] = m.inode;
			more[before][1] = m.end;
		}
		if (m.exec && !last->text)
			last->text = m.start;
		if (m.exec)
			last->text_end = m.end;
	}
	return ferror(f) ? -EACCES : 0;
}

int objects_read(struct objects *o, pid_t pid, const char *begin)
{
	uint64_t (*first)[2] = NULL;
	char path[48];
	size_t i;
	FILE *f;
	int err;

	*o = (struct objects){ NULL, 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	err = read_maps(o, f, &first);
	fclose(f);
	for (i = 0; i < o->num && !err; i++)
		if (o->object[i].text && (!begin || !strncmp(object_name(&o->object[i]), begin, strlen(begin))))
			read_functions(&o->object[i], pid, first[i][0], first[i][1]);
	free(first);
	if (err)
		objects_free(o);
	return err;
}

void objects_free(struct objects *o)
{
	size_t i;

	for (i = 0; i < o->num; i++) {
		free(o->object[i].path);
		free(o->object[i].function);
		free(o->object[i].names);
	}
	free(o->object);
	*o = (struct objects){ NULL, 0 };
}

const struct object *objects_named(const struct objects *o, const char *begin)
{
	size_t i;

	for (i = 0; i < o->num; i++)
		if (o->object[i].text && !strncmp(object_name(&o->object[i]), begin, strlen(begin)))
			return &o->object[i];
	return NULL;
}

uint64_t object_function(const struct object *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->num; i++)
		if (!strcmp(o->function[i].name, name))
			return o->function[i].at;
	return 0;
}
