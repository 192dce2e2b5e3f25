/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Records with members of structures (members.c). */
#ifndef JF_AGENT_MEMBERS_H
#define JF_AGENT_MEMBERS_H

#include "agent.h"
#include "memory.h"
#include "retire.h"

#include <jumpfunc/trace_event.h>

#include "user/trace/pattern.h"

/**
 * struct jf_shown_member - a member that is recorded
 * @path:  to it
 * @field: its class and labels
 * @at:    of a number: where in the record
 */
struct jf_shown_member {
	const struct jf_path		*path;
	const struct jf_event_field	*field;
	uint8_t				at;
};

static inline bool jf_shown_is_text(const struct jf_shown_member *m)
{
	return m->path->text || m->path->string;
}

/**
 * struct jf_shown - members that are recorded, of a function
 * @retired: for jf_retire()
 * @id:      the event's number
 * @text_id: the same if a member could not be read
 * @strings: a bit for each argument that is recorded as a string
 * @num:     members
 * @plain:   bytes of a record before its members
 * @size:    with those that are numbers
 * @member:  each of them
 */
struct jf_shown {
	struct jf_retired	retired;
	uint16_t		id;
	uint16_t		text_id;
	uint16_t		strings;
	unsigned int		num;
	uint32_t		plain;
	uint32_t		size;
	struct jf_shown_member	member[JF_SHOWN_MAX];
};

/* Writes the part of a record that is before its members. */
typedef void jf_plain_fn(void *to, const void *arg);
/* Makes a record with members; @reg has the registers of arguments. */
JF_HIDDEN void jf_members_record(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg);

#endif /* JF_AGENT_MEMBERS_H */
