/* SPDX-License-Identifier: GPL-2.0 */
/* Keys that are counted and deferred (kernel/update/keys.c), for the rooms above. */
#ifndef JF_KEYS_H
#define JF_KEYS_H

#include "index/index.h"

/*
 * The module of this entity is being unloaded: nothing may run for it any more.
 * Without jf_mutex and cpus_read_lock(), which the callbacks can take.
 */
void jf_key_unload(struct jf_ent *ent);

#endif /* JF_KEYS_H */
