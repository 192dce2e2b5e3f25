// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The dynamic linker's data about an object that is loaded, and about all others. */
#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

bool jf_look_holds(const struct jf_look *look, const void *p, size_t size)
{
	uintptr_t addr = (uintptr_t)p;
	size_t i;

	for (i = 0; i < look->nr; i++)
		if (addr >= look->span[i].start && addr <= look->span[i].end &&
		    size <= look->span[i].end - addr)
			return true;
	return false;
}

static void note_span(struct jf_look *look, uintptr_t start, uintptr_t end)
{
	if (look->nr < look->max) {
		look->span[look->nr].start = start;
		look->span[look->nr].end = end;
	}
	look->nr++;
}

/* There may be holes between segments, where nothing is to be read. */
static void note_text(struct jf_mod *m, uintptr_t base, const ElfW(Phdr) *p)
{
	uintptr_t start = base + p->p_vaddr, end = start + p->p_filesz;

	if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
		return;
	if (start < m->text)
		m->text = start;
	if (end > m->text_end)
		m->text_end = end;
	m->writable |= !!(p->p_flags & PF_W);
	if (m->texts)
		m->texts[m->num_texts++] = (struct jf_text){ start, end, p->p_offset };
}

void jf_look_texts(struct jf_mod *m, const struct jf_look *look)
{
	size_t i;

	m->text = UINTPTR_MAX;
	m->texts = jf_zalloc((look->nr_phdr + 1) * sizeof(*m->texts));
	for (i = 0; i < look->nr_phdr; i++)
		note_text(m, look->base, &look->phdr[i]);
}

/* As long as the object is mapped, and wherever the program goes to. NULL: not known. */
static char *full_path(const char *path)
{
	char *here, *full = NULL;
	size_t size;

	if (!path || *path == '/')
		return path ? strdup(path) : NULL;
	here = getcwd(NULL, 0);
	size = here ? strlen(here) + strlen(path) + 2 : 0;
	if (here)
		full = malloc(size);
	if (full)
		snprintf(full, size, "%s/%s", here, path);
	free(here);
	return full;
}

/*
 * With the linker's lock, which a profiler's malloc() may want with its own held: there
 * is no allocation here.
 */
static int bounds(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct jf_look *look = arg;
	struct jf_mod *m = &look->m;
	uintptr_t at = (uintptr_t)m->object, start = UINTPTR_MAX, end = 0;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t addr = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		if (addr < start)
			start = addr;
		if (addr + p->p_memsz > end)
			end = addr + p->p_memsz;
	}
	if (end)
		note_span(look, start, end);
	if (at < start || at >= end)
		return 0;
	m->start = start;
	m->end = end;
	look->base = info->dlpi_addr;
	look->phdr = info->dlpi_phdr;
	look->nr_phdr = info->dlpi_phnum;
	m->program = getauxval(AT_PHDR) == (uintptr_t)info->dlpi_phdr;
	look->file = m->program ? (const char *)getauxval(AT_EXECFN) : info->dlpi_name;
	return 0;
}

void jf_look_around(struct jf_look *look)
{
	/* How many there were the last time. */
	static size_t known;
	struct jf_mod *m = &look->m;
	struct span *more;

	look->nr = __atomic_load_n(&known, __ATOMIC_RELAXED);
	/* Others can come in between. */
	do {
		look->max = look->nr + 16;
		more = realloc(look->span, look->max * sizeof(*more));
		if (!more)
			look->max = 0;
		else
			look->span = more;
		look->nr = 0;
		dl_iterate_phdr(bounds, look);
	} while (more && look->nr > look->max);
	__atomic_store_n(&known, look->nr, __ATOMIC_RELAXED);
	if (look->nr > look->max)
		look->nr = look->max;
	look->path = full_path(look->file);
	if (m->program)
		m->name = "the program";
}

void jf_look_path(struct jf_mod *m, const char *path)
{
	size_t size = path ? strlen(path) + 1 : 0;

	m->path = path ? jf_alloc(size) : NULL;
	if (!m->path)
		return;
	memcpy(m->path, path, size);
	if (!m->program)
		m->name = m->path;
}
