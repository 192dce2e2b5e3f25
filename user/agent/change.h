/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Points are changed, in one transaction for each kind of change (change.c). */
#ifndef JF_AGENT_CHANGE_H
#define JF_AGENT_CHANGE_H

#include "agent.h"

struct jf_point;

/* Finds out how, and sees to it that it can be recorded. False: @why says why not. */
JF_HIDDEN bool jf_point_prepare(struct jf_point *t);
JF_HIDDEN void jf_points_change_on(struct jf_point **points, size_t num);
/* The text as it was; the order of @points changes. 0, or an error of __jf_text_change(). */
JF_HIDDEN int jf_points_change_off(struct jf_point **points, size_t num);

#endif /* JF_AGENT_CHANGE_H */
