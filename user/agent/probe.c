// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes: the record of each, and to switch many of them on or off at once.
 *
 *   on					a thread that comes by
 *   --				----------------------
 *   1 the code is written
 *   2 on = 1				in a read section: records if on is 1
 *   3 the text leads to the code
 *   4 the semaphore is counted up
 *
 *   off: 4, 3 back; 2 on = 0; then wait for read sections: no thread records any more
 *
 * A thread may be in the code for any time, and will find on to be 0. Steps 1 and 3 are those of
 * the probe's place, which others may share: point.c, lead.c.
 */
#include "probe.h"
#include "lead.h"
#include "around.h"
#include "point.h"
#include "detour.h"
#include "whole.h"
#include "operand.h"
#include "types.h"
#include "module.h"
#include "lack.h"
#include "event.h"
#include "chosen.h"
#include "spot.h"
#include "value.h"
#include "seccomp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/batch.h>

#include "user/lib/text.h"
#include "user/trace/kind.h"
#include "user/trace/pattern.h"
#include "user/trace/provider.h"

/* How long off waits for threads that are recording; one that left by longjmp() never ends. */
#define QUIESCE_MS	2000

/**
 * jf_probe_new() - make a probe, which is off
 * @module: its object
 * @group:  copied
 * @name:   copied
 * @at:     where
 * @avail:  bytes of text from there on
 *
 * Return: the probe, or NULL: no memory
 */
struct jf_agent_probe *jf_probe_new(struct jf_module *module, const char *group, const char *name, uintptr_t at,
			      size_t avail)
{
	struct jf_agent_probe *p = jf_have(calloc(1, sizeof(*p)));

	if (!p)
		return NULL;
	p->group = strdup(group);
	p->name = strdup(name);
	p->spot.at = at;
	if (!p->group || !p->name || jf_point_join(p, module, avail)) {
		jf_probe_forget(p);
		return NULL;
	}
	p->event.version = JF_EVENT_VERSION;
	p->event.system = p->group;
	p->event.name = p->name;
	p->event.print = "";
	p->event.fields = p->fields;
	return p;
}

/**
 * jf_module_add() - a probe becomes one of its object
 * @m: the object, while its file is read
 * @p: the probe, whose place gets the text that the file has there
 */
void jf_module_add(struct jf_module *m, struct jf_agent_probe *p)
{
	struct jf_point *t = p->point;
	size_t num = t->avail < JF_TEXT_MAX ? t->avail : JF_TEXT_MAX;
	const uint8_t *text = t->nr_text ? NULL : jf_module_in_file(m, t->at, num);

	if (text) {
		memcpy(t->text, text, num);
		t->nr_text = (uint8_t)num;
	}
	p->next = m->probes;
	m->probes = p;
}

/* @name: stays. */
static unsigned int add_field(struct jf_agent_probe *p, unsigned int nr, const char *name, unsigned int size,
			      bool sign, bool hex)
{
	struct jf_event_field *f = &p->fields[nr];
	uint32_t at = (p->spot.size + size - 1) & ~(size - 1);

	f->name = name;
	f->type = "";
	f->kind = __JF_FIELD_SCALAR;
	/* An integer, or a pointer, which is shown in hexadecimal. */
	f->class_ = hex ? 5 : 1;
	f->sign = sign;
	f->align = (uint8_t)size;
	f->size = size;
	f->count = 1;
	p->spot.size = at + size;
	p->event.size = p->spot.size;
	return at;
}

/**
 * jf_probe_note() - it is a note
 * @p:         the probe
 * @args:      of the note
 * @semaphore: is counted up while the probe is on, or NULL
 */
void jf_probe_note(struct jf_agent_probe *p, const char *args, uint16_t *semaphore)
{
	unsigned int i, nr = 0;

	p->kind = JF_KIND_NOTE;
	p->semaphore = semaphore;
	p->spot.nr = (uint8_t)jf_operands(args, p->spot.operand, JF_ARGS_MAX);
	for (i = 0; i < p->spot.nr; i++) {
		struct jf_operand *o = &p->spot.operand[i];

		if (!o->kind)
			continue;
		snprintf(p->names[nr], sizeof(p->names[nr]), "arg%u", i + 1);
		o->at = (uint8_t)add_field(p, nr, p->names[nr], o->size, o->sign, o->size == 8 && !o->sign);
		if (o->real)
			p->fields[nr].class_ = 8;
		nr++;
	}
	p->nr_fields = nr;
}

static const char *const function_names[JF_FUNCTION_FIELDS] = {
	"ip", "caller", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5",
};

/**
 * jf_probe_function() - it is a function's entry
 * @p: the probe
 */
void jf_probe_function(struct jf_agent_probe *p)
{
	unsigned int i;

	p->kind = JF_KIND_FUNCTION;
	p->spot.function = true;
	p->spot.registers = JF_REGISTERS;
	for (i = 0; i < JF_FUNCTION_FIELDS; i++)
		add_field(p, i, function_names[i], 8, false, true);
	p->nr_fields = JF_FUNCTION_FIELDS;
}

/**
 * jf_probe_call() - it is the entry of a function whose calls are recorded
 * @p: the probe
 *
 * Its fields are the members of struct jf_call_record.
 */
void jf_probe_call(struct jf_agent_probe *p)
{
	unsigned int i;

	p->kind = JF_KIND_CALL;
	p->spot.registers = JF_REGISTERS;
	for (i = 0; i < JF_FUNCTION_FIELDS; i++)
		add_field(p, i, function_names[i], 8, false, true);
	add_field(p, i++, "ret", 8, false, true);
	add_field(p, i++, "duration", 8, false, false);
	add_field(p, i++, "depth", 4, false, false);
	add_field(p, i++, "left", 4, false, false);
	add_field(p, i++, "lost", 4, false, false);
	add_field(p, i++, "tail", 4, false, false);
	p->nr_fields = i;
	p->fields[i].kind = __JF_FIELD_END;
}

/* A probe without such an argument, or with one that is no pointer, has no string of it. */
static uint16_t that_are_pointers(const struct jf_agent_probe *p, uint16_t strings)
{
	uint16_t found = 0;
	unsigned int i;

	for (i = 0; i < JF_ARGS_MAX; i++)
		if (strings >> i & 1 && (p->spot.function ? i < p->spot.registers && p->fields[JF_FUNCTION_FIELDS - JF_REGISTERS + i].size == 8 :
					 i < p->spot.nr && p->spot.operand[i].kind && p->spot.operand[i].size == 8 && !p->spot.operand[i].real))
			found |= (uint16_t)(1U << i);
	return found;
}

static void set_fields(struct jf_agent_probe *p, uint16_t strings)
{
	unsigned int i, nr = 0;

	for (i = 0; i < JF_ARGS_MAX && nr < JF_STRINGS_MAX; i++) {
		if (!(strings >> i & 1))
			continue;
		if (p->spot.function)
			snprintf(p->string_names[nr], sizeof(p->string_names[nr]), "%.38s_string",
				 p->fields[JF_FUNCTION_FIELDS - JF_REGISTERS + i].name);
		else
			snprintf(p->string_names[nr], sizeof(p->string_names[nr]), "arg%u_string", i + 1);
		p->fields[p->nr_fields + nr] = (struct jf_event_field){
			.name = p->string_names[nr], .type = "", .kind = __JF_FIELD_STRING,
		};
		nr++;
	}
	memset(&p->fields[p->nr_fields + nr], 0, sizeof(p->fields[0]));
	p->fields[p->nr_fields + nr].kind = __JF_FIELD_END;
	p->strings = strings;
}

/**
 * jf_probe_strings() - record the strings that some arguments point to, besides the pointers
 * @p:       the probe, on or off
 * @strings: bit i: argument i is a pointer to a string
 *
 * Its records have another description from here on, and so another number.
 *
 * Return: 0, or an error of __jf_event_number(); then all is as it was
 */
int jf_probe_strings(struct jf_agent_probe *p, uint16_t strings)
{
	uint16_t was = p->strings, id = p->event.id;
	int err = 0;

	strings = that_are_pointers(p, strings | p->known_strings);
	if (strings == was)
		return 0;
	set_fields(p, strings);
	/* Else it gets one when it is switched on. */
	if (id) {
		p->event.id = 0;
		err = __jf_event_number(&p->event);
	}
	if (err) {
		set_fields(p, was);
		p->event.id = id;
		return err;
	}
	__atomic_store_n(&p->spot.what, p->event.id | (uint32_t)strings << 16, __ATOMIC_RELAXED);
	return 0;
}

/**
 * jf_probe_forget() - its object was unloaded
 * @p: the probe
 */
void jf_probe_forget(struct jf_agent_probe *p)
{
	jf_point_leave(p);
	jf_types_forget(p);
	jf_chosen_forget(p->spot.chosen);
	free(p->spot.shown);
	free(p->choice_why);
	free(p->group);
	free(p->name);
	free(p);
}

/* --- on and off ---------------------------------------------------------------------- */

/* The trace's language has no such names. Letters beyond ASCII are plain. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == '"' || *name == '\\' || *name == 127)
			return false;
	return true;
}

static bool has_plain_name(const struct jf_agent_probe *p)
{
	return is_plain(p->group) && is_plain(p->name);
}

static bool has_event(const struct jf_agent_probe *p)
{
	return !p->spot.hook && !p->spot.exit;
}

/* Those that have none get their numbers. A probe without a number is not switched on. */
static int number(struct jf_agent_probe **probes, size_t num)
{
	struct jf_event **events = jf_have(calloc(num, sizeof(*events)));
	int err = events || !num ? 0 : -ENOMEM;
	size_t i, nr = 0;

	for (i = 0; events && i < num; i++)
		if (has_event(probes[i]) && !probes[i]->event.id && has_plain_name(probes[i]))
			events[nr++] = &probes[i]->event;
	if (nr)
		err = __jf_events_number(events, nr);
	free(events);
	return err;
}

static void turn_on(struct jf_agent_probe *p)
{
	/* Release: pairs with the load in jf_agent_record(). */
	__atomic_store_n(&p->spot.on, 1, __ATOMIC_RELEASE);
	if (p->semaphore)
		__atomic_fetch_add(p->semaphore, 1, __ATOMIC_RELAXED);
}

/* Functions of the compiler's start files have no size and no frames. */
static bool is_of_start_files(const char *name)
{
	static const char *const names[] = {
		"_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones", "__do_global_dtors_aux",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Not a function that was on before. */
static bool can_be_data(const struct jf_agent_probe *p)
{
	return p->kind != JF_KIND_NOTE && has_event(p) && !p->point->made && p->point->module && !is_of_start_files(p->name);
}

/* True if it can be one. Another patcher's text can be there already. */
static bool is_possible(struct jf_agent_probe *p)
{
	struct jf_point *t = p->point;

	if (t->led && !jf_point_stands(t) && !jf_point_restored(t)) {
		p->why = "another has changed its text";
		return false;
	}
	p->why = t->module ? jf_module_refuses(t->module, p->kind != JF_KIND_NOTE, p->spot.at) : NULL;
	if (!p->why && can_be_data(p))
		p->why = jf_whole_is_data(t->module, t->at, t->size);
	if (!p->why && has_event(p) && !p->event.id)
		p->why = has_plain_name(p) ? "it has no number in the trace" :
			"names in traces have no quotation mark, backslash or control character";
	return !p->why;
}

/**
 * jf_probes_on() - switch probes on
 * @probes: which; in another order, and not all of them, when it returns
 * @num:    of them
 * @err:    set to 0, or why some have no number in the trace
 *
 * The caller keeps their objects loaded. A probe that stays off has the reason.
 *
 * Return: how many it has switched on
 */
size_t jf_probes_on(struct jf_agent_probe **probes, size_t num, int *err)
{
	struct jf_point **points = jf_have(calloc(num, sizeof(*points)));
	size_t i, nr = 0, done = 0;

	*err = number(probes, num);
	for (i = 0; i < num; i++) {
		if (probes[i]->spot.on || !is_possible(probes[i]))
			continue;
		probes[nr] = probes[i];
		if (points)
			points[nr] = probes[i]->point;
		nr++;
	}
	if (points)
		jf_points_lead(points, nr);
	free(points);
	for (i = 0; i < nr; i++) {
		struct jf_agent_probe *p = probes[i];

		p->why = p->point->detour.why;
		if (!p->point->led)
			continue;
		__atomic_store_n(&p->spot.what, p->event.id | (uint32_t)p->strings << 16, __ATOMIC_RELAXED);
		turn_on(p);
		done++;
	}
	return done;
}

/**
 * jf_probes_off() - switch probes off
 * @probes: which
 * @num:    of them
 *
 * No thread records for one of them any more when it returns, unless it says -ETIMEDOUT: a thread
 * has not ended its record.
 *
 * Return: 0, -ETIMEDOUT, or an error of jf_points_unlead(): then none records
 */
int jf_probes_off(struct jf_agent_probe **probes, size_t num)
{
	struct jf_point **points = calloc(num + 1, sizeof(*points));
	int err = points ? 0 : -ENOMEM;
	size_t i;

	if (!num) {
		free(points);
		return 0;
	}
	for (i = 0; i < num; i++) {
		if (probes[i]->semaphore && probes[i]->spot.on)
			__atomic_fetch_sub(probes[i]->semaphore, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&probes[i]->spot.on, 0, __ATOMIC_RELAXED);
		if (points)
			points[i] = probes[i]->point;
	}
	if (points)
		err = jf_points_unlead(points, num);
	free(points);
	if (!jf_quiesce_timeout(QUIESCE_MS))
		return err;
	return -ETIMEDOUT;
}

/**
 * jf_probe_watch() - have a function's calls looked at
 * @p:     the function's entry, on or off
 * @watch: which one it is
 *
 * Whether it is on, and records, is another matter from here on. Not by a breakpoint, which would
 * kill a thread that blocks SIGTRAP: these are called for much else.
 *
 * Return: 0, -EOPNOTSUPP: it cannot be, and says why
 */
int jf_probe_watch(struct jf_agent_probe *p, enum jf_watch watch)
{
	struct jf_point *t = p->point;
	unsigned int ways = jf_ways;

	if (t->led && t->detour.way == JF_WAY_BREAK)
		return -EOPNOTSUPP;
	p->why = jf_module_refuses(t->module, true, p->spot.at);
	if (p->why)
		return -EOPNOTSUPP;
	p->spot.watch = (uint8_t)watch;
	if (t->led)
		return 0;
	jf_ways = 1U << JF_WAY_JUMP | 1U << JF_WAY_SHORT | 1U << JF_WAY_SPAN | (ways & 1U << JF_WAY_BESIDE);
	jf_points_lead(&t, 1);
	jf_ways = ways;
	p->why = t->detour.why;
	if (!t->led)
		p->spot.watch = JF_WATCH_NONE;
	return t->led ? 0 : -EOPNOTSUPP;
}

/**
 * jf_probe_hook() - have the agent itself called
 * @p:     *p is NULL, or the probe of an earlier try
 * @at:    where
 * @avail: bytes of text from there on
 * @hook:  the function to call
 *
 * Return: 0, -EOPNOTSUPP, -ENOMEM
 */
int jf_probe_hook(struct jf_agent_probe **p, uintptr_t at, size_t avail, void (*hook)(void))
{
	int err;

	if (!*p)
		*p = jf_probe_new(NULL, "", "", at, avail);
	if (!*p)
		return -ENOMEM;
	(*p)->spot.hook = hook;
	return jf_probes_on(p, 1, &err) ? 0 : -EOPNOTSUPP;
}
