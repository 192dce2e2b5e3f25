// SPDX-License-Identifier: GPL-2.0
/*
 * The effects of a module's unload: calls into it end before the wait for it (quiesce/unload.c),
 * and its tables are removed when no task is in it.
 */
#include "consumers/tables.h"

#include "arch/text.h"
#include "update/commit.h"
#include "update/keys.h"
#include "index/state.h"
#include "quiesce/retired.h"
#include "tracepoint/tracepoint.h"

#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

/* True if @m can outlive @func. Held to be so of all text but its own and ours. */
static bool jf_may_outlive(const struct jf_mod *m, void *func)
{
	return func != (void *)jf_nop && func != (void *)jf_ret0 &&
	       !within_module((unsigned long)func, m->mod);
}

/*
 * The instruction for a site that is about to be forgotten. A site of another module's entity: the
 * compiled instruction. A trampoline that leads to a target that can be freed first: a jump to its
 * initial target. False: keep the present instruction.
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
	v.func = site->flags & JF_SITE_TRAMP ? jf_func_of(ent)->init :
					       (void *)site->ctl->tramp;
	if (jf_site_encode(site, v, insn))
		return false;
	return *insn != site->insn;
}

/* Write all sites that can be written, but over no foreign bytes. -ENOMEM */
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
 * functions. So each site with a target that can be freed first now has one that lives as
 * long as the module. Sites of another module's entities stand as they were compiled: the kernel
 * keeps that module until this one is freed.
 *
 * No task is in the module, so none is on its way from there to the replaced code.
 * But a trampoline that was another function's target is only jumped through: a task in its target
 * is not seen in this module. -ENOMEM
 */
static int jf_restore(struct jf_mod *m)
{
	unsigned int i;
	int err = jf_restore_sites(m);

	for (i = 0; !err && i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];
		struct jf_ent *ent = ctl->ent;
		struct jf_func *f = jf_func_of(ent);

		if (ent->type != JF_ENT_FUNC || !jf_may_outlive(m, f->func))
			continue;
		if (ctl->passed) {
			err = jf_retire_prepare(f->func, JF_RETIRED_TARGET);
			if (err)
				break;
			jf_retire_done(f->func, true);
		}
		/* If it was replaced before, searches have passed it over so far. */
		jf_retired_again(f->func);
		jf_index_set_func(ctl, f->init);
	}
	return err;
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
			    !within_module((unsigned long)jf_func_of(ent)->func,
					   mod))
				continue;
			v.func = jf_func_of(ent)->init;
			err = jf_add_change(&changes, ent, v, true);
			n++;
		}
	}
	if (!err && n) {
		err = jf_commit_locked(&changes);
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
int jf_cut_off(struct module *mod, long timeout)
{
	unsigned long begun = jiffies, told = jiffies;
	unsigned int pause = 10;
	int err;

	for (;;) {
		err = jf_trace_unload_begin(mod);
		if (!err) {
			jf_lock();
			err = jf_fall_back(mod);
			jf_unlock();
		}
		if (!err || jiffies - begun >= timeout)
			return err;
		if (jf_tell_again(&told))
			pr_warn("%s: cannot be freed while calls lead into it (%d), waiting for %u s now\n",
				mod->name, err,
				jiffies_to_msecs(jiffies - begun) / 1000);
		jf_nap(pause);
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
void jf_module_forget(struct jf_mod *m)
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
		pr_warn_ratelimited("%s: no memory to restore its sites, which is tried again\n",
				    m->mod->name);
		jf_nap(pause);
		pause = min(2 * pause, 1000U);
	}
}

/*
 * free_module() has no notifier. It begins with the module's files in sysfs, and some of these
 * have a function for that, which the kernel calls without a lock, and before anything of
 * the module goes. (Next are the exception tables, the thunks of its indirect jumps, its
 * references on other modules; then the parameters, whose function "free" is too late.)
 * A module that has not come so far as to have files is unloaded without that.
 */
void (**jf_call_at_free(struct module *mod))(struct module *mod)
{
#ifdef CONFIG_SYSFS
	struct kset *modules = THIS_MODULE->mkobj.kobj.kset;
	struct kobject *kobj = modules ? kset_find_obj(modules, mod->name) : NULL;
	struct module_attribute *a;
	bool mine = kobj == &mod->mkobj.kobj;

	kobject_put(kobj);
	/* The caller's task frees them, later. */
	for (a = mod->modinfo_attrs; mine && a->attr.name; a++)
		if (!a->free)
			return &a->free;
#endif
	return NULL;
}

void jf_keys_unload(const struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_ctls; i++)
		jf_key_unload(m->ctls[i].ent);
}
