// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Members that a pattern names: members.c reads them where a thread comes by, and a record of the
 * function has them after its arguments.
 *
 * Records of two forms are made. In the first one a number is a number. If one of them cannot be
 * read, the record has the second form, in which each of them is a text: the number, its label, or
 * the reason why it is not there. Both have the same name in the trace.
 *
 * A thread may be in the midst of a record when another list of members takes the place of this
 * one: that is freed after a quiesce.
 */
#include "shown.h"
#include "types.h"
#include "lack.h"
#include "event.h"
#include "members.h"
#include "memory.h"
#include "spot.h"
#include "retire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/trace_event.h>

#include "user/trace/pattern.h"
#include "user/trace/provider.h"

#define FIELDS_MAX	(JF_FUNCTION_FIELDS + JF_VECTORS_MAX + 2 * JF_STRINGS_MAX + JF_SHOWN_MAX + 1)

/**
 * struct form - a description of records, while it is made
 * @event: as the trace is told
 * @field: of it
 * @num:   how many
 */
struct form {
	struct jf_event		event;
	struct jf_event_field	field[FIELDS_MAX];
	unsigned int		num;
};

/* "order->lines[2].n" becomes "order_lines_2_n". */
static char *name_of(const char *path)
{
	char *name = malloc(strlen(path) + JF_SHOWN_MAX + 1), *to = name;

	for (; name && *path; path++) {
		if (*path == ']')
			continue;
		*to++ = strchr("-.[", *path) ? '_' : *path;
		path += *path == '-';
	}
	if (name)
		*to = 0;
	return name;
}

static bool has_field(const struct form *f, const char *name)
{
	unsigned int i = 0;

	while (i < f->num && strcmp(f->field[i].name, name))
		i++;
	return i < f->num;
}

static void add_text(struct form *f, const char *name)
{
	f->field[f->num++] = (struct jf_event_field){ .name = name, .type = "", .kind = __JF_FIELD_STRING };
}

static void add_number(struct form *f, const char *name, struct jf_shown_member *m)
{
	const struct jf_path *path = m->path;
	uint32_t size = path->bits ? 8 : path->size;

	f->event.size = (f->event.size + size - 1) & ~(size - 1);
	m->at = (uint8_t)f->event.size;
	f->event.size += size;
	f->field[f->num++] = (struct jf_event_field){
		.name = name, .type = "", .labels = m->field->labels, .kind = __JF_FIELD_SCALAR, .class_ = m->field->class_,
		.sign = path->sign, .align = (uint8_t)size, .size = size, .count = 1,
	};
}

static void add_own_strings(struct form *f, const struct jf_agent_probe *p)
{
	int i;

	for (i = 0; i < __builtin_popcount(p->strings); i++)
		f->field[f->num++] = p->fields[p->nr_fields + (unsigned int)i];
}

static void begin(struct form *f, const struct jf_agent_probe *p)
{
	f->event = p->event;
	f->event.id = 0;
	f->event.fields = f->field;
	f->num = p->nr_fields;
	memcpy(f->field, p->fields, p->nr_fields * sizeof(f->field[0]));
}

/* Numbers among the members are numbers, or all of them are texts. */
static void make(struct form *f, const struct jf_agent_probe *p, struct jf_shown *s, char *const *names, bool numbers)
{
	unsigned int i;

	begin(f, p);
	for (i = 0; numbers && i < s->num; i++)
		if (!jf_shown_is_text(&s->member[i]))
			add_number(f, names[i], &s->member[i]);
	add_own_strings(f, p);
	for (i = 0; i < s->num; i++)
		if (jf_shown_is_text(&s->member[i]))
			add_text(f, names[i]);
	for (i = 0; !numbers && i < s->num; i++)
		if (!jf_shown_is_text(&s->member[i]))
			add_text(f, names[i]);
	f->field[f->num].kind = __JF_FIELD_END;
}

/* An argument, or a member before it, can have that name. */
static bool make_unique(char *const *names, unsigned int nr, const struct jf_agent_probe *p)
{
	struct form f;
	unsigned int i;
	bool taken;

	begin(&f, p);
	add_own_strings(&f, p);
	do {
		taken = has_field(&f, names[nr]);
		for (i = 0; i < nr; i++)
			taken |= !strcmp(names[i], names[nr]);
		if (taken && strlen(names[nr]) > JF_PATTERN_MAX)
			return false;
		if (taken)
			strcat(names[nr], "_");
	} while (taken);
	return true;
}

/* Gives both forms a number. NULL, or the reason against it. */
static const char *number(const struct jf_agent_probe *p, struct jf_shown *s, char *const *names)
{
	struct form *f = calloc(2, sizeof(*f));
	struct jf_event *events[2];
	int err;

	if (!f)
		return jf_no_memory;
	make(&f[0], p, s, names, true);
	make(&f[1], p, s, names, false);
	events[0] = &f[0].event;
	events[1] = &f[1].event;
	err = __jf_events_number(events, 2);
	s->size = f[0].event.size;
	s->plain = f[1].event.size;
	s->id = f[0].event.id;
	s->text_id = f[1].event.id;
	free(f);
	return err ? "its members have no number in the trace" : NULL;
}

static const char *name_all(const struct jf_agent_probe *p, struct jf_shown *s)
{
	char *names[JF_SHOWN_MAX] = { NULL };
	const char *why = NULL;
	unsigned int i;

	for (i = 0; !why && i < s->num; i++) {
		names[i] = name_of(s->member[i].field->name);
		if (!names[i] || !make_unique(names, i, p))
			why = jf_no_memory;
	}
	if (!why)
		why = number(p, s, names);
	for (i = 0; i < s->num; i++)
		free(names[i]);
	return why;
}

/* The reason is the probe's, for free(). */
static const char *refuse(struct jf_agent_probe *p, const char *name, size_t len, const char *why)
{
	free(p->choice_why);
	if (asprintf(&p->choice_why, "'%.*s': %s", (int)len, name, why) < 0)
		p->choice_why = NULL;
	return p->choice_why ? p->choice_why : jf_no_memory;
}

static const char *add_member(struct jf_agent_probe *p, struct jf_shown *s, const char *name, size_t len, unsigned int *texts)
{
	const struct jf_member *m = jf_member_find(p, name, len);
	struct jf_shown_member *to = &s->member[s->num];

	if (!m || m->why)
		return refuse(p, name, len, m ? m->why : jf_member_missing(p));
	to->field = &m->field[0];
	to->path = &p->path[m - p->members];
	if (jf_shown_is_text(to) && ++*texts > JF_STRINGS_MAX)
		return refuse(p, name, len, "a record has 4 texts at most");
	s->num++;
	return NULL;
}

static const char *add_all(struct jf_agent_probe *p, struct jf_shown *s, const char *members)
{
	unsigned int texts = (unsigned int)__builtin_popcount(s->strings);
	const char *why = NULL;
	size_t len;

	for (; !why && *members && s->num < JF_SHOWN_MAX; members += len + (members[len] == ',')) {
		len = strcspn(members, ",");
		why = add_member(p, s, members, len, &texts);
	}
	return why;
}

static void replace(struct jf_agent_probe *p, struct jf_shown *by)
{
	/* Release: pairs with the load where a thread comes by. */
	struct jf_shown *was = __atomic_exchange_n(&p->spot.shown, by, __ATOMIC_ACQ_REL);

	if (was)
		jf_retire(&was->retired, NULL);
}

/**
 * jf_show() - say which members the records of a function have
 * @p:       the probe, on or off, with its strings
 * @members: paths, with a comma between two; the empty text: none
 *
 * While a trace is there.
 *
 * Return: NULL, or why it cannot be; then all is as it was
 */
const char *jf_show(struct jf_agent_probe *p, const char *members)
{
	struct jf_shown *s;
	const char *why;

	/* A counted call reads nothing. */
	if (!*members || __jf_counts()) {
		replace(p, NULL);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return jf_no_memory;
	s->strings = p->strings;
	why = add_all(p, s, members);
	if (!why)
		why = name_all(p, s);
	if (why)
		free(s);
	else
		replace(p, s);
	return why;
}
