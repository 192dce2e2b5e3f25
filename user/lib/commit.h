/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* What commit.c and the parts around it share: from a batch's changes to what is written. */
#ifndef JF_LIB_COMMIT_H
#define JF_LIB_COMMIT_H

#include "lib.h"

/* All of these with the lock held. */

/* --- change.c --------------------------------------------------------------------- */

/*
 * The entity of @c, or what it stands in for. NULL: its object was closed, or it waits for
 * its exporter.
 */
struct jf_ctl *jf_change_ctl(const struct jf_change *c);

/* --- check.c ---------------------------------------------------------------------- */

/*
 * Find the entities of @b, and note there what they become. 0, -ENODEV or -EINVAL; then,
 * in any case, unmark them.
 */
int jf_changes_mark(struct jf_batch *b);
void jf_changes_unmark(struct jf_batch *b);
/*
 * Of a batch that is marked: may all that be? 0 or -errno. Takes away the last users of keys
 * that are disabled; where the change fails, unfreeze each.
 */
int jf_changes_check(struct jf_batch *b, bool force);
void jf_change_unfreeze(struct jf_change *c);

/* --- commit.c --------------------------------------------------------------------- */

/* The pokes of the transaction under way. Their memory stays for the next one. */
extern struct jf_pokes jf_work;

/* Add what is to be done at @site, if something is. 0 or -ENOMEM */
int jf_pokes_add_site(struct jf_pokes *p, struct jf_site *site, uintptr_t value);
/* All of @b, or nothing of it, as one transaction. */
int jf_commit_at_once(struct jf_batch *b, bool force);

#endif /* JF_LIB_COMMIT_H */
