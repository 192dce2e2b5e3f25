// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of modules. When a module is loaded, its tables are
 * checked and entered into the index, and its sites are patched. Before it is
 * freed, all that leads into it is redirected, and no task may be left in it.
 *
 * The notifier handles these states of a module with tables:
 *
 *   COMING	Its tables are found and checked, the text is compared, and the
 *		sites are patched to the present values of their entities. Any
 *		error refuses the load.
 *   LIVE	Its read-only keys are sealed.
 *   GOING	Its exit function has returned (or its init has failed). Dynamic
 *		functions that lead into it fall back, and quiesce/quiesce.c waits
 *		until no task is in it. Until then its sites follow their
 *		entities, because a task in it may execute them. Then its sites
 *		and entities are forgotten, and lead to nothing that may be freed
 *		before it. Its memory is freed some time after we return.
 *
 * Sites in __init text are never patched. As they were compiled they are right for
 * any value, most are executed once, and asynchronous functions may execute them
 * after LIVE, until that text is freed, for which there is no notification.
 *
 * All modules are watched, with or without tables, since any module's function
 * can be a target. Modules that were loaded before jumpfunc are seen at their
 * GOING.
 */
#include "module/module.h"

#include "arch/arch.h"
#include "core/commit.h"
#include "quiesce/function.h"
#include "quiesce/gone.h"
#include "core/keys.h"
#include "quiesce/quiesce.h"
#include "quiesce/text.h"
#include "tracepoint/tracepoint.h"

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

static int jf_table_set(const char *val, const struct kernel_param *kp)
{
	return -EPERM;
}

/* Its address marks tables among the parameters of a module. */
const struct kernel_param_ops jf_table_ops = {
	.set = jf_table_set,
};
EXPORT_SYMBOL_GPL(jf_table_ops);

/* --- a module is loaded ------------------------------------------------ */

typedef int (*jf_table_fn)(struct jf_mod *m, const struct jf_table *t);

static int jf_for_each_table(struct jf_mod *m, jf_table_fn fn)
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

static bool jf_has_tables(const struct module *mod)
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

/* Is this a string in the module? */
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

/* First pass: is the table to be trusted, and how much is in it? */
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

/* What the entity is a part of, by its own account, is the module's as well. */
static bool jf_is_whole(const struct module *mod, struct jf_ent *ent)
{
	if (ent->type == JF_ENT_FUNC)
		return jf_in_module(mod, jf_ent_func(ent), ent + 1);
	if (ent->flags & JF_ENT_DEFERRED)
		return jf_in_module(mod, jf_ent_deferred(ent),
				    jf_ent_deferred(ent) + 1);
	return jf_in_module(mod, jf_ent_key(ent), ent + 1);
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
static int jf_table_add_ents(struct jf_mod *m, const struct jf_table *t)
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
static int jf_table_add_sites(struct jf_mod *m, const struct jf_table *t)
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

/* It may have to fall back to its initial target at any time: can it? */
static int jf_check_init(const struct jf_site *site)
{
	union jf_value v;
	u64 insn;
	int err;

	if (site->ctl->ent->type != JF_ENT_FUNC)
		return 0;
	v.func = jf_ent_func(site->ctl->ent)->init;
	err = jf_site_encode(site, v, &insn);
	if (err)
		pr_err("%s: the initial target of %s is out of reach of the site at %pS\n",
		       site->mod->mod->name, site->ctl->ent->name,
		       (void *)site->addr);
	return err;
}

/* The same for the entities of a module, once all of them are known. */
static int jf_check_inits(struct jf_mod *m)
{
	struct jf_mod *target;
	unsigned long init;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (ctl->ent->type != JF_ENT_FUNC)
			continue;
		if (within_module_init((unsigned long)jf_ent_func(ctl->ent)->init,
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
		init = (unsigned long)jf_ent_func(ctl->ent)->init;
		target = jf_mod_by_addr(init);
		if (target)
			target->target = true;
		jf_mark_passed(init);
	}
	for (i = 0; !err && i < m->num_sites; i++)
		err = jf_check_init(&m->sites[i]);
	return err;
}

static void jf_link_sites(struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_sites; i++) {
		list_add_tail(&m->sites[i].list, &m->sites[i].ctl->sites);
		m->sites[i].ctl->num_sites++;
	}
}

static void jf_unlink_site(struct jf_site *site)
{
	if (list_empty(&site->list))
		return;
	list_del_init(&site->list);
	site->ctl->num_sites--;
	jf_index_del_site(site);
	site->addr = 0;
}

/* Patch the sites of a new module, whose text no CPU executes yet. */
static int jf_patch_new(struct jf_mod *m)
{
	struct jf_poke *pokes;
	unsigned int i, n = 0;
	int err = 0;

	if (!m->num_sites)
		return 0;
	pokes = kvmalloc_array(m->num_sites, sizeof(*pokes), GFP_KERNEL);
	if (!pokes)
		return -ENOMEM;
	for (i = 0; i < m->num_sites; i++) {
		struct jf_site *site = &m->sites[i];

		pokes[n].site = site;
		pokes[n].old = site->insn;
		err = jf_site_encode(site, jf_ent_value(site->ctl->ent),
				     &pokes[n].new);
		if (err) {
			pr_err("%s: the target of %s is out of reach of the site at %pS\n",
			       m->mod->name, site->ctl->ent->name,
			       (void *)site->addr);
			goto out;
		}
		if (pokes[n].new != pokes[n].old)
			n++;
	}
	if (n) {
		jf_sort_pokes(pokes, n);
		err = jf_arch_patch(pokes, n, false);
	}
out:
	kvfree(pokes);
	return err;
}

static void jf_free_mod(struct jf_mod *m)
{
	jf_text_drop(m->kept);
	kvfree(m->sites);
	kvfree(m->ctls);
	kvfree(m->targets);
	kfree(m);
}

static void jf_unhash(struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_ctls; i++)
		jf_index_del_ctl(&m->ctls[i]);
}

static int jf_alloc_arrays(struct jf_mod *m)
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
	/* From here on these count what is there, not what will be. */
	m->num_sites = 0;
	m->num_ctls = 0;
	m->num_targets = 0;
	return 0;
}

/* Its functions may become targets: see jf_check_target(). */
static void jf_watch(struct jf_mod *m, struct module *mod)
{
	m->mod = mod;
	jf_lock();
	list_add_tail(&m->list, &jf_modules);
	jf_unlock();
}

static int jf_module_coming(struct module *mod)
{
	struct jf_mod *m;
	int err;

	/* Drop the state of an earlier module at this address. */
	jf_function_forget(mod);
	jf_gone_forget_module(mod);

	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!jf_has_tables(mod)) {
		/* Without memory, treat it as loaded before us; do not refuse it. */
		if (m)
			jf_watch(m, mod);
		return 0;
	}
	if (!m)
		return -ENOMEM;
	m->mod = mod;

	jf_lock();
	err = jf_alloc_arrays(m);
	if (err) {
		m->num_ctls = 0;
		goto err_free;
	}
	err = jf_for_each_table(m, jf_table_add_ents);
	err = err ?: jf_for_each_table(m, jf_table_add_sites);
	if (err)
		goto err_unhash;
	err = jf_check_inits(m);
	if (err)
		goto err_unhash;
	err = jf_index_add_sites(m);
	if (err)
		goto err_unhash;
	jf_link_sites(m);
	list_add_tail(&m->list, &jf_modules);
	m->kept = jf_text_keep(m);
	err = jf_patch_new(m);
	if (err)
		goto err_unlink;
	jf_unlock();
	return 0;

err_unlink:
	list_del(&m->list);
	while (m->num_sites)
		jf_unlink_site(&m->sites[--m->num_sites]);
err_unhash:
	jf_unhash(m);
err_free:
	jf_unlock();
	pr_err("%s: refused (%d)\n", mod->name, err);
	/* The handler may have found a site while it was mapped. */
	synchronize_rcu();
	jf_free_mod(m);
	return err;
}

/* --- a module is live, a module is unloaded ---------------------------- */

/* May @m outlive @func? Held to be so of all text but its own and ours. */
static bool jf_may_outlive(const struct jf_mod *m, void *func)
{
	return func != (void *)jf_nop && func != (void *)jf_ret0 &&
	       !within_module((unsigned long)func, m->mod);
}

/*
 * What shall stand at a site that is about to be forgotten? A site of another
 * module's entity: what was compiled. A trampoline that leads to what may be freed
 * first: a jump to its initial target. False: what stands there.
 */
static bool jf_is_astray(const struct jf_mod *m, const struct jf_site *site,
			 u64 *insn)
{
	struct jf_ent *ent = site->ctl->ent;
	bool stray = ent->type == JF_ENT_FUNC &&
		    jf_may_outlive(m, jf_ent_value(ent).func);
	union jf_value v;

	if (list_empty(&site->list))
		return false;
	if (!stray && (site->flags & JF_SITE_TRAMP || site->ctl->mod == m))
		return false;
	if (site->flags & JF_SITE_BRANCH) {
		*insn = site->compiled;
		return *insn != site->insn;
	}
	/* Both were tried when the module was loaded. */
	v.func = site->flags & JF_SITE_TRAMP ? jf_ent_func(ent)->init :
					       (void *)site->ctl->tramp;
	if (jf_site_encode(site, v, insn))
		return false;
	return *insn != site->insn;
}

/* Write what can be written, but over no foreign bytes. -ENOMEM */
static int jf_restore_sites(struct jf_mod *m)
{
	unsigned int i, max = 0, n = 0, rounds = 3;
	struct jf_poke *pokes;
	size_t bad;
	u64 insn;
	int err;

	for (i = 0; i < m->num_sites; i++)
		max += jf_is_astray(m, &m->sites[i], &insn);
	/* Most have none, and an rmmod takes no memory for that. */
	if (!max)
		return 0;
	pokes = kvmalloc_array(max, sizeof(*pokes), GFP_KERNEL);
	if (!pokes)
		return -ENOMEM;
	for (i = 0; i < m->num_sites; i++) {
		struct jf_site *site = &m->sites[i];

		if (!jf_is_astray(m, site, &insn))
			continue;
		pokes[n].site = site;
		pokes[n].old = site->insn;
		pokes[n++].new = insn;
	}
	jf_sort_pokes(pokes, n);
	do {
		while (n && jf_arch_verify(pokes, n, &bad)) {
			pr_warn("%s: foreign bytes stay at the site %pS\n",
				m->mod->name, (void *)pokes[bad].site->addr);
			memmove(&pokes[bad], &pokes[bad + 1],
				(--n - bad) * sizeof(*pokes));
		}
		err = n ? jf_arch_patch(pokes, n, true) : 0;
		/* Another writer may have changed a site since it was verified. */
	} while ((err == -EBUSY || err == -EILSEQ) && --rounds);
	kvfree(pokes);
	if (err && err != -ENOMEM) {
		pr_warn("%s: sites stay as they are (%d)\n", m->mod->name, err);
		err = 0;
	}
	return err;
}

/*
 * Sites that are forgotten may still be executed: after its last notifier the
 * kernel waits for operations of a module's parameters and for asynchronous
 * functions. So what led to text that may be freed first now leads to text that
 * lives as long as the module. Sites of another module's entities stand as they were
 * compiled: the kernel keeps that module until this one is freed.
 *
 * No task is in the module, so none is on its way from there to what is replaced.
 * But a trampoline that was another function's target is only jumped through: a
 * task in what it led to is not seen in this module. -ENOMEM
 */
static int jf_restore(struct jf_mod *m)
{
	unsigned int i;
	int err = jf_restore_sites(m);

	for (i = 0; !err && i < m->num_ctls; i++) {
		const struct jf_ctl *ctl = &m->ctls[i];
		struct jf_ent *ent = ctl->ent;
		struct jf_func *f = jf_ent_func(ent);

		if (ent->type != JF_ENT_FUNC || !jf_may_outlive(m, f->func))
			continue;
		if (ctl->passed) {
			err = jf_gone_prepare(f->func, JF_GONE_TARGET);
			if (err)
				break;
			jf_gone_done(f->func, true);
		}
		WRITE_ONCE(f->func, f->init);
	}
	return err;
}

static void jf_module_live(struct module *mod)
{
	struct jf_mod *m;
	unsigned int i;

	jf_lock();
	m = jf_mod_find(mod);
	for (i = 0; m && i < m->num_ctls; i++)
		if (m->ctls[i].ent->flags & JF_ENT_RO)
			m->ctls[i].sealed = true;
	jf_unlock();
}

/*
 * Set back every dynamic function of another module that leads into @mod.
 *
 * The module's memory is freed when the notifier returns, so this must not fail.
 * It can: for lack of memory, or because something else has written to a site.
 * Then the only safe way is to wait until it succeeds.
 */
static int jf_fall_back(struct module *mod)
{
	LIST_HEAD(changes);
	unsigned int i, n = 0;
	struct jf_mod *m;
	int err = 0;

	list_for_each_entry(m, &jf_modules, list) {
		for (i = 0; !err && m->mod != mod && i < m->num_ctls; i++) {
			struct jf_ent *ent = m->ctls[i].ent;
			union jf_value v;

			if (ent->type != JF_ENT_FUNC ||
			    !within_module((unsigned long)jf_ent_func(ent)->func,
					   mod))
				continue;
			v.func = jf_ent_func(ent)->init;
			err = jf_add_change(&changes, ent, v, true);
			n++;
		}
	}
	if (!err && n) {
		err = __jf_commit(&changes);
		if (!err) {
			jf_stats.fallbacks += n;
			pr_info("%s is unloaded: %u dynamic function(s) fell back to their initial targets\n",
				mod->name, n);
		}
	}
	jf_free_changes(&changes);
	return err;
}

/*
 * These steps can fail for two reasons, both temporary: memory is short, or a
 * breakpoint or foreign bytes stand at a site until their owner removes them.
 * All other causes were refused when the values in question were set, or when
 * the module with the functions was loaded: each site can reach the initial
 * target, and no circle results. After -EIO all functions have fallen back, and
 * the next round finds nothing to do.
 */
static void jf_cut_off(struct module *mod)
{
	unsigned long begun = jiffies, told = jiffies;
	unsigned int pause = 10;
	int err;

	for (;;) {
		err = jf_trace_module_going(mod);
		if (!err) {
			jf_lock();
			err = jf_fall_back(mod);
			jf_unlock();
		}
		if (!err)
			return;
		if (time_after(jiffies, told + 10 * HZ)) {
			told = jiffies;
			pr_warn("%s: cannot be freed while calls lead into it (%d), waiting for %u s now\n",
				mod->name, err,
				jiffies_to_msecs(jiffies - begun) / 1000);
		}
		msleep(pause);
		pause = min(2 * pause, 1000U);
	}
}

static void jf_forget_tables(struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_sites; i++)
		jf_unlink_site(&m->sites[i]);
	for (i = 0; i < m->num_ctls; i++)
		if (m->ctls[i].pin)
			module_put(m->ctls[i].pin);
	jf_unhash(m);
	m->num_sites = 0;
	m->num_ctls = 0;
	m->num_targets = 0;
}

/* The last step: no task is in the module. */
static void jf_module_part(struct jf_mod *m)
{
	unsigned int pause = 10;
	int err;

	for (;;) {
		jf_lock();
		err = jf_restore(m);
		if (!err) {
			jf_forget_tables(m);
			list_del(&m->list);
		}
		jf_unlock();
		if (!err)
			return;
		pr_warn("%s: no memory to restore its sites, which is tried again\n",
			m->mod->name);
		msleep(pause);
		pause = min(2 * pause, 1000U);
	}
}

static void jf_keys_going(const struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_ctls; i++)
		jf_key_going(m->ctls[i].ent);
}

/*
 * The module stays on the list, marked as being unloaded, until no task is in
 * it. Meanwhile updates to a target in it are refused, and so are updates of its
 * own entities, except fall-backs and removals of probes.
 */
static void jf_module_going(struct module *mod)
{
	struct jf_mod missed = { };
	struct jf_mod *m;

	jf_lock();
	m = jf_mod_find(mod);
	if (m)
		m->going = true;
	jf_unlock();
	if (!m) {
		/* Loaded before us: assume it had targets. */
		m = &missed;
		m->target = true;
		m->going = true;
		jf_watch(m, mod);
	}

	jf_keys_going(m);
	jf_cut_off(mod);

	/* We cannot wait for our own text: this function is in it. */
	if (mod == THIS_MODULE)
		jf_quiesce();
	else
		jf_quiesce_module(mod, m->target || m->ctls);
	/*
	 * A task may have been about to queue more work: in the module, or, where
	 * jf_key_dec_deferred() is the last call of a function, in that alone. Pairs
	 * with its read section.
	 */
	if (m->num_ctls)
		synchronize_rcu();
	jf_keys_going(m);
	jf_trace_module_gone(mod);
	/* Even if it was not known to have targets. */
	jf_gone_forget_module(mod);
	jf_function_forget(mod);

	jf_module_part(m);
	if (m == &missed)
		return;
	/* The handler may still read its sites. */
	if (m->sites)
		synchronize_rcu();
	jf_free_mod(m);
}

static int jf_module_notify(struct notifier_block *nb, unsigned long event,
			    void *data)
{
	struct module *mod = data;

	switch (event) {
	case MODULE_STATE_COMING:
		return notifier_from_errno(jf_module_coming(mod));
	case MODULE_STATE_LIVE:
		jf_module_live(mod);
		break;
	case MODULE_STATE_GOING:
		jf_module_going(mod);
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block jf_module_nb = {
	.notifier_call = jf_module_notify,
	/* Before those that may run the module's code, KUnit for one. */
	.priority = INT_MAX - 1,
};

int jf_module_init(void)
{
	int err;

	/* We missed our own COMING; LIVE will reach us. */
	err = jf_module_coming(THIS_MODULE);
	if (!err) {
		err = register_module_notifier(&jf_module_nb);
		if (err)
			jf_module_going(THIS_MODULE);
	}
	/* The site map may be allocated, even after an error. */
	if (err)
		jf_index_exit();
	return err;
}

void jf_module_exit(void)
{
	struct jf_mod *m, *tmp;

	unregister_module_notifier(&jf_module_nb);
	jf_module_going(THIS_MODULE);
	/* Those without tables that are still there. */
	list_for_each_entry_safe(m, tmp, &jf_modules, list) {
		list_del(&m->list);
		jf_free_mod(m);
	}
	jf_index_exit();
}
