/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A small assembler for images and for the code of tests and benchmarks.
 *
 * API:
 *   jf_emit_init()			begin at an address
 *   jf_emit()				any bytes; the call-like ones below by name
 *   jf_emit_insn()			an instruction of the codec
 *   jf_emit_call(), jf_emit_jmp()	five-byte branches
 *   jf_emit_align(), jf_emit_fill()	INT3 up to an address
 *   jf_emit_here()			the address of the next byte
 *   jf_emit_ok()			true if all has fit, and each branch can reach
 *
 * Example:
 *   jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)dest);
 *   jf_emit(&e, 2, 0x31, 0xc0);		// xor %eax,%eax
 *   jf_emit_jmp(&e, (uintptr_t)func);
 *   if (!jf_emit_ok(&e)) ...
 *   jf_batch_code(&batch, dest, buf, e.used);
 *
 * How it works: bytes go to a buffer, while addresses are those at which the buffer's bytes will
 * stand. An error (no room, a branch out of reach) stays noted, so it is enough to ask once at the
 * end.
 */
#ifndef JF_EMIT_H
#define JF_EMIT_H

#include <stdarg.h>
#include <string.h>

#include "common/x86/insn.h"

struct jf_emit {
	uint8_t *buf;
	size_t size;
	size_t used;
	uint64_t base;
	int err;
};

static inline void jf_emit_init(struct jf_emit *e, void *buf, size_t size,
				uint64_t base)
{
	e->buf = (uint8_t *)buf;
	e->size = size;
	e->used = 0;
	e->base = base;
	e->err = 0;
}

static inline bool jf_emit_ok(const struct jf_emit *e)
{
	return !e->err;
}

static inline uint64_t jf_emit_here(const struct jf_emit *e)
{
	return e->base + e->used;
}

static inline bool __jf_emit_room(struct jf_emit *e, size_t n)
{
	if (!e->err && n > e->size - e->used)
		e->err = -ENOMEM;
	return !e->err;
}

/* @n bytes, each an int argument. */
static inline void jf_emit(struct jf_emit *e, int n, ...)
{
	va_list args;

	if (!__jf_emit_room(e, (size_t)n))
		return;
	va_start(args, n);
	while (n--)
		e->buf[e->used++] = (uint8_t)va_arg(args, int);
	va_end(args);
}

static inline void jf_emit_mem(struct jf_emit *e, const void *bytes, size_t n)
{
	if (!__jf_emit_room(e, n))
		return;
	memcpy(e->buf + e->used, bytes, n);
	e->used += n;
}

static inline void jf_emit_32(struct jf_emit *e, uint32_t v)
{
	jf_emit_mem(e, &v, sizeof(v));
}

static inline void jf_emit_64(struct jf_emit *e, uint64_t v)
{
	jf_emit_mem(e, &v, sizeof(v));
}

/* The displacement that ends an instruction at the next four bytes. */
static inline void jf_emit_rel32(struct jf_emit *e, uint64_t target)
{
	int64_t disp = (int64_t)(target - (jf_emit_here(e) + 4));

	if (disp != (int32_t)disp && !e->err)
		e->err = -ERANGE;
	jf_emit_32(e, (uint32_t)disp);
}

static inline void jf_emit_insn(struct jf_emit *e, jf_insn_t insn)
{
	uint8_t bytes[JF_INSN_SIZE];

	jf_insn_store(bytes, insn);
	jf_emit_mem(e, bytes, sizeof(bytes));
}

static inline void __jf_emit_branch(struct jf_emit *e, int err, jf_insn_t insn)
{
	if (err && !e->err)
		e->err = err;
	jf_emit_insn(e, insn);
}

static inline void jf_emit_call(struct jf_emit *e, uint64_t target)
{
	jf_insn_t insn = 0;
	int err = jf_insn_call(&insn, jf_emit_here(e), target);

	__jf_emit_branch(e, err, insn);
}

static inline void jf_emit_jmp(struct jf_emit *e, uint64_t target)
{
	jf_insn_t insn = 0;
	int err = jf_insn_jmp(&insn, jf_emit_here(e), target);

	__jf_emit_branch(e, err, insn);
}

/* Up to address @to, INT3. */
static inline void jf_emit_fill(struct jf_emit *e, uint64_t to)
{
	while (jf_emit_ok(e) && jf_emit_here(e) < to)
		jf_emit(e, 1, JF_OPCODE_INT3);
}

static inline void jf_emit_align(struct jf_emit *e, uint64_t to)
{
	jf_emit_fill(e, (jf_emit_here(e) + to - 1) / to * to);
}

/* "movabs $v,%rax" and the same for %rdi. */
static inline void jf_emit_mov_rax(struct jf_emit *e, uint64_t v)
{
	jf_emit(e, 2, 0x48, 0xb8);
	jf_emit_64(e, v);
}

static inline void jf_emit_mov_rdi(struct jf_emit *e, uint64_t v)
{
	jf_emit(e, 2, 0x48, 0xbf);
	jf_emit_64(e, v);
}

#endif /* JF_EMIT_H */
