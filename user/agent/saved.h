/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Common to record.c and pair.c: both are executed where a thread comes by a probe, use general
 * registers alone, and call no function of libc.
 */
#ifndef JF_SAVED_H
#define JF_SAVED_H

#include <stdint.h>

/**
 * struct jf_saved - of a thread that has come to a probe, as entry.S pushes it
 * @flags:    the arithmetic flags
 * @reg:      by their numbers; the stack pointer here is not the thread's own
 * @ret:      in the probe's code, after the call
 * @red_zone: of the thread
 */
struct jf_saved {
	uint64_t	flags;
	uint64_t	reg[16];
	uint64_t	ret;
	uint64_t	red_zone[16];
};

static inline long call4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret) : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "a" (nr), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* record.c: an operand of an instruction, as it is when a thread comes by. */
JF_HIDDEN uint64_t jf_record_value(const struct jf_operand *o, const struct jf_saved *s);
/* In place of the ring's own: with registers of vectors kept. */
/* Both forms of records: does a text in a filter fit. */
JF_HIDDEN bool jf_record_text(const struct jf_step *step, uint64_t from);
/*
 * A step of memory that @path leads to, or, if that is NULL, of a text at @from. @from is the
 * register of the path.
 */
JF_HIDDEN bool jf_record_memory(const struct jf_step *step, const struct jf_path *path, uint64_t from, uint64_t *value);

/* Writes the part of a record that is before its members. */
typedef void jf_plain_fn(void *to, const void *arg);
/* Makes a record with members; @reg has the registers of arguments. */
JF_HIDDEN void jf_record_shown(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg);

/* A step of a filter that looks at memory or at the caller; @value_of has the record's values. */
static inline __attribute__((__always_inline__))
bool jf_chosen_memory(const struct jf_chosen *chosen, const struct jf_step *step, uint64_t *value, jf_choice_value_fn *value_of,
		      const void *arg)
{
	const struct jf_path *path = step->from >= JF_FROM_PATH ? &chosen->path[step->from - JF_FROM_PATH] : NULL;
	uint64_t from = value_of(path ? path->reg : step->from, arg);

	return step->from == JF_FROM_CALLER ? jf_caller_holds(chosen, step, from) : jf_record_memory(step, path, from, value);
}

JF_HIDDEN bool jf_agent_next(uint32_t len, uint16_t id);
JF_HIDDEN uint64_t jf_agent_clock(void);

/* --- pair.c --------------------------------------------------------------------------- */

/* A thread has come by an entry or an exit of a call; @s->reg[4] is its stack pointer. */
JF_HIDDEN void jf_pair(const struct jf_spot *spot, const struct jf_saved *s);

#endif /* JF_SAVED_H */
