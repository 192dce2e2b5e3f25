/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The interfaces of commit.c and the parts around it: from a batch's changes to the written text.
 */
#ifndef JF_LIB_COMMIT_H
#define JF_LIB_COMMIT_H

#include "lib.h"

/* All of these with the lock held. */

/* --- change.c --------------------------------------------------------------------- */

/*
 * The entity of @c, or the entity that it stands in for. NULL: its object was closed, or it waits
 * for its exporter.
 */
struct jf_ctl *jf_change_ctl(const struct jf_change *c);

/* --- check.c ---------------------------------------------------------------------- */

/*
 * Find the entities of @b, and note their new values there. 0, -ENODEV or -EINVAL; then,
 * in any case, unmark them.
 */
int jf_changes_mark(struct jf_batch *b);
void jf_changes_unmark(struct jf_batch *b);
/*
 * Validate all changes of a marked batch. 0 or -errno. Takes away the last users of keys
 * that are disabled; where the change fails, unfreeze each.
 */
int jf_changes_check(struct jf_batch *b, bool force);
void jf_change_unfreeze(struct jf_change *c);

#endif /* JF_LIB_COMMIT_H */
