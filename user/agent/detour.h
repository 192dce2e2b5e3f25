/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* How a place is changed so that it leads to the code of a probe (detour.c). */
#ifndef JF_AGENT_DETOUR_H
#define JF_AGENT_DETOUR_H

#include "agent.h"
#include "exit.h"
#include "displace.h"

#include "user/lib/text.h"

struct jf_module;

enum jf_way {
	JF_WAY_NONE,
	JF_WAY_JUMP,		/* in place of one instruction that is long enough */
	JF_WAY_SHORT,		/* the next bytes stay, and are part of the distance */
	JF_WAY_SPAN,		/* in place of several, to which nothing leads but to the first */
	JF_WAY_BREAK,		/* a breakpoint */
	JF_WAY_BESIDE,		/* short ones may reach into the next function */
};

/**
 * struct jf_detour - a place, and the code to which it leads
 * @way:  how
 * @byte: one byte is all that changes
 * @why:  it cannot be; or why it is no jump
 * @poke: the change that leads there
 * @skip: and where the copies begin, which record nothing
 * @insn: the instructions that were copied, as they stood
 * @nr_insn: bytes of them
 * @code: its bytes, until they are written
 * @size: of them
 * @at:   where they are
 * @hop:  where the text leads, if that has no room for all of it: a jump to @at; or 0
 * @hop_code: that jump
 * @former: another one of the same place, for other bytes around it
 */
struct jf_detour {
	enum jf_way		way;
	bool			byte;
	const char		*why;
	struct jf_text_poke	poke;
	uintptr_t		skip;
	uint8_t			insn[JF_LATE_MAX + JF_INSN_MAX];
	uint8_t			nr_insn;
	uintptr_t		at;
	uintptr_t		hop;
	uint8_t			hop_code[JF_TEXT_MAX];
	size_t			size;
	struct jf_detour	*former;
	uint8_t			code[256];
};

/* Where the text leads. */
static inline uintptr_t jf_detour_lead(const struct jf_detour *d)
{
	return d->hop ? d->hop : d->at;
}

/* Which ways may be taken: bits of 1 << enum jf_way. A breakpoint only if it is asked for. */
extern unsigned int jf_ways JF_HIDDEN;
JF_HIDDEN int jf_detour_make(struct jf_detour *d, struct jf_module *module, uintptr_t at, size_t size, size_t avail,
			     uint32_t number, bool fill, unsigned int late);
JF_HIDDEN void jf_detour_drop(struct jf_detour *d);

#endif /* JF_AGENT_DETOUR_H */
