// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Points are changed: each one gets a way and code, and then the text of many is written, in one
 * transaction for each kind of change.
 *
 * The code of a point is used again unless the bytes around it have changed.
 */
#include "change.h"
#include "around.h"
#include "point.h"
#include "detour.h"
#include "module.h"
#include "lack.h"
#include "record.h"
#include "spot.h"

#include <stdlib.h>
#include <string.h>

#include "user/lib/text.h"
#include "user/trace/provider.h"

static bool make(struct jf_point *t, unsigned int ways)
{
	unsigned int all = jf_ways;
	bool made;

	if (t->hemmed && !(jf_ways & 1U << JF_WAY_BESIDE))
		ways &= ~(1U << JF_WAY_SHORT);
	jf_ways &= ways;
	/* The hook's function is one of its own line. */
	made = !jf_detour_make(&t->detour, t->module, t->at, t->size, t->avail, t->number,
			       t->spots->hook || t->filled, t->late);
	jf_ways = all;
	if (!made && t->hemmed && !(all & 1U << JF_WAY_BESIDE))
		t->detour.why = "another function begins beside it, and JUMPFUNC_AGENT_WAYS is without \"beside\"";
	return made;
}

/* Usable as it is. */
static bool is_good(const struct jf_point *t, const struct jf_detour *d)
{
	return jf_ways & 1U << d->way && jf_point_fits(t, d);
}

/*
 * Its code stays for threads that are there; without memory to note it in, it is not used again.
 * Other code that it had before can be that for the text of now.
 */
static void exchange(struct jf_point *t)
{
	struct jf_detour *d = malloc(sizeof(*d)), **at = &t->former, *fit;

	while ((fit = *at) && !is_good(t, fit))
		at = &fit->former;
	if (d) {
		*d = t->detour;
		d->former = t->former;
		t->former = d;
		at = at == &t->former ? &d->former : at;
	}
	t->made = fit;
	t->detour.at = t->detour.hop = 0;
	if (!fit)
		return;
	*at = fit->former;
	t->detour = *fit;
	free(fit);
}

bool jf_point_prepare(struct jf_point *t)
{
	unsigned int ways;
	const char *why;

	/*
	 * Its way may not be used any more, or is of another file, but threads may be there: it
	 * stays.
	 */
	if (t->made && !is_good(t, &t->detour))
		exchange(t);
	if (jf_record_begin())
		return false;
	why = !t->made && t->module ? jf_module_refuses(t->module, false, t->at) : NULL;
	ways = jf_point_ways(t);
	if (!why && !(ways & jf_ways & (t->made ? 1U << t->detour.way : ~0U)))
		why = "another probe is there";
	/*
	 * Another object may be in the place of its own: bytes that are part of a jump are not
	 * compared when that is written.
	 */
	if (!why)
		why = jf_point_changed(t);
	if (why) {
		t->detour.why = why;
		return false;
	}
	if (t->made)
		return true;
	if (!jf_point_number(t))
		return false;
	/* It was to be changed before, and was not. */
	if (t->detour.at && ways & 1U << t->detour.way && is_good(t, &t->detour))
		return true;
	return make(t, ways);
}

static void give_up(struct jf_point *t, int err)
{
	t->detour.why = err == -EBUSY ? "another's breakpoint, or a site of libjumpfunc" :
			err == -EILSEQ ? "other bytes than its file has" :
			err == -EAGAIN ? "a thread blocks SIGTRAP, or that cannot be seen without /proc" : err == -ENOMEM ? jf_no_memory :
			err == -EPERM ? "several threads run, and it takes several instructions" :
			err == -EINPROGRESS ? "a thread is in the midst of its first instructions" :
			err == -EACCES ? "the threads may not be stopped from outside" :
			err == -ETIMEDOUT ? "a thread could not be stopped from outside" :
			err == -EINTR ? "jf-trace ended in the midst of it" :
			err == -EMFILE || err == -ENFILE ? "no file can be opened" :
			err == -EDEADLK ? "in the midst of fork()" : "text cannot be written";
}

/*
 * Kinds of changes, with a transaction for each: bytes that can be written whatever threads there
 * are; one instruction, which may need breakpoints; one on two pages, which needs them; several
 * instructions; and breakpoints that stay.
 */
enum kind {
	KIND_BYTE,
	KIND_ONE,
	KIND_PAGES,
	KIND_ALONE,
	KIND_BREAK,
};

static enum kind kind_of(const struct jf_point *t)
{
	if (t->detour.way == JF_WAY_BREAK)
		return KIND_BREAK;
	if (t->detour.byte)
		return KIND_BYTE;
	if (t->detour.poke.alone)
		return KIND_ALONE;
	return jf_text_is_on_two_pages(&t->detour.poke) ? KIND_PAGES : KIND_ONE;
}

/* By kind, and then by place. */
static int by_place(const void *a, const void *b)
{
	const struct jf_point *x = *(struct jf_point *const *)a, *y = *(struct jf_point *const *)b;

	if (kind_of(x) != kind_of(y))
		return kind_of(x) < kind_of(y) ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* How many of these, in the order of by_place(), are of the first one's kind. */
static size_t count_kind(struct jf_point *const *points, size_t num)
{
	size_t i;

	for (i = 0; i < num && kind_of(points[i]) == kind_of(points[0]); i++)
		;
	return i;
}

/* Returns how many are led all the same, in the front of @points. */
static size_t give_up_all(struct jf_point **points, size_t num, int err)
{
	size_t i, led = 0;

	for (i = 0; i < num; i++) {
		if (err == -EINTR && jf_point_is_ours(points[i]) && jf_point_stands(points[i]))
			points[led++] = points[i];
		else
			give_up(points[i], err);
	}
	return led;
}

/* One transaction, of those that can be; those that are led then are the first ones. */
static void change_on(struct jf_point **points, size_t num)
{
	struct jf_text_poke *pokes = jf_have(calloc(num, sizeof(*pokes)));
	struct jf_text_code *codes = jf_have(calloc(2 * num, sizeof(*codes)));
	struct jf_text_change c = { pokes, 0, codes, 0, 0, __jf_control_outside(), __jf_control_mem() };
	size_t i;
	int err;

	while (num) {
		err = pokes && codes ? 0 : -ENOMEM;
		c.nr_pokes = num;
		c.nr_codes = 0;
		for (i = 0; i < num && !err; i++) {
			struct jf_detour *d = &points[i]->detour;

			pokes[i] = d->poke;
			if (!points[i]->made)
				codes[c.nr_codes++] = (struct jf_text_code){ d->at, d->code, d->size };
			if (!points[i]->made && d->hop)
				codes[c.nr_codes++] = (struct jf_text_code){ d->hop, d->hop_code, sizeof(d->hop_code) };
		}
		if (!err)
			err = __jf_text_change(&c);
		if (!err)
			break;
		/*
		 * A text of another patcher leaves the other points; any other error is one for
		 * all.
		 */
		if (err == -EBUSY || err == -EILSEQ || err == -EINPROGRESS) {
			give_up(points[c.bad], err);
			memmove(&points[c.bad], &points[c.bad + 1], (num - c.bad - 1) * sizeof(*points));
			num--;
			continue;
		}
		num = give_up_all(points, num, err);
		break;
	}
	for (i = 0; i < num; i++)
		points[i]->made = points[i]->led = true;
	free(pokes);
	free(codes);
}

/**
 * jf_points_change_on() - lead the text of points to their code, each kind in one transaction
 * @points: which, that jf_point_prepare() has made ready; their order changes
 * @num:    of them
 */
void jf_points_change_on(struct jf_point **points, size_t num)
{
	size_t i, some;

	qsort(points, num, sizeof(*points), by_place);
	for (i = 0; i < num; i += some) {
		some = count_kind(points + i, num - i);
		change_on(points + i, some);
	}
}

/* The text as it was, in one transaction. */
static int change_some_off(struct jf_point **points, size_t num)
{
	struct jf_text_poke *pokes = jf_have(calloc(num, sizeof(*pokes)));
	struct jf_text_change c = { pokes, num, NULL, 0, 0, __jf_control_outside(), __jf_control_mem() };
	int err = pokes ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < num && !err; i++) {
		const struct jf_detour *d = &points[i]->detour;

		pokes[i] = d->poke;
		memcpy(pokes[i].old, d->poke.new, sizeof(d->poke.old));
		memcpy(pokes[i].new, d->poke.old, sizeof(d->poke.new));
		pokes[i].to = d->skip;
	}
	if (!err)
		err = __jf_text_change(&c);
	for (i = 0; i < num; i++)
		if (!err || (err == -EINTR && !jf_point_is_ours(points[i])))
			points[i]->led = false;
	free(pokes);
	return err;
}

/* An error while threads are stopped: some run as before. */
static bool is_outside(int err)
{
	return err == -EINPROGRESS || err == -EACCES || err == -ETIMEDOUT || err == -EINTR;
}

static int change_off(struct jf_point **points, size_t num)
{
	size_t i, some;
	int err = 0, e;

	for (i = 0; i < num; i += some) {
		some = count_kind(points + i, num - i);
		e = change_some_off(points + i, some);
		/*
		 * If several threads run, a span leads to its code as before.
		 */
		if (kind_of(points[i]) == KIND_ALONE && (e == -EPERM || is_outside(e)))
			e = 0;
		err = is_outside(e) ? -EAGAIN : e ? e : err;
	}
	return err;
}

int jf_points_change_off(struct jf_point **points, size_t num)
{
	size_t i;
	int err;

	qsort(points, num, sizeof(*points), by_place);
	err = change_off(points, num);
	/*
	 * A single point that another patcher has changed since then is no reason to leave the
	 * others.
	 */
	for (i = 0; (err == -EBUSY || err == -EILSEQ) && i < num; i++)
		if (points[i]->led)
			change_off(&points[i], 1);
	return err;
}
