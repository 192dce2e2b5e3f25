/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Patterns, and the probes that they mean (wish.c). */
#ifndef JF_AGENT_WISH_H
#define JF_AGENT_WISH_H

#include "agent.h"

#include "user/trace/pattern.h"
#include "user/trace/wishes.h"

struct jf_module;

extern struct jf_wish *jf_wishes[JF_KIND_CALL + 1] JF_HIDDEN;
JF_HIDDEN bool jf_means(const struct jf_pattern *p, enum jf_kind kind);
JF_HIDDEN bool jf_means_functions(const struct jf_pattern *p);
JF_HIDDEN bool jf_never(const char *name);
JF_HIDDEN bool jf_fits(const char *glob, const struct jf_module *m, enum jf_kind kind, const char *group, const char *name);
JF_HIDDEN bool jf_wishes_any(void);
JF_HIDDEN void jf_wishes_mark(const struct jf_module *m);
/* After jf_wishes_mark(). */
JF_HIDDEN const struct jf_wish *jf_wished(const struct jf_module *m, enum jf_kind kind, const char *group, const char *name);
JF_HIDDEN bool jf_wishes_functions(void);

#endif /* JF_AGENT_WISH_H */
