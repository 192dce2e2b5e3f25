// SPDX-License-Identifier: GPL-2.0
/*
 * Look-up of entities, modules and sites. kernel/consumers/tables.c enters them; this file
 * calls no other room.
 *
 * The INT3 handler searches the site map, an array sorted by address. Loading a
 * module replaces the whole map, so that readers need no lock. Removing sites
 * blanks their entries in place, so that unloading never needs memory:
 *
 *   writer				    INT3 handler
 *   fill new map			    map = smp_load_acquire(&jf_map)
 *   smp_store_release(&jf_map, new)	    search, read entry->site
 *   synchronize_rcu(); free old map	    (runs with interrupts off: a reader)
 *
 * No INT3 stands in text before its site is in the map: a module's sites are
 * mapped before its text is first written, and unmapped when no transaction can
 * be running, because that needs jf_mutex.
 */
#include "index/index.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

struct jf_map {
	unsigned int	num;
	struct jf_map_entry {
		unsigned long	addr;
		struct jf_site	*site;
	} entry[];
};

LIST_HEAD(jf_modules);
u64 jf_index_dels;

static DEFINE_HASHTABLE(jf_ctls, 12);
/* Those with a trampoline, by its address: searched for each new target. */
static DEFINE_HASHTABLE(jf_tramps, 12);
/* Dynamic functions by their names. */
static DEFINE_HASHTABLE(jf_ctl_names, 12);
/* Dynamic functions by their targets, except those that stand for NULL. */
static DEFINE_HASHTABLE(jf_ctl_values, 12);
static struct jf_map *jf_map;

/* --- look-ups ---------------------------------------------------------- */

/* The number of the first entry at @addr or after it. */
static notrace unsigned int jf_map_bound(const struct jf_map *map,
					 unsigned long addr)
{
	unsigned int lo = 0, hi = map ? map->num : 0;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (map->entry[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
NOKPROBE_SYMBOL(jf_map_bound);

static notrace struct jf_map_entry *jf_map_search(struct jf_map *map,
						  unsigned long addr)
{
	unsigned int n = jf_map_bound(map, addr);

	return map && n < map->num && map->entry[n].addr == addr ?
		       &map->entry[n] : NULL;
}
NOKPROBE_SYMBOL(jf_map_search);

notrace struct jf_site *jf_site_find(unsigned long addr)
{
	/* Pairs with smp_store_release() in jf_index_add_sites(). */
	struct jf_map_entry *e = jf_map_search(smp_load_acquire(&jf_map), addr);

	return e ? READ_ONCE(e->site) : NULL;
}
NOKPROBE_SYMBOL(jf_site_find);

struct jf_site *jf_site_next(unsigned long addr, unsigned long end)
{
	unsigned int n;

	lockdep_assert_held(&jf_mutex);
	for (n = jf_map_bound(jf_map, addr);
	     jf_map && n < jf_map->num && jf_map->entry[n].addr < end; n++)
		if (jf_map->entry[n].site)
			return jf_map->entry[n].site;
	return NULL;
}

struct jf_ctl *jf_ctl_find(const struct jf_ent *ent)
{
	struct jf_ctl *ctl;

	lockdep_assert_held(&jf_mutex);
	hash_for_each_possible(jf_ctls, ctl, hash, (unsigned long)ent)
		if (ctl->ent == ent)
			return ctl;
	return NULL;
}

struct jf_mod *jf_mod_by_addr(unsigned long addr)
{
	struct jf_mod *m;

	lockdep_assert_held(&jf_mutex);
	/*
	 * When a module's init is over, the kernel forgets its init sections,
	 * field by field and without our lock. No caller may use an address in
	 * them any more, so a look-up that races with it may get either answer.
	 */
	list_for_each_entry(m, &jf_modules, list)
		if (data_race(within_module(addr, m->mod)))
			return m;
	return NULL;
}

bool jf_module_text_at(const struct module *mod, unsigned long addr,
		       unsigned long *start, unsigned long *end)
{
	unsigned int i;

	/* As in jf_mod_by_addr(). */
	for (i = 0; data_race(jf_module_text(mod, i, start, end)); i++)
		if (addr >= *start && addr < *end)
			return true;
	return false;
}

/*
 * The module @name, of which @addr is text, with a reference on its object, which keeps
 * the module: free_module() waits for it. NULL: there is no such module.
 */
static struct module *jf_module_get(const char *name, unsigned long addr,
				    unsigned long *start, unsigned long *end)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct kobject *kobj;
	struct module *mod;

	kobj = modules ? kset_find_obj(modules, name) : NULL;
	if (!kobj)
		return NULL;
	mod = container_of(kobj, struct module_kobject, kobj)->mod;
	if (mod && jf_module_text_at(mod, addr, start, end))
		return mod;
	kobject_put(kobj);
	return NULL;
}

bool jf_find_module_text(const char *name, unsigned long addr, bool live,
			 unsigned long *start, unsigned long *end)
{
	struct module *mod = jf_module_get(name, addr, start, end);
	bool found = mod && (!live || READ_ONCE(mod->state) == MODULE_STATE_LIVE);

	if (mod)
		kobject_put(&mod->mkobj.kobj);
	return found;
}

#ifdef CONFIG_KALLSYMS
/* As the kernel's look-up, which leaves out labels that assemblers make for themselves. */
static bool jf_is_symbol(const char *name)
{
	return *name && *name != '$' && !strstarts(name, ".L");
}

int jf_each_symbol(const struct module *mod, unsigned long start,
		   unsigned long end, jf_symbol_fn fn, void *arg)
{
	const struct mod_kallsyms *k = rcu_dereference_raw(mod->kallsyms);
	unsigned int i;
	int err = 0;

	for (i = 0; k && !err && i < k->num_symtab; i++) {
		const typeof(*k->symtab) *sym = &k->symtab[i];

		if (sym->st_value >= start && sym->st_value < end &&
		    jf_is_symbol(k->strtab + sym->st_name))
			err = fn(arg, sym->st_value, sym->st_size,
				 k->strtab + sym->st_name);
	}
	return err;
}
#else
int jf_each_symbol(const struct module *mod, unsigned long start,
		   unsigned long end, jf_symbol_fn fn, void *arg)
{
	return 0;
}
#endif

bool jf_module_symbols(const char *name, unsigned long addr, bool *stays,
		       jf_symbol_fn fn, void *arg)
{
	unsigned long start, end;
	struct module *mod = jf_module_get(name, addr, &start, &end);

	*stays = mod && READ_ONCE(mod->state) != MODULE_STATE_GOING;
	if (!mod)
		return false;
	rcu_read_lock();
	jf_each_symbol(mod, start, end, fn, arg);
	rcu_read_unlock();
	kobject_put(&mod->mkobj.kobj);
	return true;
}

/* A module of which @addr is text, with a reference on its object; NULL: none. */
static struct module *jf_module_get_at(unsigned long addr,
				       unsigned long *start, unsigned long *end)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct module *mod, *found = NULL;
	struct kobject *k;

	if (!modules)
		return NULL;
	spin_lock(&modules->list_lock);
	list_for_each_entry(k, &modules->list, entry) {
		/* Those that are part of the kernel have none. */
		mod = container_of(k, struct module_kobject, kobj)->mod;
		if (mod && jf_module_text_at(mod, addr, start, end) &&
		    kobject_get_unless_zero(k)) {
			found = mod;
			break;
		}
	}
	spin_unlock(&modules->list_lock);
	return found;
}

int jf_symbol_count(void *arg, unsigned long addr, unsigned long size,
		    const char *name)
{
	unsigned int *num = arg;

	++*num;
	return 0;
}

/* One without a size, a label of assembly, says nothing. */
static int jf_symbol_span(void *arg, unsigned long addr, unsigned long size,
			  const char *name)
{
	struct jf_spans *s = arg;

	if (!size || s->num == s->max)
		return 0;
	s->span[s->num].start = addr;
	s->span[s->num++].end = addr + size;
	return 0;
}

/*
 * The functions of @mod in this text, by its symbols. When its init is done the
 * module gets another table, with fewer symbols, and the first one is freed after a
 * grace period.
 */
static int jf_add_named_text(struct jf_spans *s, const struct module *mod,
			     unsigned long start, unsigned long end)
{
	unsigned int max = 0;

	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_count, &max);
	rcu_read_unlock();
	if (!max)
		return 0;
	s->span = kvcalloc(max, sizeof(*s->span), GFP_KERNEL);
	if (!s->span)
		return -ENOMEM;
	s->max = max;
	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_span, s);
	rcu_read_unlock();
	jf_spans_sort(s);
	return 0;
}

int jf_add_unnamed_text(struct jf_spans *s, unsigned long addr)
{
	unsigned long start, end, next;
	struct jf_spans named = { };
	struct module *mod;
	unsigned int i;
	int err;

	mod = jf_module_get_at(addr, &start, &end);
	if (!mod)
		return 0;
	err = jf_add_named_text(&named, mod, start, end);
	for (i = 0; !err && i < named.num; i++) {
		next = named.span[i].start;
		if (start < next)
			err = jf_spans_add(s, start, next);
		start = max(start, named.span[i].end);
	}
	if (!err)
		err = jf_spans_add(s, start, end);
	jf_spans_free(&named);
	kobject_put(&mod->mkobj.kobj);
	return err;
}

/* --- all modules and their text ------------------------------------------ */

struct module **jf_modules_get(bool (*fits)(const char *name, void *arg),
			       void *arg)
{
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct module **mods, *mod;
	unsigned int n = 0, max = 0;
	struct kobject *k;

	if (modules) {
		spin_lock(&modules->list_lock);
		list_for_each_entry(k, &modules->list, entry)
			max++;
		spin_unlock(&modules->list_lock);
	}
	/* A module that is loaded in between can find no room: the caller did not ask for it. */
	mods = kvcalloc(max + 1, sizeof(*mods), GFP_KERNEL);
	if (!mods)
		return ERR_PTR(-ENOMEM);
	if (!max)
		return mods;
	spin_lock(&modules->list_lock);
	list_for_each_entry(k, &modules->list, entry) {
		/* Those that are part of the kernel have none. */
		mod = container_of(k, struct module_kobject, kobj)->mod;
		if (n < max && mod &&
		    READ_ONCE(mod->state) == MODULE_STATE_LIVE &&
		    fits(mod->name, arg) && kobject_get_unless_zero(k))
			mods[n++] = mod;
	}
	spin_unlock(&modules->list_lock);
	return mods;
}

void jf_modules_put(struct module **mods)
{
	unsigned int i;

	for (i = 0; mods[i]; i++)
		kobject_put(&mods[i]->mkobj.kobj);
	kvfree(mods);
}

/**
 * struct jf_copy - symbols that are being copied
 * @num:   how many there are
 * @bytes: so long are their names
 * @max:   there is room for so many
 * @text:  they; NULL: they are counted
 * @names: room for the next name
 * @end:   the end of that room
 */
struct jf_copy {
	unsigned int		num, max;
	size_t			bytes;
	struct jf_named_text	*text;
	char			*names, *end;
};

static int jf_symbol_copy(void *arg, unsigned long addr, unsigned long size,
			  const char *name)
{
	struct jf_copy *c = arg;
	size_t len = strlen(name) + 1;

	if (c->text) {
		/* The table has changed since it was counted: see below. */
		if (c->num == c->max || len > c->end - c->names)
			return -ENOSPC;
		c->text[c->num].addr = addr;
		c->text[c->num].size = size;
		c->text[c->num].name = memcpy(c->names, name, len);
		c->names += len;
	}
	c->num++;
	c->bytes += len;
	return 0;
}

struct jf_named_text *jf_named_text(const struct module *mod, unsigned int *num)
{
	struct jf_copy c = { };
	unsigned long start = 0, end = 0;
	size_t text;

	*num = 0;
	/* The rest of it when its init is done. */
	jf_module_text(mod, 0, &start, &end);
	/* As in jf_add_named_text(), the second table has no more than the first. */
	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_copy, &c);
	rcu_read_unlock();
	text = c.num * sizeof(*c.text);
	c.text = kvmalloc(text + c.bytes + 1, GFP_KERNEL);
	if (!c.text)
		return ERR_PTR(-ENOMEM);
	c.names = (char *)c.text + text;
	c.end = c.names + c.bytes;
	c.max = c.num;
	c.num = 0;
	rcu_read_lock();
	jf_each_symbol(mod, start, end, jf_symbol_copy, &c);
	rcu_read_unlock();
	*num = c.num;
	return c.text;
}

struct jf_ctl *jf_ctl_by_tramp(unsigned long addr)
{
	struct jf_ctl *ctl;

	lockdep_assert_held(&jf_mutex);
	hash_for_each_possible(jf_tramps, ctl, hash_tramp, addr)
		if (ctl->tramp == addr)
			return ctl;
	return NULL;
}

void jf_mark_passed(unsigned long addr)
{
	struct jf_ctl *ctl = jf_ctl_by_tramp(addr);

	if (ctl)
		ctl->passed = true;
}

struct jf_ctl *jf_ctl_by_name(const char *module, const char *name,
			      unsigned int rank, enum jf_ent_type type)
{
	struct jf_ctl *found = NULL;
	struct jf_mod *m;
	unsigned int i;

	lockdep_assert_held(&jf_mutex);
	list_for_each_entry(m, &jf_modules, list) {
		if (module && strcmp(m->mod->name, module))
			continue;
		for (i = 0; i < m->num_ctls; i++) {
			struct jf_ctl *ctl = &m->ctls[i];

			if (ctl->ent->type != type ||
			    (rank && ctl->rank != rank) ||
			    strcmp(ctl->ent->name, name))
				continue;
			if (found)
				return ERR_PTR(-EINVAL);
			found = ctl;
		}
	}
	return found ?: ERR_PTR(-ENOENT);
}

void *jf_allowed_target(const struct jf_ctl *ctl, const char *target)
{
	struct jf_mod *m;
	unsigned int i, j;

	lockdep_assert_held(&jf_mutex);
	list_for_each_entry(m, &jf_modules, list) {
		for (i = 0; i < m->num_targets; i++) {
			const struct jf_target_rec *rec = m->targets[i];

			if (rec->ent != ctl->ent)
				continue;
			for (j = 0; j < rec->num; j++)
				if (!strcmp(rec->targets[j].name, target))
					return rec->targets[j].func;
		}
	}
	return NULL;
}

void *jf_first_target(const struct jf_ctl *ctl)
{
	struct jf_mod *m;
	unsigned int i;

	lockdep_assert_held(&jf_mutex);
	list_for_each_entry(m, &jf_modules, list)
		/*
		 * One that is being unloaded may be cut off already, and forgotten before
		 * the commit. One that is marked later is cut off after that: see
		 * jf_trace_commit_found().
		 */
		for (i = 0; !jf_mod_is_unloading(m) && i < m->num_targets; i++)
			if (m->targets[i]->ent == ctl->ent && m->targets[i]->num)
				return m->targets[i]->targets[0].func;
	return NULL;
}

struct jf_mod *jf_mod_find(const struct module *mod)
{
	struct jf_mod *m;

	lockdep_assert_held(&jf_mutex);
	list_for_each_entry(m, &jf_modules, list)
		if (m->mod == mod)
			return m;
	return NULL;
}

bool jf_site_is_near(const struct jf_site *site, unsigned long addr)
{
	return within_module(addr, site->mod->mod);
}

/* --- the site map ------------------------------------------------------ */

/*
 * The sites of @old that are left, and those of @m, in order: how many. Only those of @m have to be
 * sorted: the map can have many more, and jf_mutex is held.
 */
static unsigned int jf_map_merge(struct jf_map *map, const struct jf_map *old,
				 const struct jf_mod *m)
{
	unsigned int i = 0, j, n = 0, num = old ? old->num : 0;
	/* At the end: the merge does not overtake it. */
	struct jf_map_entry *new = map->entry + num;

	for (j = 0; j < m->num_sites; j++) {
		new[j].addr = m->sites[j].addr;
		new[j].site = &m->sites[j];
	}
	sort(new, m->num_sites, sizeof(*new), jf_addr_cmp, NULL);
	for (j = 0; i < num || j < m->num_sites;) {
		if (j < m->num_sites &&
		    (i == num || new[j].addr <= old->entry[i].addr))
			map->entry[n++] = new[j++];
		else if (old->entry[i++].site)
			map->entry[n++] = old->entry[i - 1];
	}
	return n;
}

int jf_index_add_sites(const struct jf_mod *m)
{
	struct jf_map *old = jf_map, *map;
	unsigned int i, n, max = m->num_sites + (old ? old->num : 0);

	lockdep_assert_held(&jf_mutex);
	if (!m->num_sites)
		return 0;
	map = kvmalloc(struct_size(map, entry, max), GFP_KERNEL);
	if (!map)
		return -ENOMEM;

	n = jf_map_merge(map, old, m);
	map->num = n;
	for (i = 1; i < n; i++) {
		if (map->entry[i].addr - map->entry[i - 1].addr <
		    JF_ARCH_SITE_SIZE) {
			pr_err("%s: two sites overlap at %pS\n", m->mod->name,
			       (void *)map->entry[i].addr);
			kvfree(map);
			return -EINVAL;
		}
	}

	/* Pairs with smp_load_acquire() in jf_site_find(). */
	smp_store_release(&jf_map, map);
	synchronize_rcu();
	kvfree(old);
	return 0;
}

void jf_index_exit(void)
{
	kvfree(jf_map);
	jf_map = NULL;
}

void jf_index_del_site(const struct jf_site *site)
{
	struct jf_map_entry *e = jf_map_search(jf_map, site->addr);

	lockdep_assert_held(&jf_mutex);
	jf_index_dels++;
	if (e && e->site == site)
		WRITE_ONCE(e->site, NULL);
}

/* --- entities ----------------------------------------------------------- */

/* Those that are local to the files of one module can have the same name. */
static void jf_index_add_name(struct jf_ctl *ctl)
{
	const char *name = ctl->ent->name;
	u32 hash = jhash(name, strlen(name), 0);
	struct jf_ctl *other;
	unsigned int last = 0;

	hash_for_each_possible(jf_ctl_names, other, hash_name, hash) {
		if (other->mod != ctl->mod || strcmp(other->ent->name, name))
			continue;
		other->rank = max(other->rank, 1U);
		last = max(last, other->rank);
	}
	ctl->rank = last ? last + 1 : 0;
	hash_add(jf_ctl_names, &ctl->hash_name, hash);
}

static void jf_index_add_value(struct jf_ctl *ctl)
{
	void *func = jf_func_of(ctl->ent)->func;

	/* Thousands have these targets, and no search asks for them. */
	if (func != (void *)jf_nop && func != (void *)jf_ret0)
		hash_add(jf_ctl_values, &ctl->hash_value, (unsigned long)func);
}

void jf_index_set_func(struct jf_ctl *ctl, void *func)
{
	lockdep_assert_held(&jf_mutex);
	hash_del(&ctl->hash_value);
	WRITE_ONCE(jf_func_of(ctl->ent)->func, func);
	jf_index_add_value(ctl);
}

bool jf_index_leads_to(unsigned long func)
{
	struct jf_ctl *ctl;

	lockdep_assert_held(&jf_mutex);
	hash_for_each_possible(jf_ctl_values, ctl, hash_value, func)
		if ((unsigned long)jf_func_of(ctl->ent)->func == func)
			return true;
	return false;
}

void jf_index_add_ctl(struct jf_ctl *ctl)
{
	lockdep_assert_held(&jf_mutex);
	if (ctl->ent->type == JF_ENT_FUNC) {
		jf_index_add_name(ctl);
		jf_index_add_value(ctl);
	}
	hash_add(jf_ctls, &ctl->hash, (unsigned long)ctl->ent);
	if (ctl->tramp)
		hash_add(jf_tramps, &ctl->hash_tramp, ctl->tramp);
}

void jf_index_del_ctl(struct jf_ctl *ctl)
{
	lockdep_assert_held(&jf_mutex);
	jf_index_dels++;
	hash_del(&ctl->hash);
	/* Does nothing for those that are not in it. */
	hash_del(&ctl->hash_tramp);
	hash_del(&ctl->hash_name);
	hash_del(&ctl->hash_value);
}
