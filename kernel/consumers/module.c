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
 *		functions that lead into it fall back, and kernel/quiesce/quiesce.c waits
 *		until no task is in it. Until then its sites follow their
 *		entities, because a task in it may execute them. Then its sites
 *		and entities are forgotten, and lead to nothing that may be freed
 *		before it. Its memory is freed some time after we return. If a
 *		task stays in it for long, that is done when the kernel begins to
 *		free it.
 *
 * Sites in __init text are never patched. As they were compiled they are right for
 * any value, most are executed once, and asynchronous functions may execute them
 * after LIVE, until that text is freed, for which there is no notification.
 *
 * All modules are watched, with or without tables, since any module's function
 * can be a target. Modules that were loaded before jumpfunc are seen at their
 * GOING.
 */
#include "consumers/module.h"

#include "arch/text.h"
#include "update/commit.h"
#include "index/state.h"
#include "consumers/tables.h"
#include "quiesce/function.h"
#include "quiesce/grace.h"
#include "quiesce/retired.h"
#include "quiesce/quiesce.h"
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

/* The targets of its functions are in use now. */
static void jf_tell_led(const struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < m->num_ctls; i++)
		if (m->ctls[i].ent->type == JF_ENT_FUNC)
			jf_retired_again(jf_ent_value(m->ctls[i].ent).func);
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
	err = jf_patch_new(m);
	if (err)
		goto err_unlink;
	jf_tell_led(m);
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
 * How long a notifier waits. During the wait no task can change the chain of notifiers, and as soon
 * as one tries, no module can be loaded or unloaded. A longer wait takes place when the module is
 * freed. At that point the kernel has done with it: kprobes, function tracing and static calls in
 * its text do not follow changes any more, although a task may still execute it. So it waits here
 * first.
 */
#define JF_CHAIN_PATIENCE	(10 * HZ)

/* Modules that are waited for when they are freed; and whether there ever was one. */
static atomic_t jf_leaving = ATOMIC_INIT(0);
static bool jf_any_left;

/*
 * The module stays on the list, marked as being unloaded, until no task is in
 * it. During the unload updates to a target in it are refused, and so are updates of its
 * own entities, except fall-backs and removals of probes.
 */
static struct jf_mod *jf_module_going(struct module *mod)
{
	struct jf_mod *m;

	jf_lock();
	m = jf_mod_find(mod);
	if (m)
		m->unloading = true;
	jf_unlock();
	if (m)
		return m;
	/* Loaded before us: assume it had targets. */
	m = kzalloc(sizeof(*m), GFP_KERNEL | __GFP_NOFAIL);
	m->target = true;
	m->unloading = true;
	m->early = true;
	jf_watch(m, mod);
	return m;
}

/* The room above has data for a module that code which leads into the module uses. */
static void (*jf_left_fn)(const struct module *mod);

void jf_module_on_left(void (*fn)(const struct module *mod))
{
	WRITE_ONCE(jf_left_fn, fn);
}

static void jf_module_tell_left(const struct module *mod)
{
	void (*fn)(const struct module *mod) = READ_ONCE(jf_left_fn);

	if (fn)
		fn(mod);
}

/* Wait until no task is in @m, then forget it. -errno: not within @timeout. */
static int jf_module_leave(struct jf_mod *m, long timeout)
{
	struct module *mod = m->mod;
	int err;

	jf_keys_unload(m);
	err = jf_cut_off(mod, timeout);
	if (err)
		return err;

	/* We cannot wait for our own text: this function is in it. */
	if (mod == THIS_MODULE)
		jf_quiesce();
	else
		err = jf_quiesce_module(mod, m->target || m->ctls, timeout);
	if (err)
		return err;
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
	jf_module_tell_left(mod);

	jf_module_forget(m);
	/* The handler may still read its sites. */
	if (m->sites)
		synchronize_rcu();
	jf_free_mod(m);
	return 0;
}

/* The kernel begins to free it, in the task that unloads it. */
static void jf_module_freed(struct module *mod)
{
	struct jf_mod *m;

	jf_lock();
	m = jf_mod_find(mod);
	jf_unlock();
	jf_module_leave(m, MAX_SCHEDULE_TIMEOUT);
	/* Last: jf_wait_for_leaving() waits for this, and then for the task to be out. */
	atomic_dec(&jf_leaving);
}

static void jf_module_unload(struct module *mod)
{
	void (**freed)(struct module *mod) = NULL;
	struct jf_mod *m = jf_module_going(mod);
	int err;

	/* Our own text could not be called then. */
	if (mod != THIS_MODULE)
		freed = jf_call_at_free(mod);
	err = jf_module_leave(m, freed ? JF_CHAIN_PATIENCE : MAX_SCHEDULE_TIMEOUT);
	if (!err || !freed)
		return;
	pr_warn("%s: still in use (%d): from here on its unload keeps no other module waiting, and kprobes and tracers in its text must stay until it has gone\n",
		mod->name, err);
	WRITE_ONCE(jf_any_left, true);
	atomic_inc(&jf_leaving);
	*freed = jf_module_freed;
}

/*
 * A module without tables does not keep us loaded. No more of them come: the notifier has
 * been unregistered. The grace period is for the last instructions of jf_module_freed().
 */
static void jf_wait_for_leaving(void)
{
	unsigned long told = jiffies;

	while (atomic_read(&jf_leaving)) {
		if (jf_tell_again(&told))
			pr_warn("waiting for the unload of %d module(s)\n",
				atomic_read(&jf_leaving));
		jf_nap(100);
	}
	if (!READ_ONCE(jf_any_left))
		return;
	while (!jf_gp_wait("jumpfunc", jf_gp_begin(), MAX_SCHEDULE_TIMEOUT)) {
		if (jf_tell_again(&told))
			pr_warn("the unload waits for memory\n");
		jf_nap(100);
	}
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
	jf_wait_for_leaving();
	jf_module_unload(THIS_MODULE);
	/* Those without tables that are still there. */
	list_for_each_entry_safe(m, tmp, &jf_modules, list) {
		list_del(&m->list);
		jf_free_mod(m);
	}
	jf_index_exit();
}
