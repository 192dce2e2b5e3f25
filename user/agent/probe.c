// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes: what each records, and to switch many of them on or off at once.
 *
 *   on					a thread that comes by
 *   --				----------------------
 *   1 the code is written
 *   2 on = 1				in a read section: is on 1? Then it records
 *   3 the text leads to the code
 *   4 the semaphore is counted up
 *
 *   off: 4, 3 back; 2 on = 0; then wait for read sections: no thread records any more
 *
 * The code stays: a thread may be in it for any time, and will find on to be 0. It is used again when the
 * probe is switched on again.
 */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/batch.h>

/* How long off waits for threads that are recording; one that left by longjmp() never ends. */
#define QUIESCE_MS	2000

static uint32_t spots_used;
/* Probes whose code was made, by place: nothing of one is another's. */
static struct jf_agent_probe **made;
static size_t nr_made, max_made;

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
	struct jf_agent_probe *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->module = module;
	p->group = strdup(group);
	p->name = strdup(name);
	p->number = UINT32_MAX;
	p->spot.at = at;
	p->avail = avail;
	if (!p->group || !p->name) {
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

static unsigned int add_field(struct jf_agent_probe *p, unsigned int nr, const char *name, unsigned int size,
			      bool sign, bool hex)
{
	struct jf_event_field *f = &p->fields[nr];
	uint32_t at = (p->spot.size + size - 1) & ~(size - 1);

	snprintf(p->names[nr], sizeof(p->names[nr]), "%.7s", name);
	f->name = p->names[nr];
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
	char name[16];

	p->semaphore = semaphore;
	p->spot.nr = (uint8_t)jf_operands(args, p->spot.operand, JF_ARGS_MAX);
	for (i = 0; i < p->spot.nr; i++) {
		struct jf_operand *o = &p->spot.operand[i];

		if (!o->kind)
			continue;
		snprintf(name, sizeof(name), "arg%u", i + 1);
		o->at = (uint8_t)add_field(p, nr++, name, o->size, o->sign, o->size == 8 && !o->sign);
	}
	p->nr_fields = nr;
}

/**
 * jf_probe_function() - it is a function's entry
 * @p: the probe
 */
void jf_probe_function(struct jf_agent_probe *p)
{
	static const char *const names[JF_FUNCTION_FIELDS] = {
		"ip", "caller", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5",
	};
	unsigned int i;

	p->spot.function = true;
	for (i = 0; i < JF_FUNCTION_FIELDS; i++)
		add_field(p, i, names[i], 8, false, true);
	p->nr_fields = JF_FUNCTION_FIELDS;
}

/* What has no such argument, or one that is no pointer, has no string of it. */
static uint16_t that_are_pointers(const struct jf_agent_probe *p, uint16_t strings)
{
	uint16_t found = 0;
	unsigned int i;

	for (i = 0; i < JF_ARGS_MAX; i++)
		if (strings >> i & 1 && (p->spot.function ? i < JF_FUNCTION_FIELDS - 2 :
					 i < p->spot.nr && p->spot.operand[i].kind && p->spot.operand[i].size == 8))
			found |= (uint16_t)(1U << i);
	return found;
}

static void set_fields(struct jf_agent_probe *p, uint16_t strings)
{
	unsigned int i, nr = 0;

	for (i = 0; i < JF_ARGS_MAX && nr < JF_STRINGS_MAX; i++) {
		if (!(strings >> i & 1))
			continue;
		snprintf(p->string_names[nr], sizeof(p->string_names[nr]), "arg%u_string", p->spot.function ? i : i + 1);
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
 * jf_probe_strings() - record what some arguments point to, besides the pointers
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

	strings = that_are_pointers(p, strings);
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

/* --- whose bytes are whose ------------------------------------------------------------ */

static size_t find_made(uintptr_t at)
{
	size_t low = 0, high = nr_made;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (made[mid]->spot.at < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Also bytes that do not change: they are part of a distance. */
static bool is_beside(uintptr_t at)
{
	size_t i = find_made(at < JF_TEXT_MAX ? 0 : at - JF_TEXT_MAX + 1);

	return i < nr_made && made[i]->spot.at < at + JF_TEXT_MAX;
}

static bool note_made(struct jf_agent_probe *p)
{
	size_t i = find_made(p->spot.at);

	if (nr_made == max_made) {
		struct jf_agent_probe **more = realloc(made, (max_made * 2 + 64) * sizeof(*more));

		if (!more)
			return false;
		made = more;
		max_made = max_made * 2 + 64;
	}
	memmove(&made[i + 1], &made[i], (nr_made - i) * sizeof(*made));
	made[i] = p;
	nr_made++;
	return true;
}

static void forget_made(struct jf_agent_probe *p)
{
	size_t i = find_made(p->spot.at);

	if (i == nr_made || made[i] != p)
		return;
	nr_made--;
	memmove(&made[i], &made[i + 1], (nr_made - i) * sizeof(*made));
}

/**
 * jf_probe_forget() - its object was unloaded
 * @p: the probe, of which no more than its number stays
 */
void jf_probe_forget(struct jf_agent_probe *p)
{
	static struct jf_spot nothing;

	forget_made(p);
	if (p->number != UINT32_MAX)
		jf_spots[p->number] = &nothing;
	if (!p->kept)
		jf_detour_drop(&p->detour);
	free(p->group);
	free(p->name);
	free(p);
}

/* --- on and off ---------------------------------------------------------------------- */

/* Is it what its code has copies of? Another file's may begin as it does: an instruction has more bytes than a jump. */
static bool is_copied(const struct jf_agent_probe *p)
{
	return !memcmp((const void *)p->spot.at, p->detour.insn, p->detour.nr_insn);
}

/* It was to be changed before, and was not. */
static bool is_planned(const struct jf_agent_probe *p)
{
	return p->detour.at && jf_ways & 1U << p->detour.way && is_copied(p) &&
	       !memcmp((const void *)p->spot.at, p->detour.poke.old, p->detour.poke.num);
}

/*
 * A breakpoint of a debugger or a uprobe in those bytes, or what a kernel makes of one: it goes at some time, and
 * must be no part of a jump's distance.
 */
static const char *changed(const struct jf_agent_probe *p)
{
	const uint8_t *now = (const uint8_t *)p->spot.at;
	unsigned int i;

	if (!memcmp(now, p->text, p->nr_text))
		return NULL;
	for (i = 0; i < p->nr_text; i++)
		if (now[i] == 0xcc && p->text[i] != 0xcc)
			return "another's breakpoint";
	return "other bytes than its file has";
}

/**
 * jf_probe_stands() - does the text of a probe lead to its code, as it was written
 * @p: which
 *
 * A breakpoint that a debugger or a uprobe has set since does not count.
 */
bool jf_probe_stands(const struct jf_agent_probe *p)
{
	const uint8_t *now = (const uint8_t *)p->spot.at;
	unsigned int i;

	for (i = 0; i < p->detour.poke.num; i++)
		if (now[i] != p->detour.poke.new[i] && now[i] != 0xcc)
			return false;
	return true;
}

/**
 * jf_probe_is_ours() - does what stands there say that the agent has written it
 * @p: which, that stands
 *
 * A breakpoint does not: the kernel sets one for a uprobe wherever its file is mapped anew.
 */
bool jf_probe_is_ours(const struct jf_agent_probe *p)
{
	const struct jf_text_poke *poke = &p->detour.poke;
	const uint8_t *now = (const uint8_t *)p->spot.at;
	unsigned int i;

	for (i = 0; i < poke->num; i++)
		if (now[i] == poke->new[i] && now[i] != poke->old[i] && now[i] != 0xcc)
			return true;
	return false;
}

/**
 * jf_probe_keep() - it will be forgotten, and something is mapped where it was
 * @p: which
 *
 * Text that is neither ours nor its file's is another patcher's, which may execute what it has found there, a jump of ours,
 * in a copy, or write it back.
 */
void jf_probe_keep(struct jf_agent_probe *p)
{
	p->kept = p->led && changed(p);
}

/* Finds out how, and sees to it that it can be recorded. False: @why says why not. */
static bool prepare(struct jf_agent_probe *p)
{
	const char *refused;

	/* Another object may be in the place of its own: bytes that are part of a jump are not compared when that is written. */
	refused = p->made ? changed(p) : NULL;
	if (refused) {
		p->detour.why = refused;
		return false;
	}
	/* What it has now may not be used any more, or is of another file, but threads may be there: it stays. */
	if (p->made && !p->led && (!(jf_ways & 1U << p->detour.way) || !is_copied(p))) {
		forget_made(p);
		p->made = false;
		p->detour.at = 0;
	}
	if (p->made)
		return true;
	if (jf_record_begin())
		return false;
	refused = p->module ? jf_module_refuses(p->module, p->spot.function, p->spot.at) : NULL;
	if (refused) {
		p->detour.why = refused;
		return false;
	}
	if (is_beside(p->spot.at)) {
		p->detour.why = "another probe is there";
		return false;
	}
	refused = changed(p);
	if (refused) {
		p->detour.why = refused;
		return false;
	}
	if (p->number == UINT32_MAX) {
		if (spots_used == JF_SPOTS_MAX)
			return false;
		p->number = spots_used++;
		jf_spots[p->number] = &p->spot;
	}
	p->spot.what = p->event.id | (uint32_t)p->strings << 16;
	if (!p->spot.hook && !p->spot.watch && !p->event.id) {
		p->detour.why = "it has no number in the trace";
		return false;
	}
	/* The hook's function is one of its own line. */
	if (!is_planned(p) && jf_detour_make(&p->detour, p->spot.at, p->avail, p->number, p->spot.hook))
		return false;
	return note_made(p);
}

static void give_up(struct jf_agent_probe *p, int err)
{
	p->spot.on = 0;
	p->detour.why = err == -EBUSY ? "another's breakpoint, or a site of libjumpfunc" :
			err == -EILSEQ ? "other bytes than its file has" :
			err == -EAGAIN ? "a thread blocks SIGTRAP" : err == -ENOMEM ? "no memory" :
			err == -EDEADLK ? "in the midst of fork()" : "text cannot be written";
	/* Its code stays where it is: a breakpoint may have led a thread there. */
	if (!p->made)
		forget_made(p);
}

static int by_place(const void *a, const void *b)
{
	const struct jf_agent_probe *x = *(struct jf_agent_probe *const *)a, *y = *(struct jf_agent_probe *const *)b;

	return x->spot.at < y->spot.at ? -1 : x->spot.at > y->spot.at;
}

/* One transaction, of those that can be; returns how many are left in @probes, all of which are on. */
static size_t change_on(struct jf_agent_probe **probes, size_t num)
{
	struct jf_text_poke *pokes = calloc(num, sizeof(*pokes));
	struct jf_text_code *codes = calloc(num, sizeof(*codes));
	struct jf_text_change c = { pokes, 0, codes, 0, 0 };
	size_t i;
	int err;

	while (num) {
		err = pokes && codes ? 0 : -ENOMEM;
		c.nr_pokes = num;
		c.nr_codes = 0;
		for (i = 0; i < num && !err; i++) {
			struct jf_detour *d = &probes[i]->detour;

			pokes[i] = d->poke;
			if (!probes[i]->made)
				codes[c.nr_codes++] = (struct jf_text_code){ d->at, d->code, d->size };
			/* Release: pairs with the load in jf_agent_record(). */
			if (!probes[i]->spot.watch)
				__atomic_store_n(&probes[i]->spot.on, 1, __ATOMIC_RELEASE);
		}
		if (!err)
			err = __jf_text_change(&c);
		if (!err)
			break;
		/* One that is another's leaves the others; what is wrong else is so for all. */
		if (err == -EBUSY || err == -EILSEQ) {
			give_up(probes[c.bad], err);
			memmove(&probes[c.bad], &probes[c.bad + 1], (num - c.bad - 1) * sizeof(*probes));
			num--;
			continue;
		}
		for (i = 0; i < num; i++)
			give_up(probes[i], err);
		num = 0;
	}
	free(pokes);
	free(codes);
	return num;
}

/* A name with such characters would end in the trace's own language. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (*name < ' ' || *name == '"' || *name == '\\' || *name == 127)
			return false;
	return true;
}

/* Those that have none get their numbers. What has none is not switched on. */
static int number(struct jf_agent_probe **probes, size_t num)
{
	struct jf_event **events = calloc(num, sizeof(*events));
	int err = events || !num ? 0 : -ENOMEM;
	size_t i, nr = 0;

	for (i = 0; events && i < num; i++)
		if (!probes[i]->spot.hook && !probes[i]->event.id && is_plain(probes[i]->group) &&
		    is_plain(probes[i]->name))
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

/**
 * jf_probes_on() - switch probes on
 * @probes: which; in another order, and not all of them, when it returns
 * @num:    of them
 * @err:    set to 0, or why some have no number in the trace
 *
 * Their objects must not be unloaded meanwhile. Why one could not be says its detour.
 *
 * Return: how many it has switched on
 */
size_t jf_probes_on(struct jf_agent_probe **probes, size_t num, int *err)
{
	size_t i, nr = 0, again = 0;
	struct jf_agent_probe *p;

	*err = number(probes, num);
	for (i = 0; i < num; i++) {
		p = probes[i];
		if (p->spot.on)
			continue;
		if (p->led && !jf_probe_stands(p)) {
			/* Unless it is what its file has, which another has put back. */
			if (p->nr_text < p->detour.poke.num || changed(p)) {
				p->detour.why = "another has changed its text";
				continue;
			}
			p->led = false;
		}
		if (p->led && p->event.id) {
			/* One that is watched may never have been on. */
			__atomic_store_n(&p->spot.what, p->event.id | (uint32_t)p->strings << 16, __ATOMIC_RELAXED);
			turn_on(p);
			again++;
		} else if (p->led) {
			p->detour.why = "it has no number in the trace";
		} else if (prepare(p)) {
			probes[nr++] = p;
		}
	}
	qsort(probes, nr, sizeof(*probes), by_place);
	nr = change_on(probes, nr);
	for (i = 0; i < nr; i++) {
		probes[i]->made = true;
		probes[i]->led = true;
		turn_on(probes[i]);
	}
	return nr + again;
}

/* The text as it was. */
static int change_off(struct jf_agent_probe **probes, size_t num)
{
	struct jf_text_poke *pokes = calloc(num, sizeof(*pokes)), *poke = pokes;
	struct jf_text_change c = { pokes, 0, NULL, 0, 0 };
	int err = pokes ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < num && !err; i++) {
		/* Filters are looked for there as before. */
		if (probes[i]->spot.watch)
			continue;
		*poke = probes[i]->detour.poke;
		memcpy(poke->old, probes[i]->detour.poke.new, sizeof(poke->old));
		memcpy(poke->new, probes[i]->detour.poke.old, sizeof(poke->new));
		poke->to[0] = probes[i]->detour.skip;
		poke++;
	}
	c.nr_pokes = (size_t)(poke - pokes);
	if (!err && c.nr_pokes)
		err = __jf_text_change(&c);
	for (i = 0; i < num && !err; i++)
		probes[i]->led = probes[i]->spot.watch;
	free(pokes);
	return err;
}

/**
 * jf_probes_off() - switch probes off
 * @probes: which; sorted when it returns
 * @num:    of them
 *
 * No thread records for one of them any more when it returns, unless it says -ETIMEDOUT: a thread has
 * not ended what it was recording.
 *
 * Return: 0, -ETIMEDOUT, or an error of __jf_text_change(): then none records, but the text of some leads
 * to their code as before, and it can be tried again
 */
int jf_probes_off(struct jf_agent_probe **probes, size_t num)
{
	size_t i;
	int err;

	if (!num)
		return 0;
	qsort(probes, num, sizeof(*probes), by_place);
	err = change_off(probes, num);
	/* A single one that another has changed meanwhile is no reason to leave the others. */
	for (i = 0; (err == -EBUSY || err == -EILSEQ) && i < num; i++)
		change_off(&probes[i], 1);
	for (i = 0; i < num; i++) {
		if (probes[i]->semaphore && probes[i]->spot.on)
			__atomic_fetch_sub(probes[i]->semaphore, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&probes[i]->spot.on, 0, __ATOMIC_RELAXED);
	}
	if (!jf_quiesce_timeout(QUIESCE_MS))
		return err;
	return -ETIMEDOUT;
}

/**
 * jf_probe_watch() - have a function's calls looked at
 * @p:     the function's entry, on or off
 * @watch: which one it is
 *
 * Whether it is on, and records, is another matter from here on. Not by a breakpoint, which would kill a thread
 * that blocks SIGTRAP: these are called for much else.
 *
 * Return: 0, -EOPNOTSUPP: it cannot be, and its detour says why
 */
int jf_probe_watch(struct jf_agent_probe *p, enum jf_watch watch)
{
	unsigned int ways = jf_ways;
	bool done;

	if (p->led && p->detour.way == JF_WAY_BREAK)
		return -EOPNOTSUPP;
	p->spot.watch = (uint8_t)watch;
	if (p->led)
		return 0;
	jf_ways = 1U << JF_WAY_JUMP | 1U << JF_WAY_SHORT | 1U << JF_WAY_SPAN;
	done = prepare(p) && change_on(&p, 1);
	jf_ways = ways;
	/* Its code may be there from before, and stays. */
	p->made |= done;
	p->led = done;
	if (!done)
		p->spot.watch = JF_WATCH_NONE;
	return done ? 0 : -EOPNOTSUPP;
}

/**
 * jf_probe_hook() - have the agent itself called
 * @at:    where
 * @avail: bytes of text from there on
 * @hook:  what is called
 *
 * There is one, and it may be tried again.
 *
 * Return: 0, -EOPNOTSUPP, -ENOMEM
 */
int jf_probe_hook(uintptr_t at, size_t avail, void (*hook)(void))
{
	static struct jf_agent_probe *p;
	int err;

	if (!p)
		p = jf_probe_new(NULL, "", "", at, avail);
	if (!p)
		return -ENOMEM;
	p->spot.hook = hook;
	return jf_probes_on(&p, 1, &err) ? 0 : -EOPNOTSUPP;
}
