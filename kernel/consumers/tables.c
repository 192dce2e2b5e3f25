// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a module: finding, reading and checking them, and their entries in the index.
 * Nothing in them is trusted.
 */
#include "consumers/tables.h"

#include "arch/arch.h"
#include "arch/text.h"
#include "update/commit.h"

#include <linux/mm.h>
#include <linux/slab.h>

static int jf_table_set(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

/* Its address marks tables among the parameters of a module. */
const struct kernel_param_ops jf_table_ops = {
	.set = jf_table_set,
};
EXPORT_SYMBOL_GPL(jf_table_ops);

typedef int (*jf_table_fn)(struct jf_mod *m, const struct jf_table *t);

int jf_for_each_table(struct jf_mod *m, jf_table_fn fn)
{
	unsigned int i;
	int err;

	for (i = 0; i < m->mod->num_kp; i++) {
		const struct kernel_param *kp = &m->mod->kp[i];

		if (kp->ops != &jf_table_ops)
			continue;
		err = fn(m, kp->arg);
		if (err)
			return err;
	}
	return 0;
}

bool jf_has_tables(const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < mod->num_kp; i++)
		if (mod->kp[i].ops == &jf_table_ops)
			return true;
	return false;
}

static bool jf_in_module(const struct module *mod, const void *start,
			 const void *end)
{
	return start <= end && within_module((unsigned long)start, mod) &&
	       (start == end || within_module((unsigned long)end - 1, mod));
}

/* True for a string in the module. */
static bool jf_is_name(const struct module *mod, const char *name)
{
	const char *p = name;

	while (within_module((unsigned long)p, mod) && *p)
		p++;
	return p != name && within_module((unsigned long)p, mod);
}

static bool jf_is_target_list(const struct module *mod,
			      const struct jf_target_rec *tr)
{
	u64 i;

	/* Far more than any module has memory for, and no overflow yet. */
	if (tr->num > INT_MAX ||
	    !jf_in_module(mod, tr->targets, tr->targets + tr->num))
		return false;
	for (i = 0; i < tr->num; i++)
		if (!jf_is_name(mod, tr->targets[i].name))
			return false;
	return true;
}

/* First pass: check the table, and count its contents. */
static int jf_table_count(struct jf_mod *m, const struct jf_table *t)
{
	const struct jf_ent_rec *e;

	if (!within_module((unsigned long)t, m->mod) ||
	    t->magic != JF_TABLE_MAGIC || t->rec_size != JF_TABLE_REC_SIZE) {
		pr_err("%s: was built for another version of jumpfunc\n",
		       m->mod->name);
		return -ENOEXEC;
	}
	if (t->owner != m->mod || !jf_in_module(m->mod, t->sites, t->sites_end) ||
	    !jf_in_module(m->mod, t->ents, t->ents_end) ||
	    !jf_in_module(m->mod, t->targets, t->targets_end)) {
		pr_err("%s: a table points outside of the module\n",
		       m->mod->name);
		return -EINVAL;
	}
	for (e = t->ents; e < t->ents_end; e++) {
		/* In 64 bits this cannot overflow, and bounds the sum of all. */
		u64 size = (u64)e->num * e->stride;

		if (!e->num || (e->num > 1 && e->stride < sizeof(struct jf_ent)) ||
		    !jf_in_module(m->mod, e->ent, (void *)e->ent + size)) {
			pr_err("%s: a table names an entity outside of the module\n",
			       m->mod->name);
			return -EINVAL;
		}
		m->num_ctls += e->num;
		if (e->tramp && jf_arch_has_sites())
			m->num_sites++;
	}
	if (jf_arch_has_sites())
		m->num_sites += t->sites_end - t->sites;
	m->num_targets += t->targets_end - t->targets;
	return 0;
}

/* The structure that the entity is a part of, by its own account, is the module's as well. */
static bool jf_is_whole(const struct module *mod, struct jf_ent *ent)
{
	if (ent->type == JF_ENT_FUNC)
		return jf_in_module(mod, jf_func_of(ent), ent + 1);
	if (ent->flags & JF_ENT_DEFERRED)
		return jf_in_module(mod, jf_deferred_of(ent),
				    jf_deferred_of(ent) + 1);
	return jf_in_module(mod, jf_key_of(ent), ent + 1);
}

static int jf_add_ctl(struct jf_mod *m, struct jf_ent *ent, void *tramp,
		      int index)
{
	struct jf_ctl *ctl = &m->ctls[m->num_ctls];

	if (!jf_in_module(m->mod, ent, ent + 1) || ent->owner != m->mod ||
	    ent->type > JF_ENT_KEY || !jf_is_name(m->mod, ent->name) ||
	    !jf_is_whole(m->mod, ent) ||
	    (tramp && !within_module((unsigned long)tramp, m->mod))) {
		pr_err("%s: a table names an entity that is not the module's\n",
		       m->mod->name);
		return -EINVAL;
	}
	if (jf_ctl_find(ent)) {
		pr_err("%s: the tables define %s twice\n", m->mod->name,
		       ent->name);
		return -EINVAL;
	}

	ctl->ent = ent;
	ctl->mod = m;
	ctl->tramp = (unsigned long)tramp;
	ctl->index = index;
	INIT_LIST_HEAD(&ctl->sites);
	jf_index_add_ctl(ctl);
	m->num_ctls++;
	return 0;
}

static int jf_add_site(struct jf_mod *m, unsigned long addr,
		       struct jf_ctl *ctl, u32 flags)
{
	struct jf_site *site = &m->sites[m->num_sites];
	int err;

	if (!jf_in_module(m->mod, (void *)addr,
			  (void *)addr + JF_ARCH_SITE_SIZE)) {
		pr_err("%s: a site of %s is not in the module\n", m->mod->name,
		       ctl->ent->name);
		return -EINVAL;
	}
	site->addr = addr;
	site->mod = m;
	site->ctl = ctl;
	site->flags = flags;
	err = jf_arch_adopt(site, ctl->tramp);
	if (err) {
		pr_err("%s: unexpected instruction at the site %pS of %s\n",
		       m->mod->name, (void *)addr, ctl->ent->name);
		return err;
	}
	/* It was checked, and stays as it is. */
	if (within_module_init(addr, m->mod))
		return 0;
	site->compiled = site->insn;
	/* The list is only joined once nothing can fail any more. */
	INIT_LIST_HEAD(&site->list);
	m->num_sites++;
	return 0;
}

/* Second pass: entities and their trampolines. */
int jf_table_add_ents(struct jf_mod *m, const struct jf_table *t)
{
	const struct jf_ent_rec *e;
	unsigned int i;
	int err;

	for (e = t->ents; e < t->ents_end; e++) {
		for (i = 0; i < e->num; i++) {
			err = jf_add_ctl(m, (void *)e->ent + i * e->stride,
					 e->tramp, e->num > 1 ? i : -1);
			if (err)
				return err;
		}
		if (!e->tramp || !jf_arch_has_sites())
			continue;
		err = jf_add_site(m, (unsigned long)e->tramp,
				  jf_ctl_find(e->ent), JF_SITE_TRAMP);
		if (err)
			return err;
	}
	return 0;
}

/* Third pass: sites and targets, whose entities may be in any module by now. */
int jf_table_add_sites(struct jf_mod *m, const struct jf_table *t)
{
	const struct jf_target_rec *tr;
	const struct jf_site_rec *s;
	struct jf_ctl *ctl;
	int err;

	for (s = t->sites; s < t->sites_end; s++) {
		bool branch = s->flags & JF_SITE_BRANCH;

		/* A module that may only call it names its trampoline. */
		ctl = jf_ctl_find(s->ent) ?:
		      jf_ctl_by_tramp((unsigned long)s->ent);
		if (!ctl) {
			pr_err("%s: a site names an entity that no loaded module defines\n",
			       m->mod->name);
			return -ENODEV;
		}
		if (branch != (ctl->ent->type == JF_ENT_KEY)) {
			pr_err("%s: a site of %s has the wrong type\n",
			       m->mod->name, ctl->ent->name);
			return -EINVAL;
		}
		if (!jf_arch_has_sites())
			continue;
		err = jf_add_site(m, (unsigned long)&s->addr + s->addr, ctl,
				  s->flags);
		if (err)
			return err;
	}
	for (tr = t->targets; tr < t->targets_end; tr++) {
		ctl = jf_ctl_find(tr->ent);
		if (!ctl || ctl->ent->type != JF_ENT_FUNC) {
			pr_err("%s: a list of targets names no dynamic function\n",
			       m->mod->name);
			return -EINVAL;
		}
		if (!jf_is_target_list(m->mod, tr)) {
			pr_err("%s: a list of targets is not in the module\n",
			       m->mod->name);
			return -EINVAL;
		}
		m->targets[m->num_targets++] = tr;
	}
	return 0;
}

/* True if it can fall back to its initial target, which it may have to do at any time. */
static int jf_check_init(const struct jf_site *site)
{
	union jf_value v;
	u64 insn;
	int err;

	if (site->ctl->ent->type != JF_ENT_FUNC)
		return 0;
	v.func = jf_func_of(site->ctl->ent)->init;
	err = jf_site_encode(site, v, &insn);
	if (err)
		pr_err("%s: the initial target of %s is out of reach of the site at %pS\n",
		       site->mod->mod->name, site->ctl->ent->name,
		       (void *)site->addr);
	return err;
}

/* The same for the entities of a module, once all of them are known. */
int jf_check_inits(struct jf_mod *m)
{
	struct jf_mod *target;
	unsigned long init;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (ctl->ent->type != JF_ENT_FUNC)
			continue;
		if (within_module_init((unsigned long)jf_func_of(ctl->ent)->init,
				       m->mod)) {
			pr_err("%s: the initial target of %s is __init text\n",
			       m->mod->name, ctl->ent->name);
			return -EINVAL;
		}
		if (jf_is_circular(ctl)) {
			pr_err("%s: %s would call itself\n", m->mod->name,
			       ctl->ent->name);
			return -EINVAL;
		}
		init = (unsigned long)jf_func_of(ctl->ent)->init;
		target = jf_mod_by_addr(init);
		if (target)
			target->target = true;
		jf_mark_passed(init);
	}
	for (i = 0; !err && i < m->num_sites; i++)
		err = jf_check_init(&m->sites[i]);
	return err;
}

void jf_link_sites(struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_sites; i++) {
		list_add_tail(&m->sites[i].list, &m->sites[i].ctl->sites);
		m->sites[i].ctl->num_sites++;
	}
}

void jf_unlink_site(struct jf_site *site)
{
	if (list_empty(&site->list))
		return;
	list_del_init(&site->list);
	site->ctl->num_sites--;
	jf_index_del_site(site);
	site->addr = 0;
}

void jf_free_mod(struct jf_mod *m)
{
	kvfree(m->sites);
	kvfree(m->ctls);
	kvfree(m->targets);
	kfree(m);
}

void jf_unhash(struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_ctls; i++)
		jf_index_del_ctl(&m->ctls[i]);
}

int jf_alloc_arrays(struct jf_mod *m)
{
	int err = jf_for_each_table(m, jf_table_count);

	if (err)
		return err;
	/* One more of each: an empty array is not a failed allocation. */
	m->sites = kvcalloc(m->num_sites + 1, sizeof(*m->sites), GFP_KERNEL);
	m->ctls = kvcalloc(m->num_ctls + 1, sizeof(*m->ctls), GFP_KERNEL);
	m->targets = kvcalloc(m->num_targets + 1, sizeof(*m->targets),
			      GFP_KERNEL);
	if (!m->sites || !m->ctls || !m->targets)
		return -ENOMEM;
	/* From here on these count the present entries, not the expected ones. */
	m->num_sites = 0;
	m->num_ctls = 0;
	m->num_targets = 0;
	return 0;
}
