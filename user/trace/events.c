// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Events of this process, and which of them are recorded.
 *
 * An event is a tracepoint and a probe that records its calls. It is on while the probe is
 * registered. Globs that were given to jf_record_enable() are kept for events that are yet to
 * come, with an object that is loaded later.
 */
#include "trace.h"
#include "choice.h"
#include "control.h"
#include "kind.h"
#include "provider.h"
#include "tell.h"
#include "wishes.h"
#include "../lib/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static struct jf_event *events, **last_event = &events;
static struct jf_place *places;
static struct jf_wish *wishes;

/* @glob can begin with a kind; without one it means all kinds. */
static bool matches(const struct jf_event *event, const char *glob)
{
	return jf_kind_fits(&glob, JF_KIND_EVENT) && __jf_glob_matches(glob, event->system, event->name);
}

/* NULL: it is not to be on. */
static const struct jf_wish *find_wish(const struct jf_event *event, enum jf_kind kind)
{
	const struct jf_wish *w;

	for (w = wishes; w; w = w->next)
		if (jf_wish_fits(w, kind) && __jf_glob_matches(w->glob, event->system, event->name))
			return w->on ? w : NULL;
	return NULL;
}

/*
 * With the lock. A number is an event's only when the trace has its metadata: a record by
 * another one cannot be read, nor can the records after it. An event that cannot have one keeps
 * its own.
 */
static int number_events(struct jf_event **event, size_t num)
{
	uint16_t single = 0, *id = num == 1 ? &single : calloc(num, sizeof(*id)), told = UINT16_MAX;
	int err = 0, how;
	size_t i;

	if (!id)
		return -ENOMEM;
	for (i = 0; i < num; i++) {
		how = event[i]->version == JF_EVENT_VERSION ? jf_class_of(event[i], &id[i]) : -EINVAL;
		if (how && !err)
			err = how;
	}
	how = jf_conf.started ? jf_rings_metadata(&told) : 0;
	for (i = 0; i < num; i++)
		if (id[i] && id[i] <= told)
			event[i]->id = id[i];
	if (id != &single)
		free(id);
	return how ? how : err;
}

/*
 * With the lock. Those of which the trace could not be told when they came. An event that
 * cannot be shown has none for good.
 */
static int number_late(const char *glob)
{
	struct jf_event *e;
	int err;

	for (e = events; e; e = e->next) {
		if (e->id || !matches(e, glob))
			continue;
		err = number_events(&e, 1);
		if (err && err != -EINVAL)
			return err;
	}
	return 0;
}

/*
 * With the lock. The folder of a recording that has been started: not before there is something to
 * record.
 */
int jf_events_begin(void)
{
	int err;

	if (!jf_conf.started || !jf_conf.waiting)
		return 0;
	jf_clock_start(jf_conf.clock);
	err = jf_rings_begin();
	jf_conf.waiting = !!err;
	return err;
}

static bool has_name(const struct jf_place *place, const struct jf_event *event)
{
	return !event->tp && !strcmp(place->system, event->system) && !strcmp(place->name, event->name);
}

/* A function with other parameters is not called. */
static bool is_of(const struct jf_place *place, const struct jf_event *event)
{
	return has_name(place, event) && !strcmp(place->args, event->args);
}

static void tell_args(const struct jf_place *place, const struct jf_event *event)
{
	if (has_name(place, event) && strcmp(place->args, event->args) && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: %s:%s is not recorded where it has the arguments %s, since it is defined with %s\n",
			place->system, place->name, place->args, event->args);
}

/* jf_event.on: which of its two probes is there. */
enum how { OFF, ALL, CHOSEN };

static void *probe_of(const struct jf_event *e, uint32_t how)
{
	return how == CHOSEN ? e->chooser : e->probe;
}

/* The event's own tracepoint, or all that there are of its name. With the lock. */
static int add_probes(struct jf_batch *b, struct jf_event *e, void *probe, bool on)
{
	struct jf_place *p;
	int err = 0;

	if (e->tp)
		return __jf_batch_probe(b, e->tp, probe, e, JF_TRACE_PRIO_DEFAULT, on);
	for (p = places; p && !err; p = p->next)
		if (is_of(p, e))
			err = __jf_batch_probe(b, p->tp, probe, e, JF_TRACE_PRIO_DEFAULT, on);
	return err;
}

static int finish(struct jf_batch *b, int err)
{
	if (!err)
		return jf_batch_commit(b);
	jf_batch_abort(b);
	return err;
}

/**
 * struct turn - an event that is switched
 * @event:  it
 * @choice: its filter when it is on
 * @was:    its filter before
 * @how:    enum how, afterwards
 */
struct turn {
	struct jf_event		*event;
	struct jf_event_choice	*choice;
	struct jf_event_choice	*was;
	uint32_t		how;
};

static int add_turn(struct jf_batch *b, const struct turn *t)
{
	struct jf_event *e = t->event;
	int err = 0;

	if (e->on == t->how)
		return 0;
	if (e->on)
		err = add_probes(b, e, probe_of(e, e->on), false);
	return err || !t->how ? err : add_probes(b, e, probe_of(e, t->how), true);
}

/*
 * All, or none. A filter is there before the first thread that comes by the other probe, and after
 * the last one. With the lock.
 */
static int take_turns(struct turn *turns, size_t num, int err)
{
	struct turn *t, *end = turns + num;
	struct jf_batch b;

	for (t = turns; t < end; t++)
		if (t->choice)
			t->was = jf_event_choose(t->event, t->choice);
	jf_batch_init(&b);
	for (t = turns; t < end && !err; t++)
		err = add_turn(&b, t);
	err = finish(&b, err);
	for (t = turns; t < end; t++) {
		if (!err)
			t->event->on = t->how;
		if (err && t->choice)
			jf_event_choice_drop(jf_event_choose(t->event, t->was));
		else if (!t->choice && !err)
			jf_event_choice_drop(jf_event_choose(t->event, NULL));
		else
			jf_event_choice_drop(t->was);
	}
	return err;
}

/* The reason is for those who ask later, in the trace and in lists. */
static void refuse(const struct jf_event *e, int err, bool tell)
{
	const char *why = err == -EOPNOTSUPP ? "it was compiled with headers whose events have no filter" :
			  e->why ? e->why : jf_error(-err);

	jf_rings_refused(e->system, e->name, why);
	if (tell && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: %s:%s is not recorded: %s\n", e->system, e->name, why);
}

/* How it is to be on; @tell: on stderr, too. With the lock. */
static int make_turn(struct turn *t, struct jf_event *e, const char *choice, bool tell)
{
	int err = jf_events_begin();

	if (err)
		return err;
	err = jf_event_choice(e, choice, &t->choice);
	if (err == -EINVAL || err == -EOPNOTSUPP)
		refuse(e, err, tell);
	t->event = e;
	t->how = t->choice ? CHOSEN : ALL;
	return err;
}

/*
 * As an object comes or goes. @w: it is to be on. A pattern of many is not meant for each of them.
 */
static int switch_event(struct jf_event *e, const struct jf_wish *w)
{
	struct turn t = { e, NULL, NULL, OFF };
	/* Of its own programs jf-trace tells that itself. */
	int err = w ? make_turn(&t, e, w->choice, w->plain && !jf_env(JF_ENV_SINCE)) : 0;

	return err ? err : take_turns(&t, 1, 0);
}

static size_t count_events(void)
{
	const struct jf_event *e;
	size_t num = 0;

	for (e = events; e; e = e->next)
		num++;
	return num;
}

/*
 * All events that match, or none; an event that cannot have the filter is left alone. With the
 * lock.
 */
static int switch_events(const char *glob, const char *choice, bool on, bool all)
{
	struct turn *turns = (struct turn *)calloc(count_events() + 1, sizeof(*turns));
	int err = turns ? 0 : -ENOMEM, refused = 0, n = 0;
	struct jf_event *e;
	size_t num = 0;

	for (e = events; e && !err; e = e->next) {
		if ((!all && !matches(e, glob)) || !e->id || (!on && !e->on))
			continue;
		turns[num].event = e;
		err = on ? make_turn(&turns[num], e, choice, false) : 0;
		if (err == -EINVAL || err == -EOPNOTSUPP) {
			refused = err;
			err = 0;
			continue;
		}
		num += !err;
		n++;
	}
	if (turns)
		err = take_turns(turns, num, err);
	free(turns);
	return err ? err : n ? n : refused;
}

/**
 * jf_events_switch() - record the events that match, or record them no longer
 * @glob:   of names, with a kind
 * @choice: which records are made
 * @on:     record them
 *
 * Return: how many match, or -errno
 */
int jf_events_switch(const char *glob, const char *choice, bool on)
{
	const char *names = glob;
	enum jf_kind kind;
	struct jf_wish *w;
	int n;

	kind = jf_kind_of(&names);
	w = jf_wish_new(kind, names, choice, NULL, on);
	if (!w)
		return -ENOMEM;
	pthread_mutex_lock(&events_lock);
	n = jf_conf.started ? 0 : -ENOENT;
	if (!n && on)
		n = number_late(glob);
	if (!n)
		n = switch_events(glob, choice, on, false);
	jf_event_choices_free();
	if (n >= 0)
		jf_wish_add(&wishes, w);
	else
		free(w);
	pthread_mutex_unlock(&events_lock);
	return n;
}

/* None is recorded any more. With the lock. */
int jf_events_off(void)
{
	return switch_events(NULL, "", false, true);
}

/* No pattern holds for events that come later. With the lock. */
void jf_events_forget(void)
{
	jf_wishes_forget(&wishes);
}

/**
 * jf_record_wished() - true if an event or a probe that has come only now is to be recorded
 * @kind:   of it
 * @system: of it
 * @name:   of it
 * @choice: which records are made, JF_CHOICE_MAX characters
 */
bool jf_record_wished(enum jf_kind kind, const char *system, const char *name, char *choice)
{
	struct jf_event e = { .system = system, .name = name };
	const struct jf_wish *w;

	pthread_mutex_lock(&events_lock);
	w = jf_conf.started ? find_wish(&e, kind) : NULL;
	if (w)
		strcpy(choice, w->choice);
	pthread_mutex_unlock(&events_lock);
	return w;
}

/**
 * jf_record_begin() - there is something to record
 *
 * Return: 0, or why there can be no folder
 */
int jf_record_begin(void)
{
	int err;

	pthread_mutex_lock(&events_lock);
	err = jf_events_begin();
	pthread_mutex_unlock(&events_lock);
	return err;
}

void jf_events_lock(void)
{
	pthread_mutex_lock(&events_lock);
}

void jf_events_unlock(void)
{
	pthread_mutex_unlock(&events_lock);
}

int jf_events(int (*fn)(const struct jf_event *event, void *data), void *data)
{
	const struct jf_event *e;
	int ret = 0;

	pthread_mutex_lock(&events_lock);
	for (e = events; e && !ret; e = e->next)
		ret = fn(e, data);
	pthread_mutex_unlock(&events_lock);
	return ret;
}

int __jf_events_number(struct jf_event **event, size_t num)
{
	int err;

	pthread_mutex_lock(&events_lock);
	err = number_events(event, num);
	pthread_mutex_unlock(&events_lock);
	return err;
}

unsigned int __jf_events_left(void)
{
	unsigned int left;

	pthread_mutex_lock(&events_lock);
	left = UINT16_MAX - jf_last_class();
	pthread_mutex_unlock(&events_lock);
	return left;
}

int __jf_event_number(struct jf_event *event)
{
	return __jf_events_number(&event, 1);
}

/* Of an event that has no number, or no probe. */
static const char *reason(int err)
{
	return err == -EINVAL ? "a field has a type that CTF does not know" : jf_error(-err);
}

static void tell_event(const struct jf_event *event, int err)
{
	fprintf(stderr, "libjumpfunc-trace: %s:%s cannot be recorded: %s\n", event->system, event->name, reason(err));
}

static void tell_nothing(int err)
{
	static int told;

	/* Once for each reason, not for each event. */
	if (err && err != told && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE: nothing is recorded: %s\n", jf_error(-err));
	told = err;
}

/*
 * With the lock. An event that is to be recorded comes with an object; @err: it has no number. The
 * trace is told of one that cannot be recorded, and the user; make_turn() tells of filters.
 */
static void come(struct jf_event *event, const struct jf_wish *w, int err)
{
	int begun = jf_events_begin();

	tell_nothing(begun);
	if (begun)
		return;
	if (!err) {
		err = switch_event(event, w);
		if (!err || err == -EINVAL || err == -EOPNOTSUPP)
			return;
		if (jf_may_tell())
			tell_event(event, err);
	}
	jf_rings_refused(event->system, event->name, reason(err));
}

/* By an object's constructors. An event that has no number stays in the list: number_late(). */
void __jf_event_register(struct jf_event *event)
{
	const struct jf_place *p;
	const struct jf_wish *w;
	int err;

	if (event->version != JF_EVENT_VERSION) {
		if (jf_may_tell())
			fprintf(stderr, "libjumpfunc-trace: %s:%s was compiled for another version\n",
				event->system, event->name);
		return;
	}
	pthread_mutex_lock(&events_lock);
	/* Before the first record of it. */
	err = number_events(&event, 1);
	if (err && jf_may_tell())
		tell_event(event, err);
	event->next = NULL;
	*last_event = event;
	last_event = &event->next;
	for (p = places; p; p = p->next)
		tell_args(p, event);
	w = jf_conf.started ? find_wish(event, JF_KIND_EVENT) : NULL;
	if (w)
		come(event, w, err);
	pthread_mutex_unlock(&events_lock);
}

/* By its destructors. Its probe is in it, so none may be there any more. */
void __jf_event_unregister(struct jf_event *event)
{
	struct jf_event **p;

	pthread_mutex_lock(&events_lock);
	if (event->on)
		switch_event(event, NULL);
	if (jf_event_chooses(event))
		free(event->why);
	for (p = &events; *p && *p != event; p = &(*p)->next)
		;
	if (*p) {
		*p = event->next;
		if (last_event == &event->next)
			last_event = p;
	}
	pthread_mutex_unlock(&events_lock);
	jf_quiesce();
}

/* All events that are on record there, or no longer. With the lock. */
static int switch_place(struct jf_place *place, bool on)
{
	struct jf_event *e;
	struct jf_batch b;
	int err = 0;

	jf_batch_init(&b);
	for (e = events; e && !err; e = e->next)
		if (e->on && is_of(place, e))
			err = __jf_batch_probe(&b, place->tp, probe_of(e, e->on), e, JF_TRACE_PRIO_DEFAULT, on);
	return finish(&b, err);
}

/*
 * By an object's constructors. One that could not be switched on stays out of the list: all in it
 * are as their events are.
 */
void __jf_place_register(struct jf_place *place)
{
	const char *why = "it was compiled for another version";
	const struct jf_event *e;
	int err;

	pthread_mutex_lock(&events_lock);
	err = place->version == JF_EVENT_VERSION ? switch_place(place, true) : -EINVAL;
	if (err && err != -EINVAL)
		why = jf_error(-err);
	if (!err) {
		place->next = places;
		places = place;
		for (e = events; e; e = e->next)
			tell_args(place, e);
	}
	for (e = events; e && err; e = e->next)
		if (e->on && is_of(place, e))
			jf_rings_refused(e->system, e->name, why);
	pthread_mutex_unlock(&events_lock);
	if (err && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: what an object calls of %s:%s cannot be recorded: %s\n", place->system,
			place->name, why);
}

/* By its destructors. The probes are in other objects. */
void __jf_place_unregister(struct jf_place *place)
{
	struct jf_place **p;

	pthread_mutex_lock(&events_lock);
	for (p = &places; *p && *p != place; p = &(*p)->next)
		;
	if (*p) {
		switch_place(place, false);
		*p = place->next;
	}
	pthread_mutex_unlock(&events_lock);
}
