// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Filters of events (choice.h): the names of an expression are the names of the event's fields.
 *
 * The fields are computed in the program's own code, in the order that TP_fast_assign() has. So an
 * event with a filter has another probe, which writes a draft: the fields as they are to be in the
 * record. If the filter holds the draft is copied into the ring, and else it takes no place there.
 *
 * A draft is on the stack of the thread, or, if it has no room there, in a mapping of its own.
 */
#include "trace.h"
#include "choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in a step. */
#define FIELDS_MAX	254
#define FROM_TID	255
/* No packet is larger. */
#define DRAFT_MAX	(64u << 20)

/**
 * struct jf_event_choice - which records of an event are made
 * @next:   in the list of replaced filters
 * @fields: of the event
 * @packed: they are in their order
 * @choice: its last steps can have no memory
 */
struct jf_event_choice {
	struct jf_event_choice		*next;
	const struct jf_event_field	*fields;
	bool				packed;
	struct jf_choice		choice;
};

static struct jf_event_choice *replaced;

/* --- fields of a draft ---------------------------------------------------------------------- */

static bool is_dynamic(const struct jf_event_field *f)
{
	return f->kind == __JF_FIELD_STRING || f->kind == __JF_FIELD_DYNAMIC;
}

/* The end of a field that begins at @at, where it can be aligned. */
static size_t end_of(const struct jf_event_field *f, bool packed, const char *fields, size_t *at)
{
	uint32_t num;

	if (f->kind == __JF_FIELD_STRING)
		return *at + strlen(fields + *at) + 1;
	if (f->kind != __JF_FIELD_DYNAMIC) {
		*at = packed ? *at : (size_t)__jf_align(*at, f->align);
		return *at + (size_t)f->size * f->count;
	}
	*at = packed ? *at : (size_t)__jf_align(*at, 4);
	memcpy(&num, fields + *at, sizeof(num));
	*at = packed ? *at + 4 : (size_t)__jf_align(*at + 4, f->align);
	return *at + (size_t)f->size * num;
}

/*
 * Where a field is in a draft, as the metadata has it. Without a gap all are in their order, else
 * the fields of a fixed size come first.
 */
static const char *place_of(const struct jf_event_choice *c, unsigned int nr, const char *fields)
{
	const struct jf_event_field *f, *field = &c->fields[nr];
	size_t at = 0, end = 0;

	for (f = c->fields; f->kind != __JF_FIELD_END; f++) {
		if (!c->packed && is_dynamic(f))
			continue;
		at = end;
		end = end_of(f, c->packed, fields, &at);
		if (f == field)
			return fields + at;
	}
	for (f = c->fields; f->kind != __JF_FIELD_END; f++) {
		if (!is_dynamic(f))
			continue;
		at = end;
		end = end_of(f, false, fields, &at);
		if (f == field)
			break;
	}
	return fields + at;
}

/**
 * struct come_by - a draft, and its filter
 * @choice: of its event
 * @fields: of the draft
 */
struct come_by {
	const struct jf_event_choice	*choice;
	const char			*fields;
};

static uint64_t value_of(unsigned int from, const void *arg)
{
	const struct come_by *by = (const struct come_by *)arg;
	const struct jf_event_field *f = &by->choice->fields[from];
	uint64_t value = 0;

	if (from == FROM_TID)
		return (uint64_t)syscall(SYS_gettid);
	/* The low bytes come first. */
	memcpy(&value, place_of(by->choice, from, by->fields), f->size);
	return f->flags & __JF_SHOW_NETWORK ? __builtin_bswap64(value) >> (64 - 8 * f->size) : value;
}

/* Fields lead to no memory. */
static bool text_of(const struct jf_step *s, uint64_t *value, const void *arg)
{
	const struct come_by *by = (const struct come_by *)arg;
	const struct jf_event_field *f = &by->choice->fields[s->from];
	const char *at = place_of(by->choice, s->from, by->fields);
	char text[JF_CHOICE_TEXT];
	uint32_t num = f->count;
	size_t i;

	(void)value;
	if (f->kind == __JF_FIELD_STRING)
		return jf_choice_text(s, at);
	/* An array need not have a 0. */
	if (f->kind == __JF_FIELD_DYNAMIC)
		memcpy(&num, at - 4, sizeof(num));
	for (i = 0; i < num && i < sizeof(text) - 1 && at[i]; i++)
		text[i] = at[i];
	text[i] = 0;
	return jf_choice_text(s, text);
}

/* --- names ----------------------------------------------------------------------------------- */

static bool is_text(const struct jf_event_field *f)
{
	if (f->kind != __JF_FIELD_ARRAY && f->kind != __JF_FIELD_DYNAMIC)
		return f->kind == __JF_FIELD_STRING;
	return f->size == 1 && jf_field_is_text(f);
}

static const struct jf_event_field *find_field(const struct jf_event_field *fields, const char *name, size_t len)
{
	const struct jf_event_field *f;

	for (f = fields; f->kind != __JF_FIELD_END && f - fields < FIELDS_MAX; f++)
		if (jf_choice_is(f->name, name, len))
			return f;
	return NULL;
}

static int find(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	const struct jf_event_field *fields = (const struct jf_event_field *)arg, *f = find_field(fields, name, len);

	if (f) {
		step->op = f->class_ == 8 ? JF_STEP_REAL_VALUE : JF_STEP_VALUE;
		step->from = (uint8_t)(f - fields);
		step->size = (uint8_t)f->size;
		step->sign = f->sign;
		return f->kind == __JF_FIELD_SCALAR ? 0 : -EINVAL;
	}
	if (jf_choice_is("tid", name, len)) {
		step->from = FROM_TID;
		return 0;
	}
	return jf_choice_label(step, fields, name, len);
}

static int find_text(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	const struct jf_event_field *fields = (const struct jf_event_field *)arg, *f = find_field(fields, name, len);

	if (!f)
		return jf_choice_is("tid", name, len) ? -EINVAL : -ENOENT;
	step->from = (uint8_t)(f - fields);
	return is_text(f) ? 0 : -EINVAL;
}

static void list(char *to, size_t size, const void *arg)
{
	const struct jf_event_field *fields = (const struct jf_event_field *)arg, *f;
	size_t len = 0;

	for (f = fields; f->kind != __JF_FIELD_END && f - fields < FIELDS_MAX && len < size; f++)
		if (f->kind == __JF_FIELD_SCALAR || is_text(f))
			len += (size_t)snprintf(to + len, size - len, "%s, ", f->name);
	if (len < size)
		len += (size_t)snprintf(to + len, size - len, "tid");
	if (len >= size)
		memcpy(to + size - sizeof("..."), "...", sizeof("..."));
}

/* --- of an event --------------------------------------------------------------------------- */

/**
 * jf_event_chooses() - can an event have a filter
 * @event: the event, whose program may be compiled with older headers
 */
bool jf_event_chooses(const struct jf_event *event)
{
	return event->flags & __JF_EVENT_CHOOSES && event->chooser;
}

/**
 * jf_event_choice() - make the filter of an event
 * @event:  the event
 * @text:   as in a pattern
 * @choice: is set; NULL: all records are made
 *
 * With jf_events_lock.
 *
 * Return: 0, -EOPNOTSUPP if the event can have no filter, -EINVAL if @text does not fit it:
 * @event->why has the reason; -ENOMEM
 */
int jf_event_choice(struct jf_event *event, const char *text, struct jf_event_choice **choice)
{
	const struct jf_choice_names names = { find, find_text, list, event->fields, NULL };
	struct jf_event_choice *c;
	int err;

	*choice = NULL;
	if (!jf_event_chooses(event))
		return *text ? -EOPNOTSUPP : 0;
	free(event->why);
	event->why = NULL;
	if (!*text)
		return 0;
	c = (struct jf_event_choice *)calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->fields = event->fields;
	c->packed = event->flags & __JF_EVENT_PACKED;
	err = jf_choice_parse(&c->choice, text, &names);
	if (!err) {
		*choice = c;
		return 0;
	}
	event->why = strdup(c->choice.why);
	free(c);
	return err;
}

/**
 * jf_event_choose() - say which records of an event are made
 * @event:  the event
 * @choice: of jf_event_choice(); NULL: all
 *
 * With jf_events_lock. "every" and "max" count from 0 on.
 *
 * Return: the filter before it, for jf_event_choice_drop()
 */
struct jf_event_choice *jf_event_choose(struct jf_event *event, struct jf_event_choice *choice)
{
	if (!jf_event_chooses(event))
		return NULL;
	/* Release: pairs with the load of a thread that comes by. */
	return __atomic_exchange_n(&event->choice, choice, __ATOMIC_ACQ_REL);
}

/**
 * jf_event_choice_drop() - a filter is of no event any more
 * @choice: the filter, or NULL; it is freed when no thread can have it
 *
 * With jf_events_lock.
 */
void jf_event_choice_drop(struct jf_event_choice *choice)
{
	if (!choice)
		return;
	choice->next = replaced;
	replaced = choice;
}

/**
 * jf_event_choices_free() - free filters that were dropped
 *
 * With jf_events_lock, in no read section.
 */
void jf_event_choices_free(void)
{
	struct jf_event_choice *c;

	if (!replaced)
		return;
	jf_quiesce();
	while ((c = replaced)) {
		replaced = c->next;
		free(c);
	}
}

/* --- a thread comes by --------------------------------------------------------------------- */

/* A record that has no room anywhere is counted as each other one that has none. */
static void *no_room(const struct jf_event *event)
{
	__JF_SLOT(slot);

	__jf_reserve(&slot, UINT32_MAX, __JF_LOAD(event->id));
	return NULL;
}

void *__jf_draft_begin(struct jf_draft *draft, void *event, uint64_t size)
{
	int saved = errno;
	void *room = draft->room;

	draft->event = (struct jf_event *)event;
	draft->size = size;
	draft->id = 0;
	if (size > sizeof(draft->room)) {
		room = size > DRAFT_MAX ? MAP_FAILED :
		       mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		errno = saved;
		if (room == MAP_FAILED)
			return no_room(draft->event);
	} else {
		/* The bytes between fields are not to tell of the program's stack. */
		memset(room, 0, (size_t)size);
	}
	draft->fields = room;
	return room;
}

static bool is_chosen(const struct jf_draft *draft)
{
	/* Acquire: pairs with jf_event_choose(). */
	struct jf_event_choice *c = __atomic_load_n(&draft->event->choice, __ATOMIC_ACQUIRE);
	const struct come_by by = { c, (const char *)draft->fields };

	return !c || jf_choice_passes(&c->choice, value_of, text_of, &by);
}

static void make(const struct jf_draft *draft)
{
	void *entry;
	__JF_SLOT(slot);

	entry = __jf_reserve(&slot, draft->size, draft->id);
	if (!entry)
		return;
	memcpy(entry, draft->fields, (size_t)draft->size);
	slot.id = draft->id;
}

/* The block of a draft is left, in whatever way. */
void __jf_draft_end(struct jf_draft *draft)
{
	if (!draft->fields)
		return;
	if (draft->id && is_chosen(draft))
		make(draft);
	if (draft->fields != draft->room)
		munmap(draft->fields, (size_t)draft->size);
}
