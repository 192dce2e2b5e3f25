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

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static struct jf_event *events, **last_event = &events;
static struct jf_place *places;
static struct jf_wish *wishes;
/* Of the recording that was stopped last. */
static struct jf_record_counts stopped_counts;
static char stopped_folder[PATH_MAX];

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
static int begin(void)
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
	int err = begin();

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
 * struct parts - of a pattern
 * @glob:   of names, with the kind
 * @choice: which records are made
 * @why:    it is no pattern
 */
struct parts {
	char	glob[JF_GLOB_MAX];
	char	choice[JF_CHOICE_MAX];
	char	why[JF_CHOICE_WHY];
};

static bool take_apart(struct parts *p, const char *pattern)
{
	const char *end = pattern ? jf_choice_begin(pattern) : "";
	size_t len = pattern ? (size_t)(end - pattern) : 0, most = *end ? JF_CHOICE_MAX : JF_GLOB_MAX;
	struct jf_choice c;

	if (len >= sizeof(p->glob) || strlen(end) >= sizeof(p->choice)) {
		snprintf(p->why, sizeof(p->why), "it has more than %zu characters", most - 1);
		return false;
	}
	memcpy(p->glob, pattern ? pattern : "", len);
	p->glob[len] = 0;
	strcpy(p->choice, *end ? end + 1 : end);
	if (!jf_choice_parse(&c, p->choice, NULL))
		return len;
	strcpy(p->why, c.why);
	return false;
}

static int jf_record_switch(const char *glob, const char *choice, bool on)
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

/* Events, and SDT probes. */
static int switch_all(const char *pattern, bool on)
{
	struct parts p;
	int n, more;

	if (!take_apart(&p, pattern) || (!on && *p.choice))
		return -EINVAL;
	n = jf_record_switch(p.glob, p.choice, on);
	/* SDT probes can have the filter that no event has. */
	if (n < 0 && (!*p.choice || n == -ENOMEM))
		return n;
	more = jf_sdt_switch(p.glob, p.choice, on);
	if (n < 0)
		return more > 0 ? more : n;
	return more >= 0 ? n + more : *p.choice && n ? n : more;
}

int jf_record_enable(const char *glob)
{
	return switch_all(glob, true);
}

int jf_record_disable(const char *glob)
{
	return switch_all(glob, false);
}

bool __jf_counts(void)
{
	return jf_conf.started && jf_conf.mode == JF_RECORD_COUNT;
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

/* Where a trace's folder is made if nothing says where. */
static int default_parent(char *buf, size_t size)
{
	const char *dir = jf_env(JF_ENV_FOLDER);
	struct stat st;
	int n, err;

	if (dir && *dir == '/' && strlen(dir) < size - 16 && !stat(dir, &st) && S_ISDIR(st.st_mode)) {
		n = snprintf(buf, size, "%s/jumpfunc", dir);
		if (n > 0 && !jf_folder_own(buf))
			return 0;
	}
	n = snprintf(buf, size, "/dev/shm/jumpfunc-%u", (unsigned int)geteuid());
	err = jf_folder_own(buf);
	return err;
}

static int options_valid(const struct jf_record_options *o)
{
	if ((unsigned int)o->mode > JF_RECORD_COUNT)
		return -EINVAL;
	if ((unsigned int)o->clock > JF_RECORD_CLOCK_NONE)
		return -EINVAL;
	if (o->packet_size && (o->packet_size % 4096 || o->packet_size > 64 << 20))
		return -EINVAL;
	if (o->packets && (o->packets < 2 || o->packets > 64))
		return -EINVAL;
	return o->rings > JF_RINGS_MAX ? -EINVAL : 0;
}

static int start(const struct jf_record_options *o)
{
	static const struct jf_record_options none;
	int err;

	if (!o)
		o = &none;
	err = options_valid(o);
	if (err)
		return err;
	if (jf_conf.started && !jf_conf.waiting)
		return -EBUSY;
	if (jf_conf.started) {
		/* No event has come that the environment names. */
		jf_conf.started = false;
		jf_rings_stop();
	}
	/* A record's first word is one store: id and size would change places. */
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return -EOPNOTSUPP;
	jf_conf.mode = (uint32_t)o->mode;
	jf_conf.clock = (uint32_t)o->clock;
	if (o->clock == JF_RECORD_CLOCK_AUTO)
		jf_conf.clock = jf_tsc_usable() ? JF_RECORD_CLOCK_TSC : JF_RECORD_CLOCK_MONOTONIC;
	else if (o->clock == JF_RECORD_CLOCK_TSC && !jf_tsc_usable())
		return -EOPNOTSUPP;
	/* Numbers of calls have no time. */
	if (o->mode == JF_RECORD_COUNT)
		jf_conf.clock = JF_RECORD_CLOCK_NONE;
	jf_conf.packet_size = o->packet_size ? o->packet_size : 65536;
	jf_conf.packets = o->packets ? o->packets : 8;
	jf_conf.max_size = (uint64_t)o->max_mib << 20;
	/* In place of packets a thread has its counters. */
	if (o->mode == JF_RECORD_COUNT) {
		jf_conf.packet_size = JF_COUNTS_SIZE;
		jf_conf.packets = 1;
	}
	jf_conf.rings = o->rings ? o->rings : JF_RINGS_MAX;
	if (o->parent) {
		/* The program may change to another folder. */
		char *path = realpath(o->parent, NULL);

		err = path ? 0 : -errno;
		if (path && strlen(path) >= sizeof(jf_conf.parent))
			err = -ENAMETOOLONG;
		if (!err)
			memcpy(jf_conf.parent, path, strlen(path) + 1);
		free(path);
	} else {
		err = default_parent(jf_conf.parent, sizeof(jf_conf.parent));
	}
	if (err)
		return err;
	err = access(jf_conf.parent, W_OK | X_OK) ? -errno : jf_rings_start();
	if (!err)
		jf_conf.started = jf_conf.waiting = true;
	return err;
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
	err = begin();
	pthread_mutex_unlock(&events_lock);
	return err;
}

int jf_record_start(const struct jf_record_options *options)
{
	int err;

	pthread_mutex_lock(&events_lock);
	err = start(options);
	if (!err) {
		err = begin();
		if (err) {
			jf_conf.started = false;
			jf_rings_stop();
		}
	}
	pthread_mutex_unlock(&events_lock);
	return err;
}

int jf_record_stop(void)
{
	int n = 0;

	/* So nothing is switched on in between. */
	jf_providers_lock();
	if (jf_record_started())
		n = jf_providers_stop();
	pthread_mutex_lock(&events_lock);
	if (!jf_conf.started)
		n = -ENOENT;
	if (n >= 0)
		n = switch_events(NULL, "", false, true);
	if (n >= 0) {
		jf_quiesce();
		jf_event_choices_free();
		jf_record_stats(&stopped_counts);
		if (jf_record_folder(stopped_folder, sizeof(stopped_folder)) < 0)
			*stopped_folder = 0;
		jf_wishes_forget(&wishes);
		jf_conf.started = false;
		jf_rings_stop();
	}
	pthread_mutex_unlock(&events_lock);
	jf_providers_unlock();
	return n < 0 ? n : 0;
}

/**
 * jf_record_stopped() - the counts up to the last jf_record_stop()
 * @counts: is filled in
 * @folder: of the trace; "": no folder
 * @size:   of @folder
 */
void jf_record_stopped(struct jf_record_counts *counts, char *folder, size_t size)
{
	pthread_mutex_lock(&events_lock);
	*counts = stopped_counts;
	snprintf(folder, size, "%s", stopped_folder);
	pthread_mutex_unlock(&events_lock);
}

/**
 * jf_record_started() - is it
 *
 * It stays so while jf_providers_lock() is held.
 */
bool jf_record_started(void)
{
	bool started;

	pthread_mutex_lock(&events_lock);
	started = jf_conf.started;
	pthread_mutex_unlock(&events_lock);
	return started;
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

int __jf_event_number(struct jf_event *event)
{
	return __jf_events_number(&event, 1);
}

static void tell_nothing(int err)
{
	static int told;

	/* Once for each reason, not for each event. */
	if (err && err != told && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE: nothing is recorded: %s\n", jf_error(-err));
	told = err;
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
		fprintf(stderr, "libjumpfunc-trace: %s:%s cannot be recorded: %s\n", event->system,
			event->name, err == -EINVAL ? "a field has a type that CTF does not know" : jf_error(-err));
	event->next = NULL;
	*last_event = event;
	last_event = &event->next;
	for (p = places; p; p = p->next)
		tell_args(p, event);
	w = err || !jf_conf.started ? NULL : find_wish(event, JF_KIND_EVENT);
	err = w ? begin() : -ENOENT;
	if (err != -ENOENT)
		tell_nothing(err);
	if (!err)
		switch_event(event, w);
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
	const struct jf_event *e;
	int err;

	pthread_mutex_lock(&events_lock);
	err = place->version == JF_EVENT_VERSION ? switch_place(place, true) : -EINVAL;
	if (!err) {
		place->next = places;
		places = place;
		for (e = events; e; e = e->next)
			tell_args(place, e);
	}
	pthread_mutex_unlock(&events_lock);
	if (err && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: what an object calls of %s:%s cannot be recorded: %s\n", place->system,
			place->name, err == -EINVAL ? "it was compiled for another version" : jf_error(-err));
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

/* --- forks -------------------------------------------------------------------------- */

static void prepare(void)
{
	jf_providers_fork_begins();
	jf_sdt_lock();
	pthread_mutex_lock(&events_lock);
	jf_rings_prepare();
}

static void in_parent(void)
{
	jf_rings_parent();
	pthread_mutex_unlock(&events_lock);
	jf_sdt_unlock();
	jf_providers_fork_ends(false);
}

static void in_child(void)
{
	jf_rings_child();
	pthread_mutex_unlock(&events_lock);
	jf_sdt_unlock();
	jf_providers_fork_ends(true);
}

/* --- the environment ------------------------------------------------------------------- */

static bool number(enum jf_env which, uint32_t *val)
{
	const char *text = jf_env(which);

	return !text || jf_number_parse(text, val);
}

static bool word(enum jf_env which, const char *const *words, unsigned int *val)
{
	const char *text = jf_env(which);
	int i;

	if (!text)
		return true;
	i = jf_name_find(words, text);
	if (i >= 0)
		*val = (unsigned int)i;
	return i >= 0;
}

/* As jf_record_start() does it, but for the folder. */
static int start_by_environment(void)
{
	struct jf_record_options o = { NULL, JF_RECORD_OVERWRITE, JF_RECORD_CLOCK_AUTO, 0, 0, 0, 0 };
	unsigned int mode = 0, clock = 0;
	int err;

	o.parent = jf_env(JF_ENV_DIR);
	if (!word(JF_ENV_MODE, jf_mode_names, &mode) || !word(JF_ENV_CLOCK, jf_clock_names, &clock) ||
	    !number(JF_ENV_PACKETS, &o.packets) || !number(JF_ENV_PACKET_SIZE, &o.packet_size) ||
	    !number(JF_ENV_RINGS, &o.rings) || !number(JF_ENV_MAX_MIB, &o.max_mib))
		return -EINVAL;
	o.mode = (enum jf_record_mode)mode;
	o.clock = (enum jf_record_clock)clock;
	pthread_mutex_lock(&events_lock);
	err = jf_conf.started ? 0 : start(&o);
	pthread_mutex_unlock(&events_lock);
	return err;
}

/**
 * __jf_record_by_environment() - start to record as the environment says how
 *
 * For the agent, which has something to record.
 *
 * Return: 0 also if it was started already, else as jf_record_start(), -EINVAL for a variable that
 * has another value than it may
 */
int __jf_record_by_environment(void)
{
	int err = start_by_environment();

	return err ? err : jf_record_begin();
}

/* Objects' events are announced later: no event can be enabled yet. */
static int ask_for(const char *pattern)
{
	struct parts p;
	int err;

	if (!take_apart(&p, pattern)) {
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE: '%.80s%s' is no pattern of events: %s\n", pattern,
			strlen(pattern) > 80 ? "..." : "", p.why);
		return 0;
	}
	err = jf_record_enable(pattern);
	return err < 0 && err != -EINVAL && err != -EOPNOTSUPP ? err : 0;
}

static int by_environment(const char *globs)
{
	int err = start_by_environment();
	char *pattern;
	size_t len;

	for (; !err && *globs; globs += len + (globs[len] == ',')) {
		len = (size_t)(jf_choice_comma(globs) - globs);
		pattern = len ? strndup(globs, len) : NULL;
		err = !len ? 0 : pattern ? ask_for(pattern) : -ENOMEM;
		free(pattern);
	}
	return err;
}

/* To jf-trace, if that has started this. */
static void tell_loaded(void)
{
	const char *folder = jf_env(JF_ENV_DIR);
	char path[PATH_MAX];
	struct stat st;
	int fd = -1;

	if (folder && !jf_path(path, sizeof(path), folder, JF_LOADED))
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	/* Others may have put a pipe there. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		jf_file_write(fd, "1", 1, 0);
	close(fd);
}

/* After libjumpfunc's own; before the objects' that have events. */
__attribute__((__constructor__(103)))
static void begins(void)
{
	const char *globs = secure_getenv("JUMPFUNC_TRACE");
	int err;

	pthread_atfork(prepare, in_parent, in_child);
	if (!globs || !*globs)
		return;
	tell_loaded();
	err = by_environment(globs);
	if (err && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: JUMPFUNC_TRACE: nothing is recorded: %s\n", jf_error(-err));
}
