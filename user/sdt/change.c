// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The change of a file, and the way back.
 *
 * A file that is changed has the one that it was in a section which linkers leave out. So to undo
 * is to give that again, byte for byte; and to verify is to make the change again, and to compare
 * all bytes.
 *
 * "ld -r" puts several objects into one file, with one such section, or with several, one after the
 * other. Its content is not that file's former content. So the section also has a sum of the file.
 */
#define _GNU_SOURCE
#include "jf_sdt.h"

#include <stdlib.h>
#include <string.h>

#define KEPT	".jumpfunc.sdt"

static const char magic[8] = "jf-sdt2";

#define SUM_SIZE	8

static const char other_version[] = "was changed by another version of jf-sdt";
static const char linked[] = "has been linked with others, or changed otherwise, since jf-sdt has changed it";

static struct changed failed(struct object *o)
{
	struct changed c = { .err = o->err };

	if (!c.err)
		c.err = strdup("no memory");
	o->err = NULL;
	return c;
}

/* FNV-1a of a file, but for the place at @at, where it is kept. */
static void sum_of(const uint8_t *data, size_t size, size_t at, uint8_t sum[SUM_SIZE])
{
	uint64_t a = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < size; i++)
		if (i < at || i - at >= SUM_SIZE)
			a = (a ^ data[i]) * 0x100000001b3ULL;
	for (i = 0; i < SUM_SIZE; i++)
		sum[i] = a >> i * 8 & 0xff;
}

/* In a file as object_write() gives it, whose last section is the one of keep(). */
static void put_sum(uint8_t *data, size_t size)
{
	uint8_t sum[SUM_SIZE];
	Elf64_Shdr h;
	size_t at;

	memcpy(&h, data + size - sizeof(h), sizeof(h));
	at = h.sh_offset + sizeof(magic);
	sum_of(data, size, at, sum);
	memcpy(data + at, sum, sizeof(sum));
}

/* The options, and the whole file. */
static bool keep(struct object *o, const struct options *options, const uint8_t *data, size_t size)
{
	static const uint8_t sum[SUM_SIZE];
	size_t sec = section_add(o, KEPT, SHT_PROGBITS, SHF_EXCLUDE, 1);

	return sec && section_append(o, sec, magic, sizeof(magic)) && section_append(o, sec, sum, sizeof(sum)) &&
	       section_append(o, sec, options->prefix, strlen(options->prefix) + 1) &&
	       section_append(o, sec, options->provider, strlen(options->provider) + 1) &&
	       section_append(o, sec, data, size);
}

static const char *next_string(const uint8_t **at, size_t *left)
{
	const char *s = (const char *)*at;
	size_t len = strnlen(s, *left);

	if (len == *left)
		return NULL;
	*at += len + 1;
	*left -= len + 1;
	return s;
}

/*
 * @data and @size: the content of the file @o; set to the content of the file that it was. @whole:
 * true if jf-sdt has made all of @o. False: it is as it was compiled.
 */
static bool kept(struct object *o, struct options *options, const uint8_t **data, size_t *size, bool *whole)
{
	size_t sec = section_find(o, KEPT);
	uint8_t sum[SUM_SIZE];
	const uint8_t *at;
	size_t left;

	if (!sec)
		return false;
	at = o->secs[sec].data;
	left = o->secs[sec].size;
	if (o->secs[sec].h.sh_type != SHT_PROGBITS || left <= sizeof(magic) + SUM_SIZE ||
	    memcmp(at, magic, sizeof(magic))) {
		refuse(o, "%s", other_version);
		return true;
	}
	at += sizeof(magic);
	sum_of(*data, *size, (size_t)(at - *data), sum);
	*whole = !memcmp(at, sum, sizeof(sum));
	at += SUM_SIZE;
	left -= sizeof(magic) + SUM_SIZE;
	options->prefix = next_string(&at, &left);
	options->provider = options->prefix ? next_string(&at, &left) : NULL;
	if (!options->provider)
		refuse(o, "%s", other_version);
	*data = at;
	*size = left;
	return true;
}

/* As change(), of a file as it was compiled. */
static struct changed change_new(struct object *o, const uint8_t *data, size_t size, const struct options *options)
{
	struct changed c = { .data = NULL };
	struct found found;

	if (find_sites(o, options, &found) && found.num_probes && make_probes(o, &found) && keep(o, options, data, size))
		c.data = object_write(o, &c.size);
	if (c.data)
		put_sum(c.data, c.size);
	c.sites = found.num_sites;
	if (o->err || (found.num_probes && !c.data))
		c = failed(o);
	found_free(&found);
	return c;
}

/*
 * True if it calls probe functions, beside the changed calls. Then it must not look as if it were
 * done with.
 */
static struct changed change_again(struct object *o, const struct options *options)
{
	struct changed c = { .data = NULL };
	struct found found;

	if (!find_sites(o, options, &found) || (found.num_probes && !refuse(o, "%s", linked)))
		c = failed(o);
	found_free(&found);
	return c;
}

/**
 * struct opened - a file, and its state before jf-sdt changed it
 * @o:	     the file, to be freed; o.err if it is refused
 * @changed: true if it was. If not, the others are not set
 * @whole:   true if jf-sdt has made all of it
 * @options: with which it was changed
 * @data:    its former content
 * @size:    of that
 */
struct opened {
	struct object	o;
	bool		changed, whole;
	struct options	options;
	const uint8_t	*data;
	size_t		size;
};

/* False: it is refused, and that is in @c. */
static bool open_object(struct opened *f, const char *file, const uint8_t *data, size_t size, struct changed *c)
{
	bool read = object_read(&f->o, file, data, size);

	f->data = data;
	f->size = size;
	f->changed = read && kept(&f->o, &f->options, &f->data, &f->size, &f->whole);
	if (read && !f->o.err)
		return true;
	*c = failed(&f->o);
	return false;
}

struct changed change(const char *file, const uint8_t *data, size_t size, const struct options *options)
{
	struct changed c = { .data = NULL };
	struct opened f;

	if (open_object(&f, file, data, size, &c)) {
		if (!f.changed)
			c = change_new(&f.o, data, size, options);
		else if (!f.whole)
			c = change_again(&f.o, options);
	} else if (f.o.foreign && !memmem(data, size, options->prefix, strlen(options->prefix))) {
		/* It names no probe function, and builds for us have such files, too. */
		free(c.err);
		c.err = NULL;
	}
	object_free(&f.o);
	return c;
}

struct changed change_back(const char *file, const uint8_t *data, size_t size)
{
	struct changed c = { .data = NULL };
	struct opened f;

	if (open_object(&f, file, data, size, &c) && f.changed) {
		if (!f.whole)
			refuse(&f.o, "%s", linked);
		c.data = f.o.err ? NULL : malloc(f.size + 1);
		c.size = f.size;
		if (c.data)
			memcpy(c.data, f.data, f.size);
		else
			c = failed(&f.o);
	}
	object_free(&f.o);
	return c;
}

struct changed change_verify(const char *file, const uint8_t *data, size_t size)
{
	struct changed c = { .data = NULL };
	struct opened f;

	if (open_object(&f, file, data, size, &c)) {
		if (f.changed)
			c = change(file, f.data, f.size, &f.options);
		else
			c.err = strdup("has not been changed by jf-sdt");
	}
	if (!c.err && (!c.data || c.size != size || memcmp(c.data, data, size)))
		c.err = strdup("is another file than jf-sdt has made");
	object_free(&f.o);
	return c;
}

char *change_list(const char *file, const uint8_t *data, size_t size, const struct options *options,
		  void (*visit)(const struct object *o, const struct probe *p, const struct site *s, void *arg),
		  void *arg)
{
	struct object now, was;
	struct options had = *options;
	struct found found = { .probes = NULL };
	char *err = NULL;
	bool whole;
	size_t i;

	memset(&was, 0, sizeof(was));
	if (!object_read(&now, file, data, size))
		err = failed(&now).err;
	else if (kept(&now, &had, &data, &size, &whole) && (now.err || (!whole && !refuse(&now, "%s", linked))))
		err = failed(&now).err;
	else if (!object_read(&was, file, data, size) || !find_sites(&was, &had, &found))
		err = failed(&was).err;
	for (i = 0; !err && i < found.num_sites; i++)
		visit(&was, &found.probes[found.sites[i].probe], &found.sites[i], arg);
	found_free(&found);
	object_free(&was);
	object_free(&now);
	return err;
}
