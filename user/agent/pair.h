/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Calls: the exits of a function, and the entry to which each belongs (pair.c). */
#ifndef JF_AGENT_PAIR_H
#define JF_AGENT_PAIR_H

#include "agent.h"
#include "value.h"

#include "user/trace/sums.h"

struct jf_saved;
struct jf_spot;

/* Parts of a function, each of which is in one place. */
#define JF_PARTS_MAX	4

struct jf_part {
	uintptr_t	start;
	uintptr_t	end;
};

enum jf_exit_how {
	JF_EXIT_RET,
	JF_EXIT_JUMP,		/* whenever it is executed */
	JF_EXIT_COND,		/* by flags */
	JF_EXIT_TARGET,		/* if it leads out of the function */
};

/**
 * struct jf_exit - an instruction by which a function is left
 * @at:     where it is
 * @how:    enum jf_exit_how
 * @cond:   of JF_EXIT_COND: the last four bits of its opcode
 * @tail:   to another function, and not to the caller
 * @filled: nothing leads into the bytes after it, up to the end of a line
 * @beside: another function begins, or may begin, in the bytes after it that a jump takes
 * @late:   so many bytes before it an instruction begins that a jump can replace, and nothing of
 *          the function leads in between; 0: no such instruction exists
 * @to:     of JF_EXIT_TARGET
 */
struct jf_exit {
	uintptr_t		at;
	uint8_t			how;
	uint8_t			cond;
	bool			tail;
	bool			filled;
	bool			beside;
	uint8_t			late;
	struct jf_operand	to;
};

/**
 * struct jf_exits - of a function
 * @exit: all of them
 * @num:  how many
 * @part: where the function is
 * @nr_parts: how many of these
 */
struct jf_exits {
	struct jf_exit	*exit;
	size_t		num;
	struct jf_part	part[JF_PARTS_MAX];
	unsigned int	nr_parts;
};

/* True if @at is in the function. */
static inline bool jf_exits_inside(const struct jf_exits *e, uintptr_t at)
{
	unsigned int i;

	for (i = 0; i < e->nr_parts; i++)
		if (at >= e->part[i].start && at < e->part[i].end)
			return true;
	return false;
}

/**
 * struct jf_call - a function whose calls are recorded
 * @entry:      its entry, which has the event's number
 * @generation: another one each time that it is switched on: earlier entries have no exit
 * @exits:      where it is left
 * @min:        shorter calls are not recorded; in nanoseconds
 * @sum:        numbers of counters for sums, by enum jf_sum; NULL: calls are recorded
 */
struct jf_call {
	const struct jf_spot	*entry;
	uint32_t		generation;
	struct jf_exits		exits;
	uint64_t		min;
	const uint16_t		*sum;
};

/*
 * Nanoseconds of calls that are in no other of their function; of those that are; of all, without
 * calls within; of the longest; calls that were left without an exit; the others by
 * jf_sum_bucket().
 */
enum jf_sum {
	JF_SUM_TOTAL,
	JF_SUM_WITHIN,
	JF_SUM_SELF,
	JF_SUM_MAX,
	JF_SUM_LEFT,
	JF_SUM_BUCKET,
	JF_SUM_NUM = JF_SUM_BUCKET + JF_SUM_BUCKETS
};

/**
 * struct jf_call_record - of a call, when it is over
 * @ip:       where the function's entry has its probe
 * @caller:   the return address
 * @arg:      registers of arguments, as they were at the entry
 * @ret:      rax at the exit, or xmm0
 * @duration: in nanoseconds
 * @depth:    calls around it that are recorded, too, on the same stack
 * @left:     calls of this thread that it has left without an exit, since its record before
 * @lost:     calls that there was no room for, since then
 * @tail:     1: it has jumped to another function, which returns in its place
 */
struct jf_call_record {
	uint64_t	ip;
	uint64_t	caller;
	uint64_t	arg[6];
	uint64_t	ret;
	uint64_t	duration;
	uint32_t	depth;
	uint32_t	left;
	uint32_t	lost;
	uint32_t	tail;
};

JF_HIDDEN int jf_pair_begin(uintptr_t end, size_t size, size_t thread, uint64_t hz);

JF_HIDDEN void jf_pair_anew(uint32_t generation);

/* A thread has come by an entry or an exit of a call; @s->reg[4] is its stack pointer. */
JF_HIDDEN void jf_pair(const struct jf_spot *spot, const struct jf_saved *s);

#endif /* JF_AGENT_PAIR_H */
