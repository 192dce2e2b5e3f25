/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A probe, for the parts that find it, describe it, and switch it on and off. */
#ifndef JF_AGENT_EVENT_H
#define JF_AGENT_EVENT_H

#include "agent.h"
#include "spot.h"

#include <jumpfunc/trace_event.h>

#include "user/trace/kind.h"
#include "user/trace/pattern.h"

struct jf_calls;
struct jf_path;
struct jf_point;

/* Of a string's field, with its end. */
#define JF_NAME_MAX	48

/**
 * struct jf_agent_probe - an event of a program that can be recorded
 * @spot:   the part of record.c
 * @kind:   of probes; JF_KIND_ANY: it is a part of another one, or the agent's own
 * @next:   of its module
 * @point:  where it is
 * @group:  the note's provider, or its object's name
 * @name:   of it
 * @why:    it could not be switched on, or is no jump; or NULL
 * @queued: it is going to be switched on
 * @semaphore: is counted up while it is on, or NULL
 * @event:  as the trace is told of it
 * @fields: of that
 * @names:  of those
 * @nr_fields: without strings
 * @strings: a bit for each argument that is recorded as a string, too
 * @known_strings: a bit for each of these strings that need not be asked for
 * @string_names: of their fields
 * @calls:  of a function whose calls are recorded
 * @choice_why: why it could not be chosen which records are made, or NULL
 * @members: memory that its arguments lead to, or NULL
 * @path:    of each
 * @nr_members: how many
 * @typed:   its arguments are known by debug information
 */
struct jf_agent_probe {
	struct jf_spot		spot;
	enum jf_kind		kind;
	struct jf_agent_probe		*next;
	struct jf_point		*point;
	char			*group;
	char			*name;
	const char		*why;
	bool			queued;
	uint16_t		*semaphore;
	struct jf_event		event;
	struct jf_event_field	fields[JF_FUNCTION_FIELDS + JF_VECTORS_MAX + JF_STRINGS_MAX + 1];
	char			names[JF_ARGS_MAX][8];
	unsigned int		nr_fields;
	uint16_t		strings;
	uint16_t		known_strings;
	char			string_names[JF_STRINGS_MAX][JF_NAME_MAX];
	struct jf_calls		*calls;
	char			*choice_why;
	struct jf_member	*members;
	struct jf_path		*path;
	unsigned int		nr_members;
	bool			typed;
};

/**
 * struct jf_member - memory that an argument leads to
 * @field: its name, class and labels, and the end of fields
 * @why:   it cannot be read, or NULL
 */
struct jf_member {
	struct jf_event_field	field[2];
	char			*why;
};

#endif /* JF_AGENT_EVENT_H */
