/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * For the parts that write into rings: the inline functions of the ring call the agent's functions
 * in place of the library's, which use registers of vectors.
 */
#ifndef JF_RING_H
#define JF_RING_H

#define __jf_writer_next_as	jf_agent_next
#define __jf_clock_ns		jf_agent_clock
#include "agent.h"
#include "saved.h"
#undef __jf_writer_next_as
#undef __jf_clock_ns

#endif /* JF_RING_H */
