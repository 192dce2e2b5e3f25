/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The table of frames: bounds of functions, and their stack (frame.c). */
#ifndef JF_AGENT_FRAME_H
#define JF_AGENT_FRAME_H

#include "agent.h"

struct jf_module;

JF_HIDDEN bool jf_frame_text(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end);
JF_HIDDEN bool jf_frame_bounds(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end);
JF_HIDDEN long jf_frame_depth(const struct jf_module *m, uintptr_t at);

#endif /* JF_AGENT_FRAME_H */
