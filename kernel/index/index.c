// SPDX-License-Identifier: GPL-2.0
/*
 * Look-up of entities and modules. kernel/consumers/tables.c enters them; this room calls
 * no other one.
 */
#include "index/index.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/string.h>

LIST_HEAD(jf_modules);
u64 jf_index_dels;

static DEFINE_HASHTABLE(jf_ctls, 12);
/* Those with a trampoline, by its address: searched for each new target. */
static DEFINE_HASHTABLE(jf_tramps, 12);
/* Dynamic functions by their names. */
static DEFINE_HASHTABLE(jf_ctl_names, 12);
/* Dynamic functions by their targets, except those that stand for NULL. */
static DEFINE_HASHTABLE(jf_ctl_values, 12);

/* --- look-ups ---------------------------------------------------------- */

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
