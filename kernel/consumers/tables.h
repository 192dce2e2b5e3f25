/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interfaces between the files of this room: a module's tables, and the effects of its unload.
 */
#ifndef JF_MODULE_TABLES_H
#define JF_MODULE_TABLES_H

#include "index/index.h"

/* --- tables.c, with jf_mutex held ----------------------------------------- */

typedef int (*jf_table_fn)(struct jf_mod *m, const struct jf_table *t);

bool jf_has_tables(const struct module *mod);
/* Check all tables, and allocate memory for their contents. */
int jf_alloc_arrays(struct jf_mod *m);
int jf_for_each_table(struct jf_mod *m, jf_table_fn fn);
/* For each table: its entities, then its sites and targets. */
int jf_table_add_ents(struct jf_mod *m, const struct jf_table *t);
int jf_table_add_sites(struct jf_mod *m, const struct jf_table *t);
/* Then: check that all of its functions can have their initial targets. */
int jf_check_inits(struct jf_mod *m);

void jf_link_sites(struct jf_mod *m);
void jf_unlink_site(struct jf_site *site);
void jf_unhash(struct jf_mod *m);
/* Needs no lock: nothing refers to it. */
void jf_free_mod(struct jf_mod *m);

/* --- unload.c, which takes the locks --------------------------------------- */

/* Return when nothing leads into @mod any more. -errno: not within @timeout. */
int jf_cut_off(struct module *mod, long timeout);
/* Nothing may be queued for its keys any more. */
void jf_keys_unload(const struct jf_mod *m);
/* No task is in @m: restore its sites, forget its tables. */
void jf_module_forget(struct jf_mod *m);
/*
 * For the notifier of a module that is unloaded: where to put a function that the kernel
 * then calls when it begins to free the module. NULL: there is nothing like that.
 */
void (**jf_call_at_free(struct module *mod))(struct module *mod);

#endif /* JF_MODULE_TABLES_H */
