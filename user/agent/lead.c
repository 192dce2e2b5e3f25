// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The order in which points get their jumps. They can be beside each other.
 *
 * A jump takes five bytes, and most notes have one. So another point may be among the bytes that
 * follow:
 *
 *	90 | 90 | C3 | ..	two notes beside each other
 *	90 | E9 | C3 | ..	the one that comes later leads to its code, by its first byte
 *	E9 | E9 | C3 | ..	then the one before: that byte is part of its distance, and stays
 *
 * Points that follow within a jump therefore get their jumps first, also points without a
 * probe that is on, and taken back last. A point within a jump must begin where an instruction
 * begins. If no memory is free at the distance, the agent tries again without the points whose
 * probes are off. It refuses the rest.
 *
 * A point that comes later can be within a jump that is there already. Then that jump is taken
 * back, the point is led, and then the one before it anew, with another distance.
 */
#include "lead.h"
#include "change.h"
#include "around.h"
#include "point.h"
#include "detour.h"
#include "lack.h"
#include "spot.h"

#include <stdlib.h>

/* So many points beside each other get their jumps, one after the other. */
#define DEPTH_MAX	64

/**
 * struct list - points, each once
 * @point: they
 * @num:   of them
 * @max:   for how many there is room
 */
struct list {
	struct jf_point	**point;
	size_t		num;
	size_t		max;
};

static void push(struct list *l, struct jf_point *t)
{
	struct jf_point **more;

	if (t->listed)
		return;
	if (l->num == l->max) {
		more = jf_have(realloc(l->point, (2 * l->max + 64) * sizeof(*more)));
		if (!more) {
			t->detour.why = jf_no_memory;
			return;
		}
		l->point = more;
		l->max = 2 * l->max + 64;
	}
	t->listed = true;
	l->point[l->num++] = t;
}

/* Those that are led, and have one of these in their jump, and those before them. */
static void push_covers(struct list *l, struct jf_point *const *points, size_t num)
{
	struct jf_point *t, *c;
	unsigned int k;
	size_t i;

	for (i = 0; i < num + l->num; i++) {
		t = i < num ? points[i] : l->point[i - num];
		for (k = 1; (i >= num || !t->led) && k < JF_TEXT_MAX; k++) {
			c = jf_point_at(t->at - k);
			if (c && c->led && c->detour.way != JF_WAY_BREAK && jf_point_follower(c, k) == t)
				push(l, c);
		}
	}
}

/* Those that follow, and those that follow these. */
static void push_followers(struct list *l, bool led)
{
	struct jf_point *n;
	unsigned int k;
	size_t i;

	for (i = 0; i < l->num; i++)
		for (k = 1; k < JF_TEXT_MAX; k++) {
			n = jf_point_follower(l->point[i], k);
			if (n && n->led == led)
				push(l, n);
		}
}

static int descending(const void *a, const void *b)
{
	const struct jf_point *x = *(struct jf_point *const *)a, *y = *(struct jf_point *const *)b;

	return x->at > y->at ? -1 : x->at < y->at;
}

static int by_depth(const void *a, const void *b)
{
	const struct jf_point *x = *(struct jf_point *const *)a, *y = *(struct jf_point *const *)b;

	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* How many others must be led before it. */
static void find_depth(struct jf_point *t)
{
	struct jf_point *n;
	unsigned int k;

	t->depth = 0;
	for (k = 1; k < JF_TEXT_MAX; k++) {
		n = jf_point_follower(t, k);
		if (n && n->listed && t->depth <= n->depth)
			t->depth = n->depth + 1;
	}
}

/* Of the same depth. */
static void lead_some(struct jf_point **points, size_t num)
{
	size_t i, nr = 0;

	for (i = 0; i < num; i++) {
		if (points[i]->depth > DEPTH_MAX) {
			points[i]->detour.why = "too many probes are beside each other";
		} else if (jf_point_prepare(points[i])) {
			points[i]->planned = true;
			points[nr++] = points[i];
		}
	}
	jf_points_change_on(points, nr);
}

/* True if it is led, or will be, for its own sake. */
static bool is_wanted(const struct jf_point *t)
{
	const struct jf_spot *s;

	if (t->asked)
		return true;
	for (s = t->spots; s; s = s->next)
		if (s->on || s->watch)
			return true;
	return false;
}

static void lead_all(struct jf_point **points, size_t num, bool followers)
{
	struct list l = { NULL, 0, 0 };
	size_t i, some;

	for (i = 0; i < num; i++)
		if (!points[i]->led)
			push(&l, points[i]);
	if (followers)
		push_followers(&l, false);
	qsort(l.point, l.num, sizeof(*l.point), descending);
	for (i = 0; i < l.num; i++)
		find_depth(l.point[i]);
	qsort(l.point, l.num, sizeof(*l.point), by_depth);
	for (i = 0; i < l.num; i += some) {
		struct jf_point *round[256];
		size_t k;

		for (some = 0; some < 256 && i + some < l.num && l.point[i + some]->depth == l.point[i]->depth; some++)
			round[some] = l.point[i + some];
		lead_some(round, some);
		for (k = 0; k < some; k++)
			l.point[i + k]->planned = l.point[i + k]->listed = false;
	}
	free(l.point);
}

/**
 * jf_point_stays() - does the text lead to its code for no other reason than that it could not be
 * changed back
 * @t: which
 */
bool jf_point_stays(const struct jf_point *t)
{
	return t->led && !is_wanted(t) && !jf_point_covered(t->at);
}

/*
 * Those that no jump before them has in it, as long as there are such; each is tried once. Their
 * order changes.
 */
static int unlead_uncovered(struct jf_point **points, size_t num)
{
	size_t i, nr;
	int err = 0, e;

	for (; num; points += nr, num -= nr) {
		for (i = 0, nr = 0; i < num; i++)
			if (!jf_point_covered(points[i]->at)) {
				struct jf_point *t = points[i];

				points[i] = points[nr];
				points[nr++] = t;
			}
		if (!nr)
			break;
		e = jf_points_change_off(points, nr);
		err = e ? e : err;
	}
	return err;
}

/**
 * jf_points_unlead() - have the text of points as it was, of points whose probes are off
 * @points: which; some are there more than once
 * @num:    of them
 *
 * Return: 0, or an error of __jf_text_change(): the text of some leads to their code as before, and
 * it can be tried again
 */
int jf_points_unlead(struct jf_point **points, size_t num)
{
	struct list l = { NULL, 0, 0 };
	size_t i, left = 0;
	int err;

	for (i = 0; i < num; i++)
		if (points[i]->led)
			push(&l, points[i]);
	push_followers(&l, true);
	for (i = 0; i < l.num; i++) {
		l.point[i]->listed = false;
		if (!is_wanted(l.point[i]))
			l.point[left++] = l.point[i];
	}
	err = unlead_uncovered(l.point, left);
	free(l.point);
	return err;
}

/* Takes back points that were led for its sake alone, in vain. True if there was one. */
static bool drop_followers(struct jf_point *t)
{
	struct jf_point *n;
	bool any = false;
	unsigned int k;

	for (k = 1; k < JF_TEXT_MAX; k++) {
		n = jf_point_follower(t, k);
		if (n && n->led && !is_wanted(n))
			any |= !jf_points_unlead(&n, 1);
	}
	return any;
}

/* Where there is no memory for such a distance there may be for another. */
static void lead_without(struct jf_point *const *points, size_t num)
{
	struct jf_point *t;
	size_t i;

	for (i = 0; i < num; i++) {
		t = points[i];
		if (!t->led && drop_followers(t))
			lead_all(&t, 1, false);
	}
}

/* Takes the jumps of a list back, and those that have one of it or of these in them. */
static void take_back(struct list *l, struct jf_point *const *points, size_t num)
{
	size_t i;

	push_covers(l, points, num);
	for (i = 0; i < l->num; i++)
		l->point[i]->listed = false;
	unlead_uncovered(l->point, l->num);
}

/* Takes jumps back that have one of these in them. @l: those that are to be led again. */
static void unlead_covers(struct jf_point *const *points, size_t num, struct list *l)
{
	size_t i, nr = 0;

	take_back(l, points, num);
	for (i = 0; i < l->num; i++)
		if (!l->point[i]->led && is_wanted(l->point[i]))
			l->point[nr++] = l->point[i];
	l->num = nr;
}

/*
 * A point that was led before the asked ones is so again, without those that follow it: there is no
 * memory for its jump beside theirs.
 */
static void prefer(struct jf_point *t)
{
	struct list l = { NULL, 0, 0 };
	struct jf_point *n;
	unsigned int k;
	size_t i, nr = 0;

	for (k = 1; k < JF_TEXT_MAX; k++) {
		n = jf_point_follower(t, k);
		if (!n || !n->led || !n->asked)
			continue;
		n->asked = false;
		push(&l, n);
	}
	take_back(&l, NULL, 0);
	for (i = 0; i < l.num; i++) {
		if (is_wanted(l.point[i]))
			l.point[nr++] = l.point[i];
		else if (!l.point[i]->led)
			l.point[i]->detour.why = "another probe is there";
	}
	lead_all(l.point, nr, false);
	lead_all(&t, 1, false);
	free(l.point);
}

/**
 * jf_points_lead() - have the text of points lead to their code
 * @points: which; some are there more than once
 * @num:    of them
 *
 * The caller keeps their objects loaded. Changed points have @led set, and for the others the
 * detour has the reason.
 */
void jf_points_lead(struct jf_point **points, size_t num)
{
	struct list covers = { NULL, 0, 0 };
	unsigned int lacks = jf_lacks;
	size_t i;

	for (i = 0; i < num; i++)
		points[i]->asked = true;
	unlead_covers(points, num, &covers);
	lead_all(points, num, true);
	lead_without(points, num);
	lead_all(covers.point, covers.num, true);
	lead_without(covers.point, covers.num);
	for (i = 0; i < covers.num; i++)
		if (!covers.point[i]->led)
			prefer(covers.point[i]);
	for (i = 0; i < num; i++) {
		points[i]->asked = false;
		/* Whatever was found out about it without. */
		if (!points[i]->led && jf_lacks != lacks)
			points[i]->detour.why = jf_no_memory;
	}
	free(covers.point);
}
