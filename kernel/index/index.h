/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modules with their entities and sites, and how to find each of them. All of
 * this is under jf_mutex, except jf_site_find() of kernel/index/site.h.
 */
#ifndef JF_INDEX_H
#define JF_INDEX_H

/* Files that include this handle other modules' entities and define none. */
#define JF_NO_TABLE
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#include <linux/list.h>
#include <linux/module.h>
#include <linux/types.h>

#include "index/site.h"
#include "index/spans.h"

struct jf_change;
struct jf_tracepoint;

/**
 * struct jf_ctl - the core's side of one entity
 * @hash:    in the table of all entities, by @ent
 * @hash_tramp: in the table of all trampolines, by @tramp
 * @hash_name: dynamic functions: in the table of all names
 * @hash_value: dynamic functions: in the table of all targets
 * @ent:     the entity
 * @mod:     the module that defines it
 * @sites:   all its sites, in all modules
 * @num_sites: how many these are
 * @pending: the change that the running batch makes, else NULL
 * @updates: how often its value changed
 * @tramp:   dynamic functions: address of the trampoline, else 0
 * @index:   in an array of entities; -1: not in one
 * @rank:    dynamic functions: which one of this name and module, from 1; 0: the only one
 * @sealed:  read-only since its module's init is done
 * @passed:  dynamic functions: calls of another one have led through its trampoline
 * @pin:     dynamic functions: the module that is kept because it leads there
 * @mark:    the last search for circles that visited it
 * @todo:    the next one for that search to visit
 * @tp:      of a tracepoint that is known: the tracepoint
 * @asked:   calls: the last command of the file probes that asked for it
 * @wanted:  the wish of that command
 */
struct jf_ctl {
	struct hlist_node	hash;
	struct hlist_node	hash_tramp;
	struct hlist_node	hash_name;
	struct hlist_node	hash_value;
	struct jf_ent		*ent;
	struct jf_mod		*mod;
	struct list_head	sites;
	unsigned int		num_sites;
	struct jf_change	*pending;
	u64			updates;
	unsigned long		tramp;
	int			index;
	unsigned int		rank;
	bool			sealed;
	bool			passed;
	struct module		*pin;
	u64			mark;
	struct jf_ctl		*todo;
	struct jf_tracepoint	*tp;
	u64			asked;
	bool			wanted;
};

/**
 * struct jf_mod - a module, with tables or without
 * @list:        on jf_modules
 * @mod:         the module
 * @sites:       its sites
 * @ctls:        its entities
 * @targets:     its lists of allowed targets
 * @num_sites:   length of @sites
 * @num_ctls:    length of @ctls
 * @num_targets: length of @targets
 * @target:      a function of it has been a target or a probe
 * @unloading:   its unload has begun, whatever its state says: a module that
 *               another notifier refused is unloaded as MODULE_STATE_COMING
 * @early:       it was loaded before jumpfunc
 */
struct jf_mod {
	struct list_head	list;
	struct module		*mod;
	struct jf_site		*sites;
	struct jf_ctl		*ctls;
	const struct jf_target_rec **targets;
	unsigned int		num_sites;
	unsigned int		num_ctls;
	unsigned int		num_targets;
	bool			target;
	bool			unloading;
	bool			early;
};

/* The state is set without our lock, but before our notifier, which takes it. */
static inline bool jf_mod_is_unloading(const struct jf_mod *m)
{
	return m->unloading || READ_ONCE(m->mod->state) == MODULE_STATE_GOING;
}

static inline struct jf_func *jf_func_of(struct jf_ent *ent)
{
	return container_of(ent, struct jf_func, ent);
}

static inline struct jf_key *jf_key_of(struct jf_ent *ent)
{
	return container_of(ent, struct jf_key, ent);
}

static inline struct jf_key_deferred *jf_deferred_of(struct jf_ent *ent)
{
	return container_of(ent, struct jf_key_deferred, key.ent);
}

extern struct list_head jf_modules;
/* How often an entity or a site was removed; under jf_mutex. */
extern u64 jf_index_dels;

/* --- look-ups ---------------------------------------------------------- */

struct jf_ctl *jf_ctl_find(const struct jf_ent *ent);
struct jf_ctl *jf_ctl_by_tramp(unsigned long addr);
/*
 * The entity @name of @type, in @module or (NULL) in any, with this @rank or (0) with any.
 * ERR_PTR(-ENOENT), or -EINVAL: there are several.
 */
struct jf_ctl *jf_ctl_by_name(const char *module, const char *name,
			      unsigned int rank, enum jf_ent_type type);
/* Calls may lead to @addr from now on, which may be a trampoline. */
void jf_mark_passed(unsigned long addr);
/* The module that @addr lies in, or NULL. */
struct jf_mod *jf_mod_by_addr(unsigned long addr);
struct jf_mod *jf_mod_find(const struct module *mod);
/* The text of @mod that holds @addr. The caller knows that the module stays. */
bool jf_module_text_at(const struct module *mod, unsigned long addr,
		       unsigned long *start, unsigned long *end);
/*
 * The same by the module's name, also if it was loaded before jumpfunc. @live: only
 * if it is live, neither being loaded nor unloaded. Needs no lock.
 */
bool jf_find_module_text(const char *name, unsigned long addr, bool live,
			 unsigned long *start, unsigned long *end);
typedef int (*jf_symbol_fn)(void *arg, unsigned long addr, unsigned long size,
			    const char *name);
/* One that counts: @arg is an unsigned int. */
int jf_symbol_count(void *arg, unsigned long addr, unsigned long size,
		    const char *name);
/*
 * Call @fn with each symbol of @mod in this text, in no order, until it does not return
 * 0: then that. In a read section of RCU, or while the module is being loaded: then
 * @fn may sleep.
 */
int jf_each_symbol(const struct module *mod, unsigned long start,
		   unsigned long end, jf_symbol_fn fn, void *arg);
/*
 * The same for the text around @addr of the module called @name. False: there is no
 * such text. *@stays: the module is not being unloaded. Needs no lock; @fn must not
 * sleep.
 */
bool jf_module_symbols(const char *name, unsigned long addr, bool *stays,
		       jf_symbol_fn fn, void *arg);
/*
 * The text around @addr, of whichever module, less the parts that its symbols say that they
 * have; needs no lock. 0, also where it is no module's; -ENOMEM
 */
int jf_add_unnamed_text(struct jf_spans *s, unsigned long addr);
/**
 * struct jf_named_text - a symbol of a module's text
 * @addr: where it begins
 * @size: how long it is
 * @name: its name
 */
struct jf_named_text {
	unsigned long	addr, size;
	const char	*name;
};

/*
 * The modules that are live and whose names @fits accepts, each with a reference on its
 * object: such a module is unloaded, but not freed. ERR_PTR(-ENOMEM), or an array that
 * ends with NULL, for jf_modules_put().
 */
struct module **jf_modules_get(bool (*fits)(const char *name, void *arg),
			       void *arg);
void jf_modules_put(struct module **mods);
/*
 * All symbols of the text of @mod, which is not freed before the end, in no order and with
 * their names; for kvfree(). ERR_PTR(-ENOMEM)
 */
struct jf_named_text *jf_named_text(const struct module *mod, unsigned int *num);
/* The address of @target if debugfs can give that name to @ctl, or NULL. */
void *jf_allowed_target(const struct jf_ctl *ctl, const char *target);
/* The first of those that may be, or NULL. */
void *jf_first_target(const struct jf_ctl *ctl);
/* @func is the target of the dynamic function @ctl from now on. */
void jf_index_set_func(struct jf_ctl *ctl, void *func);
/* True if some dynamic function has the target @func, which must not stand for NULL. */
bool jf_index_leads_to(unsigned long func);

/* --- for kernel/consumers/tables.c, which fills it ---------------------------------- */

void jf_index_add_ctl(struct jf_ctl *ctl);
void jf_index_del_ctl(struct jf_ctl *ctl);
/*
 * Let the INT3 handler find the sites of a module, too. -ENOMEM, or -EINVAL: two
 * sites overlap. May sleep.
 */
int jf_index_add_sites(const struct jf_mod *m);
/* And no longer find this one; it may be at work on it until a grace period ends. */
void jf_index_del_site(const struct jf_site *site);
/* After the last site was deleted, and a grace period after that. */
void jf_index_exit(void);

#endif /* JF_INDEX_H */
