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
 * Counters are under the mutex of kernel/probes/file.c, and the tables' contents under jf_mutex,
 * which nests inside. A module's counters go in its GOING, after jumpfunc has waited until no task
 * is in the module, and so in no probe that is called from there.
 */
#include "probes/probes.h"

#include "arch/image.h"
#include "update/commit.h"
#include "index/state.h"
#include "index/walk.h"
#include "parse/parse.h"
#include "tracepoint/tracepoint.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
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
 * @probe:  the probe: jf_probe_count(), or its caller
 * @on:     it is registered
 * @wanted: the wish of the present command
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

static DEFINE_HASHTABLE(jf_counters, 12);

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
 * struct jf_place - the four parts of the name of a site, and of its entity
 * @ctl:      the entity that is enabled and disabled
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

/* True for an entity that has such a name. */
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

/* The function that a site is in; "?" where no symbol says that. */
static const char *jf_function_name(const struct jf_names *names,
				    const struct jf_site *site)
{
	const struct jf_named_text *sym;

	lockdep_assert_held(&jf_mutex);
	sym = jf_names_find(names, site->mod->mod, site->addr);
	return sym ? sym->name : "?";
}

static bool jf_provider_fits(const struct jf_place *place,
			     const struct jf_pattern *p)
{
	static char buf[JF_NAME_LEN];

	/* Under jf_mutex. A longer one fits nothing but '*'. */
	lockdep_assert_held(&jf_mutex);
	if (place->len >= sizeof(buf))
		return !strcmp(p->provider, "*");
	snprintf(buf, sizeof(buf), "%.*s", place->len, place->provider);
	return jf_parse_fits(buf, p->provider);
}

static bool jf_site_fits(const struct jf_site *site, const struct jf_pattern *p,
			 const struct jf_names *names)
{
	return jf_parse_fits(site->mod->mod->name, p->module) &&
	       (!strcmp(p->function, "*") ||
		jf_parse_fits(jf_function_name(names, site), p->function));
}

/* True if one of its sites fits; without sites, if it fits itself. */
static bool jf_place_fits(const struct jf_place *place,
			  const struct jf_pattern *p, struct jf_walk *w)
{
	const struct jf_site *site;
	bool any = false;

	lockdep_assert_held(&jf_mutex);
	if (!jf_provider_fits(place, p) || !jf_parse_fits(place->name, p->name))
		return false;
	w->of = place->sites;
	while (w->of && (site = jf_walk_site(w))) {
		if (!jf_place_has(site))
			continue;
		any = true;
		if (jf_site_fits(site, p, w->names))
			return true;
	}
	return !w->lost && !any &&
	       jf_parse_fits(place->ctl->mod->mod->name, p->module) &&
	       jf_parse_fits("-", p->function);
}

/* --- requests of a command -------------------------------------------------- */

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
 * change to the present value would drop the reference that keeps its target's module, be refused
 * for a target that was vouched for, and undo a change that another updater makes before
 * the commit. So jf_mark() does not see a command that contradicts itself, and it is seen here.
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

/*
 * With jf_tp_mutex held: found places stay, and a walk after a lost one finds its places once
 * more, which changes nothing. Names are read without that lock: -ERESTART, if they are too old.
 */
int jf_places_find(const struct jf_pattern *p, struct jf_names *names,
		   struct list_head *changes, unsigned int *num)
{
	struct jf_walk w = { .names = names };
	struct jf_place place;
	struct jf_ctl *ctl;
	int err = 0;

	lockdep_assert_held(&jf_tp_mutex);
	do {
		jf_walk_begin(&w);
		while (!err && (ctl = jf_walk_ctl(&w))) {
			if (jf_mod_is_unloading(ctl->mod) ||
			    !jf_place_of(ctl, &place) ||
			    !jf_place_fits(&place, p, &w))
				continue;
			err = ctl->tp ? jf_ask_trace(ctl, p->on) :
					jf_ask_call(ctl, p->on, changes);
			*num += !err;
		}
		if (w.lost && names)
			err = err ?: -ERESTART;
	} while (jf_walk_again(&w) && !err);
	/* The walk of a killed task ends early. */
	if (!err && fatal_signal_pending(current))
		err = -EINTR;
	return err;
}

/* Without jf_mutex: code that is called by a pointer may have to be made. */
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
 * @module:   the module
 * @function: the function, as long as the table of names is there
 * @num:      how many sites
 */
struct jf_group {
	char		module[MODULE_NAME_LEN];
	const char	*function;
	unsigned int	num;
};

/**
 * struct jf_shown - a place that is shown; all of it copies, for it is done without a lock
 * @group:    its groups
 * @num:      how many
 * @max:      room for them
 * @provider: the first part of its name
 * @name:     the last one
 * @state:    on or off, and hits
 */
struct jf_shown {
	struct jf_group	*group;
	unsigned int	num, max;
	char		*provider, *name;
	char		state[32];
};

static int jf_group_cmp(const void *a, const void *b)
{
	const struct jf_group *x = a, *y = b;

	return strcmp(x->module, y->module) ?: strcmp(x->function, y->function);
}

static int jf_group_add(struct jf_shown *s, const struct jf_mod *m,
			const char *function, unsigned int num)
{
	struct jf_group *last = s->num ? &s->group[s->num - 1] : NULL;
	int err;

	/* Most sites of a function follow each other. */
	if (last && last->function == function && num &&
	    !strcmp(last->module, m->mod->name)) {
		last->num += num;
		return 0;
	}
	err = jf_grow((void **)&s->group, s->num, &s->max, sizeof(*s->group));
	if (err)
		return err;
	last = &s->group[s->num++];
	strscpy(last->module, m->mod->name, sizeof(last->module));
	last->function = function;
	last->num = num;
	return 0;
}

static int jf_groups_make(struct jf_shown *s, const struct jf_place *place,
			  struct jf_walk *w)
{
	const struct jf_site *site;
	int err = 0;

	w->of = place->sites;
	while (!err && w->of && (site = jf_walk_site(w)))
		if (jf_place_has(site))
			err = jf_group_add(s, site->mod,
					   jf_function_name(w->names, site), 1);
	if (!err && !s->num && !w->lost)
		err = jf_group_add(s, place->ctl->mod, "-", 0);
	return err;
}

/* Sites of one function need not follow each other. */
static void jf_groups_join(struct jf_shown *s)
{
	unsigned int i, num = 1;

	sort(s->group, s->num, sizeof(*s->group), jf_group_cmp, NULL);
	for (i = 1; i < s->num; i++) {
		if (jf_group_cmp(&s->group[num - 1], &s->group[i]))
			s->group[num++] = s->group[i];
		else
			s->group[num - 1].num += s->group[i].num;
	}
	s->num = num;
}

/* With the mutex of probes held, and jf_mutex. */
static int jf_place_copy(struct jf_shown *s, const struct jf_place *place)
{
	const struct jf_ctl *ctl = place->ctl;
	const struct jf_counter *c;

	s->provider = kstrndup(place->provider, place->len, GFP_KERNEL);
	s->name = kstrdup(place->name, GFP_KERNEL);
	if (!s->provider || !s->name)
		return -ENOMEM;
	if (ctl->tp) {
		c = jf_counter_find(ctl->tp);
		snprintf(s->state, sizeof(s->state), "%s %llu",
			 c && c->on ? "on" : "off", c ? jf_counter_read(c) : 0);
	} else {
		snprintf(s->state, sizeof(s->state), "%s -",
			 jf_ent_value(ctl->ent).func == jf_func_of(ctl->ent)->init ?
				 "off" : "on");
	}
	return 0;
}

static void jf_place_print(struct seq_file *m, const struct jf_shown *s)
{
	unsigned int i;

	for (i = 0; i < s->num && !seq_has_overflowed(m); i++)
		seq_printf(m, "%s:%s:%s:%s %s %u\n", s->provider,
			   s->group[i].module, s->group[i].function, s->name,
			   s->state, s->group[i].num);
}

static int jf_place_show(struct seq_file *m, struct jf_walk *w, void *arg)
{
	struct jf_shown s = { };
	bool last = jf_walk_is_last(w);
	struct jf_place place;
	int err;

	if (!jf_place_of(w->ctl, &place))
		return 0;
	err = jf_groups_make(&s, &place, w);
	if (!last) {
		/* The mutex of probes comes first. */
		jf_walk_leave(w);
		mutex_lock(&jf_probes_mutex);
		jf_walk_enter(w);
	}
	if (!err && !w->lost)
		err = jf_place_copy(&s, &place);
	if (!last) {
		jf_walk_leave(w);
		mutex_unlock(&jf_probes_mutex);
	}
	if (!err && s.name) {
		jf_groups_join(&s);
		jf_place_print(m, &s);
	}
	kfree(s.provider);
	kfree(s.name);
	kvfree(s.group);
	if (!last)
		jf_walk_enter(w);
	return err;
}

int jf_places_show(struct seq_file *m)
{
	return jf_walk_show(m, &jf_probes_mutex, jf_place_show, NULL);
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

	/* A module's memory can be read. */
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
