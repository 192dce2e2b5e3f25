// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Which records of a probe are made (trace/choice.h): the names of an expression are those of
 * the probe's fields. record.c and pair.c ask before they take a place in the ring.
 *
 * The text comes as it was written, with the pattern, and is parsed here: only the agent knows the
 * fields of each probe. So no program comes from outside, and the parser's own checks are
 * all that record.c needs. It is parsed once for each probe, and not where that is come by.
 *
 * A thread may be in the midst of a program that is replaced: that is freed after a quiesce.
 */
#include "choose.h"
#include "callers.h"
#include "types.h"
#include "lack.h"
#include "event.h"
#include "memory.h"
#include "chosen.h"
#include "spot.h"
#include "retire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/trace_event.h>

#include "user/trace/choice.h"
#include "user/trace/kind.h"

/* Of functions: ip and caller are before the registers. */
#define FIRST		(JF_FUNCTION_FIELDS - JF_REGISTERS)

/* Where the value of a field is: enum jf_from; -1: only in the record, or it is no integer. */
static int from_of(const struct jf_agent_probe *p, unsigned int i)
{
	static const int of_call[] = { JF_FROM_RET, JF_FROM_DURATION, JF_FROM_DEPTH, -1, -1, JF_FROM_TAIL };
	unsigned int k, nr = 0, first = FIRST;

	if (p->kind == JF_KIND_NOTE) {
		for (k = 0; k < p->spot.nr; k++)
			if (p->spot.operand[k].kind && nr++ == i)
				return (int)k;
		return -1;
	}
	if (i < first)
		return i ? JF_FROM_CALLER : JF_FROM_IP;
	if (i < first + p->spot.registers)
		return (int)(i - first);
	k = i - first - p->spot.registers;
	if (p->kind == JF_KIND_FUNCTION)
		return k < p->spot.nr ? JF_FROM_VECTOR + (int)k : -1;
	if (p->kind != JF_KIND_CALL || i - JF_FUNCTION_FIELDS >= sizeof(of_call) / sizeof(*of_call))
		return -1;
	return of_call[i - JF_FUNCTION_FIELDS];
}

static const char *why_not(const char *name, size_t len, const void *arg)
{
	const struct jf_agent_probe *p = (const struct jf_agent_probe *)arg;
	const struct jf_member *m = jf_member_find(p, name, len);
	size_t i;

	if (m)
		return m->why;
	for (i = 0; i < len && !strchr("-.[", name[i]); i++)
		;
	return i < len && p->kind != JF_KIND_NOTE && !p->typed ? jf_member_missing(p) : NULL;
}

/* A value of memory. @text: there are texts, or pointers to them. */
static int find_path(struct jf_step *step, const struct jf_agent_probe *p, const struct jf_member *m, bool text)
{
	const struct jf_path *path = &p->path[m - p->members];

	if (m->why || (text ? !path->text && (m->field[0].class_ != 5 || path->size != 8) : path->text))
		return -EINVAL;
	step->op = text ? JF_STEP_TEXT : m->field[0].class_ == 8 ? JF_STEP_READ_REAL : JF_STEP_READ;
	step->from = (uint8_t)(JF_FROM_PATH + (m - p->members));
	step->size = path->bits ? 8 : path->size;
	step->sign = path->sign && !text;
	return 0;
}

static int find_label(struct jf_step *step, const struct jf_agent_probe *p, const char *name, size_t len)
{
	int err = jf_choice_label(step, p->fields, name, len);
	unsigned int i;

	for (i = 0; err && i < p->nr_members; i++)
		err = jf_choice_label(step, p->members[i].field, name, len);
	return err;
}

static int find(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	const struct jf_agent_probe *p = (const struct jf_agent_probe *)arg;
	const struct jf_member *m = jf_member_find(p, name, len);
	const struct jf_event_field *f;
	unsigned int i;
	int from;

	if (m)
		return find_path(step, p, m, false);
	for (i = 0; i < p->nr_fields; i++) {
		f = &p->fields[i];
		if (!jf_choice_is(f->name, name, len))
			continue;
		from = from_of(p, i);
		if (from < 0 || f->kind != __JF_FIELD_SCALAR)
			return -EINVAL;
		step->op = f->class_ == 8 ? JF_STEP_REAL_VALUE : JF_STEP_VALUE;
		step->from = (uint8_t)from;
		step->size = (uint8_t)f->size;
		/* A register may be anything: also the -1 of a function that has failed. */
		step->sign = f->sign || (p->kind != JF_KIND_NOTE && f->class_ == 5);
		return 0;
	}
	if (jf_choice_is("tid", name, len)) {
		step->from = JF_FROM_TID;
		return 0;
	}
	return find_label(step, p, name, len);
}

/* A pointer. A name can be the record's field, as it is shown: NAME_string. */
static int find_text(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	static const char end[] = "_string";
	const struct jf_agent_probe *p = (const struct jf_agent_probe *)arg;
	const struct jf_member *m = jf_member_find(p, name, len);
	size_t more = sizeof(end) - 1;
	int err;

	if (m)
		return find_path(step, p, m, true);
	err = find(step, name, len, arg);
	if (err == -ENOENT && len > more && !memcmp(name + len - more, end, more))
		err = find(step, name, len - more, arg);
	if (err)
		return err;
	/* The function of a return address. */
	if (step->op != JF_STEP_VALUE || step->size != 8 || (step->from >= JF_FROM_IP && step->from != JF_FROM_CALLER))
		return -EINVAL;
	step->op = JF_STEP_TEXT;
	return 0;
}

static void list(char *to, size_t size, const void *arg)
{
	const struct jf_agent_probe *p = (const struct jf_agent_probe *)arg;
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < p->nr_fields && len < size; i++)
		if (from_of(p, i) >= 0)
			len += (size_t)snprintf(to + len, size - len, "%s, ", p->fields[i].name);
	if (len < size)
		len += (size_t)snprintf(to + len, size - len, "tid");
	if (len >= size)
		memcpy(to + size - sizeof("..."), "...", sizeof("..."));
}

static void forget(struct jf_retired *r)
{
	jf_chosen_forget((struct jf_chosen *)(void *)r);
}

static void replace(struct jf_agent_probe *p, struct jf_chosen *by)
{
	/* Release: pairs with the load where a thread comes by. */
	struct jf_chosen *was = __atomic_exchange_n(&p->spot.chosen, by, __ATOMIC_ACQ_REL);

	if (was)
		jf_retire(&was->retired, forget);
}

/* The caller writes p->why, which may be the same. */
static const char *forget_why(struct jf_agent_probe *p)
{
	free(p->choice_why);
	p->choice_why = NULL;
	return NULL;
}

/* NULL, or the reason against it. */
static const char *set_callers(struct jf_chosen *c)
{
	struct jf_step *s = NULL;
	unsigned int nr = 0;

	while ((s = jf_choice_text_of(&c->choice, s, JF_FROM_CALLER))) {
		if (nr == JF_CALLERS_MAX)
			return "its filter has more than 8 tests of the caller";
		c->callers[nr] = jf_callers_get(s);
		if (!c->callers[nr])
			return jf_no_memory;
		s->size = (uint8_t)nr++;
	}
	return NULL;
}

/**
 * jf_choose() - say which records of a probe are made
 * @p:    the probe, on or off
 * @text: as in a pattern; the empty one: all
 *
 * "every" and "max" count from 0 on.
 *
 * Return: NULL, or why it cannot be; then all is as it was
 */
const char *jf_choose(struct jf_agent_probe *p, const char *text)
{
	const struct jf_choice_names names = { find, find_text, list, p, why_not };
	struct jf_choice *c;
	const char *why;
	struct jf_chosen *n;
	size_t size;

	if (!*text) {
		replace(p, NULL);
		return forget_why(p);
	}
	c = malloc(sizeof(*c));
	if (!c)
		return jf_no_memory;
	if (jf_choice_parse(c, text, &names)) {
		free(p->choice_why);
		p->choice_why = strdup(c->why);
		free(c);
		return p->choice_why ? p->choice_why : jf_no_memory;
	}
	/* As many steps as there are; no other one is executed. */
	size = offsetof(struct jf_choice, step) + c->num * sizeof(c->step[0]);
	n = calloc(1, offsetof(struct jf_chosen, choice) + size);
	if (n)
		memcpy(&n->choice, c, size);
	free(c);
	if (!n)
		return jf_no_memory;
	why = set_callers(n);
	if (why) {
		jf_chosen_forget(n);
		return why;
	}
	n->path = p->path;
	replace(p, n);
	return forget_why(p);
}
