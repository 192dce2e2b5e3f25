// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The table of frames (.eh_frame_hdr, .eh_frame): where a function begins and ends, and how far the
 * stack pointer is from where the function got it. The Linux Standard Base and DWARF define the
 * formats. A form that compilers do not write is as if there was none: then nothing is known.
 */
#include "frame.h"
#include "module.h"
#include "elf.h"
#include "bytes.h"

#include <link.h>
#include <string.h>

/* Of rsp, in DWARF's numbers. */
#define DWARF_RSP	7
#define STATES_MAX	8

static int32_t word_at(const uint8_t *p)
{
	int32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/**
 * jf_frame_text() - the segment of text that has a place
 * @m:     the object
 * @at:    the place
 * @start: of the segment
 * @end:   of it
 *
 * Return: false: it is no text
 */
bool jf_frame_text(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr;
	unsigned int i;

	for (i = 0; i < m->phnum; i++) {
		*start = m->base + p[i].p_vaddr;
		*end = *start + p[i].p_filesz;
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X && at >= *start && at < *end)
			return true;
	}
	return false;
}

/* The end of the function that begins at @start; 0: its entry has not the usual form. */
static uintptr_t frame_end(const struct jf_module *m, uintptr_t frame, uintptr_t start)
{
	const uint8_t *p = jf_module_in_file(m, frame, 16);
	int32_t range;

	if (!p || frame + 8 + (uintptr_t)(intptr_t)word_at(p + 8) != start)
		return 0;
	range = word_at(p + 12);
	return range > 0 ? start + (uintptr_t)range : 0;
}

/*
 * The table has where each begins, in ascending order: the last one before @at. It ends where it
 * says, or where the next one begins. @frame: where its description is.
 */
static bool find(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end, uintptr_t *frame)
{
	static const uint8_t form[] = { 1, 0x1b, 0x03, 0x3b };
	struct jf_section s = jf_elf_section(m->file, ".eh_frame_hdr");
	uintptr_t table = m->base + s.addr, last;
	uint32_t num, low = 0, high, mid;

	if (!s.data || s.size < 12 || memcmp(s.data, form, sizeof(form)))
		return false;
	memcpy(&num, s.data + 8, sizeof(num));
	if (num > (s.size - 12) / 8)
		return false;
	for (high = num; low < high;) {
		mid = low + (high - low) / 2;
		if (table + (uintptr_t)(intptr_t)word_at(s.data + 12 + 8 * mid) <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	*start = table + (uintptr_t)(intptr_t)word_at(s.data + 12 + 8 * (low - 1));
	*frame = table + (uintptr_t)(intptr_t)word_at(s.data + 12 + 8 * (low - 1) + 4);
	last = frame_end(m, *frame, *start);
	if (last)
		*end = last;
	else if (low < num)
		*end = table + (uintptr_t)(intptr_t)word_at(s.data + 12 + 8 * low);
	else
		return false;
	return at < *end;
}

/**
 * jf_frame_bounds() - where the function that has a place begins and ends, by the table of frames
 * @m:     the object, its file open
 * @at:    the place
 * @start: of the function
 * @end:   of it
 *
 * Parts of a function that are elsewhere have entries of their own.
 *
 * Return: false: it is not known
 */
bool jf_frame_bounds(const struct jf_module *m, uintptr_t at, uintptr_t *start, uintptr_t *end)
{
	uintptr_t frame;

	return find(m, at, start, end, &frame);
}

/* --- the stack pointer ---------------------------------------------------------------- */

/**
 * struct row - how to find the address that the stack pointer had before the call
 * @reg:    a register, in DWARF's numbers; UINT64_MAX: it is an expression
 * @offset: from that
 */
struct row {
	uint64_t	reg;
	uint64_t	offset;
};

/**
 * struct rows - a program of rows that is being executed
 * @row:    the present one
 * @saved:  those that were set aside
 * @nr_saved: of them
 * @align:  the unit of distances between places
 * @loc:    from here on the present row is valid
 */
struct rows {
	struct row	row;
	struct row	saved[STATES_MAX];
	unsigned int	nr_saved;
	uint64_t	align;
	uintptr_t	loc;
};

/* One instruction that has its number in all of its bits. False: it is not known. */
static bool step(struct rows *r, struct bytes *b, unsigned int op)
{
	switch (op) {
	case 0x00:			/* nop */
		return true;
	case 0x02:			/* advance_loc1, 2, 4 */
		r->loc += fixed(b, 1) * r->align;
		return true;
	case 0x03:
		r->loc += fixed(b, 2) * r->align;
		return true;
	case 0x04:
		r->loc += fixed(b, 4) * r->align;
		return true;
	case 0x05:			/* offset_extended, register, val_offset, and with a sign */
	case 0x09:
	case 0x11:
	case 0x14:
	case 0x15:
		leb(b);
		leb(b);
		return true;
	case 0x06:			/* restore_extended, undefined, same_value, GNU_args_size */
	case 0x07:
	case 0x08:
	case 0x2e:
		leb(b);
		return true;
	case 0x0a:			/* remember_state, restore_state */
		if (r->nr_saved == STATES_MAX)
			return false;
		r->saved[r->nr_saved++] = r->row;
		return true;
	case 0x0b:
		if (!r->nr_saved)
			return false;
		r->row = r->saved[--r->nr_saved];
		return true;
	case 0x0c:			/* def_cfa, _register, _offset, _expression */
		r->row.reg = leb(b);
		r->row.offset = leb(b);
		return true;
	case 0x0d:
		r->row.reg = leb(b);
		return true;
	case 0x0e:
		r->row.offset = leb(b);
		return true;
	case 0x0f:
		r->row.reg = UINT64_MAX;
		take(b, leb(b));
		return true;
	case 0x10:			/* expression, val_expression */
	case 0x16:
		leb(b);
		take(b, leb(b));
		return true;
	}
	return false;
}

/* As far as @at. */
static bool run(struct rows *r, struct bytes b, uintptr_t at)
{
	struct row before = r->row;
	unsigned int op;

	while (b.at && b.at < b.end) {
		before = r->row;
		op = (unsigned int)fixed(&b, 1);
		if (op >> 6 == 1)		/* advance_loc */
			r->loc += (op & 0x3f) * r->align;
		else if (op >> 6 == 2)		/* offset */
			leb(&b);
		else if (!(op >> 6) && !step(r, &b, op))
			return false;
		if (r->loc > at) {
			r->row = before;
			return true;
		}
	}
	return b.at;
}

/* The bytes of an entry, after its length. */
static bool entry_at(const struct jf_module *m, uintptr_t at, struct bytes *b)
{
	const uint8_t *p = jf_module_in_file(m, at, 4);
	uint32_t len;

	if (!p)
		return false;
	memcpy(&len, p, 4);
	p = len < 0xfffffff0 ? jf_module_in_file(m, at + 4, len) : NULL;
	*b = (struct bytes){ .at = p, .end = p + len };
	return p;
}

/* The common part of many; leaves @r at their first row. @sized: more data is in each. */
static bool read_common(const struct jf_module *m, uintptr_t at, struct rows *r, bool *sized)
{
	const uint8_t *letters, *end;
	struct bytes b;
	uint64_t version;

	if (!entry_at(m, at, &b) || fixed(&b, 4))
		return false;
	version = fixed(&b, 1);
	letters = b.at;
	end = letters ? memchr(letters, 0, (size_t)(b.end - letters)) : NULL;
	/* Pointers are as the table's own; "S" is a signal handler's frame. */
	if (!end || (version != 1 && version != 3) || (*letters && *letters != 'z'))
		return false;
	*sized = *letters;
	b.at = end + 1;
	r->align = leb(&b);
	leb(&b);
	if (version == 1)
		fixed(&b, 1);
	else
		leb(&b);
	if (*sized)
		take(&b, leb(&b));
	return run(r, b, UINTPTR_MAX - 1);
}

/**
 * jf_frame_depth() - bytes of the stack that a function has at an instruction
 * @m:  the object, its file open
 * @at: the instruction
 *
 * Return: bytes, of which 8 are the return address: a function has 8 at its begin and end; 0: the
 * table uses another register, so it is neither of these; -1: it is not known
 */
long jf_frame_depth(const struct jf_module *m, uintptr_t at)
{
	struct rows r = { .row = { UINT64_MAX, 0 } };
	uintptr_t start, end, frame;
	struct bytes b;
	bool sized;

	if (!find(m, at, &start, &end, &frame) || !frame_end(m, frame, start) || !entry_at(m, frame, &b))
		return -1;
	if (!read_common(m, frame + 4 - (uint32_t)fixed(&b, 4), &r, &sized))
		return -1;
	fixed(&b, 8);
	if (sized)
		take(&b, leb(&b));
	r.loc = start;
	if (!b.at || !run(&r, b, at))
		return -1;
	return r.row.reg == DWARF_RSP && r.row.offset < 1UL << 30 ? (long)r.row.offset : 0;
}
