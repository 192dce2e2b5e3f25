/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The order in which points get their jumps (lead.c). */
#ifndef JF_AGENT_LEAD_H
#define JF_AGENT_LEAD_H

#include "agent.h"

struct jf_point;

JF_HIDDEN bool jf_point_stays(const struct jf_point *t);
JF_HIDDEN void jf_points_lead(struct jf_point **points, size_t num);
JF_HIDDEN int jf_points_unlead(struct jf_point **points, size_t num);

#endif /* JF_AGENT_LEAD_H */
