/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Whether one jump can replace several instructions (whole.c). */
#ifndef JF_AGENT_WHOLE_H
#define JF_AGENT_WHOLE_H

#include "agent.h"

struct jf_module;

JF_HIDDEN bool jf_whole_led_to(struct jf_module *m, uintptr_t from, uintptr_t to);
JF_HIDDEN const char *jf_whole_is_data(struct jf_module *m, uintptr_t at, size_t size);
JF_HIDDEN const char *jf_whole_refuses(struct jf_module *m, uintptr_t at, unsigned int len, size_t size);

#endif /* JF_AGENT_WHOLE_H */
