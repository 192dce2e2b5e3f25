/* SPDX-License-Identifier: GPL-2.0 */
/* Grace periods of Tasks RCU, with a limit (kernel/quiesce/grace.c). */
#ifndef JF_GRACE_H
#define JF_GRACE_H

#include <linux/types.h>

struct jf_gp;

/* NULL: no memory. */
struct jf_gp *jf_gp_begin(void);
/*
 * True: @gp has ended, and is freed. False: not within @timeout, or it is NULL; then it
 * is freed some time after it has ended. The log tells of a long wait by @name.
 */
bool jf_gp_wait(const char *name, struct jf_gp *gp, long timeout);
/* Free those that have ended since. */
void jf_gps_trim(void);

#endif /* JF_GRACE_H */
