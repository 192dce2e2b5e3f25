// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Decides whether a place can be probed (jf_detour_make(); "why" has the reason if not), and how
 * it is changed so that it leads to the probe's code. Best first; "|" is where an
 * instruction begins, "CC" a breakpoint:
 *
 *   JF_WAY_SHORT	E9 | O O O O		one byte is replaced; the next four stay, and
 *						are the distance
 *   JF_WAY_JUMP	E9 d d d d .. |		in place of one instruction of five bytes or more
 *   JF_WAY_SHORT	E9 d | O O O		in place of a shorter one; the bytes that follow
 *						stay, and are part of the distance
 *   JF_WAY_SPAN	E9 d | d d d |		in place of several, of which branches lead to
 *						the first alone (whole.c), while one thread
 *						runs, or none
 *   JF_WAY_BREAK	CC |			a breakpoint, if it is asked for
 *
 * The first one is one store of one byte (lib/text.c), whatever threads there are, and needs memory
 * at one place alone. With the first three no thread can be in the midst of the replaced bytes, and
 * no branch can lead there: so the rest of the function, its length, and the owner of the next
 * bytes do not matter. A one-byte note needs one byte.
 *
 * The code:
 *	lea -128(%rsp),%rsp	the red zone
 *	call *enter(%rip)	saves registers and flags, records (entry.S)
 *	nopl number(%rax)	says which probe it is
 *	lea 128(%rsp),%rsp
 *   skip:
 *	copies of the instructions
 *	jmp back
 *   enter:
 *	.quad jf_agent_enter
 *
 * Where such a distance leads close to the code of another probe there is room for a jump alone, to
 * code elsewhere.
 *
 * Nothing jumps back after the copy of an exit (exit.c). If the bytes of the exit itself cannot be
 * changed, the jump is in place of an instruction before it, and the copy has all up to the exit:
 * there the part that records comes late, just before the copy of the exit.
 */
#include "detour.h"
#include "whole.h"
#include "place.h"
#include "displace.h"
#include "module.h"
#include "record.h"

#include <string.h>
#include <sys/stat.h>

#include "user/lib/text.h"
#include "user/trace/provider.h"

#define JMP		0xe9
#define INT3		0xcc
#define ENDBR64		"\xf3\x0f\x1e\xfa"

/*
 * Room for a heap, where there are no jumps but to where it may grow to: the most that can be, and
 * at least this.
 */
#define HEAP_WANTED	(UINT64_C(1) << 30)
#define HEAP_NEEDED	(UINT64_C(16) << 20)

unsigned int jf_ways = 1U << JF_WAY_JUMP | 1U << JF_WAY_SHORT | 1U << JF_WAY_SPAN | 1U << JF_WAY_BESIDE;

/**
 * struct body - instructions that are replaced
 * @at:    where
 * @module: their object, or NULL
 * @size:  of their function, or 0
 * @insn:  their bytes
 * @avail: bytes of text from there on
 * @len:   of all
 * @heap:  bytes of room that are left to the heap
 * @left:  for that some places were not taken
 * @filled: bytes that no thread executes follow the one instruction, enough for a jump
 * @late:   bytes of instructions that are copied before the part that records
 */
struct body {
	struct jf_module *module;
	uintptr_t	at;
	size_t		size;
	const uint8_t	*insn;
	size_t		avail;
	unsigned int	len;
	uint64_t	heap;
	bool		left;
	bool		filled;
	unsigned int	late;
};

/* Copies @want bytes of instructions or more. 0 or -errno; -ENOSPC: the function ends before. */
static int copy(struct jf_code *c, struct body *b, unsigned int want, struct jf_moved *moved)
{
	int err = 0, e;

	while (b->len < want) {
		if (moved->ends)
			return -ENOSPC;
		e = jf_displace(c, b->insn + b->len, b->avail - b->len, b->at + b->len, moved);
		if (e && e != -ERANGE)
			return e;
		err = err ? err : e;
		b->len += moved->len;
	}
	return err;
}

/*
 * Writes all of it for @at; @want bytes are to be replaced. 0 or -errno; -ENOSPC: the function ends
 * before.
 */
static int emit(struct jf_detour *d, struct body *b, uintptr_t at, unsigned int want, uint32_t number)
{
	struct jf_code c = { d->code, sizeof(d->code), 0, at };
	uintptr_t enter = (uintptr_t)jf_agent_enter;
	struct jf_moved moved = { 0, false };
	uint32_t rel;
	size_t call;
	int err, e;

	b->len = 0;
	err = copy(&c, b, b->late, &moved);
	if (err && err != -ERANGE)
		return err;
	jf_code_put(&c, "\x48\x8d\x64\x24\x80", 5);
	call = c.used;
	jf_code_put(&c, "\xff\x15\0\0\0\0", 6);
	jf_code_put(&c, "\x0f\x1f\x80", 3);
	jf_code_put(&c, &number, 4);
	jf_code_put(&c, "\x48\x8d\xa4\x24\x80\0\0\0", 8);
	/* A late part that records finds its probe to be off. */
	d->skip = b->late ? at : at + c.used;
	e = copy(&c, b, b->late + want, &moved);
	if (e && e != -ERANGE)
		return e;
	err = err ? err : e;
	if (!moved.ends) {
		e = jf_code_jmp(&c, b->at + b->len);
		err = err ? err : e;
	}
	while (c.used % 8)
		jf_code_put(&c, "\xcc", 1);
	rel = (uint32_t)(c.used - (call + 6));
	memcpy(d->code + call + 2, &rel, sizeof(rel));
	jf_code_put(&c, &enter, sizeof(enter));
	d->size = c.used;
	return c.used > c.size ? -ENOSPC : err;
}

static void poke_jmp(struct jf_detour *d)
{
	uint32_t rel = (uint32_t)(jf_detour_lead(d) - (d->poke.addr + 5));
	uint8_t jmp[5] = { JMP };

	memcpy(jmp + 1, &rel, sizeof(rel));
	memcpy(d->poke.new, jmp, d->poke.num);
}

static void give_back(struct jf_detour *d)
{
	if (d->at)
		jf_place_free(d->at, d->size);
	if (d->hop)
		jf_place_free(d->hop, sizeof(d->hop_code));
	d->at = d->hop = 0;
}

/* Writes the code for @d->at, of which it is known how long it is. */
static int settle(struct jf_detour *d, struct body *b, unsigned int want, uint32_t number)
{
	int err = d->at ? emit(d, b, d->at, want, number) : -ENOMEM;

	if (err) {
		give_back(d);
		return err;
	}
	memset(&d->poke, 0, sizeof(d->poke));
	d->poke.addr = b->at;
	d->poke.num = (uint8_t)(b->len < JF_TEXT_MAX && !b->filled ? b->len : JF_TEXT_MAX);
	memcpy(d->poke.old, b->insn, d->poke.num);
	d->nr_insn = (uint8_t)b->len;
	memcpy(d->insn, b->insn, b->len);
	d->poke.to = d->at;
	return 0;
}

/* For jf_place_fixed(): too many mappings are another matter than the errors of settle(). */
static int settle_fixed(struct jf_detour *d, struct body *b, unsigned int want, uint32_t number)
{
	b->left |= !d->at && jf_place_heap();
	return !d->at && jf_place_full() ? -EMFILE : settle(d, b, want, number);
}

/* A jump at @hop to @at. */
static bool put_hop(struct jf_detour *d)
{
	struct jf_code c = { d->hop_code, sizeof(d->hop_code), 0, d->hop };

	return !jf_code_jmp(&c, d->at);
}

/* Finds memory to which a partly given distance leads; a hop, if there is no room for all. */
static void find_fixed(struct jf_detour *d, const struct body *b, unsigned int fixed)
{
	d->hop = 0;
	d->at = jf_place_fixed(b->at, fixed, b->insn + 1, d->size, b->heap);
	if (d->at || jf_place_full())
		return;
	d->hop = jf_place_fixed(b->at, fixed, b->insn + 1, sizeof(d->hop_code), b->heap);
	d->at = d->hop ? jf_place_near(b->at, d->size) : 0;
	if (!d->at || !put_hop(d))
		give_back(d);
}

static int by_jump(struct jf_detour *d, struct body *b, uint32_t number)
{
	int err;

	d->at = jf_place_near(b->at, d->size);
	err = settle(d, b, 1, number);
	if (!err)
		poke_jmp(d);
	return err;
}

static int by_short(struct jf_detour *d, struct body *b, uint32_t number)
{
	unsigned int fixed = 0xf & ~((1U << (b->len - 1)) - 1);
	int err;

	if (b->avail < 5)
		return -ENOSPC;
	find_fixed(d, b, fixed);
	err = settle_fixed(d, b, 1, number);
	if (!err)
		poke_jmp(d);
	return err;
}

/*
 * One byte: the whole distance stands there already. An instruction that has room for a jump leaves
 * half of the mappings to others.
 */
static bool by_byte(struct jf_detour *d, struct body *b, uint32_t number)
{
	if (!(jf_ways & 1U << JF_WAY_SHORT) || b->avail < JF_TEXT_MAX || (b->len >= JF_TEXT_MAX && jf_place_scarce()))
		return false;
	/* As long as it is for one instruction, which another way may have changed. */
	emit(d, b, b->at, 1, number);
	find_fixed(d, b, 0xf);
	if (settle_fixed(d, b, 1, number))
		return false;
	d->poke.num = JF_TEXT_MAX;
	memcpy(d->poke.old, b->insn, JF_TEXT_MAX);
	memcpy(d->poke.new, b->insn, JF_TEXT_MAX);
	d->poke.new[0] = JMP;
	d->way = JF_WAY_SHORT;
	d->byte = true;
	return true;
}

static bool is_alone(void)
{
	struct stat st;

	/* One entry for each thread, and two for the folder itself. */
	return !stat("/proc/self/task", &st) && st.st_nlink == 3;
}

static int by_span(struct jf_detour *d, struct body *b, uint32_t number)
{
	/* The size; a late one ends with the exit. */
	unsigned int want = b->late ? 1 : JF_TEXT_MAX;
	int err = emit(d, b, b->at, want, number);

	if (err && err != -ERANGE)
		return err;
	d->why = is_alone() ? NULL : !__jf_control_outside() ? "several threads run, and it takes several instructions" :
		 b->at % 4096 + JF_TEXT_MAX > 4096 ? "several threads run, and its first instructions are on two pages" : NULL;
	if (!d->why)
		d->why = jf_whole_refuses(b->module, b->at, b->len, b->size);
	if (d->why)
		return -EPERM;
	d->at = jf_place_near(b->at, d->size);
	err = settle(d, b, want, number);
	d->poke.alone = true;
	if (!err)
		poke_jmp(d);
	return err;
}

static int by_break(struct jf_detour *d, struct body *b, uint32_t number)
{
	int err;

	d->at = jf_place_near(b->at, d->size);
	err = settle(d, b, 1, number);
	if (!err) {
		d->poke.num = 1;
		d->poke.new[0] = INT3;
	}
	return err;
}

static const char *reason(int err)
{
	switch (err) {
	case -EILSEQ:
		return "no instruction that is known";
	case -EOPNOTSUPP:
		return "an instruction that cannot be moved";
	case -ENOSPC:
		return "the function is too short";
	case -EBUSY:
		return "another's breakpoint";
	case -EMFILE:
		return "too many mappings";
	}
	return "no memory in reach";
}

/* The first of some ways that there is; @len bytes has the instruction. */
static bool find_way(struct jf_detour *d, struct body *b, unsigned int len, uint32_t number, unsigned int way, unsigned int last)
{
	static int (*const ways[])(struct jf_detour *d, struct body *b, uint32_t number) = {
		[JF_WAY_JUMP] = by_jump, [JF_WAY_SHORT] = by_short, [JF_WAY_SPAN] = by_span,
		[JF_WAY_BREAK] = by_break,
	};
	int err;

	for (; way <= last; way++) {
		if (!(jf_ways & 1U << way) || (way == JF_WAY_JUMP && len < 5 && !b->filled) ||
		    (way == JF_WAY_SHORT && len >= 5) || (way == JF_WAY_SPAN && len >= 5))
			continue;
		/* As long as it is for one instruction, which another way may have changed. */
		emit(d, b, b->at, 1, number);
		err = ways[way](d, b, number);
		if (!err) {
			d->way = (enum jf_way)way;
			return true;
		}
		/* Code that is too short for a span may be long enough for a jump. */
		if (err != -EPERM && (!d->why || (way == JF_WAY_SPAN && err != -ENOSPC)))
			d->why = reason(err);
	}
	return false;
}

/*
 * A breakpoint kills threads that block SIGTRAP: rather a heap has an end, and malloc() takes other
 * memory.
 */
static bool find_in_heap(struct jf_detour *d, struct body *b, unsigned int len, uint32_t number)
{
	for (b->heap = HEAP_WANTED; b->left && b->heap >= HEAP_NEEDED; b->heap /= 2) {
		b->left = false;
		if (by_byte(d, b, number) || find_way(d, b, len, number, JF_WAY_SHORT, JF_WAY_SHORT))
			return true;
	}
	return false;
}

/* The length of an instruction that does nothing, with its prefixes; 0: it does something. */
static unsigned int nop_at(const uint8_t *insn, unsigned int avail)
{
	unsigned int i = 0;

	while (i < avail && (insn[i] == 0x66 || insn[i] == 0x2e))
		i++;
	if (i < avail && insn[i] == 0x90)
		return i + 1;
	if (avail - i < 3 || insn[i] != 0x0f || insn[i + 1] != 0x1f)
		return 0;
	/* As assemblers fill up: (%rax), 0(%rax), 0(%rax,%rax,1), with one byte or four. */
	switch (insn[i + 2]) {
	case 0x00:
		return i + 3;
	case 0x40:
		return i + 4;
	case 0x44:
		return i + 5;
	case 0x80:
		return i + 7;
	case 0x84:
		return i + 8;
	}
	return 0;
}

#define LINE	16U

/*
 * The function is a return, and filled up with what does nothing to the end of a line, where the
 * next one may begin.
 */
static bool is_filled(const struct body *b)
{
	unsigned int end = LINE - (unsigned int)(b->at % LINE), i = 1, len;

	if (b->insn[0] != 0xc3 || end < JF_TEXT_MAX || b->avail < end)
		return false;
	for (; i < end; i += len) {
		len = nop_at(b->insn + i, end - i);
		if (!len)
			return false;
	}
	return i == end;
}

static unsigned int first_length(const struct body *b)
{
	struct jf_code none = { NULL, 0, 0, b->at };
	struct jf_moved moved = { 0, false };

	jf_displace(&none, b->insn, b->avail, b->at, &moved);
	return moved.len;
}

/**
 * jf_detour_make() - find a way to lead from a place to a probe's code
 * @d:      is filled in
 * @module: the object, or NULL
 * @at:     the place, where an instruction begins
 * @size:   of its function, which begins there, or 0
 * @avail:  bytes of text from there on
 * @number: of the probe
 * @fill:   the padding after the function may be replaced, too: no other one begins there
 * @late:   record an instruction so many bytes after it; there is room for a jump up to its end
 *
 * Nothing is written yet, but memory for the code is there.
 *
 * Return: 0; -EOPNOTSUPP: no way is left, and @d->why has the reason; -EBUSY: a breakpoint is there
 */
int jf_detour_make(struct jf_detour *d, struct jf_module *module, uintptr_t at, size_t size, size_t avail, uint32_t number,
		   bool fill, unsigned int late)
{
	struct body b = {
		.module = module, .at = at, .size = size, .insn = (const uint8_t *)at, .avail = avail, .heap = JF_HEAP_MAX, .late = late,
	};
	unsigned int len;
	int err;

	d->why = NULL;
	d->way = JF_WAY_NONE;
	d->byte = false;
	d->hop = 0;
	if (!jf_module_shows(at, avail < sizeof(d->insn) + LINE ? avail : sizeof(d->insn) + LINE)) {
		d->why = "its text cannot be read";
		return -EOPNOTSUPP;
	}
	if (avail && b.insn[0] == INT3) {
		d->why = reason(-EBUSY);
		return -EBUSY;
	}
	err = emit(d, &b, at, 1, number);
	if (err && err != -ERANGE) {
		d->why = reason(err);
		return -EOPNOTSUPP;
	}
	len = b.len;
	b.filled = fill && is_filled(&b);
	if (late) {
		if (find_way(d, &b, first_length(&b), number, JF_WAY_JUMP, JF_WAY_JUMP) ||
		    find_way(d, &b, first_length(&b), number, JF_WAY_SPAN, JF_WAY_SPAN))
			return 0;
	} else if (by_byte(d, &b, number) || find_way(d, &b, len, number, JF_WAY_JUMP, JF_WAY_SPAN) || find_in_heap(d, &b, len, number) ||
	    find_way(d, &b, len, number, JF_WAY_BREAK, JF_WAY_BREAK))
		return 0;
	if (!d->why)
		d->why = "not allowed";
	return -EOPNOTSUPP;
}

/**
 * jf_detour_drop() - it was not written
 * @d: of jf_detour_make()
 */
void jf_detour_drop(struct jf_detour *d)
{
	give_back(d);
	d->way = JF_WAY_NONE;
}
