// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Several instructions may be replaced by one jump if no thread comes to another of them than the
 * first. So all that leads anywhere in the object has to be known:
 *
 *   the function itself: it is decoded from its begin to its end, as its symbol or the table of
 *	frames says, and each branch is looked at; a jump through a register, as of a switch, is
 *	not understood, nor a jump by a thunk, or through memory whose address it computes
 *   other functions: branches with a distance of 32 bits are looked for at each byte of the text;
 *	branches of 8 bits near the place, from each byte on where an instruction can begin
 *   pointers: words of data, but for sizes in headers, notes and symbols; addends of relocations;
 *	addresses that instructions name
 *   tables of switches: distances of 32 bits from the table on, wherever an instruction names
 *	data: the jump may be in another part of the function
 *   landing pads: of exceptions, by the tables of the object
 *   names: another function may begin there, or hand-written assembly
 *   calls: they return to the next instruction, so of the replaced ones only the last can be one
 *
 * All of these are looked for in the file: text in memory may have been changed. Bytes that look
 * like a branch without being one refuse a place that could have been changed; they lead to no
 * other mistake.
 */
#include "whole.h"
#include "frame.h"
#include "pads.h"
#include "displace.h"
#include "module.h"
#include "elf.h"
#include "lack.h"

#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

/* A branch of 8 bits leads so far, and an instruction begins within so many bytes. */
#define REACH8		130U
#define ANY_BEGIN	15U
/* A thunk has so many instructions before its jump, and its call leads over so many bytes. */
#define THUNK_INSNS	3U
#define THUNK_MAX	64
#define WHOLE_MAX	(1UL << 20)
/* Bytes of a switch's table. */
#define TABLE_MAX	(256UL << 10)

/* --- where anything leads ------------------------------------------------------------ */

static void mark(struct jf_module *m, uintptr_t to)
{
	uintptr_t at = to - m->text;

	if (to >= m->text && at < m->text_size)
		m->led_to[at / 8] |= (uint8_t)(1U << at % 8);
}

static bool is_led_to(const struct jf_module *m, uintptr_t to)
{
	uintptr_t at = to - m->text;

	return to < m->text || at >= m->text_size || m->led_to[at / 8] >> at % 8 & 1;
}

static int32_t word_at(const uint8_t *p)
{
	int32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/*
 * As long as distances from @table on lead into the text. Other data soon holds a distance that
 * does not.
 */
static void mark_table(struct jf_module *m, uintptr_t table)
{
	const uint8_t *word;
	uintptr_t at, to;

	for (at = table; at - table < TABLE_MAX; at += 4) {
		word = jf_module_in_file(m, at, 4);
		to = word ? table + (uintptr_t)(intptr_t)word_at(word) : 0;
		if (to < m->text || to - m->text >= m->text_size)
			break;
		mark(m, to);
	}
}

/* An address that an instruction names. */
static void mark_address(struct jf_module *m, uintptr_t to)
{
	mark(m, to);
	if (to < m->text || to - m->text >= m->text_size)
		mark_table(m, to);
}

/* Text of @size bytes, which is at @at. */
static void mark_branches(struct jf_module *m, const uint8_t *text, size_t size, uintptr_t at)
{
	size_t i;

	for (i = 0; i + 4 <= size; i++) {
		if (i + 5 <= size && (text[i] == 0xe8 || text[i] == 0xe9))
			mark(m, at + i + 5 + (uintptr_t)(intptr_t)word_at(text + i + 1));
		else if (i + 6 <= size && text[i] == 0x0f && text[i + 1] >> 4 == 8)
			mark(m, at + i + 6 + (uintptr_t)(intptr_t)word_at(text + i + 2));
		/* lea of an address that is relative to the instruction. */
		else if (i + 6 <= size && text[i] == 0x8d && (text[i + 1] & 0xc7) == 5)
			mark_address(m, at + i + 6 + (uintptr_t)(intptr_t)word_at(text + i + 2));
		/* An address as it is, of a program at a fixed place. */
		if (!m->base)
			mark(m, (uint32_t)word_at(text + i));
	}
}

/* In the file: a note, or the program headers. */
static bool is_header(const struct jf_module *m, size_t at)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr;
	unsigned int i;
	ElfW(Ehdr) h;

	for (i = 0; i < m->phnum; i++)
		if ((p[i].p_type == PT_NOTE || p[i].p_type == PT_GNU_PROPERTY) && at >= p[i].p_offset && at - p[i].p_offset < p[i].p_filesz)
			return true;
	memcpy(&h, m->file->data, sizeof(h));
	return at >= h.e_phoff && at - h.e_phoff < h.e_phnum * sizeof(*p);
}

/* A number that can look like an address: in a header, or the size of a dynamic symbol. */
static bool is_size(const struct jf_module *m, const struct jf_section *symbols, const uint8_t *word)
{
	size_t at = symbols->data && word >= symbols->data ? (size_t)(word - symbols->data) : symbols->size;

	return (at < symbols->size && at % sizeof(ElfW(Sym)) == offsetof(ElfW(Sym), st_size)) || is_header(m, (size_t)(word - m->file->data));
}

/* Most words are not, and need no other look. */
static bool is_of_text(const struct jf_module *m, uint64_t word)
{
	return m->base + word >= m->text && m->base + word - m->text < m->text_size;
}

/* Where there are relocations they name those that are not aligned. */
static void mark_data(struct jf_module *m, const uint8_t *data, size_t size)
{
	struct jf_section symbols = jf_elf_section(m->file, ".dynsym");
	size_t i;

	for (i = 0; i + 8 <= size; i += m->base ? 8 : 1) {
		uint64_t word;

		memcpy(&word, data + i, sizeof(word));
		if (is_of_text(m, word) && !is_size(m, &symbols, data + i))
			mark(m, m->base + word);
	}
}

static void mark_relocations(struct jf_module *m, const struct jf_section *s)
{
	size_t i;

	for (i = 0; s->data && s->size - i >= sizeof(ElfW(Rela)); i += sizeof(ElfW(Rela))) {
		ElfW(Rela) rela;

		memcpy(&rela, s->data + i, sizeof(rela));
		mark(m, m->base + (uintptr_t)rela.r_addend);
	}
}

static int mark_function(const struct jf_symbol *symbol, void *arg)
{
	struct jf_module *m = (struct jf_module *)arg;

	mark(m, m->base + symbol->value);
	return 0;
}

static void mark_pad(uint64_t pad, void *arg)
{
	struct jf_module *m = arg;

	mark(m, m->base + pad);
}

/* The file is open. False: no memory, or parts of the file are not there or not understood. */
static bool mark_all(struct jf_module *m)
{
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)m->phdr;
	uintptr_t start = UINTPTR_MAX, end = 0;
	struct jf_section rela = jf_elf_section(m->file, ".rela.dyn");
	unsigned int i;

	for (i = 0; i < m->phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X) {
			start = m->base + p[i].p_vaddr < start ? m->base + p[i].p_vaddr : start;
			end = m->base + p[i].p_vaddr + p[i].p_filesz > end ? m->base + p[i].p_vaddr + p[i].p_filesz : end;
		}
	m->led_to = end > start ? jf_have(calloc((end - start) / 8 + 1, 1)) : NULL;
	if (!m->led_to)
		return false;
	m->text = start;
	m->text_size = end - start;
	for (i = 0; i < m->phnum; i++) {
		uintptr_t at = m->base + p[i].p_vaddr;
		const uint8_t *bytes = p[i].p_type == PT_LOAD ? jf_module_in_file(m, at, p[i].p_filesz) : NULL;

		if (p[i].p_type == PT_LOAD && p[i].p_filesz && !bytes)
			return false;
		if (bytes && p[i].p_flags & PF_X)
			mark_branches(m, bytes, p[i].p_filesz, at);
		else if (bytes)
			mark_data(m, bytes + (m->base ? -at & 7 : 0), p[i].p_filesz > 8 ? p[i].p_filesz - (m->base ? -at & 7 : 0) : 0);
	}
	mark_relocations(m, &rela);
	jf_elf_entries(m->file, mark_function, m);
	return jf_pads(m->file, mark_pad, m);
}

/* --- the function -------------------------------------------------------------------- */

/**
 * struct part - instructions that are to be replaced
 * @module: their object
 * @decoder: for its text
 * @at:     of the first
 * @end:    of the last
 */
struct part {
	const struct jf_module	*module;
	ZydisDecoder		decoder;
	uintptr_t		at;
	uintptr_t		end;
};

static bool decode(const struct part *p, const uint8_t *bytes, size_t avail, ZydisDecodedInstruction *d)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&p->decoder, NULL, bytes, avail, d));
}

static bool leads_into(const struct part *p, const ZydisDecodedInstruction *d, uintptr_t at)
{
	uintptr_t to = at + d->length + (uintptr_t)d->raw.imm[0].value.s;

	return d->attributes & ZYDIS_ATTRIB_IS_RELATIVE && d->raw.imm[0].is_relative && to > p->at && to < p->end;
}

/*
 * By one pointer at a place that the instruction names it is understood, as that of another object.
 */
static bool jumps_by_register(const ZydisDecodedInstruction *d)
{
	return d->meta.category == ZYDIS_CATEGORY_UNCOND_BR && !(d->attributes & ZYDIS_ATTRIB_IS_RELATIVE) &&
	       (d->opcode != 0xff || d->raw.modrm.reg != 4 || d->raw.modrm.mod || d->raw.modrm.rm != 5);
}

/*
 * A jump to code that does no more than to jump through a register, maybe by a return: a call, a
 * store to the stack, ret.
 */
static bool is_thunk(const struct part *p, uintptr_t at)
{
	ZydisDecodedInstruction d;
	unsigned int i;

	for (i = 0; i < THUNK_INSNS; i++, at += d.length) {
		const uint8_t *bytes = jf_module_in_file(p->module, at, JF_INSN_MAX);

		if (!bytes || !decode(p, bytes, JF_INSN_MAX, &d))
			return false;
		if (d.meta.category == ZYDIS_CATEGORY_CALL)
			return d.attributes & ZYDIS_ATTRIB_IS_RELATIVE && d.raw.imm[0].value.s >= 0 && d.raw.imm[0].value.s < THUNK_MAX;
		if (jumps_by_register(&d))
			return true;
		if (d.meta.category == ZYDIS_CATEGORY_UNCOND_BR || d.meta.category == ZYDIS_CATEGORY_RET)
			return false;
	}
	return false;
}

static bool jumps_to_thunk(const struct part *p, const ZydisDecodedInstruction *d, uintptr_t at)
{
	return d->meta.category == ZYDIS_CATEGORY_UNCOND_BR && d->attributes & ZYDIS_ATTRIB_IS_RELATIVE &&
	       is_thunk(p, at + d->length + (uintptr_t)d->raw.imm[0].value.s);
}

static const char *look_at_function(const struct part *p, uintptr_t start, uintptr_t end)
{
	const uint8_t *bytes = jf_module_in_file(p->module, start, end - start);
	ZydisDecodedInstruction d;
	bool found = false;
	uintptr_t at;

	for (at = start; bytes && at < end; at += d.length) {
		if (!decode(p, bytes + (at - start), end - at, &d))
			return "its function has bytes that are no instruction";
		found |= at == p->at;
		if (leads_into(p, &d, at))
			return "a branch leads into the first five bytes";
		if (jumps_by_register(&d) || jumps_to_thunk(p, &d, at))
			return "its function jumps by a register";
		if (d.meta.category == ZYDIS_CATEGORY_CALL && at >= p->at && at < p->end && at + d.length < p->end)
			return "a call returns into the first five bytes";
	}
	return found ? NULL : "its function is not known as a whole";
}

/* Branches of 8 bits from @from on: the first instruction begins in one of so many bytes. */
static bool any_leads_into(const struct part *p, uintptr_t from, uintptr_t end)
{
	bool begins[2 * REACH8 + 4 * ANY_BEGIN] = { false };
	size_t size = end - from, i;
	const uint8_t *bytes;
	ZydisDecodedInstruction d;

	if (end <= from)
		return false;
	bytes = size + ANY_BEGIN <= sizeof(begins) ? jf_module_in_file(p->module, from, size) : NULL;
	for (i = 0; i < ANY_BEGIN; i++)
		begins[i] = true;
	for (i = 0; bytes && i < size; i++) {
		if (!begins[i])
			continue;
		if (!decode(p, bytes + i, size - i, &d)) {
			begins[i + 1] = true;
			continue;
		}
		begins[i + d.length] = true;
		if (leads_into(p, &d, from + i))
			return true;
	}
	return !bytes;
}

static bool mark_once(struct jf_module *m)
{
	if (m->led_to || mark_all(m))
		return true;
	free(m->led_to);
	m->led_to = NULL;
	return false;
}

/**
 * jf_whole_led_to() - does anything of the object lead to one of some places
 * @m:    the object
 * @from: the first place
 * @to:   the end of them
 *
 * Branches of 8 bits are not looked for: they are the function's own.
 *
 * Return: true also if it is not known
 */
bool jf_whole_led_to(struct jf_module *m, uintptr_t from, uintptr_t to)
{
	struct jf_elf elf;
	bool led;

	if (jf_module_open(m, &elf))
		return true;
	led = !mark_once(m);
	for (; !led && from < to; from++)
		led = is_led_to(m, from);
	jf_module_close(m, &elf);
	return led;
}

static const char *look(struct jf_module *m, uintptr_t at, unsigned int len, size_t size)
{
	uintptr_t text_start, text_end, start, end, from, to;
	struct part p = { .module = m, .at = at, .end = at + len };
	const char *refused;

	if (!jf_frame_text(m, at, &text_start, &text_end))
		return "it is no text";
	start = at;
	end = size ? at + size : text_end;
	if ((!size && !jf_frame_bounds(m, at, &start, &end)) || start < text_start || end > text_end || p.end > end ||
	    end - start > WHOLE_MAX)
		return "it is not known where its function ends";
	if (!mark_once(m))
		return "its object's text cannot be looked at";
	for (from = at + 1; from < p.end; from++)
		if (is_led_to(m, from))
			return "something leads into the first five bytes";
	ZydisDecoderInit(&p.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	refused = look_at_function(&p, start, end);
	if (refused)
		return refused;
	from = at - text_start > REACH8 + 2 * ANY_BEGIN ? at - REACH8 - 2 * ANY_BEGIN : text_start;
	to = text_end - p.end > REACH8 ? p.end + REACH8 : text_end;
	return any_leads_into(&p, from, start) || any_leads_into(&p, end, to) ? "a branch leads into the first five bytes" : NULL;
}

/* All of it decodes, up to its end. */
static bool is_decoded(const struct jf_module *m, uintptr_t at, size_t size)
{
	const uint8_t *bytes = size <= WHOLE_MAX ? jf_module_in_file(m, at, size) : NULL;
	struct part p = { .module = m };
	ZydisDecodedInstruction d;
	size_t i = 0;

	ZydisDecoderInit(&p.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (; bytes && i < size && decode(&p, bytes + i, size - i, &d); i += d.length)
		;
	return size && i == size;
}

/**
 * jf_whole_is_data() - can a function's symbol be at data in the text
 * @m:    the object
 * @at:   the symbol
 * @size: of it, or 0
 *
 * Hand-written assembly has data beside functions, and symbols for both. A function is in the table
 * of frames, or has a size and can be decoded as a whole.
 *
 * Return: NULL, or why it can be
 */
const char *jf_whole_is_data(struct jf_module *m, uintptr_t at, size_t size)
{
	const char *why = NULL;
	struct jf_elf elf;
	uintptr_t start, end;

	if (jf_module_open(m, &elf))
		return "its file cannot be read";
	if (!jf_frame_bounds(m, at, &start, &end) && !is_decoded(m, at, size))
		why = size ? "the table of frames does not have it, and it has bytes that are no instruction" :
			"the table of frames does not have it, and its size is not known";
	jf_module_close(m, &elf);
	return why;
}

/**
 * jf_whole_refuses() - may instructions be replaced by a jump, as one
 * @m:    the object
 * @at:   the first of them
 * @len:  bytes of all
 * @size: of their function, which begins there; 0: it is not known
 *
 * Return: NULL, or why not
 */
const char *jf_whole_refuses(struct jf_module *m, uintptr_t at, unsigned int len, size_t size)
{
	struct jf_elf elf;
	const char *refused;

	if (!m || jf_module_open(m, &elf))
		return "its file cannot be read";
	refused = look(m, at, len, size);
	jf_module_close(m, &elf);
	return refused;
}
