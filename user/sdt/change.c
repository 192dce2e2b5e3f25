// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * What a file becomes, and what it was.
 *
 * A file that is changed has the one that it was in a section which linkers leave out. So to undo is to give that
 * again, byte for byte; and to verify is to make the change again, and to compare all bytes.
 */
#include "jf_sdt.h"

#include <stdlib.h>
#include <string.h>

#define KEPT	".jumpfunc.sdt"

static const char magic[8] = "jf-sdt1";

static struct changed failed(struct object *o)
{
	struct changed c = { .err = o->err };

	if (!c.err)
		c.err = strdup("no memory");
	o->err = NULL;
	return c;
}

/* The options, and the whole file. */
static bool keep(struct object *o, const struct options *options, const uint8_t *data, size_t size)
{
	size_t sec = section_add(o, KEPT, SHT_PROGBITS, SHF_EXCLUDE, 1);

	return sec && section_append(o, sec, magic, sizeof(magic)) &&
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

/* The file that @o was; false: it is as it was compiled. */
static bool kept(struct object *o, struct options *options, const uint8_t **data, size_t *size)
{
	size_t sec = section_find(o, KEPT);

	if (!sec)
		return false;
	*data = o->secs[sec].data;
	*size = o->secs[sec].size;
	if (o->secs[sec].h.sh_type != SHT_PROGBITS || *size <= sizeof(magic) || memcmp(*data, magic, sizeof(magic))) {
		refuse(o, "was changed by another version of jf-sdt");
		return true;
	}
	*data += sizeof(magic);
	*size -= sizeof(magic);
	options->prefix = next_string(data, size);
	options->provider = options->prefix ? next_string(data, size) : NULL;
	if (!options->provider)
		refuse(o, "was changed by another version of jf-sdt");
	return true;
}

/* As change(), of a file as it was compiled. */
static struct changed change_new(struct object *o, const uint8_t *data, size_t size, const struct options *options)
{
	struct changed c = { .data = NULL };
	struct found found;

	if (find_sites(o, options, &found) && found.num_probes && make_probes(o, &found) && keep(o, options, data, size))
		c.data = object_write(o, &c.size);
	c.sites = found.num_sites;
	if (o->err || (found.num_probes && !c.data))
		c = failed(o);
	found_free(&found);
	return c;
}

struct changed change(const char *file, const uint8_t *data, size_t size, const struct options *options)
{
	struct options was;
	const uint8_t *old;
	struct object o;
	struct changed c = { .data = NULL };
	size_t old_size;

	if (!object_read(&o, file, data, size))
		c = failed(&o);
	else if (!kept(&o, &was, &old, &old_size))
		c = change_new(&o, data, size, options);
	else if (o.err)
		c = failed(&o);
	object_free(&o);
	return c;
}

struct changed change_back(const char *file, const uint8_t *data, size_t size)
{
	struct changed c = { .data = NULL };
	struct options was;
	const uint8_t *old;
	struct object o;
	size_t old_size;

	if (!object_read(&o, file, data, size)) {
		c = failed(&o);
	} else if (kept(&o, &was, &old, &old_size)) {
		c.data = o.err ? NULL : malloc(old_size + 1);
		c.size = old_size;
		if (c.data)
			memcpy(c.data, old, old_size);
		else
			c = failed(&o);
	}
	object_free(&o);
	return c;
}

struct changed change_verify(const char *file, const uint8_t *data, size_t size)
{
	struct changed c = { .data = NULL };
	struct options was;
	const uint8_t *old;
	struct object o;
	size_t old_size;

	if (!object_read(&o, file, data, size))
		c = failed(&o);
	else if (!kept(&o, &was, &old, &old_size))
		c.err = strdup("has not been changed by jf-sdt");
	else if (o.err)
		c = failed(&o);
	else
		c = change(file, old, old_size, &was);
	if (!c.err && (!c.data || c.size != size || memcmp(c.data, data, size)))
		c.err = strdup("is another file than jf-sdt has made");
	object_free(&o);
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
	size_t i;

	memset(&was, 0, sizeof(was));
	if (!object_read(&now, file, data, size))
		err = failed(&now).err;
	else if (kept(&now, &had, &data, &size) && now.err)
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
