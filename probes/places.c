// SPDX-License-Identifier: GPL-2.0
/*
 * The providers of probes that stand in the tables of modules: tracepoints, and calls
 * of functions that do not exist (include/jumpfunc/calls.h).
 *
 * An enabled tracepoint has a probe of ours, which counts. A call is a dynamic function
 * whose name has a colon, and enabled it leads to the first target that its module
 * lists.
 *
 * A tracepoint's structure is in no table. Its symbol says where it is, and it is only
 * believed to be there if it belongs to that module, as does the dynamic function that
 * it names.
 *
 * Counters are under the mutex of probes/file.c, and what is in tables under jf_mutex,
 * which nests inside. A module's counters go in its GOING, after jumpfunc has waited
 * until no task is in the module, and so in no probe that is called from there.
 */
#include "probes/probes.h"

#include "arch/image.h"
#include "core/commit.h"
#include "index/state.h"
#include "parse/parse.h"
#include "tracepoint/tracepoint.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

/**
 * struct jf_counter - of a tracepoint that was enabled here
 * @hash:   by @tp
 * @tp:     the tracepoint
 * @mod:    its module
 * @hits:   how often its probe ran, per CPU
 * @probe:  the probe: jf_probe_count(), or what calls that
 * @on:     it is registered
 * @wanted: what the command that is being carried out wants
 * @asked:  there is such a command
 */
struct jf_counter {
	struct hlist_node	hash;
	struct jf_tracepoint	*tp;
	const struct module	*mod;
	u64 __percpu		*hits;
	void			*probe;
	bool			on, wanted, asked;
};

static DEFINE_HASHTABLE(jf_counters, 10);

/* Any tracepoint's arguments follow the data; it takes none. */
static void jf_probe_count(void *data)
{
	const struct jf_counter *c = data;

	this_cpu_inc(*c->hits);
}

/* --- counters -------------------------------------------------------------- */

static struct jf_counter *jf_counter_find(const struct jf_tracepoint *tp)
{
	struct jf_counter *c;

	hash_for_each_possible(jf_counters, c, hash, (unsigned long)tp)
		if (c->tp == tp)
			return c;
	return NULL;
}

static struct jf_counter *jf_counter_get(struct jf_tracepoint *tp)
{
	struct jf_counter *c = jf_counter_find(tp);

	if (c)
		return c;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return NULL;
	c->hits = alloc_percpu(u64);
	if (!c->hits) {
		kfree(c);
		return NULL;
	}
	c->tp = tp;
	c->mod = tp->owner;
	hash_add(jf_counters, &c->hash, (unsigned long)tp);
	return c;
}

static u64 jf_counter_read(const struct jf_counter *c)
{
	unsigned int cpu;
	u64 hits = 0;

	for_each_possible_cpu(cpu)
		hits += READ_ONCE(*per_cpu_ptr(c->hits, cpu));
	return hits;
}

/* --- names ----------------------------------------------------------------- */

/**
 * struct jf_place - the four parts of the name of a site, and of what it belongs to
 * @ctl:      what is enabled and disabled
 * @sites:    of that, or of the branch of a tracepoint; NULL: no such entity
 * @provider: the first part, of @len characters
 * @len:      its length
 * @name:     the last part
 */
struct jf_place {
	const struct jf_ctl	*ctl, *sites;
	const char		*provider;
	int			len;
	const char		*name;
};

/* Is it something that has such a name? */
static bool jf_place_of(const struct jf_ctl *ctl, struct jf_place *p)
{
	const char *colon;

	p->ctl = ctl;
	if (ctl->ent->type != JF_ENT_FUNC)
		return false;
	if (ctl->ent->flags & JF_ENT_TRACE) {
		if (!ctl->tp)
			return false;
		p->sites = jf_ctl_find(&ctl->tp->key->ent);
		p->provider = "trace";
		p->len = strlen(p->provider);
		p->name = ctl->tp->name;
		return true;
	}
	colon = strchr(ctl->ent->name, ':');
	if (!colon)
		return false;
	p->sites = ctl;
	p->provider = ctl->ent->name;
	p->len = colon - ctl->ent->name;
	p->name = colon + 1;
	/* These are taken. */
	return strncmp(p->provider, "trace:", 6) &&
	       strncmp(p->provider, "ftrace:", 7);
}

static bool jf_place_has(const struct jf_site *site)
{
	return !(site->flags & JF_SITE_TRAMP);
}

/**
 * struct jf_names - the functions of one module, for as long as jf_mutex is held
 * @mod:  the module; NULL: none yet
 * @text: they, sorted by address; NULL: there was no memory
 * @num:  how many
 *
 * The kernel searches a module's symbols one by one for each address that is to get a
 * name. A module with thousands of sites has ten times as many symbols.
 */
struct jf_names {
	const struct module	*mod;
	struct jf_named_text	*text;
	unsigned int		num;
};

/* No two of them overlap, but several symbols may stand for one function. */
static int jf_named_cmp(const void *a, const void *b)
{
	const struct jf_named_text *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return 0;
}

static void jf_names_of(struct jf_names *n, const struct module *mod)
{
	if (n->mod == mod)
		return;
	kvfree(n->text);
	n->mod = mod;
	n->text = jf_named_text(mod, &n->num);
	if (IS_ERR(n->text)) {
		n->text = NULL;
		n->num = 0;
	}
	if (n->num)
		sort(n->text, n->num, sizeof(*n->text), jf_named_cmp, NULL);
}

static void jf_names_free(struct jf_names *n)
{
	kvfree(n->text);
}

/* The function that a site is in. */
static const char *jf_function_name(struct jf_names *n, const struct jf_site *site)
{
	static char buf[KSYM_SYMBOL_LEN];
	unsigned int lo = 0, hi;

	lockdep_assert_held(&jf_mutex);
	jf_names_of(n, site->mod->mod);
	/* The last one that does not begin after it. */
	hi = n->num;
	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (n->text[mid].addr <= site->addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && site->addr - n->text[lo - 1].addr < n->text[lo - 1].size)
		return n->text[lo - 1].name;
	snprintf(buf, sizeof(buf), "%ps", (void *)site->addr);
	/* " [module]" */
	buf[strcspn(buf, " ")] = '\0';
	return buf;
}

static bool jf_provider_fits(const struct jf_place *place,
			     const struct jf_pattern *p)
{
	static char buf[JF_NAME_LEN];

	/* Under jf_mutex. A longer one fits nothing but '*'. */
	lockdep_assert_held(&jf_mutex);
	snprintf(buf, sizeof(buf), "%.*s", place->len, place->provider);
	return jf_parse_fits(buf, p->provider);
}

/* Does one of its sites fit, or it itself where there is none? */
static bool jf_place_fits(const struct jf_place *place,
			  const struct jf_pattern *p, struct jf_names *names)
{
	const struct jf_site *site;
	bool any = false;

	lockdep_assert_held(&jf_mutex);
	if (!jf_provider_fits(place, p) || !jf_parse_fits(place->name, p->name))
		return false;
	if (place->sites) {
		list_for_each_entry(site, &place->sites->sites, list) {
			if (!jf_place_has(site))
				continue;
			any = true;
			if (jf_parse_fits(site->mod->mod->name, p->module) &&
			    (!strcmp(p->function, "*") ||
			     jf_parse_fits(jf_function_name(names, site),
					   p->function)))
				return true;
		}
	}
	return !any && jf_parse_fits(place->ctl->mod->mod->name, p->module) &&
	       jf_parse_fits("-", p->function);
}

/* --- what a command asks for ------------------------------------------------ */

static int jf_ask_trace(const struct jf_ctl *ctl, bool on)
{
	struct jf_counter *c = jf_counter_get(ctl->tp);

	if (!c)
		return -ENOMEM;
	if (c->asked && c->wanted != on) {
		pr_warn_ratelimited("probes: %s is to be enabled and disabled\n",
				    c->tp->name);
		return -EINVAL;
	}
	c->asked = true;
	c->wanted = on;
	return 0;
}

/* The number of the command that is being carried out. */
static u64 jf_command_seq = 1;

/*
 * A call that is on stays as it is when a command wants it on: there is no change, for a
 * change to the present value would drop the reference that keeps its target's module, be
 * refused for what was vouched for, and undo what another updater does before the commit.
 * So jf_mark() does not see a command that contradicts itself, and it is seen here.
 */
static int jf_ask_call(struct jf_ctl *ctl, bool on, struct list_head *changes)
{
	union jf_value v = { .func = jf_func_of(ctl->ent)->init };

	if (ctl->asked == jf_command_seq && ctl->wanted != on) {
		pr_warn_ratelimited("probes: %s is to be enabled and disabled\n",
				    ctl->ent->name);
		return -EINVAL;
	}
	ctl->asked = jf_command_seq;
	ctl->wanted = on;
	if (on) {
		/* It may lead to another target already. */
		if (jf_ent_value(ctl->ent).func != v.func)
			return 0;
		v.func = jf_first_target(ctl);
		if (!v.func) {
			pr_warn_ratelimited("probes: %s has no target that its owner allows\n",
					    ctl->ent->name);
			return -EPERM;
		}
	}
	return jf_add_change(changes, ctl->ent, v, false);
}

int jf_places_find(const struct jf_pattern *p, struct list_head *changes,
		   unsigned int *num)
{
	struct jf_names names = { };
	const struct jf_mod *m;
	unsigned int i;
	int err = 0;

	jf_lock();
	list_for_each_entry(m, &jf_modules, list) {
		if (jf_mod_is_unloading(m))
			continue;
		for (i = 0; !err && i < m->num_ctls; i++) {
			struct jf_ctl *ctl = &m->ctls[i];
			struct jf_place place;

			if (!jf_place_of(ctl, &place) ||
			    !jf_place_fits(&place, p, &names))
				continue;
			err = ctl->tp ? jf_ask_trace(ctl, p->on) :
					jf_ask_call(ctl, p->on, changes);
			*num += !err;
		}
	}
	jf_names_free(&names);
	jf_unlock();
	return err;
}

/* Without jf_mutex: what is called by a pointer may have to be made. */
static int jf_place_probe(struct jf_counter *c, struct list_head *probes)
{
	struct jf_probe_change *change;
	int err;

	if (!c->probe) {
		err = jf_arch_typed(jf_probe_count, c->tp->iter, &c->probe);
		if (err) {
			pr_warn_ratelimited("probes: %s cannot be counted: its probes have a type that is not known (%d)\n",
					    c->tp->name, err);
			c->probe = NULL;
			return err;
		}
	}
	change = kzalloc(sizeof(*change), GFP_KERNEL);
	if (!change)
		return -ENOMEM;
	change->tp = c->tp;
	change->probe.func = c->probe;
	change->probe.data = c;
	change->probe.prio = JF_TRACE_PRIO_DEFAULT;
	change->add = c->wanted;
	list_add_tail(&change->list, probes);
	return 0;
}

int jf_places_probes(struct list_head *probes)
{
	struct jf_counter *c;
	unsigned int i;
	int err = 0;

	hash_for_each(jf_counters, i, c, hash)
		if (!err && c->asked && c->on != c->wanted)
			err = jf_place_probe(c, probes);
	return err;
}

void jf_places_done(bool committed)
{
	struct jf_counter *c;
	unsigned int i;

	hash_for_each(jf_counters, i, c, hash) {
		if (committed && c->asked)
			c->on = c->wanted;
		c->asked = false;
	}
	jf_command_seq++;
}

/* --- showing it -------------------------------------------------------------- */

/**
 * struct jf_group - sites of one function
 * @list: of all groups of an entity
 * @num:  how many sites
 * @name: module:function
 */
struct jf_group {
	struct list_head	list;
	unsigned int		num;
	char			name[];
};

static int jf_group_add(struct list_head *groups, const char *module,
			const char *function, unsigned int num)
{
	static char name[MODULE_NAME_LEN + 1 + KSYM_SYMBOL_LEN];
	struct jf_group *g;
	size_t len;

	lockdep_assert_held(&jf_mutex);
	len = snprintf(name, sizeof(name), "%s:%s", module, function) + 1;
	list_for_each_entry(g, groups, list) {
		if (!strcmp(g->name, name)) {
			g->num += num;
			return 0;
		}
	}
	g = kmalloc(struct_size(g, name, len), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->num = num;
	memcpy(g->name, name, len);
	list_add_tail(&g->list, groups);
	return 0;
}

static int jf_groups_make(const struct jf_place *place, struct list_head *groups,
			  struct jf_names *names)
{
	const struct jf_site *site;
	int err = 0;

	if (place->sites)
		list_for_each_entry(site, &place->sites->sites, list)
			if (!err && jf_place_has(site))
				err = jf_group_add(groups, site->mod->mod->name,
						   jf_function_name(names, site),
						   1);
	if (!err && list_empty(groups))
		err = jf_group_add(groups, place->ctl->mod->mod->name, "-", 0);
	return err;
}

static void jf_place_state(struct seq_file *m, const struct jf_ctl *ctl)
{
	const struct jf_counter *c;

	if (ctl->tp) {
		c = jf_counter_find(ctl->tp);
		seq_printf(m, " %s %llu", c && c->on ? "on" : "off",
			   c ? jf_counter_read(c) : 0);
	} else {
		seq_printf(m, " %s -", jf_ent_value(ctl->ent).func ==
				       jf_func_of(ctl->ent)->init ? "off" : "on");
	}
}

static int jf_place_show(struct seq_file *m, const struct jf_place *place,
			 struct jf_names *names)
{
	struct jf_group *g, *tmp;
	LIST_HEAD(groups);
	int err;

	err = jf_groups_make(place, &groups, names);
	list_for_each_entry_safe(g, tmp, &groups, list) {
		seq_printf(m, "%.*s:%s:%s", place->len, place->provider, g->name,
			   place->name);
		jf_place_state(m, place->ctl);
		seq_printf(m, " %u\n", g->num);
		kfree(g);
	}
	return err;
}

int jf_places_show(struct seq_file *m)
{
	struct jf_names names = { };
	const struct jf_mod *mod;
	struct jf_place place;
	unsigned int i;
	int err = 0;

	jf_lock();
	list_for_each_entry(mod, &jf_modules, list)
		/* What no longer fits is shown anew, in a larger buffer. */
		for (i = 0; !err && i < mod->num_ctls && !seq_has_overflowed(m); i++)
			if (jf_place_of(&mod->ctls[i], &place))
				err = jf_place_show(m, &place, &names);
	jf_names_free(&names);
	jf_unlock();
	return err;
}

/* --- modules ----------------------------------------------------------------- */

static bool jf_is_string(const struct module *mod, const char *s)
{
	while (within_module((unsigned long)s, mod)) {
		if (!*s++)
			return true;
	}
	return false;
}

static int jf_place_symbol(void *arg, unsigned long addr, unsigned long size,
			   const char *name)
{
	struct jf_tracepoint *tp = (struct jf_tracepoint *)addr;
	const struct module *mod = arg;
	struct jf_ctl *ctl;

	/* What is in a module's memory can be read. */
	if (!strstarts(name, "__jf_trace_") || size != sizeof(*tp) ||
	    !IS_ALIGNED(addr, __alignof__(*tp)) || !within_module(addr, mod) ||
	    !within_module(addr + size - 1, mod) || tp->owner != mod ||
	    !jf_is_string(mod, tp->name))
		return 0;
	/* It has tables, so its entities are found by their addresses alone. */
	ctl = jf_ctl_find(&tp->call->ent);
	if (ctl && ctl->mod->mod == mod && ctl->ent->flags & JF_ENT_TRACE &&
	    jf_ctl_find(&tp->key->ent))
		ctl->tp = tp;
	return 0;
}

void jf_places_load(const struct module *mod)
{
	const struct jf_mod *m;

	jf_lock();
	m = jf_mod_find(mod);
	/* Not in a read section of RCU: the table stays while it is loaded. */
	if (m && m->num_ctls)
		jf_each_symbol(mod, 0, ULONG_MAX, jf_place_symbol, (void *)mod);
	jf_unlock();
}

void jf_places_unload(const struct module *mod)
{
	struct jf_counter *c;
	struct hlist_node *tmp;
	unsigned int i;

	hash_for_each_safe(jf_counters, i, tmp, c, hash) {
		if (mod && c->mod != mod)
			continue;
		hash_del(&c->hash);
		free_percpu(c->hits);
		kfree(c);
	}
}
