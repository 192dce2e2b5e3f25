// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Where a function is left: its returns, and its jumps to other functions (tail calls). The whole
 * function is decoded, by the bounds that the table of frames or its symbol has, and with it those
 * of its parts that compilers put elsewhere (cold ones).
 *
 *   ret			leaves
 *   jmp, jcc inside		stay
 *   jmp, jcc elsewhere	with the stack as the function got it they leave, if another function begins
 *				there; else they stay in a part that is elsewhere
 *   jmp by register, memory	with the stack pointer elsewhere it stays: a switch; else the probe
 *				reads where it leads
 *   call, system call		stay; one that does not return, or throws, is no exit
 *
 * An instruction that is not understood refuses the function: a part of its exits is no use. So do
 * data among the instructions, which can look like an exit, and would be changed: a branch that
 * leads into the midst of an instruction, code to which nothing leads, and an address in the
 * function that an instruction names, tell of such.
 *
 * A branch back to the first instruction is refused as well: there the entry's probe is, and a loop
 * would be many calls. A function that calls itself by a jump before its landing instruction
 * (endbr64) ends a call and begins another.
 */
#include "exit.h"
#include "whole.h"
#include "frame.h"
#include "displace.h"
#include "module.h"
#include "elf.h"
#include "lack.h"
#include "pair.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "user/lib/text.h"
#include "user/trace/demangle.h"

#define SIZE_LIMIT	(1UL << 20)
#define LINE		16U

/**
 * struct plan - exits of a function, as they are found
 * @module:  its object
 * @out:     the exits, as far as they are found
 * @decoder: for its text
 * @start:   where the function begins
 * @probe:   where its entry's probe is: the same, or after a landing instruction
 * @room:    for exits
 * @target:  where its branches lead
 * @nr_targets: of these
 * @room_targets: for these
 * @long_at: the last instruction of five bytes or more; 0: one that leads elsewhere came later
 * @before:  the last instructions, as far as none of them leads elsewhere
 * @nr_before: of these
 */
struct plan {
	struct jf_module	*module;
	struct jf_exits		*out;
	ZydisDecoder		decoder;
	uintptr_t		start;
	uintptr_t		probe;
	size_t			room;
	uintptr_t		*target;
	size_t			nr_targets;
	size_t			room_targets;
	uintptr_t		long_at;
	uintptr_t		before[JF_TEXT_MAX];
	unsigned int		nr_before;
};

/* --- names ---------------------------------------------------------------------------- */

/* Places where, as symbols say, a function begins, or a part of one. */
struct names {
	uintptr_t	*begin;
	size_t		num;
	size_t		room;
	uintptr_t	base;
	bool		failed;
};

static int add_name(const struct jf_symbol *symbol, void *arg)
{
	struct names *n = arg;
	uintptr_t *more;

	if (n->num == n->room) {
		more = jf_have(realloc(n->begin, (2 * n->room + 256) * sizeof(*more)));
		n->failed |= !more;
		if (!more)
			return 1;
		n->begin = more;
		n->room = 2 * n->room + 256;
	}
	/* Its lowest bit: it is a part. Two of one place are side by side then. */
	n->begin[n->num++] = (n->base + symbol->value) << 1 | jf_is_cold(symbol->name);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

static bool find_names(struct jf_module *m)
{
	struct names n = { .base = m->base };

	if (m->names)
		return true;
	jf_elf_functions(m->file, add_name, &n);
	if (n.failed) {
		free(n.begin);
		return false;
	}
	if (n.num)
		qsort(n.begin, n.num, sizeof(*n.begin), by_value);
	m->names = n.begin ? n.begin : jf_have(calloc(1, sizeof(*n.begin)));
	m->nr_names = n.num;
	return m->names;
}

static size_t name_from(const struct jf_module *m, uintptr_t at)
{
	return jf_first_from(m->names, m->nr_names, at << 1);
}

enum named {
	NAMED_NOT,
	NAMED_FUNCTION,
	NAMED_PART,
};

static enum named named_at(const struct jf_module *m, uintptr_t at)
{
	size_t i = name_from(m, at);

	if (i == m->nr_names || m->names[i] >> 1 != at)
		return NAMED_NOT;
	return m->names[i] & 1 ? NAMED_PART : NAMED_FUNCTION;
}

/* --- parts ---------------------------------------------------------------------------- */

static const char *add_part(struct plan *p, uintptr_t start, uintptr_t end)
{
	struct jf_exits *e = p->out;

	if (e->nr_parts == JF_PARTS_MAX)
		return "it has too many parts";
	if (end - start > SIZE_LIMIT)
		return "it is too long";
	e->part[e->nr_parts++] = (struct jf_part){ start, end };
	return NULL;
}

static bool decode(const struct plan *p, uintptr_t at, uintptr_t end, ZydisDecodedInstruction *d)
{
	const uint8_t *bytes = jf_module_in_file(p->module, at, end - at);

	return bytes && ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&p->decoder, NULL, bytes, end - at, d));
}

static bool is_branch(const ZydisDecodedInstruction *d)
{
	return (d->meta.category == ZYDIS_CATEGORY_UNCOND_BR || d->meta.category == ZYDIS_CATEGORY_COND_BR) &&
	       d->attributes & ZYDIS_ATTRIB_IS_RELATIVE && d->raw.imm[0].is_relative;
}

/* True: a branch of that code leads back into the function. A tail call may lead to its begin. */
static bool leads_back(const struct plan *p, uintptr_t start, uintptr_t end)
{
	ZydisDecodedInstruction d;
	uintptr_t at, to;

	for (at = start; at < end && decode(p, at, end, &d); at += d.length) {
		to = at + d.length + (uintptr_t)d.raw.imm[0].value.s;
		if (is_branch(&d) && to != p->start && jf_exits_inside(p->out, to))
			return true;
	}
	return false;
}

/* Sections of stubs that lead to functions of other objects. */
static bool is_stub(const struct plan *p, uintptr_t at)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct jf_section s = jf_elf_section(p->module->file, names[i]);

		if (s.data && at - (p->module->base + s.addr) < s.size)
			return true;
	}
	return false;
}

static const char *add_target(struct plan *p, uintptr_t to)
{
	uintptr_t *more;

	if (p->nr_targets == p->room_targets) {
		more = jf_have(realloc(p->target, (2 * p->room_targets + 64) * sizeof(*more)));
		if (!more)
			return jf_no_memory;
		p->target = more;
		p->room_targets = 2 * p->room_targets + 64;
	}
	p->target[p->nr_targets++] = to;
	return NULL;
}

/* A branch out of all known parts. *leaves: to another function; else to a part, which is added. */
static const char *look_outside(struct plan *p, uintptr_t from, uintptr_t to, bool *leaves)
{
	long depth = jf_frame_depth(p->module, from);
	enum named named = named_at(p->module, to);
	uintptr_t start, end;
	const char *why;
	bool framed;

	*leaves = true;
	if (depth != 0 && (depth < 0 || depth == 8)) {
		if (named == NAMED_FUNCTION || is_stub(p, to))
			return NULL;
		/* Nothing says how deep the stack is. */
		if (depth < 0)
			return "a jump leads out of it, to where no function begins";
	}
	framed = jf_frame_bounds(p->module, to, &start, &end);
	if (!framed)
		return "a jump leads to code of which nothing is known";
	*leaves = depth == 8 && named != NAMED_PART && start == to && jf_frame_depth(p->module, to) == 8 && !leads_back(p, start, end);
	if (*leaves)
		return NULL;
	/* A place within another function: of a part of this one the stack, or a branch, tells. */
	if (named != NAMED_PART && jf_frame_depth(p->module, start) == 8 && named_at(p->module, start) != NAMED_PART &&
	    !leads_back(p, start, end))
		return "a jump leads into the midst of another function";
	why = add_part(p, start, end);
	return why ? why : add_target(p, to);
}

/* --- instructions --------------------------------------------------------------------- */

/*
 * Where a jump can be in place of the exit, at an instruction before it: a long one, or else the
 * first of several. Bytes from there to the exit, or 0.
 */
static uint8_t find_late(const struct plan *p, uintptr_t at, unsigned int len)
{
	unsigned int i;

	if (p->long_at && at - p->long_at <= JF_LATE_MAX)
		return (uint8_t)(at - p->long_at);
	for (i = 0; i < p->nr_before; i++)
		if (at - p->before[i] + len >= JF_TEXT_MAX)
			return at - p->before[i] <= JF_LATE_MAX && p->before[i] != p->probe ? (uint8_t)(at - p->before[i]) : 0;
	return 0;
}

static void come_after(struct plan *p, uintptr_t at, const ZydisDecodedInstruction *d)
{
	if (d->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE || d->meta.category == ZYDIS_CATEGORY_RET ||
	    d->meta.category == ZYDIS_CATEGORY_CALL || d->meta.category == ZYDIS_CATEGORY_SYSCALL) {
		p->long_at = 0;
		p->nr_before = 0;
		return;
	}
	if (d->length >= JF_TEXT_MAX && at != p->probe)
		p->long_at = at;
	memmove(p->before + 1, p->before, sizeof(p->before) - sizeof(p->before[0]));
	p->before[0] = at;
	p->nr_before += p->nr_before < JF_TEXT_MAX;
}

static const char *add_exit(struct plan *p, const struct jf_exit *exit, unsigned int len)
{
	struct jf_exit *more;

	if (p->out->num == p->room) {
		more = jf_have(realloc(p->out->exit, (2 * p->room + 8) * sizeof(*more)));
		if (!more)
			return jf_no_memory;
		p->out->exit = more;
		p->room = 2 * p->room + 8;
	}
	more = &p->out->exit[p->out->num++];
	*more = *exit;
	more->late = find_late(p, exit->at, len);
	return NULL;
}

/* Numbers of registers as in instructions; JF_REG_NONE: it is no general one of 64 bits. */
static uint8_t number_of(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15 ? (uint8_t)(reg - ZYDIS_REGISTER_RAX) : JF_REG_NONE;
}

/* Where a jump by a register or by memory leads. False: it cannot be said. */
static bool find_operand(const struct plan *p, uintptr_t at, unsigned int len, struct jf_operand *to)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	const uint8_t *bytes = jf_module_in_file(p->module, at, len);
	ZydisDecodedInstruction d;

	if (!bytes || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&p->decoder, bytes, len, &d, o)) || d.opcode != 0xff || d.raw.modrm.reg != 4)
		return false;
	*to = (struct jf_operand){ .size = 8, .base = JF_REG_NONE, .index = JF_REG_NONE, .scale = 1 };
	if (o[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		to->kind = JF_OPERAND_REG;
		to->base = number_of(o[0].reg.value);
		return to->base != JF_REG_NONE;
	}
	if (o[0].type != ZYDIS_OPERAND_TYPE_MEMORY || d.address_width != 64 || o[0].mem.segment == ZYDIS_REGISTER_FS ||
	    o[0].mem.segment == ZYDIS_REGISTER_GS)
		return false;
	to->kind = JF_OPERAND_MEM;
	to->disp = o[0].mem.disp.value;
	if (o[0].mem.base == ZYDIS_REGISTER_RIP)
		to->disp += (int64_t)(at + len);
	else if (o[0].mem.base != ZYDIS_REGISTER_NONE && (to->base = number_of(o[0].mem.base)) == JF_REG_NONE)
		return false;
	if (o[0].mem.index != ZYDIS_REGISTER_NONE) {
		to->index = number_of(o[0].mem.index);
		to->scale = o[0].mem.scale;
		return to->index != JF_REG_NONE;
	}
	return true;
}

static const char *look_at_indirect(struct plan *p, uintptr_t at, const ZydisDecodedInstruction *d)
{
	long depth = jf_frame_depth(p->module, at);
	struct jf_exit exit = { .at = at, .how = JF_EXIT_TARGET, .tail = true };

	/* Another function gets the stack as it was. */
	if (depth >= 0 && depth != 8)
		return NULL;
	return find_operand(p, at, d->length, &exit.to) ? add_exit(p, &exit, d->length) : "a jump leads to where it cannot be said";
}

static const char *look_at_branch(struct plan *p, uintptr_t at, const ZydisDecodedInstruction *d)
{
	bool always = d->meta.category == ZYDIS_CATEGORY_UNCOND_BR, leaves;
	struct jf_exit exit = { .at = at, .how = always ? JF_EXIT_JUMP : JF_EXIT_COND, .cond = d->opcode & 15, .tail = true };
	uintptr_t to = at + d->length + (uintptr_t)d->raw.imm[0].value.s;
	const char *why;

	if (to == p->start && to != p->probe && always && jf_frame_depth(p->module, at) == 8)
		return add_exit(p, &exit, d->length);
	if (to == p->start || to == p->probe)
		return "a branch leads back to its begin";
	if (jf_exits_inside(p->out, to))
		return add_target(p, to);
	why = look_outside(p, at, to, &leaves);
	if (why || !leaves)
		return why;
	/* loop, jrcxz */
	if (!always && d->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && d->opcode >> 4 != 7)
		return "a jump that counts leads out of it";
	return add_exit(p, &exit, d->length);
}

/* Relative to the instruction, or, of a program at a fixed place, as it is. */
static bool names_inside(const struct plan *p, uintptr_t at, const ZydisDecodedInstruction *d)
{
	bool relative = d->attributes & ZYDIS_ATTRIB_HAS_MODRM && !d->raw.modrm.mod && d->raw.modrm.rm == 5;
	uintptr_t to = (uintptr_t)d->raw.disp.value + (relative ? at + d->length : 0);

	if (d->raw.disp.size == 32 && (relative || !p->module->base) && to != p->start &&
	    jf_exits_inside(p->out, to))
		return true;
	to = (uintptr_t)d->raw.imm[0].value.u;
	return d->raw.imm[0].size >= 32 && !d->raw.imm[0].is_relative && !p->module->base && to != p->start &&
	       jf_exits_inside(p->out, to);
}

static const char *look_at(struct plan *p, uintptr_t at, const ZydisDecodedInstruction *d)
{
	struct jf_exit exit = { .at = at, .how = JF_EXIT_RET };

	if (d->meta.category == ZYDIS_CATEGORY_RET) {
		if (d->opcode != 0xc3 && d->opcode != 0xc2)
			return "it returns to another segment";
		return add_exit(p, &exit, d->length);
	}
	if (is_branch(d))
		return look_at_branch(p, at, d);
	return d->meta.category == ZYDIS_CATEGORY_UNCOND_BR ? look_at_indirect(p, at, d) : NULL;
}

static const char *look_at_part(struct plan *p, unsigned int i)
{
	uintptr_t at, end = p->out->part[i].end;
	ZydisDecodedInstruction d;
	const char *why;

	p->long_at = 0;
	p->nr_before = 0;
	for (at = p->out->part[i].start; at < end; at += d.length) {
		if (!decode(p, at, end, &d))
			return "it has bytes that are no instruction";
		why = look_at(p, at, &d);
		if (why)
			return why;
		come_after(p, at, &d);
	}
	return NULL;
}

/* --- data ----------------------------------------------------------------------------- */

/* The first target that is not below, or 0. They are sorted. */
static uintptr_t target_from(const struct plan *p, uintptr_t at)
{
	size_t i = jf_first_from(p->target, p->nr_targets, at);

	return i < p->nr_targets ? p->target[i] : 0;
}

static bool is_padding(const ZydisDecodedInstruction *d)
{
	return d->meta.category == ZYDIS_CATEGORY_NOP || d->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       d->mnemonic == ZYDIS_MNEMONIC_INT3 || d->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	       d->mnemonic == ZYDIS_MNEMONIC_HLT;
}

/* No thread comes to the next instruction. */
static bool ends(const ZydisDecodedInstruction *d)
{
	return d->meta.category == ZYDIS_CATEGORY_RET || d->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       d->mnemonic == ZYDIS_MNEMONIC_UD2;
}

/* After all parts are known. */
static const char *look_for_data(const struct plan *p, const struct jf_part *part)
{
	ZydisDecodedInstruction d;
	bool ended = false;
	uintptr_t at, to;

	for (at = part->start; at < part->end && decode(p, at, part->end, &d); at += d.length) {
		/* Past a lock prefix a branch may lead: it leaves that out. */
		to = target_from(p, at + 1);
		if (to == at + 1 && d.attributes & ZYDIS_ATTRIB_HAS_LOCK)
			to = target_from(p, at + 2);
		if (to && to < at + d.length)
			return "a branch leads into the midst of an instruction";
		if (names_inside(p, at, &d))
			return "an instruction names an address in it";
		if (ended && target_from(p, at) != at && !is_padding(&d)) {
			if (!jf_whole_led_to(p->module, at, at + 1))
				return "nothing leads to some of its bytes";
			if (!p->module->led_to)
				return "its object's text cannot be looked at";
			ended = false;
		}
		if (target_from(p, at) == at)
			ended = false;
		ended |= ends(&d);
	}
	return NULL;
}

/* --- beside an exit -------------------------------------------------------------------- */

/* True: a branch leads into the bytes from @from to @to, or something begins there. */
static bool is_reached(const struct plan *p, uintptr_t from, uintptr_t to)
{
	uintptr_t at = target_from(p, from), start, end;
	size_t i;

	if (at && at < to)
		return true;
	i = name_from(p->module, from);
	if (i < p->module->nr_names && p->module->names[i] >> 1 < to)
		return true;
	for (at = from; at < to; at++)
		if (!jf_exits_inside(p->out, at) && jf_frame_bounds(p->module, at, &start, &end))
			return true;
	return false;
}

/*
 * True: another function begins, or may begin, in the bytes after an exit that a jump would have as
 * its distance. Others set breakpoints there.
 */
static bool is_beside(const struct plan *p, uintptr_t at)
{
	uintptr_t to, end = at + JF_TEXT_MAX, start, last;
	ZydisDecodedInstruction d;

	for (to = at + 1; to < end; to += d.length) {
		d.length = 1;
		if (named_at(p->module, to) != NAMED_NOT)
			return true;
		if (jf_exits_inside(p->out, to))
			continue;
		/* Padding belongs to no function. Other bytes may be one. */
		if (jf_frame_bounds(p->module, to, &start, &last) || !decode(p, to, to + JF_INSN_MAX, &d) || !is_padding(&d))
			return true;
	}
	return false;
}

static void look_beside(struct plan *p)
{
	size_t i;

	for (i = 0; i < p->out->num; i++) {
		struct jf_exit *e = &p->out->exit[i];

		if (e->late && is_reached(p, e->at - e->late + 1, e->at + 1))
			e->late = 0;
		e->beside = is_beside(p, e->at);
		e->filled = e->how == JF_EXIT_RET && !is_reached(p, e->at + 1, (e->at / LINE + 1) * LINE);
	}
}

/* --- all ------------------------------------------------------------------------------ */

static const char *find_bounds(struct plan *p, size_t size)
{
	uintptr_t start, end, text_start, text_end;

	if (!jf_frame_text(p->module, p->start, &text_start, &text_end))
		return "it is no text";
	if (jf_frame_bounds(p->module, p->start, &start, &end)) {
		if (start != p->start)
			return "it begins in the midst of another function";
	} else {
		end = p->start + size;
	}
	if (end <= p->start || end > text_end)
		return "it is not known where it ends";
	return add_part(p, p->start, end);
}

static const char *find_all(struct plan *p, size_t size)
{
	const char *why = find_names(p->module) ? find_bounds(p, size) : jf_no_memory;
	unsigned int i;

	/* More of them are found on the way. */
	for (i = 0; !why && i < p->out->nr_parts; i++)
		why = look_at_part(p, i);
	if (p->nr_targets)
		qsort(p->target, p->nr_targets, sizeof(*p->target), by_value);
	for (i = 0; !why && i < p->out->nr_parts; i++)
		why = look_for_data(p, &p->out->part[i]);
	if (!why)
		look_beside(p);
	return why;
}

/**
 * jf_exits_find() - find where a function is left
 * @m:     its object
 * @start: where it begins
 * @probe: where its entry's probe is: the same, or after a landing instruction
 * @size:  of it, as its symbol says; 0: it is not known
 * @e:     is filled in, for jf_exits_free()
 *
 * Return: NULL, or why it is not known
 */
const char *jf_exits_find(struct jf_module *m, uintptr_t start, uintptr_t probe, size_t size, struct jf_exits *e)
{
	struct plan p = { .module = m, .out = e, .start = start, .probe = probe };
	struct jf_elf elf;
	const char *why;

	memset(e, 0, sizeof(*e));
	if (jf_module_open(m, &elf))
		return "its file cannot be read";
	ZydisDecoderInit(&p.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	why = find_all(&p, size);
	jf_module_close(m, &elf);
	free(p.target);
	if (!why && !e->num)
		why = "it never returns";
	if (why)
		jf_exits_free(e);
	return why;
}

/**
 * jf_exits_free() - forget them
 * @e: of jf_exits_find()
 */
void jf_exits_free(struct jf_exits *e)
{
	free(e->exit);
	memset(e, 0, sizeof(*e));
}
