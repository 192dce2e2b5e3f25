// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Landing pads: the unwinder enters a function there when an exception is thrown. The frames of an
 * object (.eh_frame) name a table for each function that has any (LSDA, in .gcc_except_table). The
 * formats are those of the Linux Standard Base and of the Itanium C++ ABI. A form that compilers do
 * not write is an error, since nothing is known then.
 */
#include "pads.h"
#include "elf.h"
#include "bytes.h"

#include <string.h>

#define OMITTED	0xff

/* A value in one of the forms DW_EH_PE_..., absolute or relative to its own place. */
static uint64_t encoded(struct bytes *b, uint8_t form)
{
	uint64_t base = (form & 0x70) == 0x10 ? b->addr : 0, value;

	if (form & 0x60)
		b->at = NULL;
	switch (form & 0x0f) {
	case 0x01:
		return base + leb(b);
	case 0x03:
		return base + fixed(b, 4);
	case 0x0b:
		value = fixed(b, 4);
		return base + (uint64_t)(int64_t)(int32_t)value;
	case 0x00:
	case 0x04:
	case 0x0c:
		return base + fixed(b, 8);
	}
	b->at = NULL;
	return 0;
}

/* A CIE's description of its FDEs: the forms of addresses and of the table's address. */
struct forms {
	uint8_t	pointer, table;
	bool	sized;
};

static bool read_cie(struct bytes b, struct forms *f)
{
	const char *letter;
	uint8_t form;

	*f = (struct forms){ .table = OMITTED };
	fixed(&b, 4);
	if (fixed(&b, 1) != 1 || !b.at)
		return false;
	letter = (const char *)b.at;
	if (!memchr(letter, 0, (size_t)(b.end - b.at)))
		return false;
	take(&b, strlen(letter) + 1);
	leb(&b);
	leb(&b);
	fixed(&b, 1);
	if (*letter == 'z') {
		f->sized = true;
		leb(&b);
		letter++;
	}
	for (; *letter && b.at; letter++)
		switch (*letter) {
		case 'P':
			form = (uint8_t)fixed(&b, 1);
			encoded(&b, form & 0x7f);
			break;
		case 'L':
			f->table = (uint8_t)fixed(&b, 1);
			break;
		case 'R':
			f->pointer = (uint8_t)fixed(&b, 1);
			break;
		case 'S':
			break;
		default:
			return false;
		}
	return b.at;
}

/* The landing pads of a function that begins at @start, by its table. */
static bool read_table(struct bytes b, uint64_t start, jf_pad_fn *fn, void *arg)
{
	uint64_t size, pad;
	uint8_t form;

	/* Pads relative to another place than the function's begin: no compiler writes that. */
	if (fixed(&b, 1) != OMITTED)
		return false;
	if (fixed(&b, 1) != OMITTED)
		leb(&b);
	form = (uint8_t)fixed(&b, 1);
	size = leb(&b);
	if (!b.at || size > (uint64_t)(b.end - b.at))
		return false;
	b.end = b.at + size;
	while (b.at && b.at < b.end) {
		encoded(&b, form & 0x0f);
		encoded(&b, form & 0x0f);
		pad = encoded(&b, form & 0x0f);
		leb(&b);
		if (b.at && pad)
			fn(start + pad, arg);
	}
	return b.at;
}

/* @b: an FDE, from its second word on */
static bool read_fde(struct bytes b, const struct forms *f, const struct jf_section *tables, jf_pad_fn *fn, void *arg)
{
	struct bytes t = { .end = tables->data + tables->size };
	uint64_t start, place, raw;
	struct bytes probe;

	fixed(&b, 4);
	start = encoded(&b, f->pointer);
	encoded(&b, f->pointer & 0x0f);
	if (f->sized)
		leb(&b);
	if (f->table == OMITTED || !b.at)
		return b.at;
	/* 0, before its own place is added, means no pad. */
	probe = b;
	raw = encoded(&probe, f->table & 0x0f);
	place = encoded(&b, f->table);
	if (!b.at || !raw)
		return b.at;
	if (!tables->data || place - tables->addr >= tables->size)
		return false;
	t.at = tables->data + (place - tables->addr);
	t.addr = place;
	return read_table(t, start, fn, arg);
}

/**
 * jf_pads() - call a function for each landing pad of an object
 * @elf: its file
 * @fn:  gets the address, from the object's own 0 on
 * @arg: for @fn
 *
 * Return: false if the object can have landing pads that were not found
 */
bool jf_pads(const struct jf_elf *elf, jf_pad_fn *fn, void *arg)
{
	struct jf_section frames = jf_elf_section(elf, ".eh_frame"), tables = jf_elf_section(elf, ".gcc_except_table");
	struct bytes all = { frames.data, frames.data + frames.size, frames.addr }, one;
	const uint8_t *cie = NULL, *of;
	struct forms f = { 0 };
	uint64_t size, id;

	/* Without tables no function has a landing pad. */
	if (!tables.data)
		return true;
	while (all.at && all.at < all.end) {
		size = fixed(&all, 4);
		if (!size)
			continue;
		one = all;
		if (!take(&all, size))
			return false;
		one.end = all.at;
		id = fixed(&one, 4);
		one.at -= 4;
		one.addr -= 4;
		if (!id)
			continue;
		if (id > (uint64_t)(one.at - frames.data) || size < 4)
			return false;
		of = one.at - id;
		if (of != cie) {
			struct bytes c = { of, frames.data + frames.size, frames.addr + (uint64_t)(of - frames.data) };

			size = fixed(&c, 4);
			if (!c.at || size > (uint64_t)(c.end - c.at))
				return false;
			c.end = c.at + size;
			if (!read_cie(c, &f))
				return false;
			cie = of;
		}
		if (!read_fde(one, &f, &tables, fn, arg))
			return false;
	}
	return all.at;
}
