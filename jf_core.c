// SPDX-License-Identifier: GPL-2.0
/*
 * Values of dynamic functions and keys: updates and lists of updates. Nothing here
 * knows an opcode. kernel/update/keys.c has the counts of keys, kernel/tracepoint/batch.c
 * the batches.
 *
 * A commit has two halves. The first one can fail and changes nothing: it finds
 * the entities, checks the values, encodes the instructions and compares the
 * text. The second one, jf_arch_patch() and the stores after it, cannot fail
 * half-way.
 *
 * Order of the visible effects of a commit, and which reader relies on it:
 *
 *   updater (under jf_mutex)		    reader
 *   1. sites: INT3 transaction		    executes sites
 *   2. func / enabled, WRITE_ONCE()	    unpatched code, dynfunc_query()
 *   3. jf_retire_done()		    a quiesce, see kernel/quiesce/quiesce.c
 *
 * 1 and 2 need no order between them: a site is either patched, or reads func or
 * enabled, and never does both. (On arm64 a trampoline whose target is out of
 * reach reads func. It is not patched then, and jf_arch_settle() comes before 2.)
 * 3 comes last: a quiesce that finds the record of the replaced code began after 1 and 2.
 */
#include "arch/arch.h"
#include "arch/text.h"
#include "update/commit.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"

#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#define CREATE_TRACE_POINTS
#include "update/trace_events.h"

static_assert(offsetof(struct jf_func, func) == 0);
static_assert(offsetof(struct jf_func, ent) == JF_FUNC_ENT);
static_assert(offsetof(struct jf_key, enabled) == 0);
static_assert(offsetof(struct jf_key, ent) == JF_KEY_ENT);
static_assert(sizeof(struct jf_key) == JF_KEY_SIZE);

const char *jf_target_name(const void *func, char *buf)
{
	if (func == (void *)jf_nop)
		return "none";
	if (func == (void *)jf_ret0)
		return "return-0";
	sprint_symbol_no_offset(buf, (unsigned long)func);
	/* " [module]" would be one field more in a list of fields. */
	return strsep(&buf, " ");
}

union jf_value jf_ent_value(struct jf_ent *ent)
{
	union jf_value v = { };

	if (ent->type == JF_ENT_FUNC)
		v.func = READ_ONCE(jf_func_of(ent)->func);
	else
		v.on = READ_ONCE(jf_key_of(ent)->enabled);
	return v;
}

static bool jf_value_equal(const struct jf_ent *ent, union jf_value a,
			   union jf_value b)
{
	return ent->type == JF_ENT_FUNC ? a.func == b.func : a.on == b.on;
}

int jf_site_encode(const struct jf_site *site, union jf_value value, u64 *insn)
{
	if (site->flags & JF_SITE_BRANCH) {
		bool nop_means = site->flags & JF_SITE_BRANCH_INV;

		if (value.on == nop_means)
			return jf_arch_encode(site, JF_OP_NOP, 0, insn);
		return jf_arch_encode(site, JF_OP_JMP, site->label, insn);
	}

	if (site->flags & JF_SITE_TRAMP)
		return jf_arch_encode(site, JF_OP_JMP,
				      (unsigned long)value.func, insn);

	if (value.func == (void *)jf_nop)
		return jf_arch_encode(site, JF_OP_NOP, 0, insn);
	if (value.func == (void *)jf_ret0)
		return jf_arch_encode(site, JF_OP_RET0, 0, insn);
	return jf_arch_encode(site, JF_OP_CALL, (unsigned long)value.func, insn);
}

/* --- allowed changes --------------------------------------------------- */

/* The target of @ctl when the batch is done. */
static void *jf_next_func(const struct jf_ctl *ctl)
{
	return ctl->pending ? ctl->pending->value.func :
			      jf_ent_value(ctl->ent).func;
}

static inline struct jf_ctl *jf_circle_next(const struct jf_ctl *ctl)
{
	return jf_ctl_by_tramp((unsigned long)jf_next_func(ctl));
}

/* A function whose target is in its own module does not fall back. */
static inline struct jf_ctl *jf_circle_back(const struct jf_ctl *ctl)
{
	if (within_module((unsigned long)jf_next_func(ctl), ctl->mod->mod))
		return NULL;
	return jf_ctl_by_tramp((unsigned long)jf_func_of(ctl->ent)->init);
}

#include "common/circle.h"

bool jf_is_circular(struct jf_ctl *ctl)
{
	lockdep_assert_held(&jf_mutex);
	return jf_in_circle(ctl);
}

/* 0 if calls can be sent into this function. @own: a module that may call itself. */
int jf_check_target(const char *name, void *func, const struct jf_mod *own,
		    bool vouched)
{
	unsigned long addr = (unsigned long)func, start, end;
	struct jf_mod *mod = jf_mod_by_addr(addr);

	if (mod ? !jf_module_text_at(mod->mod, addr, &start, &end) :
	    !vouched && jf_text_of(func) == JF_TEXT_NONE) {
		pr_warn_ratelimited("%s: target %p is text neither of the kernel nor of a module\n",
				    name, func);
		return -EPERM;
	}
	if (!mod)
		return 0;
	/* As in jf_mod_by_addr(). */
	if (data_race(within_module_init(addr, mod->mod))) {
		pr_warn_ratelimited("%s: target %ps is __init text\n", name, func);
		return -EINVAL;
	}
	if (jf_mod_is_unloading(mod) && mod != own) {
		pr_warn_ratelimited("%s: target %ps is in module %s, which is being unloaded\n",
				    name, func, mod->mod->name);
		return -EBUSY;
	}
	mod->target = true;
	jf_mark_passed(addr);
	return 0;
}

static int jf_check_func(struct jf_change *c)
{
	const char *name = c->ent->name;
	void *func = c->value.func;

	/* It was validated when its module was loaded, and is always possible. */
	if (c->force && func == jf_func_of(c->ent)->init)
		return 0;
	if (func == (void *)jf_nop && !(c->ent->flags & JF_ENT_NULL_OK)) {
		pr_warn_ratelimited("%s: has no NULL form\n", name);
		return -EINVAL;
	}
	if (jf_is_circular(c->ctl)) {
		pr_warn_ratelimited("%s: would call itself, now or when a module is unloaded\n",
				    name);
		return -EINVAL;
	}

	/* A tracepoint's own code is ours. */
	return jf_check_target(name, func, c->ctl->mod,
			       c->flags & JF_VOUCH ||
			       c->ent->flags & JF_ENT_TRACE);
}

static int jf_check_change(struct jf_change *c)
{
	const char *name = c->ent->name;

	if (c->ctl->sealed) {
		pr_warn_ratelimited("%s: is read-only since %s was initialised\n",
				    name, c->ctl->mod->mod->name);
		return -EROFS;
	}
	if (!c->force && jf_mod_is_unloading(c->ctl->mod)) {
		pr_warn_ratelimited("%s: its module %s is being unloaded\n",
				    name, c->ctl->mod->mod->name);
		return -EBUSY;
	}
	return c->ent->type == JF_ENT_FUNC ? jf_check_func(c) : 0;
}

/* 0 if a key's count can be changed, or -ENODEV, -EROFS, -EBUSY */
int jf_check_key(struct jf_key *key)
{
	struct jf_change c = {
		.ent = &key->ent,
		.value.on = true,
		.ctl = jf_ctl_find(&key->ent),
	};

	return c.ctl ? jf_check_change(&c) : -ENODEV;
}

/*
 * A key is about to be disabled. Take its one user away, so that a task that adds
 * a user from here on waits for the lock; see kernel/update/keys.c. -EBUSY: the key has
 * more users. This is not logged, since callers that share a key expect it.
 */
static int jf_freeze(struct jf_change *c)
{
	if (c->ent->type != JF_ENT_KEY || c->value.on || c->frozen)
		return 0;
	if (cmpxchg(&jf_key_of(c->ent)->count, 1, 0) != 1)
		return -EBUSY;
	c->frozen = true;
	return 0;
}

/* Keep the target's module, if that was asked for. -EBUSY, -EOPNOTSUPP */
static int jf_pin(struct jf_change *c)
{
	struct jf_mod *mod;

	if (c->ent->type != JF_ENT_FUNC || !(c->flags & JF_PIN) ||
	    c->value.func == (void *)jf_nop || c->value.func == (void *)jf_ret0)
		return 0;
	mod = jf_mod_by_addr((unsigned long)c->value.func);
	/* Its own module cannot be kept: it could never be unloaded. */
	if (mod == c->ctl->mod)
		return 0;
	if (!mod)
		return jf_text_of(c->value.func) == JF_TEXT_KERNEL ? 0 :
								     -EOPNOTSUPP;
	if (!try_module_get(mod->mod))
		return -EBUSY;
	c->pin = mod->mod;
	return 0;
}

static void jf_unpin(struct jf_change *c)
{
	if (c->pin)
		module_put(c->pin);
	c->pin = NULL;
}

static void jf_unfreeze(struct jf_change *c)
{
	if (!c->frozen)
		return;
	/* Pairs with cmpxchg() in jf_count_inc(): its caller finds the sites on. */
	smp_store_release(&jf_key_of(c->ent)->count, 1);
	c->frozen = false;
}

/*
 * Find the entities of all changes and mark them, so that a second change of the
 * same one is noticed. A change that repeats an earlier one is moved to @noops.
 * The caller must call jf_unmark() afterwards.
 */
static int jf_mark(struct list_head *changes, struct list_head *noops)
{
	struct jf_change *c, *tmp;

	list_for_each_entry_safe(c, tmp, changes, list) {
		c->ctl = jf_ctl_find(c->ent);
		if (!c->ctl) {
			pr_warn_ratelimited("update of a dynamic function or key that no loaded module defines\n");
			return -ENODEV;
		}
		if (!c->ctl->pending) {
			c->ctl->pending = c;
			continue;
		}
		if (!jf_value_equal(c->ent, c->ctl->pending->value, c->value)) {
			pr_warn_ratelimited("%s: twice in one batch, with different values\n",
					    c->ent->name);
			return -EINVAL;
		}
		/* Kept, or vouched for, if one of them says so. */
		c->ctl->pending->flags |= c->flags;
		list_move_tail(&c->list, noops);
		/* It is not the one that jf_unmark() has to clear. */
		c->ctl = NULL;
	}
	return 0;
}

static void jf_unmark(struct list_head *changes)
{
	struct jf_change *c;

	list_for_each_entry(c, changes, list)
		if (c->ctl && c->ctl->pending == c)
			c->ctl->pending = NULL;
}

/* --- the transaction --------------------------------------------------- */

static int jf_poke_cmp(const void *a, const void *b)
{
	const struct jf_poke *x = a, *y = b;

	if (x->site->addr < y->site->addr)
		return -1;
	return x->site->addr > y->site->addr;
}

/* As jf_arch_patch() wants them. */
void jf_sort_pokes(struct jf_poke *pokes, unsigned int num)
{
	sort(pokes, num, sizeof(*pokes), jf_poke_cmp, NULL);
}

/*
 * True if a failed change could not be rolled back here: the site still leads to the rejected
 * target, or will once a foreign breakpoint is removed. Only site->asked has the intended target.
 */
static bool jf_is_stuck(const struct jf_site *site)
{
	return jf_arch_is_stuck() && site->insn != site->asked;
}

/* Encode; pokes that would change nothing, and are known to have been asked for, are left out. */
static int jf_collect(struct list_head *changes, struct jf_poke *pokes,
		      unsigned int *num)
{
	struct jf_change *c;
	struct jf_site *site;
	unsigned int n = 0;
	int err;

	list_for_each_entry(c, changes, list) {
		list_for_each_entry(site, &c->ctl->sites, list) {
			u64 insn;

			err = jf_site_encode(site, c->value, &insn);
			if (err) {
				pr_warn_ratelimited("%s: target out of reach of the site at %pS (%d)\n",
						    c->ent->name,
						    (void *)site->addr, err);
				return err;
			}
			if (insn == site->insn && !jf_is_stuck(site))
				continue;
			pokes[n].site = site;
			pokes[n].old = site->insn;
			pokes[n].new = insn;
			n++;
		}
	}
	*num = n;
	return 0;
}

/* Nothing is written unless everything stands as we left it. */
static int jf_verify(const struct jf_poke *pokes, unsigned int num)
{
	const struct jf_site *site;
	size_t bad = 0;
	int err;

	err = jf_arch_verify(pokes, num, &bad);
	if (!err)
		return 0;
	site = pokes[bad].site;
	pr_warn_ratelimited("%s: %s at the site %pS (%d)\n",
			    site->ctl->ent->name,
			    err == -EBUSY ? "a breakpoint stands" :
					    "foreign bytes",
			    (void *)site->addr, err);
	return err;
}

/* @record: @func, if there is something to remember of it, and memory for that. */
static int jf_prepare_func(const struct jf_change *c, void *func, void **record)
{
	int err;

	if (func == (void *)jf_nop || func == (void *)jf_ret0)
		return 0;
	err = jf_retire_prepare(func, c->ent->flags & JF_ENT_TRACE ?
				JF_RETIRED_DISPATCH : JF_RETIRED_TARGET);
	if (!err)
		*record = func;
	return err;
}

/*
 * Make sure that there is memory for the record of the replaced code, and of its replacement if a
 * task can be in that although the change fails.
 */
static int jf_prepare(struct jf_change *c)
{
	void *old = jf_ent_value(c->ent).func;
	int err;

	if (c->ent->type != JF_ENT_FUNC || old == c->value.func)
		return 0;
	err = jf_prepare_func(c, old, &c->retired);
	if (!err && jf_arch_runs_failed())
		err = jf_prepare_func(c, c->value.func, &c->tried);
	return err;
}

/* @func: the target whose record was prepared; NULL: no record was. @left: the entity led there */
static void jf_record(struct jf_change *c, void **func, bool left)
{
	if (!*func)
		return;
	jf_retire_done(*func, left);
	*func = NULL;
}

/* Tasks entered the new target until the transaction was taken back: as if it had been set. */
static void jf_was_tried(struct jf_change *c)
{
	if (c->ent->type != JF_ENT_KEY)
		jf_record(c, &c->tried, true);
}

static void jf_apply(struct jf_change *c)
{
	if (c->ent->type == JF_ENT_FUNC) {
		struct jf_func *f = jf_func_of(c->ent);

		trace_jf_update(c->ent->name, f->func, c->value.func);
		jf_index_set_func(c->ctl, c->value.func);
		jf_record(c, &c->retired, true);
		/* jf_commit_locked() puts the old one. */
		swap(c->pin, c->ctl->pin);
	} else {
		struct jf_key *k = jf_key_of(c->ent);

		trace_jf_update(c->ent->name, (void *)(long)k->enabled,
				(void *)(long)c->value.on);
		WRITE_ONCE(k->enabled, c->value.on);
		/* The user that was left to the work has been taken away. */
		if (c->frozen && c->ent->flags & JF_ENT_DEFERRED)
			atomic_set(&jf_deferred_of(c->ent)->left, 0);
		/* Last. Pairs with cmpxchg() in kernel/update/keys.c. */
		smp_store_release(&k->count, c->value.on);
		c->frozen = false;
	}
	c->ctl->updates++;
}

/*
 * The value stays. But a caller that enables a deferred key takes over the user
 * that was left to the work item, which must not take it away any more.
 */
static void jf_take_over(struct jf_change *c)
{
	if (c->ent->type == JF_ENT_KEY && c->value.on &&
	    c->ent->flags & JF_ENT_DEFERRED)
		atomic_set(&jf_deferred_of(c->ent)->left, 0);
}

static void jf_account(u64 start, unsigned int updates, unsigned int patched)
{
	jf_stats.updates += updates;
	if (!patched)
		return;
	jf_stats.batches++;
	jf_stats.patched += patched;
	jf_stats.ns_last = ktime_get_ns() - start;
	if (!jf_stats.ns_min || jf_stats.ns_last < jf_stats.ns_min)
		jf_stats.ns_min = jf_stats.ns_last;
	if (jf_stats.ns_last > jf_stats.ns_max)
		jf_stats.ns_max = jf_stats.ns_last;
}

/* The entity has its value already. True if all its sites lead there. */
static int jf_mend(const struct jf_ctl *ctl)
{
	return jf_arch_is_stuck() ? jf_arch_mend(&ctl->sites) : 0;
}

/* 0 if all changes can be made. Those that would change nothing are moved to @noops. */
static int jf_validate(struct list_head *changes, struct list_head *noops,
		    unsigned int *updates)
{
	struct jf_change *c, *tmp;
	int err;

	list_for_each_entry_safe(c, tmp, changes, list) {
		err = jf_check_change(c);
		if (err)
			return err;
		err = jf_pin(c);
		if (err)
			return err;
		if (jf_value_equal(c->ent, jf_ent_value(c->ent), c->value) &&
		    c->pin == c->ctl->pin) {
			jf_unpin(c);
			/* A site may still lead to the rejected target. */
			err = jf_mend(c->ctl);
			if (err)
				return err;
			c->ctl->pending = NULL;
			list_move_tail(&c->list, noops);
			continue;
		}
		err = jf_prepare(c);
		if (!err)
			err = jf_freeze(c);
		if (err)
			return err;
		(*updates)++;
	}
	return 0;
}

/* All of them, with the promises of jf_arch_patch(). */
static int jf_patch(struct list_head *changes, struct jf_poke *pokes,
		    unsigned int num, bool *tried)
{
	int err = jf_arch_patch(pokes, num, true);
	struct jf_change *c;

	*tried = err && err != -EIO && jf_arch_ran();
	if (!*tried)
		return err;
	/* The broadcast after that is over: no CPU comes there any more. */
	list_for_each_entry(c, changes, list)
		jf_was_tried(c);
	return err;
}

/* The text's part of a commit. @num: the sites that differ from their wanted state */
static int jf_patch_sites(struct list_head *changes, unsigned int *num,
			  bool *tried)
{
	struct jf_poke *pokes;
	struct jf_change *c;
	size_t max = 0;
	int err;

	list_for_each_entry(c, changes, list)
		max += c->ctl->num_sites;
	if (!max || !jf_arch_patches())
		return 0;
	pokes = kvmalloc_array(max, sizeof(*pokes), GFP_KERNEL);
	if (!pokes)
		return -ENOMEM;
	err = jf_collect(changes, pokes, num);
	if (!err && *num) {
		jf_sort_pokes(pokes, *num);
		err = jf_verify(pokes, *num) ?:
		      jf_patch(changes, pokes, *num, tried);
	}
	kvfree(pokes);
	return err;
}

int jf_commit_try_locked(struct list_head *changes, bool *tried)
{
	unsigned int updates = 0, num = 0;
	u64 start = ktime_get_ns();
	struct jf_change *c;
	LIST_HEAD(noops);
	int err;

	lockdep_assert_held(&jf_mutex);
	*tried = false;

	err = jf_mark(changes, &noops);
	if (err)
		goto out;
	err = jf_validate(changes, &noops, &updates);
	if (err)
		goto out;
	err = jf_patch_sites(changes, &num, tried);
	/* -EIO: written, but not as it should be. */
	if (err && err != -EIO)
		goto out;
	/*
	 * If every site is out of reach, or no site exists, func alone leads there, and
	 * that may be an image that has been written just before.
	 */
	if (!num)
		jf_arch_settle();

	list_for_each_entry(c, changes, list)
		jf_apply(c);
	/* After all: a function that one change leaves is in use if another one sets it. */
	list_for_each_entry(c, changes, list)
		if (c->ent->type == JF_ENT_FUNC)
			jf_retired_again(c->value.func);
	list_for_each_entry(c, &noops, list)
		jf_take_over(c);
	jf_account(start, updates, num);

out:
	if (err && err != -EIO) {
		updates = 0;
		num = 0;
	}
	trace_jf_batch(start, ktime_get_ns(), updates, num, err);
	list_for_each_entry(c, changes, list) {
		jf_record(c, &c->retired, false);
		jf_record(c, &c->tried, false);
		jf_unfreeze(c);
		jf_unpin(c);
	}
	jf_unmark(changes);
	list_splice(&noops, changes);
	if (err)
		jf_stats.errors++;
	return err;
}

int jf_commit_locked(struct list_head *changes)
{
	bool tried;

	return jf_commit_try_locked(changes, &tried);
}

/* --- lists of changes -------------------------------------------------- */

int jf_add_change(struct list_head *changes, struct jf_ent *ent,
		  union jf_value value, bool force)
{
	struct jf_change *c = kmalloc(sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	c->ent = ent;
	c->value = value;
	c->force = force;
	c->flags = 0;
	c->pin = NULL;
	c->ctl = NULL;
	c->retired = NULL;
	c->tried = NULL;
	c->frozen = false;
	list_add_tail(&c->list, changes);
	return 0;
}

/* The value that @name means for a dynamic function; NULL: it may not be set to it. */
static void *jf_func_by_name(const struct jf_ctl *ctl, const char *name)
{
	if (!strcmp(name, "default"))
		return jf_func_of(ctl->ent)->init;
	if (!strcmp(name, "none") && ctl->ent->flags & JF_ENT_RET0)
		return jf_ret0;
	if (!strcmp(name, "none") && ctl->ent->flags & JF_ENT_NULL_OK)
		return jf_nop;
	return jf_allowed_target(ctl, name);
}

int jf_add_change_by_name(struct list_head *changes, const char *module,
			  const char *name, unsigned int rank,
			  const char *target)
{
	struct jf_ctl *ctl = jf_ctl_by_name(module, name, rank, JF_ENT_FUNC);
	union jf_value v;

	if (IS_ERR(ctl)) {
		pr_warn_ratelimited("functions: %s \"%s%s%s\"\n",
				    PTR_ERR(ctl) == -ENOENT ?
				    "no dynamic function" :
				    "say module:name or module:name#1, there are several of",
				    module ?: "", module ? ":" : "", name);
		return PTR_ERR(ctl);
	}
	if (ctl->ent->flags & JF_ENT_TRACE) {
		pr_warn_ratelimited("functions: %s belongs to a tracepoint and changes with its probes alone\n",
				    name);
		return -EPERM;
	}
	v.func = jf_func_by_name(ctl, target);
	if (!v.func) {
		pr_warn_ratelimited("functions: \"%s\" is not an allowed target of %s\n",
				    target, name);
		return -EPERM;
	}
	return jf_add_change(changes, ctl->ent, v, false);
}

void jf_free_changes(struct list_head *changes)
{
	struct jf_change *c, *tmp;

	list_for_each_entry_safe(c, tmp, changes, list)
		kfree(c);
	INIT_LIST_HEAD(changes);
}

/* The substitute for NULL depends on the entity; whether NULL is allowed is checked later. */
union jf_value jf_func_value(const struct jf_func *f, void *func)
{
	union jf_value v = { .func = func };

	if (!func)
		v.func = f->ent.flags & JF_ENT_RET0 ? (void *)jf_ret0 :
						      (void *)jf_nop;
	return v;
}

/* A batch of one, on the stack: nothing to allocate. */
int jf_commit_one(struct jf_ent *ent, union jf_value value, unsigned int flags)
{
	struct jf_change c = { .ent = ent, .value = value, .flags = flags };
	LIST_HEAD(changes);

	lockdep_assert_held(&jf_mutex);
	list_add(&c.list, &changes);
	return jf_commit_locked(&changes);
}

/* Frozen first, so that -EAGAIN means this, and no other failure. */
int jf_commit_last(struct jf_key *key)
{
	struct jf_change c = { .ent = &key->ent };
	LIST_HEAD(changes);

	lockdep_assert_held(&jf_mutex);
	if (jf_freeze(&c))
		return -EAGAIN;
	list_add(&c.list, &changes);
	return jf_commit_locked(&changes);
}

/* --- dynamic functions ------------------------------------------------- */

int __jf_func_update_flags(struct jf_func *f, void *func, unsigned int flags)
{
	bool cpuslocked = flags & __JF_CPUSLOCKED;
	int err = jf_check_context();

	if (err)
		return err;
	jf_lock_as(cpuslocked);
	err = jf_commit_one(&f->ent, jf_func_value(f, func), flags);
	jf_unlock_as(cpuslocked);
	return err;
}
EXPORT_SYMBOL_GPL(__jf_func_update_flags);

int __jf_func_update(struct jf_func *f, void *func)
{
	return __jf_func_update_flags(f, func, 0);
}
EXPORT_SYMBOL_GPL(__jf_func_update);

void *__jf_func_query(const struct jf_func *f)
{
	void *func = READ_ONCE(f->func);

	if (func == (void *)jf_nop || func == (void *)jf_ret0)
		return NULL;
	return func;
}
EXPORT_SYMBOL_GPL(__jf_func_query);
