// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Points: places of text where probes are. All probes of a place share its code, and each records
 * for itself: a function and a note at its begin, or two names of one function.
 *
 * The code of a point stays when its probes are off: a thread can be in it for any time, and
 * records nothing. When an object is unloaded, its points and their numbers are given back.
 */
#include "point.h"
#include "detour.h"
#include "lack.h"
#include "event.h"
#include "record.h"
#include "spot.h"

#include <stdlib.h>

/* All, by place. */
static struct jf_point *few[64], **table = few;
static size_t max_table = 64, nr_points;

static uint32_t spots_used;
/* Numbers that were given back. */
static uint32_t *spots_free;
static size_t nr_free, max_free;
static struct jf_spot nothing;

static struct jf_point **part_of(struct jf_point **of, size_t size, uintptr_t at)
{
	return &of[(uint64_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (size - 1)];
}

/* Without memory there are more in each part. */
static void grow(void)
{
	struct jf_point **more = jf_have(calloc(2 * max_table, sizeof(*more))), **part, *t, *next;
	size_t i;

	if (!more)
		return;
	for (i = 0; i < max_table; i++)
		for (t = table[i]; t; t = next) {
			next = t->beside;
			part = part_of(more, 2 * max_table, t->at);
			t->beside = *part;
			*part = t;
		}
	if (table != few)
		free(table);
	table = more;
	max_table *= 2;
}

/**
 * jf_point_at() - the point at a place
 * @at: where
 *
 * Return: it, or NULL: nothing is known of that place
 */
struct jf_point *jf_point_at(uintptr_t at)
{
	struct jf_point *t;

	for (t = *part_of(table, max_table, at); t && t->at != at; t = t->beside)
		;
	return t;
}

static struct jf_point *new_point(struct jf_module *module, uintptr_t at, size_t avail)
{
	struct jf_point *t = jf_have(calloc(1, sizeof(*t))), **part;

	if (!t)
		return NULL;
	if (nr_points >= max_table)
		grow();
	t->module = module;
	t->at = at;
	t->avail = avail;
	t->number = UINT32_MAX;
	part = part_of(table, max_table, at);
	t->beside = *part;
	*part = t;
	nr_points++;
	return t;
}

/**
 * jf_point_join() - a probe is one of its place
 * @p:      the probe, off; its spot says where
 * @module: its object
 * @avail:  bytes of text from there on
 *
 * Return: 0, -ENOMEM, -EEXIST: another object has that place
 */
int jf_point_join(struct jf_agent_probe *p, struct jf_module *module, size_t avail)
{
	struct jf_point *t = jf_point_at(p->spot.at);
	struct jf_spot **last;

	if (t && t->module != module)
		return -EEXIST;
	if (!t)
		t = new_point(module, p->spot.at, avail);
	if (!t)
		return -ENOMEM;
	for (last = &t->spots; *last; last = &(*last)->next)
		;
	/* Release: pairs with the loads in jf_agent_record(). */
	__atomic_store_n(last, &p->spot, __ATOMIC_RELEASE);
	if (t->number != UINT32_MAX)
		__atomic_store_n(&jf_spots[t->number], t->spots, __ATOMIC_RELEASE);
	p->point = t;
	return 0;
}

static void free_number(uint32_t number)
{
	uint32_t *more;

	jf_spots[number] = &nothing;
	if (nr_free == max_free) {
		more = realloc(spots_free, (2 * max_free + 64) * sizeof(*more));
		if (!more)
			return;
		spots_free = more;
		max_free = 2 * max_free + 64;
	}
	spots_free[nr_free++] = number;
}

static void free_point(struct jf_point *t)
{
	struct jf_point **p = part_of(table, max_table, t->at);
	struct jf_detour *d;

	while (*p != t)
		p = &(*p)->beside;
	*p = t->beside;
	nr_points--;
	/* Another patcher can execute code that has this number in it, for ever. */
	if (t->kept && t->number != UINT32_MAX)
		jf_spots[t->number] = &nothing;
	else if (t->number != UINT32_MAX)
		free_number(t->number);
	while ((d = t->former)) {
		t->former = d->former;
		if (!t->kept)
			jf_detour_drop(d);
		free(d);
	}
	if (!t->kept)
		jf_detour_drop(&t->detour);
	free(t);
}

/**
 * jf_point_leave() - a probe is forgotten
 * @p: which; it is off, or its object was unloaded
 */
void jf_point_leave(struct jf_agent_probe *p)
{
	struct jf_point *t = p->point;
	struct jf_spot **s;

	if (!t)
		return;
	for (s = &t->spots; *s != &p->spot; s = &(*s)->next)
		;
	*s = p->spot.next;
	p->point = NULL;
	if (!t->spots)
		free_point(t);
	else if (t->number != UINT32_MAX)
		jf_spots[t->number] = t->spots;
}

bool jf_point_number(struct jf_point *t)
{
	if (t->number != UINT32_MAX)
		return true;
	if (!nr_free && spots_used == JF_SPOTS_MAX) {
		t->detour.why = "too many probes";
		return false;
	}
	t->number = nr_free ? spots_free[--nr_free] : spots_used++;
	jf_spots[t->number] = t->spots;
	return true;
}
