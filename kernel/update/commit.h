/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of entities, and batches of changes (jf_core.c), for the rooms above.
 */
#ifndef JF_COMMIT_H
#define JF_COMMIT_H

#include <linux/kallsyms.h>

#include "index/index.h"

/* An entity's value: its type says which member counts. */
union jf_value {
	void	*func;		/* never NULL: jf_nop and jf_ret0 stand in */
	bool	on;
};

/**
 * struct jf_change - one entry of a batch
 * @list:  on jf_batch.changes
 * @ent:   the entity
 * @value: its new value
 * @force: although its module is being unloaded
 * @flags: dynamic functions: JF_PIN, JF_VOUCH
 * @ctl:   found when the batch is committed
 * @retired: during the commit, the replaced target, if it must be remembered
 * @tried: during the commit, the new target, if a change that fails can execute it
 * @frozen: during the commit, the key's one user was taken away
 * @pin:   the target's module, if it is to be kept; when it is done, the last one
 */
struct jf_change {
	struct list_head	list;
	struct jf_ent		*ent;
	union jf_value		value;
	bool			force;
	unsigned int		flags;
	struct jf_ctl		*ctl;
	void			*retired, *tried;
	bool			frozen;
	struct module		*pin;
};

/* Commit a list of changes with the locks held. */
int jf_commit_locked(struct list_head *changes);
/*
 * The same. *@tried: it failed, and a task may be in its rejected target, which
 * jf_arch_runs_failed() tells of.
 */
int jf_commit_try_locked(struct list_head *changes, bool *tried);
/* The same for one change. */
int jf_commit_one(struct jf_ent *ent, union jf_value value, unsigned int flags);
/* Take away a key's last user and disable it; -EAGAIN: that was not the last one. */
int jf_commit_last(struct jf_key *key);
/* 0 if this key's count can be changed. With jf_mutex held. -ENODEV, -EROFS, -EBUSY */
int jf_check_key(struct jf_key *key);
/* The value of a dynamic function that is set to @func, which may be NULL. */
union jf_value jf_func_value(const struct jf_func *f, void *func);
/*
 * 0 if calls can be sent there. With jf_mutex held. @vouched: the caller vouches that the
 * text stays, where neither kernel nor module says so. -EINVAL, -EBUSY, -EPERM
 */
int jf_check_target(const char *name, void *func, const struct jf_mod *own,
		    bool vouched);
/* True if this function would call itself, now or after an unload. With jf_mutex held. */
bool jf_is_circular(struct jf_ctl *ctl);
/* The instruction that @site must hold if its entity has the value @value. */
int jf_site_encode(const struct jf_site *site, union jf_value value, u64 *insn);
void jf_sort_pokes(struct jf_poke *pokes, unsigned int num);
union jf_value jf_ent_value(struct jf_ent *ent);
void jf_free_changes(struct list_head *changes);
int jf_add_change(struct list_head *changes, struct jf_ent *ent,
		  union jf_value value, bool force);
/*
 * Add a change that is told by names: of a dynamic function and one of its allowed
 * targets, or "default" or "none". With jf_mutex held, until it is committed.
 * @rank: see struct jf_ctl.
 * -ENOENT: no such function, -EINVAL: several, say in which module, -EPERM: it may
 * not be set to that, -ENOMEM. The log says so.
 */
int jf_add_change_by_name(struct list_head *changes, const char *module,
			  const char *name, unsigned int rank,
			  const char *target);

/* Name of a target for humans, "none" without one. */
const char *jf_target_name(const void *func, char *buf);
#define JF_NAME_LEN	KSYM_SYMBOL_LEN

#endif /* JF_COMMIT_H */
