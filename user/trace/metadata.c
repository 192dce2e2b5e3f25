// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The description of a trace, in the language of CTF 1.8: of its packets, as struct jf_packet has
 * them, of its clock, and of each event.
 *
 * A file that readers may read at any time is never half-written: a new one is written under a name
 * that is hidden from them, and then takes the place of the old one. The clock is an
 * exception: its lines have a fixed length and are in the first page, and one pwrite() changes
 * them in place. New classes are appended: each pwrite() is of whole ones and within a page, of
 * which readers see all or nothing; lines are left empty up to the end of a page where the next
 * class does not fit.
 *
 * A class, which is an event's text and its number, is never forgotten: an object that is
 * closed and loaded again gets the numbers that its events had. The list only grows at its
 * end, and so can be read without a lock, in a forked child, too.
 *
 * Thousands of functions have the same fields, and each forked child that records writes all
 * classes. So the second event with some fields is preceded by a structure of them with a name, and
 * that event and later ones name it.
 *
 * Sums of calls have 74 classes for each function, and counters alone. A trace of records does not
 * have these classes: readers take time for all classes by the square of their number.
 */
#include "trace.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The name of a new one, hidden. */
#define UNFINISHED	".metadata"

#define PAGE	4096U
#define BUCKETS	4096U
/* Pieces of one write. */
#define AT_ONCE	128

/**
 * struct jf_shape - fields that events have
 * @same:   of the same bucket
 * @hash:   of @text
 * @number: of the structure with a name; 0: no second event has come
 * @len:    of @text
 * @text:   in the class of the first event that has them
 */
struct jf_shape {
	struct jf_shape	*same;
	uint32_t	hash;
	uint32_t	number;
	size_t		len;
	const char	*text;
};

/**
 * struct jf_class - an event's text, or a structure's
 * @next:    the one after it in the metadata
 * @same:    of the same bucket
 * @shape:   fields of the event
 * @hash:    of the text before the fields but for the number
 * @id:      the number; of a structure: the highest number before it
 * @counted: the event has no records
 * @head:    of an event: length of the text before the fields
 * @len:     of @text
 */
struct jf_class {
	struct jf_class	*next;
	struct jf_class	*same;
	struct jf_shape	*shape;
	uint32_t	hash;
	uint16_t	id;
	bool		counted;
	size_t		head;
	size_t		len;
	char		text[];
};

static struct jf_class *classes, **last_class = &classes;
static struct jf_class *buckets[BUCKETS];
static struct jf_shape *shapes[BUCKETS];
static uint32_t last_shape;
static uint16_t last_id;

/**
 * struct text - that grows; @len counts on where there is no room
 */
struct text {
	char	*buf;
	size_t	size;
	size_t	len;
};

__attribute__((__format__(__printf__, 2, 3)))
static void add(struct text *t, const char *format, ...)
{
	size_t room = t->len < t->size ? t->size - t->len : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(room ? t->buf + t->len : NULL, room, format, args);
	va_end(args);
	if (n > 0)
		t->len += (size_t)n;
}

static bool is_number(const struct jf_event_field *f)
{
	/*
	 * In C an array's elements are side by side, and so they are in a trace if they are aligned
	 * to their size, or not at all. One number alone can have room before it.
	 */
	if ((f->align != f->size && f->align != 1 && (f->align != 8 || f->kind != __JF_FIELD_SCALAR)) || f->size > 8)
		return false;
	return f->class_ == 8 ? f->size == 4 || f->size == 8 :
	       f->class_ >= 1 && f->class_ <= 5;
}

/* In quotation marks. */
static void add_string(struct text *t, const char *s)
{
	add(t, "\"");
	for (; *s; s++)
		if (*s == '\n')
			add(t, "\\n");
		else
			add(t, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	add(t, "\"");
}

/**
 * jf_field_is_text() - are the bytes of a field shown as text
 * @f: the field, with a string or bytes
 */
bool jf_field_is_text(const struct jf_event_field *f)
{
	if (f->flags)
		return f->flags & __JF_SHOW_TEXT;
	return f->kind != __JF_FIELD_SCALAR && !strcmp(f->type, "char");
}

static bool is_hex(const struct jf_event_field *f)
{
	return f->flags ? f->flags & __JF_SHOW_HEX : f->class_ == 5;
}

static void add_labels(struct text *t, const struct jf_event_field *f)
{
	const struct jf_event_label *l;
	/* A number is one of the field's type, as a reader takes it. */
	const char *format = f->sign ? " = %lld" : " = %llu", *more = f->sign ? " ... %lld" : " ... %llu";

	add(t, " {");
	for (l = f->labels; l->name; l++) {
		add(t, "%s ", l == f->labels ? "" : ",");
		add_string(t, l->name);
		if (!l->next)
			add(t, format, (long long)l->first);
		if (!l->next && l->first != l->last)
			add(t, more, (long long)l->last);
	}
	add(t, " }");
}

/* Types of most fields have names: jf_u32, jf_s32, jf_x32; jf_u32_64 is aligned to 64 bits. */
static bool add_usual(struct text *t, const struct jf_event_field *f)
{
	if (f->class_ == 8 || (f->align != f->size && f->align != 8) || jf_field_is_text(f) || f->flags & __JF_SHOW_NETWORK ||
	    (is_hex(f) && f->sign))
		return false;
	add(t, f->align == f->size ? "jf_%c%u" : "jf_%c%u_64", is_hex(f) ? 'x' : f->sign ? 's' : 'u', f->size * 8);
	return true;
}

static void add_usual_types(struct text *t)
{
	unsigned int size, align, i;

	for (size = 8; size <= 64; size *= 2)
		for (align = size; align <= 64; align = align < 64 ? 64 : 65)
			for (i = 0; i < 3; i++)
				add(t, "typealias integer { size = %u; align = %u; signed = %s;%s } := jf_%c%u%s;\n", size, align,
				    i == 1 ? "true" : "false", i == 2 ? " base = 16;" : "", "usx"[i], size, align == size ? "" : "_64");
	add(t, "\n");
}

/* The type of one element. */
static void add_number(struct text *t, const struct jf_event_field *f)
{
	bool labels = f->labels && f->labels->name;

	if (!labels && add_usual(t, f))
		return;
	if (f->class_ == 8) {
		add(t, "floating_point { exp_dig = %d; mant_dig = %d; align = %u; }",
		    f->size == 4 ? 8 : 11, f->size == 4 ? 24 : 53, f->align * 8);
		return;
	}
	add(t, "%sinteger { size = %u; align = %u; signed = %s;%s%s%s }", labels ? "enum : " : "", f->size * 8, f->align * 8,
	    f->sign ? "true" : "false", is_hex(f) ? " base = 16;" : "", jf_field_is_text(f) ? " encoding = UTF8;" : "",
	    f->flags & __JF_SHOW_NETWORK ? " byte_order = be;" : "");
	if (labels)
		add_labels(t, f);
}

static bool is_dynamic(const struct jf_event_field *f)
{
	return f->kind == __JF_FIELD_STRING || f->kind == __JF_FIELD_DYNAMIC;
}

/* Names begin with an underscore, which readers drop: so they are no words of the language. */
static int add_field(struct text *t, const struct jf_event_field *f, bool packed)
{
	if (f->kind != __JF_FIELD_BYTES && f->kind != __JF_FIELD_STRING && !is_number(f))
		return -EINVAL;
	add(t, "\t\t");
	switch (f->kind) {
	case __JF_FIELD_SCALAR:
		add_number(t, f);
		add(t, " _%s;\n", f->name);
		return 0;
	case __JF_FIELD_ARRAY:
		add_number(t, f);
		add(t, " _%s[%u];\n", f->name, f->count);
		return 0;
	case __JF_FIELD_BYTES:
		add(t, "struct { integer { size = 8; align = 8; base = 16; } bytes[%u]; } align(%u) _%s;\n",
		    f->size, f->align * 8, f->name);
		return 0;
	case __JF_FIELD_STRING:
		add(t, "string _%s;\n", f->name);
		return 0;
	case __JF_FIELD_DYNAMIC:
		/* As C aligns a number of elements. */
		add(t, "integer { size = 32; align = %u; } __%s_length;\n\t\t", packed ? 8 : 32, f->name);
		add_number(t, f);
		add(t, " _%s[__%s_length];\n", f->name, f->name);
		return 0;
	}
	return -EINVAL;
}

/* Those of a fixed size, where C has put them. */
static int add_fixed(struct text *t, const struct jf_event *event)
{
	const struct jf_event_field *f;
	uint64_t end = 0;
	int err = 0;

	for (f = event->fields; !err && f->kind != __JF_FIELD_END; f++) {
		if (is_dynamic(f))
			continue;
		if (!f->align || f->align > 8 || (f->align & (f->align - 1)))
			return -EINVAL;
		end = __jf_align(end, f->align) + (uint64_t)f->size * f->count;
		err = add_field(t, f, false);
	}
	/* Readers will look there. */
	return err ? err : end == event->size ? 0 : -EINVAL;
}

static void add_event_head(struct text *t, const struct jf_event *event, unsigned int id)
{
	/* Always as long, so that two of them can be compared without it. */
	add(t, "event {\n\tname = \"%s:%s\";\n\tid = %5u;\n\tstream_id = 0;\n", event->system, event->name, id);
	if (event->level)
		add(t, "\tloglevel = %d;\n", event->level - 1);
	add(t, "\tfields := struct ");
}

static int add_fields(struct text *t, const struct jf_event *event)
{
	bool packed = event->flags & __JF_EVENT_PACKED;
	const struct jf_event_field *f;
	int err = 0;

	if (!packed)
		err = add_fixed(t, event);
	for (f = event->fields; !err && f->kind != __JF_FIELD_END; f++)
		if (packed || is_dynamic(f))
			err = packed && f->align != 1 ? -EINVAL : add_field(t, f, packed);
	return err;
}

/* Where the number is, which has five characters. */
static size_t number_at(const struct jf_event *event)
{
	return strlen("event {\n\tname = \":\";\n\tid = ") + strlen(event->system) + strlen(event->name);
}

/* FNV-1a, without the five characters from @number on. */
static uint32_t hash_of(const char *text, size_t len, size_t number)
{
	uint32_t hash = 2166136261U;
	size_t i;

	for (i = 0; i < len; i++)
		if (i < number || i >= number + 5)
			hash = (hash ^ (uint8_t)text[i]) * 16777619U;
	return hash;
}

/* An event in full, as the first one with its fields has it. */
static struct jf_class *new_class(const struct jf_event *event, int *err)
{
	struct text t = { NULL, 0, 0 };
	struct jf_class *c;

	/* Its length. */
	add_event_head(&t, event, 0);
	*err = add_fields(&t, event);
	if (*err)
		return NULL;
	c = malloc(sizeof(*c) + t.len + sizeof("{\n\t};\n};\n\n"));
	*err = c ? 0 : -ENOMEM;
	if (!c)
		return NULL;
	t = (struct text){ c->text, t.len + sizeof("{\n\t};\n};\n\n"), 0 };
	add_event_head(&t, event, last_id + 1U);
	c->counted = event->flags & __JF_EVENT_COUNTED;
	c->head = t.len;
	add(&t, "{\n");
	add_fields(&t, event);
	add(&t, "\t};\n};\n\n");
	c->len = t.len;
	c->hash = hash_of(c->text, c->head, number_at(event));
	return c;
}

/* NULL: no memory. */
static struct jf_shape *shape_of(const struct jf_class *c)
{
	const char *text = c->text + c->head + strlen("{\n");
	size_t len = c->len - c->head - strlen("{\n\t};\n};\n\n");
	uint32_t hash = hash_of(text, len, len);
	struct jf_shape *s;

	for (s = shapes[hash % BUCKETS]; s; s = s->same)
		if (s->hash == hash && s->len == len && !memcmp(s->text, text, len))
			return s;
	s = malloc(sizeof(*s));
	if (s)
		*s = (struct jf_shape){ NULL, hash, 0, len, text };
	return s;
}

/* The one of the same event, whatever its number is. */
static struct jf_class *find_class(const struct jf_class *like, size_t number)
{
	struct jf_class *c;

	for (c = buckets[like->hash % BUCKETS]; c; c = c->same)
		if (c->hash == like->hash && c->shape == like->shape && c->head == like->head && c->counted == like->counted &&
		    !memcmp(c->text, like->text, number) &&
		    !memcmp(c->text + number + 5, like->text + number + 5, like->head - number - 5))
			return c;
	return NULL;
}

/* True if no other event has these fields. */
static bool is_first(const struct jf_shape *s, const struct jf_class *c)
{
	return s->text > c->text && s->text < c->text + c->len;
}

static void put_class(struct jf_class *c)
{
	c->next = NULL;
	/* Pairs with the loads of jf_metadata_write(). */
	__atomic_store_n(last_class, c, __ATOMIC_RELEASE);
	last_class = &c->next;
}

static void name_shape(struct jf_shape *s)
{
	size_t size = s->len + 64;
	struct jf_class *c = malloc(sizeof(*c) + size);
	struct text t = { c ? c->text : NULL, size, 0 };

	if (!c)
		return;
	s->number = ++last_shape;
	add(&t, "struct jf_fields_%u {\n%.*s};\n\n", s->number, (int)s->len, s->text);
	c->id = last_id;
	c->counted = false;
	c->len = t.len;
	put_class(c);
}

/* Another event has the same fields: their structure is named, or there is no memory for it. */
static struct jf_class *share_shape(struct jf_class *c)
{
	struct text t = { c->text, c->len, c->head };
	struct jf_class *less;

	/* Else the name is no shorter. */
	if (c->len - c->head < 64)
		return c;
	/* Readers look for the length of a sequence in the event itself. */
	if (memmem(c->text + c->head, c->len - c->head, "_length];", strlen("_length];")))
		return c;
	if (!c->shape->number)
		name_shape(c->shape);
	if (!c->shape->number)
		return c;
	add(&t, "jf_fields_%u;\n};\n\n", c->shape->number);
	c->len = t.len;
	less = realloc(c, sizeof(*c) + c->len + 1);
	return less ? less : c;
}

/* It has the next number. */
static uint16_t add_class(struct jf_class *c)
{
	struct jf_shape *s = c->shape;

	if (is_first(s, c)) {
		s->same = shapes[s->hash % BUCKETS];
		shapes[s->hash % BUCKETS] = s;
	} else {
		c = share_shape(c);
	}
	c->id = ++last_id;
	c->same = buckets[c->hash % BUCKETS];
	buckets[c->hash % BUCKETS] = c;
	put_class(c);
	return c->id;
}

static void drop_class(struct jf_class *c)
{
	if (c->shape && is_first(c->shape, c))
		free(c->shape);
	free(c);
}

/**
 * jf_class_of() - the number that an event has in traces
 * @event: the event
 * @id:    is filled in
 *
 * With jf_events_lock.
 *
 * It may have it for a trace that has no metadata of it: see jf_rings_metadata().
 *
 * Return: 0, -EINVAL if it has a field that CTF cannot show, -EOVERFLOW if all numbers are taken,
 * -ENOMEM
 */
int jf_class_of(const struct jf_event *event, uint16_t *id)
{
	struct jf_class *c, *old;
	int err;

	c = new_class(event, &err);
	if (!c)
		return err;
	c->shape = shape_of(c);
	old = c->shape ? find_class(c, number_at(event)) : NULL;
	if (!c->shape || old || last_id == UINT16_MAX) {
		err = !c->shape ? -ENOMEM : old ? 0 : -EOVERFLOW;
		*id = old ? old->id : *id;
		drop_class(c);
		return err;
	}
	*id = add_class(c);
	return 0;
}

/**
 * jf_last_class() - the highest number that an event has
 *
 * With jf_events_lock.
 */
uint16_t jf_last_class(void)
{
	return last_id;
}

#define INT(size)	"integer { size = " #size "; align = " #size "; }"

/* The place of these lines does not depend on their content. */
static void add_clock(struct text *t, uint32_t clock)
{
	struct jf_clock c;
	int64_t seconds;

	jf_clock_get(clock, &c);
	seconds = c.offset / 1000000000 - (c.offset % 1000000000 < 0);
	add(t, "\tfreq = %20llu;\n\toffset_s = %20lld;\n\toffset = %20llu;\n",
	    (unsigned long long)c.freq, (long long)seconds,
	    (unsigned long long)((uint64_t)(c.offset - seconds * 1000000000) * c.freq / 1000000000));
}

static void add_uuid(struct text *t, const uint8_t *u)
{
	add(t, "\"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\"",
	    u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
	    u[12], u[13], u[14], u[15]);
}

/* A name that a quotation mark does not end. */
static void add_name(struct text *t, const char *name, size_t max)
{
	for (; max && *name; name++, max--)
		add(t, "%c", (unsigned char)*name >= ' ' && *name != 127 && *name != '"' && *name != '\\' ? *name : '_');
}

#define CLOCK_BEGIN	"/* CTF 1.8 */\n\nclock {\n\tname = jf_clock;\n\tabsolute = false;\n"

static void add_head(struct text *t, const uint8_t *uuid, const struct jf_conf *conf)
{
	uint32_t clock = conf->clock;
	bool timed = clock != __JF_CLOCK_NONE;
	const uint16_t one = 1;
	struct utsname host;
	char name[64];

	if (timed) {
		add(t, CLOCK_BEGIN);
		add_clock(t, clock);
		if (*jf_clock_boot())
			add(t, "\tuuid = \"%s\";\n", jf_clock_boot());
		add(t, "\tdescription = \"%s\";\n};\n\n",
		    clock == __JF_CLOCK_TSC ? "counter of the processor" : "CLOCK_MONOTONIC");
		add(t, "typealias integer { size = 64; align = 64; map = clock.jf_clock.value; } := jf_time;\n\n");
	} else {
		add(t, "/* CTF 1.8 */\n\n");
	}
	add(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = ");
	add_uuid(t, uuid);
	add(t, ";\n\tbyte_order = %s;\n\tpacket.header := struct {\n", *(const char *)&one ? "le" : "be");
	add(t, "\t\t" INT(32) " magic;\n\t\tinteger { size = 8; align = 8; } uuid[16];\n");
	add(t, "\t\t" INT(32) " stream_id;\n\t\t" INT(64) " stream_instance_id;\n\t};\n};\n\n");

	add(t, "env {\n\thostname = \"");
	if (!uname(&host))
		add_name(t, host.nodename, sizeof(host.nodename));
	add(t, "\";\n\tprocname = \"");
	jf_process_name(name, sizeof(name));
	add_name(t, name, sizeof(name));
	add(t, "\";\n\tvpid = %d;\n\tdomain = \"ust\";\n\ttracer_name = \"jumpfunc\";\n", (int)getpid());
	/* Of losses there, other advice helps. */
	if (conf->mode == JF_RECORD_KEEP)
		add(t, "\ttracer_mode = \"keep\";\n");
	add(t, "\ttracer_major = 0;\n\ttracer_minor = 1;\n};\n\n");

	add(t, "stream {\n\tid = 0;\n\tpacket.context := struct {\n");
	add(t, "\t\t" INT(64) " content_size;\n\t\t" INT(64) " packet_size;\n\t\t" INT(64) " events_discarded;\n");
	add(t, "\t\t" INT(32) " tid;\n");
	if (timed)
		add(t, "\t\tjf_time timestamp_end;\n\t\tjf_time timestamp_begin;\n");
	add(t, "\t} align(1024);\n");
	add(t, "\tevent.header := struct {\n\t\tenum : " INT(16) " { begun = 0, whole = 1 ... 65535 } id;\n");
	/* Readers skip the size of a whole record: the fields after it are aligned. */
	add(t, "\t\tvariant <id> {\n\t\t\tstruct { } begun;\n\t\t\tstruct { %s} align(64) whole;\n",
	    timed ? "jf_time timestamp; " : "");
	add(t, "\t\t} v;\n\t} align(64);\n};\n\n");
	add_usual_types(t);
	/* A record that was begun and not committed. */
	add(t, "event {\n\tname = \"jumpfunc:uncommitted\";\n\tid = 0;\n\tstream_id = 0;\n\tfields := struct {\n");
	add(t, "\t\t" INT(32) " _size;\n\t\tinteger { size = 8; align = 8; base = 16; } _bytes[_size];\n\t};\n};\n\n");
}

static const struct jf_class *next_class(const struct jf_class *c)
{
	/* Acquire: pairs with the store in jf_class_of(), after which a class does not change. */
	return c ? __atomic_load_n(&c->next, __ATOMIC_ACQUIRE) : __atomic_load_n(&classes, __ATOMIC_ACQUIRE);
}

/* False: the trace cannot have a record of it. */
static bool is_told(const struct jf_class *c, const struct jf_told *told)
{
	return told->counted || !c->counted;
}

/* Classes that fit into the rest of a page, or empty lines up to its end. */
static size_t fill_page(char *buf, size_t room, const struct jf_class **last, const struct jf_told *told)
{
	const struct jf_class *c = next_class(*last);
	size_t len = 0;

	for (; c && (!is_told(c, told) || c->len <= room - len); c = next_class(c)) {
		*last = c;
		if (!is_told(c, told))
			continue;
		memcpy(buf + len, c->text, c->len);
		len += c->len;
	}
	if (c)
		memset(buf + len, '\n', room - len);
	return c ? room : len;
}

/*
 * All classes, to a file that no reader has seen yet: a few writes, since a forked child that
 * records waits for them.
 */
static int write_first_classes(int fd, struct jf_told *told)
{
	const struct jf_class *c = next_class(NULL);
	struct iovec v[AT_ONCE];
	int num = 0, err;
	size_t len = 0;

	for (; c; c = next_class(c)) {
		if (is_told(c, told)) {
			v[num++] = (struct iovec){ (void *)(uintptr_t)c->text, c->len };
			len += c->len;
		}
		told->last = c;
		told->id = c->id;
		if (num < AT_ONCE && next_class(c))
			continue;
		err = num ? jf_file_writev(fd, v, num, told->size) : 0;
		if (err)
			return err;
		told->size += len;
		num = 0;
		len = 0;
	}
	return 0;
}

/*
 * All that @told lacks. Readers may look, so a class that is larger than a page is not for here.
 * @buf has a page. The part that was written when it fails is whole, and in @told.
 */
static int write_classes(int fd, char *buf, struct jf_told *told)
{
	const struct jf_class *c, *last = (const struct jf_class *)told->last;
	struct stat st;
	size_t len;
	int err;

	while ((c = next_class(last))) {
		if (c->len > PAGE)
			return -EMSGSIZE;
		len = fill_page(buf, PAGE - told->size % PAGE, &last, told);
		/*
		 * As late as possible: a program may have closed the descriptor, and opened another
		 * file.
		 */
		if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != told->size)
			return -EMSGSIZE;
		err = len ? jf_file_write(fd, buf, len, told->size) : 0;
		if (err)
			/* Without the part of it that may be there. */
			return ftruncate(fd, (off_t)told->size) ? -errno : err;
		told->size += len;
		told->last = last;
		told->id = last ? last->id : 0;
	}
	return 0;
}

/**
 * jf_metadata_write() - write the metadata of a trace, or write it anew
 * @dir:   folder of the trace
 * @uuid:  of the trace
 * @conf:  its clock and its mode
 * @told:  set to its content
 *
 * With jf_live->lock. Signal handlers come here, in a forked child: nothing is allocated, and
 * vsnprintf() with such formats allocates nothing either.
 *
 * Return: a descriptor of it, or the error of a system call; then the old one is still there, if
 * there was one
 */
int jf_metadata_write(int dir, const uint8_t *uuid, const struct jf_conf *conf, struct jf_told *told)
{
	struct jf_told now = { .counted = conf->mode == JF_RECORD_COUNT };
	char buf[PAGE];
	struct text t = { buf, sizeof(buf), 0 };
	int fd, err;

	add_head(&t, uuid, conf);
	if (t.len >= t.size)
		return -ENAMETOOLONG;
	unlinkat(dir, UNFINISHED, 0);
	fd = openat(dir, UNFINISHED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = jf_file_write(fd, buf, t.len, 0);
	now.size = t.len;
	if (!err)
		err = write_first_classes(fd, &now);
	if (!err && renameat(dir, UNFINISHED, dir, "metadata"))
		err = -errno;
	if (err) {
		jf_close(fd);
		unlinkat(dir, UNFINISHED, 0);
		return err;
	}
	*told = now;
	return fd;
}

/**
 * jf_metadata_append() - add the classes that have come
 * @fd:   of the metadata
 * @told: its content; updated, also if not all could be added
 *
 * With jf_live->lock.
 *
 * Return: 0, -EMSGSIZE: it must be written anew, or the error of a system call
 */
int jf_metadata_append(int fd, struct jf_told *told)
{
	char buf[PAGE];

	return write_classes(fd, buf, told);
}

/**
 * jf_metadata_refused() - tell of a probe that cannot be recorded
 * @dir:   folder of the trace
 * @group: of the probe
 * @name:  of the probe
 * @why:   one line
 *
 * With jf_live->lock.
 */
void jf_metadata_refused(int dir, const char *group, const char *name, const char *why)
{
	char buf[1024];
	struct stat st;
	size_t len;
	int fd;

	len = (size_t)snprintf(buf, sizeof(buf), "%s:%s\t%s\n", group, name, why);
	fd = len < sizeof(buf) ? openat(dir, JF_REFUSED, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600) : -1;
	if (fd < 0)
		return;
	/* Others may have put a pipe there. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		jf_file_write(fd, buf, len, (uint64_t)st.st_size);
	jf_close(fd);
}

/**
 * jf_metadata_clock() - the offset and frequency of the clock, more precise the longer it has run
 * @buf:   is filled in
 * @size:  of @buf
 * @clock: one of enum jf_record_clock
 * @at:    set to where in the metadata it is to be written
 *
 * Return: its length; 0: there is nothing to set right
 */
size_t jf_metadata_clock(char *buf, size_t size, uint32_t clock, uint64_t *at)
{
	struct text t = { buf, size, 0 };

	if (clock != __JF_CLOCK_TSC)
		return 0;
	add_clock(&t, clock);
	*at = sizeof(CLOCK_BEGIN) - 1;
	return t.len < size ? t.len : 0;
}
