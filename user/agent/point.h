/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Places of probes (point.c). */
#ifndef JF_AGENT_POINT_H
#define JF_AGENT_POINT_H

#include "agent.h"
#include "detour.h"

#include "user/lib/text.h"

struct jf_agent_probe;
struct jf_module;
struct jf_spot;

/**
 * struct jf_point - a place of text where probes are
 * @beside: the next one in its part of the table of all
 * @module: its object, or NULL: it is the agent's own
 * @spots:  of the probes that are there, at least one
 * @at:     where
 * @avail:  bytes from there on that are text
 * @size:   of its function, as its symbol says; 0: it is not known
 * @text:   those that a jump is made of, as its file has them
 * @nr_text: of these
 * @number: by which its code finds @spots, or UINT32_MAX
 * @depth:  how many others must be led before it
 * @made:   its code is there
 * @led:    the text leads there; also when all are off, if another one needs that, or the text
 *          could not be changed back
 * @kept:   another patcher can have a jump to its code: that stays
 * @planned: it is about to be led
 * @listed: it is in a list of lead.c
 * @asked:  it is one of those that jf_points_lead() is called for
 * @filled: the bytes after its instruction, up to the end of a line, are not executed
 * @hemmed: another function begins in the bytes after it: they may be no jump's distance
 * @late:   the recorded instruction is so many bytes after it
 * @detour: how it is done
 * @former: how it was done, as long as the bytes around it were others
 */
struct jf_point {
	struct jf_point		*beside;
	struct jf_module	*module;
	struct jf_spot		*spots;
	uintptr_t		at;
	size_t			avail;
	size_t			size;
	uint8_t			text[JF_TEXT_MAX];
	uint8_t			nr_text;
	uint32_t		number;
	unsigned int		depth;
	bool			made;
	bool			led;
	bool			kept;
	bool			planned;
	bool			listed;
	bool			asked;
	bool			filled;
	bool			hemmed;
	uint8_t			late;
	struct jf_detour	detour;
	struct jf_detour	*former;
};

JF_HIDDEN struct jf_point *jf_point_at(uintptr_t at);
JF_HIDDEN int jf_point_join(struct jf_agent_probe *p, struct jf_module *module, size_t avail);
JF_HIDDEN void jf_point_leave(struct jf_agent_probe *p);
/* Gives it a number. False: the detour has the reason. */
JF_HIDDEN bool jf_point_number(struct jf_point *t);

#endif /* JF_AGENT_POINT_H */
