// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Functions whose calls are recorded, from entry to exit: a probe at the entry, and one at each
 * exit (exit.c). On: the exits first, then the entry. Off: the entry
 * first. In another order a call could be recorded without its end.
 */
#include "calls.h"
#include "probe.h"
#include "point.h"
#include "exit.h"
#include "whole.h"
#include "frame.h"
#include "module.h"
#include "elf.h"
#include "lack.h"
#include "event.h"
#include "pair.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <jumpfunc/trace_event.h>

#include "user/trace/kind.h"
#include "user/trace/provider.h"
#include "user/trace/sums.h"

/* The size of a stack whose limit is not known. */
#define STACK_SIZE	(UINT64_C(1) << 30)
#define THREAD_SIZE	(UINT64_C(8) << 20)

/* The dynamic linker's. */
extern void *__libc_stack_end;

/**
 * struct sums - counters of a function, as events
 * @event: each of them
 * @name:  of each
 * @id:    of each
 */
struct sums {
	struct jf_event	event[JF_SUM_NUM];
	char		*name[JF_SUM_NUM];
	uint16_t	id[JF_SUM_NUM];
};

/**
 * struct jf_calls - of a function
 * @call:    the part for pair.c
 * @start:   where it begins
 * @size:    of it, or 0
 * @looked:  its exits have been looked for
 * @why:     it has none, or NULL
 * @text:    the same, with the reason of one exit
 * @exit:    a probe for each of them
 * @nr_exits: how many of these are there
 * @sums:    counters, or NULL
 */
struct jf_calls {
	struct jf_call		call;
	uintptr_t		start;
	size_t			size;
	bool			looked;
	const char		*why;
	char			text[160];
	struct jf_agent_probe	**exit;
	size_t			nr_exits;
	struct sums		*sums;
};

/**
 * jf_calls_new() - the calls of a function can be recorded
 * @p:     the probe of its entry, which jf_probe_call() has made
 * @start: where the function begins
 * @size:  of it, or 0
 *
 * Return: 0, -ENOMEM
 */
int jf_calls_new(struct jf_agent_probe *p, uintptr_t start, size_t size)
{
	struct jf_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->call.entry = &p->spot;
	c->start = start;
	c->size = size;
	p->calls = c;
	p->spot.call = &c->call;
	return 0;
}

/* --- sums ----------------------------------------------------------------------------- */

static void free_sums(struct sums *s)
{
	unsigned int i;

	for (i = 0; s && i < JF_SUM_NUM; i++)
		free(s->name[i]);
	free(s);
}

static bool name_sum(struct sums *s, const char *name, unsigned int i)
{
	static const char *const names[] = {
		[JF_SUM_TOTAL] = "total", [JF_SUM_WITHIN] = "within", [JF_SUM_SELF] = "self", [JF_SUM_MAX] = "max",
		[JF_SUM_LEFT] = "left",
	};
	int n = i < JF_SUM_BUCKET ? asprintf(&s->name[i], "%s/%s", name, names[i]) :
		asprintf(&s->name[i], "%s/b%u", name, i - JF_SUM_BUCKET);

	if (n < 0)
		s->name[i] = NULL;
	return n >= 0;
}

/* With a number for the calls themselves, so that no sums are there without it. */
static const char *make_sums(struct jf_agent_probe *p)
{
	static const struct jf_event_field none = { .kind = __JF_FIELD_END };
	struct jf_event *event[JF_SUM_NUMBERS];
	unsigned int i;
	struct sums *s;
	bool ok;
	int err;

	_Static_assert(JF_SUM_NUM + 1 == JF_SUM_NUMBERS, "as jf-trace says it");

	/* Numbers of a few sums that cannot be had as a whole would be taken for good. */
	if (__jf_events_left() < JF_SUM_NUMBERS + JF_SUM_SPARE)
		return JF_SUM_BEYOND;
	s = calloc(1, sizeof(*s));
	ok = s;
	for (i = 0; ok && i < JF_SUM_NUM; i++) {
		event[i] = &s->event[i];
		ok = name_sum(s, p->name, i);
		s->event[i].version = JF_EVENT_VERSION;
		s->event[i].system = p->group;
		s->event[i].name = s->name[i];
		s->event[i].print = "";
		s->event[i].fields = &none;
		s->event[i].flags = __JF_EVENT_COUNTED;
	}
	event[JF_SUM_NUM] = &p->event;
	err = ok ? __jf_events_number(event, JF_SUM_NUM + !p->event.id) : -ENOMEM;
	if (err) {
		free_sums(s);
		return err == -EOVERFLOW ? JF_SUM_BEYOND : "its sums have no numbers in the trace";
	}
	for (i = 0; i < JF_SUM_NUM; i++)
		s->id[i] = s->event[i].id;
	p->calls->sums = s;
	return NULL;
}

static void free_calls(struct jf_calls *c)
{
	if (!c)
		return;
	jf_exits_free(&c->call.exits);
	free_sums(c->sums);
	free(c->exit);
	free(c);
}

/**
 * jf_calls_forget() - forget a probe, and its calls if it is an entry
 * @p: the probe
 *
 * The probes of the exits belong to their object.
 */
void jf_calls_forget(struct jf_agent_probe *p)
{
	struct jf_calls *c = p->calls;

	jf_probe_forget(p);
	free_calls(c);
}

/**
 * jf_calls_sum() - count a function's calls and their durations, or record them
 * @p:    the probe of its entry, on or off
 * @sums: to count
 *
 * Return: NULL, or why they cannot be counted
 */
const char *jf_calls_sum(struct jf_agent_probe *p, bool sums)
{
	struct jf_calls *c = p->calls;
	const char *why = NULL;

	if (sums && !__jf_counts())
		return "sums of calls are kept in mode count alone";
	/* One that cannot be on takes no numbers. */
	if (sums && !c->sums)
		why = jf_calls_refused(p);
	if (sums && !c->sums && !why)
		why = make_sums(p);
	if (why)
		return why;
	/* Release: pairs with the load in jf_pair(). */
	__atomic_store_n(&c->call.sum, sums ? c->sums->id : NULL, __ATOMIC_RELEASE);
	return NULL;
}

/**
 * jf_calls_set_min() - record no call that takes less
 * @c:   of jf_calls_new(); it is on or off
 * @min: in nanoseconds
 */
void jf_calls_set_min(struct jf_calls *c, uint64_t min)
{
	__atomic_store_n(&c->call.min, min, __ATOMIC_RELAXED);
}

/* --- exits ---------------------------------------------------------------------------- */

/* Its file is open. */
static struct jf_agent_probe *new_exit(const struct jf_agent_probe *p, const struct jf_exit *e, unsigned int late)
{
	struct jf_module *m = p->point->module;
	uintptr_t at = e->at - late, start, end;
	struct jf_agent_probe *x;

	if (!jf_frame_text(m, at, &start, &end))
		return NULL;
	x = jf_probe_new(m, p->group, p->name, at, end - at);
	if (!x)
		return NULL;
	x->spot.call = &p->calls->call;
	x->spot.exit = e;
	x->point->filled = !late && e->filled;
	x->point->hemmed = !late && e->beside;
	x->point->late = (uint8_t)late;
	jf_module_add(m, x);
	return x;
}

/* Without its file the bytes are not known that a place must have. */
static const char *make_exits(struct jf_agent_probe *p)
{
	struct jf_calls *c = p->calls;
	struct jf_exits *e = &c->call.exits;
	const char *why = NULL;
	struct jf_elf elf;

	if (!c->exit)
		c->exit = calloc(e->num, sizeof(struct jf_agent_probe *));
	if (!c->exit)
		return jf_no_memory;
	if (jf_module_open(p->point->module, &elf))
		return "its file cannot be read";
	while (!why && c->nr_exits < e->num) {
		struct jf_agent_probe *x = new_exit(p, &e->exit[c->nr_exits], 0);

		if (x)
			c->exit[c->nr_exits++] = x;
		else
			why = jf_no_memory;
	}
	jf_module_close(p->point->module, &elf);
	return why;
}

/**
 * jf_calls_refused() - can the calls of a function be recorded, as far as its code says
 * @p: the probe of its entry
 *
 * Return: NULL, or why not
 */
const char *jf_calls_refused(struct jf_agent_probe *p)
{
	unsigned int lacks = jf_lacks;
	struct jf_calls *c = p->calls;

	if (c->looked)
		return c->why;
	c->why = jf_exits_find(p->point->module, c->start, p->spot.at, c->size, &c->call.exits);
	/* The next time there can be memory. */
	if (c->why && jf_lacks != lacks)
		return jf_no_memory;
	c->looked = true;
	return c->why;
}

/**
 * jf_calls_make() - have the exits of a function as points, which are not led yet
 * @p: the probe of its entry
 *
 * The jump at another probe can have bytes of them in its distance, and is written after theirs.
 */
void jf_calls_make(struct jf_agent_probe *p)
{
	if (!jf_calls_refused(p))
		make_exits(p);
}

/* --- on and off ----------------------------------------------------------------------- */

static int begin(void)
{
	uint64_t size = STACK_SIZE, thread = THREAD_SIZE;
	struct rlimit limit;
	pthread_attr_t attr;
	size_t some;

	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		size = limit.rlim_cur;
	if (!pthread_getattr_default_np(&attr)) {
		if (!pthread_attr_getstacksize(&attr, &some))
			thread = some;
		pthread_attr_destroy(&attr);
	}
	return jf_pair_begin((uintptr_t)__libc_stack_end, size, thread, __jf_clock_hz());
}

static struct jf_agent_probe *off_exit(const struct jf_calls *c)
{
	size_t i;

	for (i = 0; i < c->nr_exits; i++)
		if (!c->exit[i]->spot.on)
			return c->exit[i];
	return NULL;
}

static const char *say_exit(struct jf_calls *c, const struct jf_agent_probe *exit)
{
	if (!exit->why || exit->why == jf_no_memory)
		return jf_no_memory;
	snprintf(c->text, sizeof(c->text), "its exit at %#lx cannot be a probe: %s",
		 (unsigned long)(exit->spot.at - exit->point->module->base), exit->why);
	return c->text;
}

/* The exits of some functions, which are moved to @to. */
static size_t collect_exits(struct jf_agent_probe *const *probes, size_t num, struct jf_agent_probe **to)
{
	size_t i, k, nr = 0;

	for (i = 0; i < num; i++)
		for (k = 0; k < probes[i]->calls->nr_exits; k++)
			to[nr++] = probes[i]->calls->exit[k];
	return nr;
}

static size_t count_exits(struct jf_agent_probe *const *probes, size_t num)
{
	size_t i, nr = 0;

	for (i = 0; i < num; i++)
		nr += probes[i]->calls->nr_exits;
	return nr;
}

static int exits_off(struct jf_agent_probe *const *probes, size_t num)
{
	size_t nr = count_exits(probes, num);
	struct jf_agent_probe **exits = calloc(nr + 1, sizeof(*exits));
	int err = exits ? jf_probes_off(exits, collect_exits(probes, num, exits)) : -ENOMEM;

	free(exits);
	return err;
}

/*
 * For an exit that cannot be changed itself: an instruction before it, if that can be. The number
 * of these.
 */
static size_t make_late(struct jf_agent_probe *p, struct jf_agent_probe **to)
{
	struct jf_calls *c = p->calls;
	struct jf_module *m = p->point->module;
	struct jf_agent_probe *x;
	const struct jf_exit *e;
	struct jf_elf elf;
	size_t i, nr = 0;

	if (jf_module_open(m, &elf))
		return 0;
	for (i = 0; i < c->nr_exits; i++) {
		e = c->exit[i]->spot.exit;
		if (c->exit[i]->spot.on || c->exit[i]->point->late || !e->late || jf_point_at(e->at - e->late) ||
		    jf_whole_led_to(m, e->at - e->late + 1, e->at + 1))
			continue;
		x = new_exit(p, e, e->late);
		if (!x)
			continue;
		c->exit[i] = x;
		to[nr++] = x;
	}
	jf_module_close(m, &elf);
	return nr;
}

/* Those whose exits are all on are the first ones then. How many these are. */
static size_t exits_on(struct jf_agent_probe **probes, size_t num)
{
	size_t nr = count_exits(probes, num), i, ready = 0;
	struct jf_agent_probe **exits = calloc(nr + 1, sizeof(*exits)), *p, *off;
	int err;

	if (exits)
		jf_probes_on(exits, collect_exits(probes, num, exits), &err);
	for (i = 0, nr = 0; exits && i < num; i++)
		nr += make_late(probes[i], exits + nr);
	if (nr)
		jf_probes_on(exits, nr, &err);
	free(exits);
	for (i = 0; i < num; i++) {
		p = probes[i];
		off = off_exit(p->calls);
		if (off) {
			p->why = say_exit(p->calls, off);
			continue;
		}
		probes[i] = probes[ready];
		probes[ready++] = p;
	}
	if (ready < num)
		exits_off(probes + ready, num - ready);
	return ready;
}

/* Those that can be, as far as is known, are the first ones then. */
static size_t look_for_exits(struct jf_agent_probe **probes, size_t num)
{
	struct jf_agent_probe *p;
	size_t i, nr = 0;

	for (i = 0; i < num; i++) {
		p = probes[i];
		p->why = jf_calls_refused(p);
		if (!p->why)
			p->why = make_exits(p);
		if (p->why)
			continue;
		probes[i] = probes[nr];
		probes[nr++] = p;
	}
	return nr;
}

/* The last one. */
static uint32_t generation;

static size_t functions_on(struct jf_agent_probe **probes, size_t num, int *err)
{
	struct jf_agent_probe **some = calloc(num + 1, sizeof(*some));
	size_t i, nr, done = 0, off = 0;

	*err = !some ? -ENOMEM : num ? begin() : 0;
	nr = *err ? 0 : exits_on(probes, look_for_exits(probes, num));
	for (i = 0; i < nr; i++) {
		probes[i]->calls->call.generation = ++generation;
		some[i] = probes[i];
	}
	if (nr)
		done = jf_probes_on(some, nr, err);
	for (i = 0; i < nr; i++)
		if (!probes[i]->spot.on)
			some[off++] = probes[i];
	if (off)
		exits_off(some, off);
	free(some);
	return done;
}

/* Probes of calls that are to be switched come first. */
static size_t part(struct jf_agent_probe **probes, size_t num, bool on)
{
	struct jf_agent_probe *p;
	size_t i, nr = 0;

	for (i = 0; i < num; i++) {
		p = probes[i];
		if (p->kind != JF_KIND_CALL || (on && p->spot.on))
			continue;
		probes[i] = probes[nr];
		probes[nr++] = p;
	}
	return nr;
}

/**
 * jf_calls_on() - jf_probes_on(), also for probes of calls
 * @probes: as there
 * @num:    as there
 * @err:    as there
 *
 * Return: as there
 */
size_t jf_calls_on(struct jf_agent_probe **probes, size_t num, int *err)
{
	size_t calls = part(probes, num, true), done;
	int e;

	done = functions_on(probes, calls, &e);
	done += jf_probes_on(probes + calls, num - calls, err);
	*err = *err ? *err : e;
	return done;
}

/**
 * jf_calls_off() - jf_probes_off(), also for probes of calls
 * @probes: as there
 * @num:    as there
 *
 * Return: as there
 */
int jf_calls_off(struct jf_agent_probe **probes, size_t num)
{
	size_t calls = part(probes, num, false);
	int err = jf_probes_off(probes, num), e = calls ? exits_off(probes, calls) : 0;

	return err == -ETIMEDOUT ? err : e ? e : err;
}

/**
 * jf_calls_end() - the trace ends: calls that have begun are none of the next one
 */
void jf_calls_end(void)
{
	jf_pair_anew(generation + 1);
}
