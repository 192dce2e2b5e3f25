/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A walk through all entities and their sites that does not hold jf_mutex for long, and
 * the names of the functions that sites are in.
 *
 *	do {
 *		jf_walk_begin(&w);
 *		while ((ctl = jf_walk_ctl(&w)))
 *			while ((site = jf_walk_site(&w)))
 *				...
 *	} while (jf_walk_again(&w));
 *
 * Between any two of these jf_mutex may have been given up. When a module was unloaded
 * in between, the walk ends early, and jf_walk_again() says that it has to be made again. So
 * a collection has to be dropped where a walk begins.
 */
#ifndef JF_INDEX_WALK_H
#define JF_INDEX_WALK_H

#include "index/index.h"

struct mutex;
struct seq_file;

/**
 * struct jf_names - the functions of all modules with sites, as they were once
 * @num:  how many modules
 * @mod:  they, sorted
 * @dels: jf_index_dels, as they were read
 */
struct jf_names {
	unsigned int		num;
	struct jf_mod_names	*mod;
	u64			dels;
};

/**
 * struct jf_walk - where a walk is
 * @mod:   the module; NULL: before the first one
 * @num:   so many entities of it were visited
 * @ctl:   the latest one
 * @of:    the one whose sites are visited: @ctl, if the caller sets no other one
 * @site:  its latest site; NULL: before the first one
 * @sites: sites that were visited since the lock was taken
 * @dels:  jf_index_dels, as the walk began
 * @tries: walks that were made before this one
 * @lost:  a module was unloaded in between
 * @names: those that are used; NULL: none. Older ones than @dels make a walk lost
 *
 * To be zeroed before the first walk.
 */
struct jf_walk {
	struct jf_mod	*mod;
	unsigned int	num;
	struct jf_ctl	*ctl;
	const struct jf_ctl *of;
	const struct jf_site *site;
	unsigned int	sites;
	u64		dels;
	unsigned int	tries;
	bool		lost;
	struct jf_names	*names;
};

/* Takes jf_lock(). */
void jf_walk_begin(struct jf_walk *w);
/* The next entity, of all modules; NULL: that was the last one, or the walk is lost. */
struct jf_ctl *jf_walk_ctl(struct jf_walk *w);
/* The next site of that entity. NULL: the same. */
const struct jf_site *jf_walk_site(struct jf_walk *w);
/* Work in between that needs no lock. After jf_walk_enter() @w->ctl may be gone. */
void jf_walk_leave(struct jf_walk *w);
void jf_walk_enter(struct jf_walk *w);
/* Ends it and gives up the lock. True: to be made again. False for a task that was killed. */
bool jf_walk_again(struct jf_walk *w);
/* The next one has no pause, as modules were unloaded in too many: it must not be lost. */
bool jf_walk_is_last(const struct jf_walk *w);

/* For jf_walk_show(): print @w->ctl, by @w->names. -errno */
typedef int (*jf_walk_fn)(struct seq_file *m, struct jf_walk *w, void *arg);
/*
 * Show all entities: @fn is called with each one, and all is shown anew where a walk was lost.
 * @outer: a lock that @fn takes between two entities, if this walk may still be lost: it
 * holds the lock in one that may not. 0, -ENOMEM, or the error of @fn.
 */
int jf_walk_show(struct seq_file *m, struct mutex *outer, jf_walk_fn fn, void *arg);

/*
 * Read them. The kernel searches a module's symbols one by one for each address that is to
 * get a name, and a module with thousands of sites has ten times as many symbols. Without
 * jf_mutex. -ENOMEM
 */
int jf_names_get(struct jf_names *n);
void jf_names_put(struct jf_names *n);
/*
 * The symbol of @mod that @addr is in, by its size. NULL: no symbol of known size is there.
 */
const struct jf_named_text *jf_names_find(const struct jf_names *n,
					  const struct module *mod,
					  unsigned long addr);

#endif /* JF_INDEX_WALK_H */
