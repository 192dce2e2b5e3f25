/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * For the parts that write into rings: the inline functions of the ring call the agent's functions
 * in place of the library's, which use registers of vectors. It is the first header of such a part.
 */
#ifndef JF_RING_H
#define JF_RING_H

#include "agent.h"

#ifdef JUMPFUNC_RING_USER_H
#error "the inline functions of the ring are there already: ring.h comes first"
#endif
#define __jf_writer_next_as	jf_agent_next
#define __jf_clock_ns		jf_agent_clock
#include <jumpfunc/trace_event.h>
#undef __jf_writer_next_as
#undef __jf_clock_ns

#endif /* JF_RING_H */
