// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The provider of SDT probes that are patched sites (<jumpfunc/sdt.h>): each becomes an event whose
 * fields are the probe's arguments, arg1, arg2 and so on, as wide as the code has them.
 *
 * The data of a probe stay: a record that is being written needs it, and its object may be loaded
 * again, at the same place or another. An object that was unloaded took the subscription with it,
 * which libjumpfunc knows.
 */
#include "trace.h"
#include "choice.h"
#include "provider.h"
#include "tell.h"
#include "../lib/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jumpfunc/sdt.h>

#define ARGS_MAX	12
/* Lists of probes, a power of two. */
#define LISTS_BITS	10

/**
 * struct probe - an SDT probe, and the event that it is recorded as
 * @next:   of those in the same list, the last one that was made first
 * @sdt:    it, if its object is loaded
 * @event:  the event
 * @code:   of its arguments, as @sdt had it when this was made
 * @num:    of them
 * @at:     where in a record each is
 * @field:  of @event, and the end
 * @name:   of these
 * @system: of @event, the provider
 * @event_name: of @event
 */
struct probe {
	struct probe		*next;
	const struct jf_sdt	*sdt;
	struct jf_event		event;
	uint8_t			code[ARGS_MAX];
	unsigned int		num;
	uint8_t			at[ARGS_MAX];
	struct jf_event_field	field[ARGS_MAX + 1];
	char			name[ARGS_MAX][16];
	char			system[64];
	char			event_name[192];
};

/* The lock of all below; it is taken after the providers' lock, and before jf_events_lock(). */
static pthread_mutex_t sdt_lock = PTHREAD_MUTEX_INITIALIZER;
static struct probe *probes[1 << LISTS_BITS];

void jf_sdt_lock(void)
{
	pthread_mutex_lock(&sdt_lock);
}

void jf_sdt_unlock(void)
{
	pthread_mutex_unlock(&sdt_lock);
}

/* The low bytes of a word are its first. */
static inline void put_fields(char *entry, const struct probe *p, const unsigned long *words)
{
	unsigned int i;

	for (i = 0; i < p->num; i++)
		memcpy(entry + p->at[i], &words[i], p->code[i] & JF_SDT_SIZE);
}

static void record(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	const struct probe *p = data;
	char *entry;
	__JF_SLOT(slot);

	(void)sdt;
	entry = __jf_reserve(&slot, p->event.size, __JF_LOAD(p->event.id));
	if (!entry)
		return;
	put_fields(entry, p, words);
	slot.id = __JF_LOAD(p->event.id);
}

/* Of a probe with a filter. */
static void record_chosen(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	struct probe *p = data;
	char *entry;
	__JF_DRAFT(draft);

	(void)sdt;
	entry = __jf_draft_begin(&draft, &p->event, p->event.size);
	if (!entry)
		return;
	put_fields(entry, p, words);
	draft.id = __JF_LOAD(p->event.id);
}

/* "provider:name"; what does not fit is cut. */
static void split(const char *name, char *system, size_t system_size, char *event, size_t event_size)
{
	const char *colon = strchr(name, ':');

	snprintf(system, system_size, "%.*s", colon ? (int)(colon - name) : 0, name);
	snprintf(event, event_size, "%s", colon ? colon + 1 : name);
}

static void describe(struct probe *p, unsigned int i)
{
	uint8_t size = p->code[i] & JF_SDT_SIZE;
	bool is_float = p->code[i] & JF_SDT_FLOAT;

	snprintf(p->name[i], sizeof(p->name[i]), "arg%u", i + 1);
	p->field[i] = (struct jf_event_field){
		.name = p->name[i], .type = is_float ? "double" : "long", .kind = __JF_FIELD_SCALAR,
		.class_ = is_float ? 8 : 1, .sign = !!(p->code[i] & JF_SDT_SIGNED), .align = size, .size = size, .count = 1,
	};
	p->event.size = (uint32_t)__jf_align(p->event.size, size);
	p->at[i] = (uint8_t)p->event.size;
	p->event.size += size;
}

/* No probe has other sizes than a register's. */
static bool is_sound(const struct jf_sdt *sdt)
{
	unsigned int i;

	for (i = 0; i < sdt->tp.nargs && i < ARGS_MAX; i++) {
		unsigned int size = sdt->code[i] & JF_SDT_SIZE;

		if (size != 1 && size != 2 && size != 4 && size != 8)
			return false;
	}
	return sdt->tp.nargs <= ARGS_MAX;
}

/* The list of those that are, or were, at this address; Knuth's multiplicative hash. */
static struct probe **list_of(const struct jf_sdt *sdt)
{
	return &probes[((uint64_t)(uintptr_t)sdt * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - LISTS_BITS)];
}

static struct probe *make_probe(const struct jf_sdt *sdt, const char *name, int *err)
{
	struct probe *p = calloc(1, sizeof(*p)), **list = list_of(sdt);
	unsigned int i;

	*err = -ENOMEM;
	if (!p)
		return NULL;
	p->sdt = sdt;
	p->num = sdt->tp.nargs;
	memcpy(p->code, sdt->code, p->num);
	split(name, p->system, sizeof(p->system), p->event_name, sizeof(p->event_name));
	for (i = 0; i < p->num; i++)
		describe(p, i);
	p->event.version = JF_EVENT_VERSION;
	p->event.system = p->system;
	p->event.name = p->event_name;
	p->event.print = "";
	p->event.fields = p->field;
	p->event.flags = __JF_EVENT_CHOOSES;
	p->event.chooser = (void *)(uintptr_t)record_chosen;
	*err = __jf_event_number(&p->event);
	if (*err) {
		free(p);
		return NULL;
	}
	p->next = *list;
	*list = p;
	return p;
}

/* Another object can be where @p's object was. */
static bool is_of(const struct probe *p, const struct jf_sdt *sdt, const char *name)
{
	char system[sizeof(p->system)], event[sizeof(p->event_name)];

	if (p->sdt != sdt || p->num != sdt->tp.nargs || memcmp(p->code, sdt->code, p->num))
		return false;
	split(name, system, sizeof(system), event, sizeof(event));
	return !strcmp(system, p->system) && !strcmp(event, p->event_name);
}

static struct probe *find_probe(const struct jf_sdt *sdt, const char *name)
{
	struct probe *p = *list_of(sdt);

	while (p && !is_of(p, sdt, name))
		p = p->next;
	return p;
}

typedef void record_fn(void *data, const struct jf_sdt *sdt, const unsigned long *words);

/* By which function; NULL: it is off. */
static record_fn *on_by(const struct probe *p)
{
	void *data = (void *)(uintptr_t)p;

	return !p ? NULL : jf_sdt_registered(p->sdt, record, data) ? record :
	       jf_sdt_registered(p->sdt, record_chosen, data) ? record_chosen : NULL;
}

/* @glob, or, without one, the earlier requests of jf_record_enable(), which have a @choice. */
static bool matches(const struct jf_sdt_info *i, const char *glob, char *choice)
{
	char system[64], event[192];

	split(i->name, system, sizeof(system), event, sizeof(event));
	if (choice)
		return jf_record_wished(JF_KIND_NOTE, system, event, choice);
	return jf_kind_fits(&glob, JF_KIND_NOTE) && __jf_glob_matches(glob, system, event);
}

/**
 * struct change - the state of a call for many probes
 * @glob:  which, or NULL: all
 * @choice: which records are made
 * @wished: those that jf_record_enable() was asked for, in place of @glob and @choice
 * @on:    switch them on, or off
 * @batch: all of them
 * @num:   how many match and are to be on, or were on and are to be off
 * @turns: how many change
 * @refused: some do not have all names of the filter
 * @err:   0 or -errno
 */
struct change {
	const char	*glob;
	const char	*choice;
	bool		wished;
	bool		on;
	struct jf_batch	batch;
	int		num;
	int		turns;
	bool		refused;
	int		err;
};

/* One after the other has the whole filter, if not all of them can be switched. */
static bool choose(struct change *c, struct probe *p, const char *text)
{
	struct jf_event_choice *choice;

	jf_events_lock();
	c->err = jf_event_choice(&p->event, text, &choice);
	if (!c->err)
		jf_event_choice_drop(jf_event_choose(&p->event, choice));
	jf_events_unlock();
	if (c->err != -EINVAL)
		return !c->err;
	__jf_record_refused(p->system, p->event_name, p->event.why ? p->event.why : "");
	c->refused = true;
	c->err = 0;
	return false;
}

/* @i: whose arguments have sizes that a record cannot have. It is the only one that is left out. */
static int leave_out(struct change *c, const struct jf_sdt_info *i)
{
	char system[64], event[192];

	split(i->name, system, sizeof(system), event, sizeof(event));
	__jf_record_refused(system, event, "it has arguments that are as large as no register");
	c->refused = true;
	return 0;
}

static int replace(struct change *c, struct probe *p, record_fn *was, record_fn *by)
{
	int err = was ? jf_sdt_batch_unregister(&c->batch, p->sdt, was, p) : 0;

	c->turns++;
	return err || !by ? err : jf_sdt_batch_register(&c->batch, p->sdt, by, p);
}

static int add(const struct jf_sdt_info *i, void *arg)
{
	char wished[JF_CHOICE_MAX];
	const char *choice;
	struct change *c = arg;
	record_fn *was, *by;
	struct probe *p;

	if (!matches(i, c->glob, c->wished ? wished : NULL))
		return 0;
	if (c->on && !is_sound(i->sdt))
		return leave_out(c, i);
	p = find_probe(i->sdt, i->name);
	c->err = c->on ? jf_record_begin() : 0;
	if (c->err)
		return c->err;
	if (!p && c->on)
		p = make_probe(i->sdt, i->name, &c->err);
	if (!p && c->on)
		return c->err;
	was = on_by(p);
	c->num += c->on || was;
	choice = c->wished ? wished : c->choice;
	if (c->on && !choose(c, p, choice)) {
		c->num--;
		return c->err;
	}
	by = !c->on ? NULL : *choice ? record_chosen : record;
	if (!p || was == by)
		return 0;
	return c->err = replace(c, p, was, by);
}

/* In one transaction. Objects can be unloaded in between, and then it is begun again. */
static int change(const char *glob, const char *choice, bool wished, bool on)
{
	int tries = 0, err;
	struct change c;

	jf_sdt_lock();
	do {
		memset(&c, 0, sizeof(c));
		c.glob = glob;
		c.choice = choice;
		c.wished = wished;
		c.on = on;
		jf_batch_init(&c.batch);
		err = jf_sdt_list(add, &c);
		if (!err && c.turns)
			err = jf_batch_commit(&c.batch);
		else
			jf_batch_abort(&c.batch);
	} while ((err == -ENODEV || err == -ENOENT || err == -EEXIST) && tries++ < 100);
	jf_sdt_unlock();
	return err ? err : c.refused && !c.num ? -EINVAL : c.num;
}

/**
 * jf_sdt_switch() - record the SDT probes that match, or record them no longer
 * @glob: which
 * @choice: which records are made, as in a pattern
 * @on:   record them
 *
 * Return: how many these are, or were, or -errno
 */
int jf_sdt_switch(const char *glob, const char *choice, bool on)
{
	return change(glob, choice, false, on);
}

/**
 * struct lack - those that were asked for and are not on
 * @why:   the reason
 * @num:   how many
 * @first: one of them
 */
struct lack {
	const char	*why;
	unsigned int	num;
	char		first[256];
};

static int add_lack(const struct jf_sdt_info *i, void *arg)
{
	char wished[JF_CHOICE_MAX], system[64], event[192];
	struct lack *l = arg;

	if (!matches(i, NULL, wished) || on_by(find_probe(i->sdt, i->name)))
		return 0;
	split(i->name, system, sizeof(system), event, sizeof(event));
	__jf_record_refused(system, event, l->why);
	if (!l->num++)
		snprintf(l->first, sizeof(l->first), "%s", i->name);
	return 0;
}

/*
 * An object with SDT probes was loaded. There is no caller that gets an error: so the trace is
 * told, and the user. choose() has told of filters that do not fit.
 */
static void loaded(void)
{
	int err = change(NULL, NULL, true, true);
	struct lack l = { .why = jf_error(-err) };

	if (err >= 0 || err == -EINVAL)
		return;
	jf_sdt_lock();
	err = jf_sdt_list(add_lack, &l);
	jf_sdt_unlock();
	/* Without a list their names are not known. */
	if (err < 0)
		jf_rings_refused("*", "*", l.why);
	if (err < 0 && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: SDT probes of an object that was loaded cannot be recorded: %s\n", l.why);
	else if (l.num && jf_may_tell())
		fprintf(stderr, "libjumpfunc-trace: %s and %u other SDT probes cannot be recorded: %s\n", l.first, l.num - 1, l.why);
}

/* jf_record_enable() has done it. */
static int enable(const char *glob, void *data)
{
	(void)glob;
	(void)data;
	return 0;
}

/* No thread is in record() any more after that. */
static int disable(const char *glob, void *data)
{
	int num = change(glob, "", false, false);

	(void)data;
	if (num > 0)
		jf_quiesce();
	return num;
}

struct listing {
	const char	*glob;
	jf_listed_fn	*fn;
	void		*arg;
};

static int tell(const struct jf_sdt_info *i, void *arg)
{
	const struct listing *l = arg;
	char system[64], event[192];
	struct jf_listed listed = { system, event, on_by(find_probe(i->sdt, i->name)) != NULL, "site" };

	if (!matches(i, l->glob, NULL))
		return 0;
	split(i->name, system, sizeof(system), event, sizeof(event));
	return l->fn(&listed, l->arg);
}

static int list(const char *glob, jf_listed_fn *fn, void *arg, void *data)
{
	struct listing l = { glob, fn, arg };
	int ret;

	(void)data;
	jf_sdt_lock();
	ret = jf_sdt_list(tell, &l);
	jf_sdt_unlock();
	return ret;
}

static struct jf_provider provider = {
	JF_PROVIDER_VERSION, "sdt", list, enable, disable, NULL, NULL, NULL, NULL, NULL
};

__attribute__((__constructor__))
static void begin(void)
{
	__jf_provider_register(&provider);
	__jf_sdt_watch(loaded);
}
