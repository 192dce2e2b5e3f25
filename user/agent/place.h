/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Memory for the code of probes, within reach of a jump (place.c). */
#ifndef JF_AGENT_PLACE_H
#define JF_AGENT_PLACE_H

#include "agent.h"

JF_HIDDEN uintptr_t jf_place_near(uintptr_t site, size_t size);
/* Bytes that a heap may need, if nothing says how much: more than is in reach. */
#define JF_HEAP_MAX	(UINT64_C(64) << 30)

JF_HIDDEN uintptr_t jf_place_fixed(uintptr_t site, unsigned int fixed, const uint8_t *rel, size_t size, uint64_t heap);
JF_HIDDEN bool jf_place_full(void);
JF_HIDDEN bool jf_place_scarce(void);
JF_HIDDEN bool jf_place_heap(void);
JF_HIDDEN void jf_place_free(uintptr_t at, size_t size);

#endif /* JF_AGENT_PLACE_H */
