// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Functions that a filter names as callers: where they are. caller =~ "prog:main*" is a test of the
 * return address: which ranges of text it looks for is found here, when it is asked for and when
 * objects come or go. A thread that comes by has nothing but a binary search to do.
 *
 * A part that the compiler put elsewhere (NAME.cold), and a clone (NAME.part.0), are of the
 * function. The symbol has its bounds, or, if the symbol has no size, the table of frames.
 *
 * All of it is with agent_lock. Ranges that were replaced are freed after a quiesce.
 */
#include "callers.h"
#include "frame.h"
#include "module.h"
#include "elf.h"
#include "chosen.h"
#include "retire.h"

#include <stdlib.h>
#include <string.h>

#include "user/trace/choice.h"

static struct jf_callers *all;

/* --- patterns -------------------------------------------------------------------------- */

/* As a glob: of "==" each character is itself. @to has twice the room. */
static void make_glob(char *to, const struct jf_step *step)
{
	const char *text = (const char *)(step + 1);
	size_t len = (uint32_t)step->number, i;

	for (i = 0; i < len; i++) {
		if (!step->sign && strchr("*?[\\", text[i]))
			*to++ = '\\';
		*to++ = text[i];
	}
	*to = 0;
}

/**
 * jf_callers_get() - the functions that a test means
 * @step: JF_STEP_TEXT, with its text
 *
 * Return: they, without any before jf_callers_end(); one user more. NULL: no memory
 */
struct jf_callers *jf_callers_get(const struct jf_step *step)
{
	char glob[2 * JF_CHOICE_MAX + 1];
	struct jf_callers *c;

	make_glob(glob, step);
	for (c = all; c; c = c->next)
		if (!strcmp(c->glob, glob))
			break;
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->glob = strdup(glob);
		if (!c->glob) {
			free(c);
			return NULL;
		}
		c->next = all;
		all = c;
	}
	c->users++;
	return c;
}

/**
 * jf_callers_want() - the functions of a filter will be needed
 * @text: of the filter
 *
 * Until the next jf_callers_begin().
 */
void jf_callers_want(const char *text)
{
	struct jf_step *s = NULL;
	struct jf_callers *c;
	struct jf_choice *p;

	if (!strstr(text, "caller"))
		return;
	p = malloc(sizeof(*p));
	if (p && !jf_choice_parse_callers(p, text, JF_FROM_CALLER))
		while ((s = jf_choice_text_of(p, s, JF_FROM_CALLER))) {
			c = jf_callers_get(s);
			if (!c)
				continue;
			c->users--;
			c->wanted = true;
		}
	free(p);
}

/* --- ranges ---------------------------------------------------------------------------- */

static bool add_range(struct jf_callers *c, uintptr_t start, uintptr_t end)
{
	struct jf_ranges *r = c->next_ranges;
	size_t room = r ? r->room : 0;

	if (!r || r->num == room) {
		room = 2 * room + 16;
		r = realloc(r, sizeof(*r) + room * sizeof(r->range[0]));
		if (!r)
			return false;
		r->num = c->next_ranges ? r->num : 0;
		r->room = room;
		c->next_ranges = r;
	}
	r->range[r->num++] = (struct jf_range){ start, end };
	return true;
}

static int by_start(const void *x, const void *y)
{
	const struct jf_range *a = (const struct jf_range *)x, *b = (const struct jf_range *)y;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Ascending, and none reaches into the next one. */
static void put_in_order(struct jf_ranges *r)
{
	size_t i, num = 0;

	qsort(r->range, r->num, sizeof(r->range[0]), by_start);
	for (i = 0; i < r->num; i++) {
		if (num && r->range[i].start <= r->range[num - 1].end) {
			if (r->range[i].end > r->range[num - 1].end)
				r->range[num - 1].end = r->range[i].end;
			continue;
		}
		r->range[num++] = r->range[i];
	}
	r->num = num;
}

/* The function's name, without the end of a part or a clone, for free(); NULL: the same. */
static char *whole_name(const char *name)
{
	static const char *const ends[] = { ".cold", ".part.", ".isra.", ".constprop." };
	const char *end = NULL, *at;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		at = strstr(name, ends[i]);
		if (at && at > name && (!end || at < end))
			end = at;
	}
	return end ? strndup(name, (size_t)(end - name)) : NULL;
}

static bool is_meant(const struct jf_module *m, const char *glob, const char *name)
{
	bool fits = jf_module_matches(m, glob, name);
	char *whole = fits ? NULL : whole_name(name);

	if (whole)
		fits = jf_module_matches(m, glob, whole);
	free(whole);
	return fits;
}

/**
 * struct look - through an object's functions
 * @module: it
 * @failed: there was no memory
 */
struct look {
	const struct jf_module	*module;
	bool			failed;
};

static int look_at(const struct jf_symbol *symbol, void *arg)
{
	struct look *l = (struct look *)arg;
	const struct jf_module *m = l->module;
	uintptr_t start = m->base + symbol->value, end = start + symbol->size, begin;
	struct jf_callers *c;

	if (symbol->indirect || (end <= start && !(jf_frame_bounds(m, start, &begin, &end) && begin == start)))
		return 0;
	for (c = all; c; c = c->next)
		if (c->looks && is_meant(m, c->glob, symbol->name) && !add_range(c, start, end))
			l->failed = true;
	return 0;
}

/* The ranges of an object that was looked at before stay. */
static bool keep(struct jf_callers *c, const struct jf_module *m)
{
	const struct jf_ranges *r = c->ranges;
	size_t i;

	for (i = 0; i < r->num; i++)
		if (r->range[i].start >= m->start && r->range[i].start < m->end &&
		    !add_range(c, r->range[i].start, r->range[i].end))
			return false;
	return true;
}

/**
 * jf_callers_look() - look through an object, between jf_callers_begin() and jf_callers_end()
 * @m:      the object
 * @failed: a bool, which is set if there is no memory
 *
 * Return: 0: the walk goes on
 */
int jf_callers_look(struct jf_module *m, void *failed)
{
	struct look l = { m, false };
	struct jf_callers *c;
	bool any = false;
	struct jf_elf elf;

	for (c = all; c; c = c->next) {
		c->looks = (!c->ranges || !m->asked) && jf_module_meant(m, c->glob);
		any |= c->looks;
		if (c->ranges && m->asked)
			l.failed |= !keep(c, m);
	}
	if (any && !jf_module_open(m, &elf)) {
		jf_elf_functions(m->file, look_at, &l);
		jf_module_close(m, &elf);
	}
	*(bool *)failed |= l.failed;
	return 0;
}

static bool publish(struct jf_callers *c)
{
	struct jf_ranges *was = c->ranges;

	if (!c->next_ranges)
		c->next_ranges = calloc(1, sizeof(*c->next_ranges));
	if (!c->next_ranges)
		return false;
	put_in_order(c->next_ranges);
	/* Release: pairs with jf_callers_fit(). */
	__atomic_store_n(&c->ranges, c->next_ranges, __ATOMIC_RELEASE);
	c->next_ranges = NULL;
	if (was)
		jf_retire(&was->retired, NULL);
	return true;
}

static void forget_unwanted(void)
{
	struct jf_callers **at = &all, *c;

	while ((c = *at)) {
		if (c->users || c->wanted) {
			c->wanted = false;
			at = &c->next;
			continue;
		}
		*at = c->next;
		free(c->ranges);
		free(c->glob);
		free(c);
	}
}

/**
 * jf_callers_begin() - see whether there is anything to look for
 * @changed: objects have come, for which m->asked is not set, or gone
 *
 * Filters that nothing has wanted since the last time, and that no probe has, are forgotten.
 */
bool jf_callers_begin(bool changed)
{
	bool any = changed;
	struct jf_callers *c;

	forget_unwanted();
	for (c = all; c; c = c->next)
		any |= !c->ranges;
	return all && any;
}

/**
 * jf_callers_end() - all objects were looked through
 *
 * Return: true, or false: there was no memory for some
 */
bool jf_callers_end(void)
{
	struct jf_callers *c;
	bool done = true;

	for (c = all; c; c = c->next)
		done &= publish(c);
	return done;
}
