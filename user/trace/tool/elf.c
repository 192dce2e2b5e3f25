// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "elf.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX	(1u << 20)

/* All of it, or an error. */
static int get(const struct elf *e, uint64_t at, void *buf, uint64_t size)
{
	uint64_t done = 0;
	ssize_t n;

	if (at > e->size || size > e->size - at)
		return -EINVAL;
	if (e->fd < 0) {
		if (size)
			memcpy(buf, e->data + at, size);
		return 0;
	}
	while (done < size) {
		n = pread(e->fd, (char *)buf + done, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EINVAL;
		done += (uint64_t)n;
	}
	return 0;
}

static int read_sections(struct elf *e)
{
	Elf64_Shdr first;
	uint64_t num, names;
	int err;

	if (!e->head.e_shoff)
		return 0;
	if (e->head.e_shentsize != sizeof(first))
		return -EINVAL;
	err = get(e, e->head.e_shoff, &first, sizeof(first));
	if (err)
		return err;
	/* Numbers that do not fit into the header are in the first section's. */
	num = e->head.e_shnum ? e->head.e_shnum : first.sh_size;
	names = e->head.e_shstrndx == SHN_XINDEX ? first.sh_link : e->head.e_shstrndx;
	if (num > SECTIONS_MAX || num > e->size / sizeof(first))
		return -EINVAL;
	e->sh = calloc(num ? num : 1, sizeof(*e->sh));
	if (!e->sh)
		return -ENOMEM;
	err = get(e, e->head.e_shoff, e->sh, num * sizeof(*e->sh));
	if (err)
		return err;
	e->num = num;
	if (names < num)
		err = elf_section(e, names, &e->names, &e->names_size);
	return err == -ENODATA ? 0 : err;
}

static int read_head(struct elf *e)
{
	const uint16_t one = 1;
	int err = get(e, 0, &e->head, sizeof(e->head));

	if (err == -EINVAL || (!err && memcmp(e->head.e_ident, ELFMAG, SELFMAG)))
		return -ENOEXEC;
	if (err)
		return err;
	if (e->head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->head.e_ident[EI_DATA] != (*(const char *)&one ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENOEXEC;
	err = read_sections(e);
	if (err)
		elf_close(e);
	return err;
}

int elf_open(struct elf *e, int fd)
{
	struct stat st;

	memset(e, 0, sizeof(*e));
	e->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -ENOEXEC;
	e->size = (uint64_t)st.st_size;
	return read_head(e);
}

int elf_open_memory(struct elf *e, const void *data, size_t size)
{
	memset(e, 0, sizeof(*e));
	e->fd = -1;
	e->data = (const char *)data;
	e->size = size;
	return read_head(e);
}

void elf_close(struct elf *e)
{
	free(e->sh);
	free(e->names);
	e->sh = NULL;
	e->names = NULL;
	e->num = 0;
}

const char *elf_string(const char *table, uint64_t size, uint64_t at)
{
	/* The byte after it is 0. */
	return table && at < size ? table + at : "";
}

const char *elf_section_name(const struct elf *e, size_t nr)
{
	return elf_string(e->names, e->names_size, e->sh[nr].sh_name);
}

int elf_section(const struct elf *e, size_t nr, char **data, uint64_t *size)
{
	const Elf64_Shdr *sh = &e->sh[nr];
	int err;

	if (sh->sh_type == SHT_NOBITS || !sh->sh_size)
		return -ENODATA;
	if (sh->sh_offset > e->size || sh->sh_size > e->size - sh->sh_offset)
		return -EINVAL;
	*data = malloc(sh->sh_size + 1);
	if (!*data)
		return -ENOMEM;
	err = get(e, sh->sh_offset, *data, sh->sh_size);
	if (err) {
		free(*data);
		*data = NULL;
		return err;
	}
	(*data)[sh->sh_size] = 0;
	*size = sh->sh_size;
	return 0;
}

/* How many bytes there are from an address on, and where; 0: none. */
static uint64_t find(const struct elf *e, uint64_t addr, uint64_t *at)
{
	size_t i;

	for (i = 0; i < e->num; i++) {
		const Elf64_Shdr *sh = &e->sh[i];

		if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_type == SHT_NOBITS || addr < sh->sh_addr ||
		    addr - sh->sh_addr >= sh->sh_size || sh->sh_offset > e->size ||
		    addr - sh->sh_addr >= e->size - sh->sh_offset)
			continue;
		*at = sh->sh_offset + (addr - sh->sh_addr);
		return sh->sh_size - (addr - sh->sh_addr);
	}
	return 0;
}

bool elf_at(const struct elf *e, uint64_t addr, void *buf, size_t size)
{
	uint64_t at;

	return find(e, addr, &at) >= size && !get(e, at, buf, size);
}

bool elf_string_at(const struct elf *e, uint64_t addr, char *buf, size_t size)
{
	uint64_t at, there = find(e, addr, &at);

	if (!there)
		return false;
	if (there > e->size - at)
		there = e->size - at;
	if (there > size)
		there = size;
	return !get(e, at, buf, there) && memchr(buf, 0, there);
}
