/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The bytes at a point, and the points beside it (around.c). */
#ifndef JF_AGENT_AROUND_H
#define JF_AGENT_AROUND_H

#include "agent.h"

struct jf_detour;
struct jf_point;

JF_HIDDEN bool jf_point_stands(const struct jf_point *t);
JF_HIDDEN bool jf_point_is_ours(const struct jf_point *t);
JF_HIDDEN bool jf_point_restored(struct jf_point *t);
JF_HIDDEN void jf_point_keep(struct jf_point *t);
/* True if the jump of @t leads to this code. Bytes that follow are part of the distance. */
JF_HIDDEN bool jf_point_fits(const struct jf_point *t, const struct jf_detour *d);
/*
 * A breakpoint of a debugger or a uprobe in those bytes, or the text that a kernel makes of one: it
 * goes at some time, and must be no part of a jump's distance.
 */
JF_HIDDEN const char *jf_point_changed(const struct jf_point *t);
/* True if a point before it has this byte in its jump. */
JF_HIDDEN bool jf_point_covered(uintptr_t at);
/* The point @i bytes after it, that can be part of the distance. */
JF_HIDDEN struct jf_point *jf_point_follower(const struct jf_point *t, unsigned int i);
/* Ways that are left to it. 0: none. */
JF_HIDDEN unsigned int jf_point_ways(const struct jf_point *t);

#endif /* JF_AGENT_AROUND_H */
