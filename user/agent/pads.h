/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Landing pads of exceptions (pads.c). */
#ifndef JF_AGENT_PADS_H
#define JF_AGENT_PADS_H

#include "agent.h"

struct jf_elf;

typedef void jf_pad_fn(uint64_t pad, void *arg);

JF_HIDDEN bool jf_pads(const struct jf_elf *elf, jf_pad_fn *fn, void *arg);

#endif /* JF_AGENT_PADS_H */
