// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Loaded objects: the program and its shared objects, and the contents of their files about
 * functions and notes.
 *
 * Objects are looked at while the dynamic linker's list is held (dl_iterate_phdr()), so that none
 * is unmapped in that time. One that is not there any more took its text with it: its probes are
 * forgotten. So are those of one that has become another of the same name and place, as a plugin
 * does that is compiled and loaded again.
 */
#include "object.h"
#include "calls.h"
#include "probe.h"
#include "around.h"
#include "point.h"
#include "types.h"
#include "note.h"
#include "module.h"
#include "elf.h"
#include "event.h"
#include "record.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <Zydis/Zydis.h>

#include <jumpfunc/detail/ring_user.h>
#include <jumpfunc/detail/types.h>

#include "user/lib/text.h"

static struct jf_module *modules;
/* The same, each found by its place: a walk asks for all. */
#define PARTS	4096
static struct jf_module *by_base[PARTS];
static unsigned int walks;
static unsigned long long adds, subs;
/* An object that there was no memory for, since jf_modules_lack(). */
static char lacking[256];

/* --- modules ------------------------------------------------------------------------- */

/* The agent, and its parts. */
static bool is_own(const struct dl_phdr_info *info)
{
	const uintptr_t own[] = {
		(uintptr_t)jf_agent_enter, (uintptr_t)__jf_text_change, (uintptr_t)__jf_writer_next,
		(uintptr_t)ZydisDecoderInit, (uintptr_t)getauxval(AT_SYSINFO_EHDR),
	};
	size_t i, k;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		for (k = 0; p->p_type == PT_LOAD && k < sizeof(own) / sizeof(own[0]); k++)
			if (own[k] - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
				return true;
	}
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
	size_t num = jf_module_text(m, at);
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

/* The file is open. */
static int each_function(const struct jf_module *m, jf_symbol_fn *fn, void *arg)
{
	int ret = jf_elf_functions(m->file, fn, arg);

	return ret ? ret : jf_types_names(m, fn, arg);
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
		m->copy = each_function(m, is_library, NULL);
	m->looked = true;
	return 0;
}

static void free_module(struct jf_module *m)
{
	struct jf_agent_probe *p;

	while ((p = m->probes)) {
		m->probes = p->next;
		jf_calls_forget(p);
	}
	free(m->path);
	free(m->alias);
	free(m->sites);
	free(m->led_to);
	free(m->names);
	free(m);
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
	size_t avail = jf_module_text(m, at);
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
	jf_probe_note(p, note->args, note->semaphore ? jf_module_semaphore(m, m->base + note->semaphore) : NULL);
	jf_module_add(m, p);
	return 0;
}

static void find_notes(struct jf_module *m)
{
	struct jf_section notes, base;
	struct notes n = { m, 0 };
	struct jf_elf elf;

	if (jf_module_open(m, &elf))
		return;
	m->lack = look_at(m, &elf);
	if (!m->lack) {
		notes = jf_elf_section(&elf, ".note.stapsdt");
		base = jf_elf_section(&elf, ".stapsdt.base");
		if (notes.data)
			jf_notes(&notes, base.addr, add_note, &n);
		m->lack = n.err;
	}
	jf_module_close(m, &elf);
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
	bool same = m && m->identity == jf_module_identity(info);
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
		if (is_own(info))
			return 0;
		m = jf_module_new(info);
		if (!m) {
			snprintf(lacking, sizeof(lacking), "%s", *info->dlpi_name ? info->dlpi_name : "the program");
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
	/* It has not seen all that have come. */
	if (ret || *lacking)
		adds = 0;
	return ret;
}

/**
 * jf_modules_lack() - has a walk left out an object, for lack of memory
 * @name: gets the name of the object, of several the last one
 * @size: of that
 *
 * Return: true, once
 */
bool jf_modules_lack(char *name, size_t size)
{
	bool lacks = *lacking;

	snprintf(name, size, "%s", lacking);
	*lacking = 0;
	return lacks;
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
	size_t avail = jf_module_text(f->m, at);

	return avail ? f->fn(f->m, symbol, at, avail, f->arg) : 0;
}

/**
 * jf_module_functions() - all functions that an object's file or its debug file names
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
	int err = jf_module_open(m, &elf);

	if (err)
		return err;
	err = look_at(m, &elf);
	if (!m->nr_sites)
		m->copy = each_function(m, is_library, NULL);
	if (!err)
		err = each_function(m, one_function, &f);
	jf_module_close(m, &elf);
	return err;
}
