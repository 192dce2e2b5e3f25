// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A fuzzer, for libFuzzer, of jf-sdt's part that reads object files and makes others of them.
 * Inputs are mutated by their structure: fields of headers, symbols, relocations and groups,
 * instructions at relocations, names; and bytes anywhere.
 *
 * Of each input, either it is refused with a reason, and there is nothing to be written; or its new
 * content is an object file that is read again. Its sites are the sites of the original, hold one
 * of the forms that a probe has while it is off, and lead back to the original byte by byte.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../sdt/jf_sdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static const struct options options = { .prefix = DEFAULT_PREFIX, .provider = DEFAULT_PROVIDER };

/* --- properties ------------------------------------------------------------------------- */

struct look {
	const struct object	*now;
	size_t			sites;
};

static bool is_off(const uint8_t *p, const struct site *s)
{
	static const uint8_t nop[] = { 0x2e, 0x0f, 0x1f, 0x44, 0, 0 }, zero[] = { 0x2e, 0xb8, 0, 0, 0, 0 },
		ret[] = { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc };

	if (s->form == FORM_TAIL)
		return !memcmp(p, ret, s->size);
	return !memcmp(p, (s->form == FORM_TEST ? zero : nop) + (s->size == 5), s->size);
}

static void look_at(const struct object *o, const struct probe *p, const struct site *s, void *arg)
{
	struct look *look = arg;
	const struct section *text = &look->now->secs[s->sec];

	(void)o;
	assert(*p->provider && *p->name && s->sec < look->now->num && s->size <= text->size && s->at <= text->size - s->size);
	assert(is_off(text->data + s->at, s));
	look->sites++;
}

static void check_changed(const uint8_t *data, size_t size, const struct changed *c)
{
	struct look look = { NULL, 0 };
	struct object o;
	struct changed again;
	char *err;

	assert(!c->err);
	assert(object_read(&o, "file", c->data, c->size));
	look.now = &o;
	err = change_list("file", c->data, c->size, &options, look_at, &look);
	assert(!err && look.sites == c->sites);
	object_free(&o);
	again = change_back("file", c->data, c->size);
	assert(!again.err && again.data && again.size == size && !memcmp(again.data, data, size));
	free(again.data);
	again = change("file", c->data, c->size, &options);
	assert(!again.err && !again.data);
	again = change_verify("file", c->data, c->size);
	assert(!again.err);
	free(again.data);
}

static void try(const uint8_t *data, size_t size, const struct options *how)
{
	struct changed c = change("file", data, size, how);

	if (c.data)
		check_changed(data, size, &c);
	else
		assert(c.err || !c.sites);
	assert(!c.err || (*c.err && !c.data));
	free(c.data);
	free(c.err);
}

static void visit(const struct object *o, const struct probe *p, const struct site *s, void *arg)
{
	uint64_t from;

	(void)p;
	(void)arg;
	assert(function_at(o, s->sec, s->at, &from));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct changed c;

	try(data, size, &options);
	/* As one that was changed: these are of nothing that this has made. */
	c = change_back("file", data, size);
	free(c.data);
	free(c.err);
	c = change_verify("file", data, size);
	free(c.data);
	free(c.err);
	free(change_list("file", data, size, &options, visit, NULL));
	return 0;
}

/* --- mutations -------------------------------------------------------------------------- */

static uint32_t state;

static uint32_t any(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return below ? (state >> 8) % below : 0;
}

static const uint64_t odd[] = { 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 24, 64, 127, 128, 255, 256, 4095, 4096, 0x7fff, 0x8000, 0xfeff, 0xff00,
	0xfff1, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000,
	0xffffffffffffffff };

/* One field of @num bytes. */
static void spoil(uint8_t *p, size_t num)
{
	uint64_t v = 0;

	memcpy(&v, p, num);
	switch (any(5)) {
	case 0:
		v = odd[any(sizeof(odd) / sizeof(*odd))];
		break;
	case 1:
		v += (uint64_t)any(9) - 4;
		break;
	case 2:
		v ^= 1ULL << any((uint32_t)num * 8);
		break;
	case 3:
		v = any(64);
		break;
	default:
		v = any(0xffffff);
	}
	memcpy(p, &v, num);
}

/* Any field of a table's entry. */
static void spoil_entry(uint8_t *p, const uint8_t *fields, size_t num)
{
	size_t at = 0, i, which = any((uint32_t)num);

	for (i = 0; i < which; i++)
		at += fields[i];
	spoil(p + at, fields[which]);
}

/* One of the next table of relocations, or the instruction that it is of. */
static bool spoil_reloc(struct object *o, uint8_t *data, size_t sec)
{
	static const uint8_t of_reloc[] = { 8, 4, 4, 8 };
	static const uint8_t ops[] = { 0xe8, 0xe9, 0xff, 0x15, 0x25, 0x0f, 0x84, 0xf2, 0x67, 0x90, 0x2e, 0x48 };
	const struct section *text;
	Elf64_Rela r;
	size_t nr;

	while (sec < o->num && (o->secs[sec].h.sh_type != SHT_RELA || !reloc_num(o, sec)))
		sec++;
	if (sec == o->num)
		return false;
	nr = any((uint32_t)reloc_num(o, sec));
	r = reloc_get(o, sec, nr);
	text = &o->secs[o->secs[sec].h.sh_info];
	if (any(2) && r.r_offset >= 3 && text->data && r.r_offset < text->size)
		data[(size_t)(text->data - data) + r.r_offset - 1 - any(3)] = ops[any(sizeof(ops))];
	else
		spoil_entry(data + (o->secs[sec].data - data) + nr * sizeof(r), of_reloc, sizeof(of_reloc));
	return true;
}

static bool mutate(uint8_t *data, size_t size)
{
	static const uint8_t of_file[] = { 1, 1, 1, 1, 1, 1, 1, 1, 8, 2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2, 2 };
	static const uint8_t of_section[] = { 4, 4, 8, 8, 8, 8, 4, 4, 8, 8 };
	static const uint8_t of_symbol[] = { 4, 1, 1, 2, 8, 8 };
	struct object o;
	struct section *s;
	size_t sec;
	bool done = false;

	if (!object_read(&o, "file", data, size) || !o.num) {
		object_free(&o);
		return false;
	}
	sec = any((uint32_t)o.num);
	s = &o.secs[sec];
	switch (any(8)) {
	case 0:
		spoil_entry(data, of_file, sizeof(of_file));
		done = true;
		break;
	case 1:
		spoil_entry(data + o.eh.e_shoff + sec * sizeof(Elf64_Shdr), of_section, sizeof(of_section));
		done = true;
		break;
	case 2:
		if (o.symtab) {
			spoil_entry(data + (o.secs[o.symtab].data - data) + any((uint32_t)symbol_num(&o)) * sizeof(Elf64_Sym), of_symbol,
				    sizeof(of_symbol));
			done = true;
		}
		break;
	case 3:
	case 4:
	case 5:
		done = spoil_reloc(&o, data, sec);
		break;
	default:
		if (s->size) {
			size_t at = (size_t)(s->data - data) + any((uint32_t)s->size);

			spoil(data + at, 1);
			done = true;
		}
	}
	object_free(&o);
	return done;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	int i, num;

	state = seed;
	num = 1 + (int)any(3);
	if (!any(20))
		return LLVMFuzzerMutate(data, size, max);
	for (i = 0; i < num; i++)
		if (!mutate(data, size) && size)
			data[any((uint32_t)size)] ^= (uint8_t)(1 << any(8));
	return size;
}
