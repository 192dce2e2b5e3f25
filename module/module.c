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

#include "arch/text.h"
#include "core/commit.h"
#include "index/state.h"
#include "module/tables.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "quiesce/quiesce.h"
#include "quiesce/text.h"
#include "tracepoint/tracepoint.h"

#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

/* --- a module is loaded ------------------------------------------------ */

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

/* Its functions may become targets: see jf_check_target(). */
static void jf_watch(struct jf_mod *m, struct module *mod)
{
	m->mod = mod;
	jf_lock();
	list_add_tail(&m->list, &jf_modules);
	jf_unlock();
}

static int jf_module_load(struct module *mod)
{
	struct jf_mod *m;
	int err;

	/* Drop the state of an earlier module at this address. */
	jf_function_forget(mod);
	jf_retired_forget_module(mod);

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
 * The module stays on the list, marked as being unloaded, until no task is in
 * it. Meanwhile updates to a target in it are refused, and so are updates of its
 * own entities, except fall-backs and removals of probes.
 */
static void jf_module_unload(struct module *mod)
{
	struct jf_mod missed = { };
	struct jf_mod *m;

	jf_lock();
	m = jf_mod_find(mod);
	if (m)
		m->unloading = true;
	jf_unlock();
	if (!m) {
		/* Loaded before us: assume it had targets. */
		m = &missed;
		m->target = true;
		m->unloading = true;
		jf_watch(m, mod);
	}

	jf_keys_unload(m);
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
	jf_keys_unload(m);
	jf_trace_unload_end(mod);
	/* Even if it was not known to have targets. */
	jf_retired_forget_module(mod);
	jf_function_forget(mod);

	jf_module_forget(m);
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
		return notifier_from_errno(jf_module_load(mod));
	case MODULE_STATE_LIVE:
		jf_module_live(mod);
		break;
	case MODULE_STATE_GOING:
		jf_module_unload(mod);
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
	err = jf_module_load(THIS_MODULE);
	if (!err) {
		err = register_module_notifier(&jf_module_nb);
		if (err)
			jf_module_unload(THIS_MODULE);
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
	jf_module_unload(THIS_MODULE);
	/* Those without tables that are still there. */
	list_for_each_entry_safe(m, tmp, &jf_modules, list) {
		list_del(&m->list);
		jf_free_mod(m);
	}
	jf_index_exit();
}
