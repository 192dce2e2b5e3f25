// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Points: places of text where probes are. All probes of a place share its code, and each records
 * for itself: a function and a note at its begin, or two names of one function.
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
 *
 * The code of a point stays when its probes are off: a thread can be in it for any time, and
 * records nothing. The code is used again unless the bytes around it have changed. When an object
 * is unloaded, its points and their numbers are given back.
 */
#include "point.h"
#include "detour.h"
#include "displace.h"
#include "module.h"
#include "lack.h"
#include "event.h"
#include "record.h"
#include "spot.h"

#include <stdlib.h>
#include <string.h>

#include <jumpfunc/batch.h>

#include "user/lib/text.h"
#include "user/trace/provider.h"

#define JMP		0xe9
/* So many points beside each other get their jumps, one after the other. */
#define DEPTH_MAX	64

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

static bool take_number(struct jf_point *t)
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

/* --- the text there ------------------------------------------------------------------- */

/*
 * True if its code has copies of it. Another file's may begin as it does: an instruction has more
 * bytes than a jump.
 */
static bool is_copied(const struct jf_point *t, const struct jf_detour *d)
{
	return !memcmp((const void *)t->at, d->insn, d->nr_insn);
}

/* True if its jump leads to this code. Bytes that follow are part of the distance. */
static bool is_fit(const struct jf_point *t, const struct jf_detour *d)
{
	const struct jf_text_poke *poke = &d->poke;
	uint32_t rel = (uint32_t)(jf_detour_lead(d) - (t->at + JF_TEXT_MAX));
	uint8_t jump[JF_TEXT_MAX];

	if (!is_copied(t, d) || memcmp((const void *)t->at, poke->old, poke->num))
		return false;
	if (poke->new[0] != JMP)
		return true;
	memcpy(jump, (const void *)t->at, sizeof(jump));
	memcpy(jump, poke->new, poke->num);
	return !memcmp(jump + 1, &rel, sizeof(rel));
}

/* The bytes of its file there, with those that other points have written. */
static unsigned int find_text(const struct jf_point *t, uint8_t *text)
{
	const struct jf_point *n;
	int i, k;

	memcpy(text, t->text, t->nr_text);
	for (i = 1 - JF_TEXT_MAX; i < t->nr_text; i++) {
		n = i ? jf_point_at(t->at + (uintptr_t)(intptr_t)i) : NULL;
		for (k = 0; n && n->led && k < n->detour.poke.num; k++)
			if (i + k >= 0 && i + k < t->nr_text && n->detour.poke.new[k] != n->detour.poke.old[k])
				text[i + k] = n->detour.poke.new[k];
	}
	return t->nr_text;
}

/*
 * A breakpoint of a debugger or a uprobe in those bytes, or the text that a kernel makes of one: it
 * goes at some time, and must be no part of a jump's distance.
 */
static const char *changed(const struct jf_point *t)
{
	const uint8_t *now = (const uint8_t *)t->at;
	uint8_t text[JF_TEXT_MAX];
	unsigned int i, num = find_text(t, text);

	if (!memcmp(now, text, num))
		return NULL;
	for (i = 0; i < num; i++)
		if (now[i] == 0xcc && text[i] != 0xcc)
			return "another's breakpoint";
	return "other bytes than its file has";
}

/**
 * jf_point_stands() - does the text of a point lead to its code, as it was written
 * @t: which
 *
 * A breakpoint that a debugger or a uprobe has set since does not count.
 */
bool jf_point_stands(const struct jf_point *t)
{
	const uint8_t *now = (const uint8_t *)t->at;
	unsigned int i;

	for (i = 0; i < t->detour.poke.num; i++)
		if (now[i] != t->detour.poke.new[i] && now[i] != 0xcc)
			return false;
	return true;
}

/**
 * jf_point_is_ours() - true if the text there shows that the agent has written it
 * @t: which, that stands
 *
 * A breakpoint does not: the kernel sets one for a uprobe wherever its file is mapped anew.
 */
bool jf_point_is_ours(const struct jf_point *t)
{
	const struct jf_text_poke *poke = &t->detour.poke;
	const uint8_t *now = (const uint8_t *)t->at;
	unsigned int i;

	for (i = 0; i < poke->num; i++)
		if (now[i] == poke->new[i] && now[i] != poke->old[i] && now[i] != 0xcc)
			return true;
	return false;
}

/**
 * jf_point_restored() - true if another patcher has put back the bytes of the file
 * @t: which, that was led and does not stand
 *
 * Return: true: it is led no more
 */
bool jf_point_restored(struct jf_point *t)
{
	if (t->nr_text < t->detour.poke.num)
		return false;
	t->led = false;
	if (!changed(t))
		return true;
	t->led = true;
	return false;
}

/**
 * jf_point_keep() - it will be forgotten, and something is mapped where it was
 * @t: which
 *
 * Text that is neither ours nor its file's is another patcher's, which may execute the text
 * that it found there, a jump of ours, in a copy, or write it back.
 */
void jf_point_keep(struct jf_point *t)
{
	t->kept = t->led && changed(t);
}

/* --- beside each other ---------------------------------------------------------------- */

/* True if a point before it has this byte in its jump. */
static bool is_covered(uintptr_t at)
{
	const struct jf_point *t;
	unsigned int i;

	for (i = 1; i < JF_TEXT_MAX; i++) {
		t = jf_point_at(at - i);
		if (t && (t->led || t->planned) && t->detour.way != JF_WAY_BREAK)
			return true;
	}
	return false;
}

/* True if an instruction of @t ends at the begin of @to. */
static bool leads_to(const struct jf_point *t, const struct jf_point *to)
{
	struct jf_code none = { NULL, 0, 0, t->at };
	struct jf_moved moved;
	size_t n = 0;

	while (t->at + n < to->at && n < t->nr_text) {
		if (jf_displace(&none, t->text + n, t->nr_text - n, t->at + n, &moved) == -EILSEQ)
			return false;
		n += moved.len;
	}
	return t->at + n == to->at;
}

/* The point @i bytes after it, that can be part of the distance. */
static struct jf_point *follower(const struct jf_point *t, unsigned int i)
{
	struct jf_point *n = jf_point_at(t->at + i);

	return n && n->module == t->module && leads_to(t, n) ? n : NULL;
}

/* Ways that are left to it. 0: none. */
static unsigned int ways_beside(const struct jf_point *t)
{
	unsigned int ways = ~0U, i;

	if (is_covered(t->at))
		return 0;
	for (i = 1; i < JF_TEXT_MAX; i++) {
		const struct jf_point *n = jf_point_at(t->at + i);

		if (!n || !(n->led || n->planned))
			continue;
		/*
		 * The other one's code goes back to where a jump over several instructions would
		 * be.
		 */
		ways &= ~(1U << JF_WAY_SPAN);
		if (n->planned || !follower(t, i))
			ways &= 1U << JF_WAY_BREAK;
	}
	return ways;
}

/* --- one point ------------------------------------------------------------------------ */

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
	return jf_ways & 1U << d->way && is_fit(t, d);
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

/* Finds out how, and sees to it that it can be recorded. False: @why says why not. */
static bool prepare(struct jf_point *t)
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
	ways = ways_beside(t);
	if (!why && !(ways & jf_ways & (t->made ? 1U << t->detour.way : ~0U)))
		why = "another probe is there";
	/*
	 * Another object may be in the place of its own: bytes that are part of a jump are not
	 * compared when that is written.
	 */
	if (!why)
		why = changed(t);
	if (why) {
		t->detour.why = why;
		return false;
	}
	if (t->made)
		return true;
	if (!take_number(t))
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

/* --- many ----------------------------------------------------------------------------- */

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
			if (c && c->led && c->detour.way != JF_WAY_BREAK && follower(c, k) == t)
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
			n = follower(l->point[i], k);
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
		n = follower(t, k);
		if (n && n->listed && t->depth <= n->depth)
			t->depth = n->depth + 1;
	}
}

/* Of the same depth. */
static void lead_some(struct jf_point **points, size_t num)
{
	size_t i, nr = 0, some;

	for (i = 0; i < num; i++) {
		if (points[i]->depth > DEPTH_MAX) {
			points[i]->detour.why = "too many probes are beside each other";
		} else if (prepare(points[i])) {
			points[i]->planned = true;
			points[nr++] = points[i];
		}
	}
	qsort(points, nr, sizeof(*points), by_place);
	for (i = 0; i < nr; i += some) {
		some = count_kind(points + i, nr - i);
		change_on(points + i, some);
	}
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
	return t->led && !is_wanted(t) && !is_covered(t->at);
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

static int unlead_some(struct jf_point **points, size_t num)
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
			if (!is_covered(points[i]->at)) {
				struct jf_point *t = points[i];

				points[i] = points[nr];
				points[nr++] = t;
			}
		if (!nr)
			break;
		e = unlead_some(points, nr);
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
		n = follower(t, k);
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
		n = follower(t, k);
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
