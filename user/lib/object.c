// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Objects that come and go: the program, the shared objects that it is linked
 * with, and those that it opens and closes.
 *
 *   comes	Its tables are checked, its entities and sites entered, and its
 *		sites patched to the present values. If this is the only thread,
 *		none executes them; else it is done as at any other time. If
 *		something is wrong with the tables nothing is written, and a
 *		message says what: as compiled, sites are correct and slow. What it
 *		imports from an object that comes later has the value that it has
 *		there, and is linked when that comes.
 *   goes	Probes in it are taken away, and dynamic functions that lead into
 *		it fall back. When all read sections that began before are over,
 *		its sites and entities are forgotten. The program itself never
 *		goes. While the process exits, an object may be one that is closed
 *		or one that stays; threads run on, and are waited for only shortly:
 *		after that it must not be unmapped. They may change what is in it, too,
 *		which is refused: so what is known of it is not freed.
 */
#include "lib.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* jf_object.mod of one that was refused, and of one whose tables another one brought. */
static struct jf_mod refused, shared;
/* Those that went when the process exited. */
static struct jf_mod *closed_at_exit;

static bool in_mod(const struct jf_mod *m, const void *p, size_t size)
{
	uintptr_t addr = (uintptr_t)p;

	return addr >= m->start && addr <= m->end && size <= m->end - addr;
}

/* --- an object comes -------------------------------------------------------------- */

/**
 * struct look - what is asked of the dynamic linker for an object that comes
 * @m:    the object: where it is
 * @span: where all objects are, those that are not known among them
 * @nr:   how many these are
 * @max:  for so many there is room
 * @file: by which name it was opened
 * @path: that file, from the root on, or NULL: from malloc(), as @span
 * @base: what its program headers' addresses count from
 * @phdr: these, as long as it is mapped
 * @nr_phdr: their number
 */
struct look {
	struct jf_mod	m;
	struct span {
		uintptr_t	start, end;
	}		*span;
	size_t		nr, max;
	const char	*file;
	char		*path;
	uintptr_t	base;
	const ElfW(Phdr) *phdr;
	size_t		nr_phdr;
};

/* In some object. If there was no memory for its bounds: no. */
static bool in_any(const struct look *look, const void *p, size_t size)
{
	uintptr_t addr = (uintptr_t)p;
	size_t i;

	for (i = 0; i < look->nr; i++)
		if (addr >= look->span[i].start && addr <= look->span[i].end &&
		    size <= look->span[i].end - addr)
			return true;
	return false;
}

static void note_span(struct look *look, uintptr_t start, uintptr_t end)
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

/* With the lock held. */
static void note_texts(struct jf_mod *m, const struct look *look)
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
	struct look *look = arg;
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

/* Before our lock: others' callbacks have the linker's lock, and may want ours. */
static void look_around(struct look *look)
{
	struct jf_mod *m = &look->m;
	struct span *more;

	/* Others may come meanwhile. */
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
	if (look->nr > look->max)
		look->nr = look->max;
	look->path = full_path(look->file);
	if (m->program)
		m->name = "the program";
}

/* With the lock held: as long as the object is known. */
static void keep_path(struct jf_mod *m, const char *path)
{
	size_t size = path ? strlen(path) + 1 : 0;

	m->path = path ? jf_alloc(size) : NULL;
	if (!m->path)
		return;
	memcpy(m->path, path, size);
	if (!m->program)
		m->name = m->path;
}

static int say_bad(const struct jf_mod *m, const char *what)
{
	jf_say(false, "%s: %s; its branches and calls stay as compiled", m->name, what);
	return -EINVAL;
}

/* Element @i of the array that begins with @first, in an object that is not known. */
static const struct jf_ent *element(const struct jf_ent *first, size_t i)
{
	return (const struct jf_ent *)((const char *)first + i * sizeof(struct jf_key));
}

/*
 * Its tables come later, so how many there are is not known yet; but all that are of
 * one array say the same of themselves.
 */
static bool will_be(const struct look *look, const struct jf_ent *first, uint32_t i)
{
	const struct jf_object *o = first->owner;
	const struct jf_ent *ent = element(first, i);
	size_t before = first->type == JF_ENT_KEY ? JF_KEY_ENT : JF_FUNC_ENT;

	return in_any(look, o, sizeof(*o)) && o->magic == JF_TABLE_MAGIC &&
	       o->rec_size == JF_TABLE_REC_SIZE &&
	       in_any(look, (const char *)ent - before, before + sizeof(*ent)) &&
	       ent->type == first->type && ent->owner == o && ent->name == first->name;
}

static bool is_ours(const struct jf_mod *coming, const struct jf_ent *ent)
{
	return in_mod(coming, ent, sizeof(*ent)) || jf_mod_of((uintptr_t)ent);
}

/*
 * What @ctl, the entity number @i of @rec, stands in for. The constructors of an object
 * come after those of the objects that it is linked with. So a program that exports
 * something is known later than a library of it that imports that.
 */
static bool find_real(const struct look *look, const struct jf_ent_rec *rec, uint32_t i,
		      struct jf_ctl *ctl)
{
	struct jf_ent *first;
	struct jf_ctl *real;

	if (!in_any(look, rec->origin, sizeof(*rec->origin)))
		return false;
	first = *rec->origin;
	if (!in_any(look, first, sizeof(*first)) || first == ctl->ent ||
	    first->type != ctl->ent->type)
		return false;
	real = is_ours(ctl->mod, first) ? jf_ctl_of(first) : NULL;
	/* Another copy of this library knows it, with a lock of its own. */
	if (!real && first->ctl)
		return false;
	if (real) {
		ctl->real = real + i;
		return i < real->rest;
	}
	ctl->wants = first;
	ctl->nth = i;
	return will_be(look, first, i);
}

/* An inline variable of C++ has a record in each source file that knows it. */
static bool is_known(const struct jf_mod *m, const struct jf_ent_rec *rec,
		     const struct jf_ent *ent, uint32_t i)
{
	const struct jf_ctl *ctl = ent->ctl;

	return ctl >= m->ctls && ctl < m->ctls + m->num_ctls && ctl->ent == ent &&
	       ctl->rest == rec->num - i && !ctl->real && !rec->origin;
}

/*
 * Parts of an object that were linked to one before, and keep hidden names for themselves
 * (ld -r, objcopy --localize-hidden), have a struct jf_object each. But the linker gives
 * them the same bounds, those of all records.
 */
static bool has_tables_of(const struct jf_mod *m, const struct jf_object *o)
{
	const struct jf_object *own = m->object;

	return o == own || (in_mod(m, o, sizeof(*o)) && o->magic == own->magic &&
			    o->rec_size == own->rec_size && o->sites == own->sites &&
			    o->sites_end == own->sites_end && o->on == own->on &&
			    o->on_end == own->on_end && o->now == own->now &&
			    o->now_end == own->now_end && o->ents == own->ents &&
			    o->ents_end == own->ents_end);
}

/* Has another part of the same object brought them? */
static bool are_known(const struct jf_object *o)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)o);

	return m && !m->unloading && has_tables_of(m, o);
}

/* Entity number @i of @rec. */
static int add_ctl(struct jf_mod *m, const struct look *look, const struct jf_ent_rec *rec,
		   uint32_t i)
{
	struct jf_ent *ent = (struct jf_ent *)((char *)rec->ent + (size_t)i * rec->stride);
	struct jf_ctl *ctl = &m->ctls[m->num_ctls];
	size_t size = ent->type == JF_ENT_KEY ? sizeof(struct jf_key) :
						sizeof(struct jf_func);

	if (is_known(m, rec, ent, i))
		return 0;
	if (!has_tables_of(m, ent->owner) || ent->type > JF_ENT_KEY || !ent->name ||
	    ent->ctl || rec->stride < size)
		return say_bad(m, "a table names what is not this object's");
	ctl->ent = ent;
	ctl->mod = m;
	ctl->rest = rec->num - i;
	ctl->at = i;
	if (rec->origin && !find_real(look, rec, i, ctl))
		return say_bad(m, "what it imports is not there");
	ent->ctl = ctl;
	m->num_ctls++;
	return 0;
}

/* A record of none says that what it names is exported, all of it if it is an array. */
static bool is_export(const struct jf_mod *m, const struct jf_ent_rec *rec)
{
	return !rec->num && !rec->stride && !rec->origin && in_mod(m, rec->ent, sizeof(*rec->ent));
}

static void note_export(struct jf_mod *m, const struct jf_ent *ent)
{
	struct jf_ctl *ctl = ent->ctl;
	size_t i;

	if (ctl < m->ctls || ctl >= m->ctls + m->num_ctls || ctl->ent != ent)
		return;
	for (i = 0; i < ctl->rest; i++)
		ctl[i].exported = true;
}

static int add_ctls(struct jf_mod *m, const struct look *look)
{
	const struct jf_object *o = m->object;
	const struct jf_ent_rec *rec;
	size_t num = 0;
	uint32_t i;
	int err;

	for (rec = o->ents; rec < o->ents_end; rec++) {
		if (is_export(m, rec))
			continue;
		if (!rec->num || !rec->stride ||
		    !in_mod(m, rec->ent, (size_t)rec->num * rec->stride -
			    rec->stride + sizeof(struct jf_ent)))
			return say_bad(m, "a table leads out of this object");
		num += rec->num;
	}
	m->ctls = jf_zalloc((num + 1) * sizeof(*m->ctls));
	if (!m->ctls)
		return -ENOMEM;
	for (rec = o->ents; rec < o->ents_end; rec++)
		for (i = 0; i < rec->num; i++) {
			err = add_ctl(m, look, rec, i);
			if (err)
				return err;
		}
	for (rec = o->ents; rec < o->ents_end; rec++)
		if (!rec->num)
			note_export(m, rec->ent);
	return 0;
}

/* There may be none. */
static bool has_list(const struct jf_mod *m, const void *first, const void *end)
{
	uintptr_t from = (uintptr_t)first, to = (uintptr_t)end;

	return from <= to && (!from || in_mod(m, first, to - from));
}

static int check_object(struct jf_mod *m)
{
	const struct jf_object *o = m->object;

	if (o->magic != JF_TABLE_MAGIC || o->rec_size != JF_TABLE_REC_SIZE)
		return say_bad(m, "was built for another version of libjumpfunc");
	if (!m->end || !has_list(m, o->sites, o->sites_end) || !has_list(m, o->on, o->on_end) ||
	    !has_list(m, o->now, o->now_end) || !has_list(m, o->ents, o->ents_end))
		return say_bad(m, "a table is not in this object");
	return 0;
}

static void free_mod(struct jf_mod *m)
{
	size_t i;

	for (i = 0; i < m->num_ctls; i++)
		m->ctls[i].ent->ctl = NULL;
	jf_sites_free(m);
	jf_free(m->ctls);
	jf_writer_forget(m);
	jf_free(m->path);
	jf_free(m->texts);
	jf_free(m);
}

/*
 * What NULL is, for queries without the lock; without @real there is none. While @init
 * leads to the exporter, JF_ENT_UNKNOWN says so: it is taken away before.
 */
static void know_null(struct jf_ent *ent, const struct jf_ent *real)
{
	struct jf_func *f = jf_container(ent, struct jf_func, ent);
	const struct jf_func *from = jf_container((struct jf_ent *)(uintptr_t)real,
						  struct jf_func, ent);
	const unsigned int null = JF_ENT_NULL_OK | JF_ENT_RET0;
	uint16_t flags;

	if (ent->type != JF_ENT_FUNC)
		return;
	flags = ent->flags & ~(null | JF_ENT_UNKNOWN);
	__atomic_store_n(&ent->flags, flags, __ATOMIC_RELAXED);
	/* Pairs with __jf_func_query(): a query that sees it sees no JF_ENT_UNKNOWN. */
	__atomic_store_n(&f->init, real ? from->init : (void *)jf_ret0, __ATOMIC_RELEASE);
	/* No partner: a query has loaded @init by then, and may say what NULL stands for. */
	if (real)
		__atomic_store_n(&ent->flags, flags | (real->flags & null), __ATOMIC_RELEASE);
}

static void link_proxy(struct jf_ctl *ctl)
{
	struct jf_ctl *real = ctl->real;

	ctl->next_proxy = real->proxies;
	/*
	 * Pairs with count_alone(), which counts before it looks here: it finds this one, or
	 * its number is copied. And with jf_count_follow().
	 */
	__atomic_store_n(&real->proxies, ctl, __ATOMIC_SEQ_CST);
	jf_ent_copy(ctl->ent, real->ent);
	if (ctl->ent->type == JF_ENT_KEY)
		jf_count_follow(real);
	know_null(ctl->ent, real->ent);
}

/*
 * Entities that stand in for those of other objects take their values. What is not known
 * yet cannot be changed, so that a copy of its value is right until it is. To change it
 * from here is refused like that.
 */
static void link_proxies(struct jf_mod *m)
{
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (ctl->real)
			link_proxy(ctl);
		if (!ctl->wants)
			continue;
		jf_ent_copy(ctl->ent, element(ctl->wants, ctl->nth));
		know_null(ctl->ent, NULL);
		ctl->ent->ctl = NULL;
	}
}

/* Entities of @m that wait for one of @loaded get it. Is there one? */
static bool link_waiting(struct jf_mod *m, const struct jf_mod *loaded)
{
	bool found = false;
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i], *first;

		if (!ctl->wants || !in_mod(loaded, ctl->wants, sizeof(*ctl->wants)))
			continue;
		first = jf_ctl_of(ctl->wants);
		if (!first || ctl->nth >= first->rest || first->ent->type != ctl->ent->type) {
			jf_say(false, "%s: %s, which it imports, is not there", m->name,
			       ctl->ent->name);
			continue;
		}
		ctl->real = first + ctl->nth;
		ctl->wants = NULL;
		link_proxy(ctl);
		/* Pairs with the load in count(): it is complete. */
		__atomic_store_n(&ctl->ent->ctl, ctl, __ATOMIC_RELEASE);
		found = true;
	}
	return found;
}

/*
 * To write text now, and not to be able to do so later, would be worse than not to, where
 * what is as compiled follows its entity.
 */
static bool can_go_on(const struct jf_mod *m)
{
	const char *missing = NULL;

	if (!jf_sync_possible())
		missing = "membarrier()";
	else if (jf_options()->int3 && !jf_trap_possible())
		missing = "sigaction()";
	if (missing && m->tested)
		jf_writer_none(missing);
	return !missing && jf_writer_usable();
}

/* Is @ctl one that is known now, or became known when @loaded did? */
static bool is_due(const struct jf_ctl *ctl, const struct jf_mod *loaded)
{
	return loaded ? ctl->real && ctl->real->mod == loaded : !ctl->wants;
}

/* The sites of @ctl that are not what its present value asks for, of one kind. */
static int add_wrong(struct jf_pokes *p, struct jf_ctl *ctl, bool loads, bool alone)
{
	struct jf_ctl *real = jf_ctl_real(ctl);
	struct jf_site *s;
	int err = 0;

	real->value = jf_ent_value(real->ent);
	for (s = ctl->sites; s && !err; s = s->next) {
		jf_insn_t now = atomic_load_explicit(&s->insn, memory_order_relaxed), insn;

		if (jf_site_loads(s) != loads)
			continue;
		err = jf_site_insn(s, real->value, alone, &insn);
		if (!err && insn != now)
			err = jf_pokes_add(p, s, insn);
	}
	return err;
}

/* Calls, trampolines, and branches that lead to a test: they are right, and slow. */
static void patch_loads(struct jf_mod *m, const struct jf_mod *loaded)
{
	bool alone = jf_single_threaded();
	struct jf_pokes p = { NULL, 0, 0 };
	int err = 0;
	size_t i;

	for (i = 0; i < m->num_ctls && !err; i++)
		if (is_due(&m->ctls[i], loaded))
			err = add_wrong(&p, &m->ctls[i], true, alone);
	if (!err && p.num && can_go_on(m))
		err = jf_patch(p.poke, p.num, alone);
	if (err)
		jf_say(true, "%s: its %zu sites stay as compiled: %s", m->name, p.num,
		       jf_error(-err));
	jf_free(p.poke);
}

static void unlink_proxy(struct jf_ctl *ctl)
{
	struct jf_ctl **p = &ctl->real->proxies;

	while (*p && *p != ctl)
		p = &(*p)->next_proxy;
	/* Pairs with jf_count_follow(): those after it are as before. */
	if (*p)
		__atomic_store_n(p, ctl->next_proxy, __ATOMIC_RELEASE);
	/* Pairs with count_shared(): it counts the real one, or finds that there is none. */
	__atomic_store_n(&ctl->real, NULL, __ATOMIC_RELEASE);
}

/*
 * The branches of a key stay as compiled, and so does its value here, if it stands in for
 * another one. If it does not, some source file was told something else of it.
 */
static void leave_wrong(struct jf_ctl *ctl, int err)
{
	const char *what = "source files declare it otherwise, and their branches stay so";

	if (ctl->real || ctl->wants)
		what = "it is imported, and keeps its first value";
	jf_say(false, "%s: %s: %s: %s", ctl->mod->name, ctl->ent->name, what, jf_error(-err));
	if (ctl->real)
		unlink_proxy(ctl);
	else if (!ctl->wants)
		return;
	jf_ent_reset(ctl->ent);
}

/* Has @ctl branches that are not right as compiled? */
static bool is_wrong(const struct jf_ctl *ctl)
{
	return ctl->ent->type == JF_ENT_KEY &&
	       (ctl->odd || jf_ent_value(ctl->ent) != !!(ctl->ent->flags & JF_ENT_ON));
}

/* One that waits for its exporter has a copy of that one's first value. */
static bool has_come(const struct jf_ctl *ctl, const struct jf_mod *loaded)
{
	return is_wrong(ctl) && (is_due(ctl, loaded) || (!loaded && ctl->wants));
}

static void patch_branches(struct jf_mod *m, const struct jf_mod *loaded)
{
	bool alone = jf_single_threaded();
	struct jf_pokes p = { NULL, 0, 0 };
	int err = 0;
	size_t i;

	for (i = 0; i < m->num_ctls && !err; i++) {
		if (!has_come(&m->ctls[i], loaded))
			continue;
		err = jf_sites_of(&m->ctls[i]);
		if (!err)
			err = add_wrong(&p, &m->ctls[i], false, alone);
	}
	if (!err && p.num)
		err = jf_patch(p.poke, p.num, alone);
	for (i = 0; i < m->num_ctls && err; i++)
		if (has_come(&m->ctls[i], loaded))
			leave_wrong(&m->ctls[i], err);
	jf_free(p.poke);
}

/* The sites of @m, or those that waited for @loaded, to what the present values ask for. */
static void patch_mod(struct jf_mod *m, const struct jf_mod *loaded)
{
	patch_branches(m, loaded);
	patch_loads(m, loaded);
}

/* Of @m, which has come, and of those that waited for it. */
static void patch_all(struct jf_mod *m)
{
	struct jf_mod *other;

	jf_sites_odd(m);
	patch_mod(m, NULL);
	for (other = m->next; other; other = other->next)
		if (link_waiting(other, m))
			patch_mod(other, m);
}

/* 0, or it is refused. */
static int add_tables(struct jf_mod *m, const struct look *look)
{
	int err = m->texts ? check_object(m) : -ENOMEM;

	if (!err)
		err = add_ctls(m, look);
	if (!err)
		err = jf_sites_now(m);
	if (err == -ENOMEM)
		say_bad(m, "there is no memory for its tables");
	return err;
}

static void count_mod(const struct jf_mod *m, uint64_t by)
{
	size_t i;

	jf_stats.objects += by;
	jf_stats.sites += by * (m->num_sites + m->num_later);
	for (i = 0; i < m->num_ctls; i++)
		if (m->ctls[i].ent->type == JF_ENT_KEY)
			jf_stats.keys += by;
		else
			jf_stats.funcs += by;
}

static void enter(struct jf_mod *m)
{
	m->next = jf_mods;
	/* Pairs with jf_site_find(): a handler that finds @m finds its tables. */
	__atomic_store_n(&jf_mods, m, __ATOMIC_RELEASE);
	jf_mods_version++;
	count_mod(m, 1);
}

void __jf_object_register(struct jf_object *o)
{
	static uint64_t objects;
	static bool at_exit;
	struct look look = { .m = { .object = o, .name = "an object" } };
	bool is_first = false;
	struct jf_mod *m;
	uint64_t lost;

	/* Each of its source files calls. */
	if (o->mod)
		return;
	look_around(&look);
	jf_lock();
	if (are_known(o)) {
		o->mod = &shared;
		goto unlock;
	}
	lost = jf_stats.trampolined;
	m = jf_zalloc(sizeof(*m));
	if (!m) {
		jf_say(false, "no memory for an object; its branches and calls stay as compiled");
		jf_stats.refused++;
		o->mod = &refused;
		goto unlock;
	}
	*m = look.m;
	keep_path(m, look.path);
	note_texts(m, &look);
	m->serial = ++objects;
	if (add_tables(m, &look)) {
		jf_stats.refused++;
		o->mod = &refused;
		free_mod(m);
		goto unlock;
	}
	link_proxies(m);
	/* Parts that were linked to one before may import from each other. */
	link_waiting(m, m);
	enter(m);
	o->mod = m;
	if (lost != jf_stats.trampolined)
		jf_say(true, "%s: %llu calls were not found, and go through trampolines",
		       m->name, (unsigned long long)(jf_stats.trampolined - lost));
	patch_all(m);
	jf_list_enable(m);
	/* Those of the program come last, and are always in time. */
	is_first = m->program || !at_exit;
	at_exit = true;
unlock:
	jf_unlock();
	/* This may allocate. */
	if (is_first)
		jf_at_exit();
	free(look.path);
	free(look.span);
}

/* --- an object goes --------------------------------------------------------------- */

/* The dynamic function of another object that leads into it, if @ctl is one. */
static struct jf_func *leads_into(const struct jf_ctl *ctl, const struct jf_mod *closed)
{
	struct jf_func *f = jf_container(ctl->ent, struct jf_func, ent);

	if (ctl->ent->type != JF_ENT_FUNC || ctl->real || ctl->wants || ctl->mod == closed ||
	    !jf_mod_has(closed, (uintptr_t)f->func))
		return NULL;
	return f;
}

/* When text cannot be written, or memory is short. */
static int redirect_pointers(const struct jf_mod *closed)
{
	const struct jf_mod *m;
	struct jf_func *f;
	int err = 0;
	size_t i;

	for (m = jf_mods; m; m = m->next)
		for (i = 0; i < m->num_ctls; i++) {
			f = leads_into(&m->ctls[i], closed);
			if (f && !jf_ent_store_only(&f->ent, (uintptr_t)f->init))
				err = -EOPNOTSUPP;
		}
	return err;
}

/* All dynamic functions that lead into it fall back. */
static int redirect(const struct jf_mod *closed)
{
	const struct jf_mod *m;
	struct jf_func *f;
	struct jf_batch b;
	size_t i;
	int err;

	jf_batch_init(&b);
	for (m = jf_mods; m; m = m->next)
		for (i = 0; i < m->num_ctls; i++) {
			f = leads_into(&m->ctls[i], closed);
			if (!f)
				continue;
			jf_say(true, "%s: leads into %s, which is closed: falls back",
			       f->ent.name, closed->name);
			jf_batch_add(&b, &f->ent, (uintptr_t)f->init);
		}
	err = jf_commit_locked(&b, true);
	jf_batch_drop(&b);
	if (err && err != -EIO)
		err = redirect_pointers(closed);
	if (err)
		jf_say(false, "%s is closed, but cannot be unlinked: %s", closed->name,
		       jf_error(-err));
	return err == -EIO ? 0 : err;
}

/*
 * The dynamic linker unmaps all of an object at once, which fails if one page is sealed.
 * The remapping writer could not replace pages of sealed text any more: it is left out.
 */
static long seal(const struct jf_mod *m)
{
	const long mseal = 462;
	size_t page = jf_page_size();
	uintptr_t start = m->start & ~(page - 1), end = (m->end + page - 1) & ~(page - 1);

	if (m->text >= start + page)
		end = start + page;
	else if (m->text_end <= end - page)
		start = end - page;
	return syscall(mseal, start, end - start, 0UL);
}

/*
 * A thread is in the object, or text leads there and cannot be written any more. The
 * last resort is to seal it, so that the linker cannot unmap it. Kernels before 6.10
 * cannot do that. @quiet: the linker may not be about to unmap it.
 */
static bool keep_mapped(const struct jf_mod *m, bool quiet)
{
	if (seal(m)) {
		jf_say(quiet, "%s cannot be kept: %s", m->name, jf_error(errno));
		return false;
	}
	jf_say(quiet, "%s stays in memory", m->name);
	return true;
}

static void unlink_proxies(struct jf_mod *m)
{
	struct jf_ctl *c;
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (ctl->real)
			unlink_proxy(ctl);
		/* Those that stand in for this one keep its last value. */
		for (c = ctl->proxies; c; c = c->next_proxy) {
			know_null(c->ent, NULL);
			/* Pairs with count_shared(), which is waited for after this. */
			__atomic_store_n(&c->real, NULL, __ATOMIC_RELEASE);
		}
	}
}

/*
 * dlclose() holds the lock of the dynamic linker. If nothing was replaced since all
 * sections were seen to be over, there is no thread to wait for. Else a probe may wait
 * for that lock, for dlsym() or what uses it. Both would wait for ever. So after some
 * time the object stays, if the kernel can do that. It stays at once where a probe
 * closes it, or a section: no thread can wait for itself, and the probe that comes next
 * in an image may be in the object. False: it stays.
 */
static bool wait_for_users(const struct jf_mod *m, uint64_t replacements, bool exits)
{
	uint64_t limit = exits ? JF_SOON_NS : JF_CLOSE_NS;
	bool left;

	if (jf_in_section() && !jf_quiesced(replacements) && keep_mapped(m, exits))
		return false;
	left = jf_callbacks_wait(m, limit);
	if ((left || exits) && (jf_quiesced(replacements) || jf_wait_readers_for(limit)))
		return true;
	/* It stays known: a thread in it finds sites that follow their keys. */
	if (keep_mapped(m, exits) || exits)
		return false;
	jf_callbacks_wait(m, UINT64_MAX);
	return jf_wait_readers_for(UINT64_MAX);
}

static void forget(struct jf_object *o)
{
	struct jf_mod *m = o->mod, **p;
	bool exits = jf_exits();
	uint64_t replacements;
	int err, fall_err;

	if (!m || m == &refused || m == &shared || m->program)
		return;
	if (!exits)
		jf_lock();
	else if (!jf_lock_soon())
		return;
	/* Each of its source files calls; one that waited in vain is enough. */
	if (o->mod != m || m->unloading) {
		jf_unlock();
		return;
	}
	m->unloading = true;
	err = jf_trace_object_unload(m);
	fall_err = redirect(m);
	replacements = jf_replacements();
	jf_unlock();
	if (err || fall_err) {
		keep_mapped(m, false);
		return;
	}
	/*
	 * A thread in a section may need the lock. The sites are still known: a
	 * thread that met an INT3 may be on its way to the handler.
	 */
	if (!wait_for_users(m, replacements, exits))
		return;
	jf_lock();
	unlink_proxies(m);
	for (p = &jf_mods; *p != m; p = &(*p)->next)
		;
	/* Pairs with jf_site_find(): those after it are as complete as before. */
	__atomic_store_n(p, m->next, __ATOMIC_RELEASE);
	jf_mods_version++;
	o->mod = NULL;
	count_mod(m, (uint64_t)-1);
	jf_unlock();
	jf_wait_handlers();
	jf_lock();
	if (exits) {
		m->next = closed_at_exit;
		closed_at_exit = m;
	} else {
		free_mod(m);
	}
	jf_unlock();
}

void __jf_object_unregister(struct jf_object *o)
{
	bool paused = jf_fork_pause();

	forget(o);
	jf_fork_resume(paused);
}
