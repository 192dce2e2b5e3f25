/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* USDT notes (note.c). */
#ifndef JF_AGENT_NOTE_H
#define JF_AGENT_NOTE_H

#include "agent.h"

struct jf_section;

/**
 * struct jf_note - a USDT note
 * @provider:  of the probe
 * @name:      of the probe
 * @args:      as the compiler wrote them
 * @pc:        where, from the object's own 0 on
 * @semaphore: 0: it has none
 */
struct jf_note {
	const char	*provider;
	const char	*name;
	const char	*args;
	uint64_t	pc;
	uint64_t	semaphore;
};

typedef int jf_note_fn(const struct jf_note *note, void *arg);

JF_HIDDEN int jf_notes(const struct jf_section *notes, uint64_t base, jf_note_fn *fn, void *arg);

#endif /* JF_AGENT_NOTE_H */
