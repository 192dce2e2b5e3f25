/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Common to the parts that are executed where a thread comes by a probe: record.c, pair.c,
 * members.c, memory.c, value.c, watch.c, aside.c. They use general registers alone, and call no
 * function of libc.
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

/* --- aside.c -------------------------------------------------------------------------- */

/* Bytes of a stack: for a packet, and for a hook, which reads files and looks at text. */
#define JF_ASIDE_STACK	(64L << 10)
#define JF_HOOK_STACK	(256L << 10)

/* Another thread with this one's variables is in the agent. */
enum jf_other {
	JF_OTHER_NONE,		/* no: it is this thread */
	JF_OTHER_RUNS,
	JF_OTHER_GONE,		/* it has ended there */
};

/* No thread of the program makes a system call here any more. */
static inline bool jf_is_quiet(void)
{
	return __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);
}

/* In place of the ring's own: with registers of vectors kept. */
JF_HIDDEN bool jf_agent_next(uint32_t len, uint16_t id);
JF_HIDDEN uint64_t jf_agent_clock(void);
/* A record is lost without a ring. */
JF_HIDDEN void jf_lose(void);
JF_HIDDEN enum jf_other jf_aside_other(uintptr_t stack);
/* Calls @fn on another stack of @size bytes, with all signals blocked. */
JF_HIDDEN uint64_t jf_aside(uint64_t (*fn)(uint64_t arg), uint64_t arg, long size);
/* The same without a system call. False: another thread is there. */
JF_HIDDEN bool jf_aside_quietly(uint64_t (*fn)(uint64_t arg), uint64_t arg, uint64_t *ret);
/* A packet for a record: its length, and its id << 32; or 0: the thread becomes a reader. */
JF_HIDDEN bool jf_aside_packet(uint64_t what);
/* Of those that share their variables one records at a time. False: this thread does already. */
JF_HIDDEN bool jf_turn_take(void);
JF_HIDDEN void jf_turn_end(void);
JF_HIDDEN void jf_tid_begin(void);

/* --- watch.c -------------------------------------------------------------------------- */

JF_HIDDEN void jf_watch_call(const struct jf_spot *spot, const uint64_t *reg);
/* True: the calling thread may not read the time. */
JF_HIDDEN bool jf_watch_is_blind(void);
JF_HIDDEN void jf_watch_handler(uint64_t *reg);

/* --- value.c -------------------------------------------------------------------------- */

/*
 * The range that the kernel maps: vm.mmap_min_addr as it is by default, and the end of the lower
 * half with five levels of tables.
 */
#define JF_LOWEST		UINT64_C(0x10000)
#define JF_HIGHEST		UINT64_C(0x00fffffffffffff7)

/*
 * NULL and the first page are no address, nor is the kernel's half. Of others it is not known
 * without a system call, for which a filter may kill.
 */
static inline bool jf_is_address(uint64_t addr)
{
	return addr >= JF_LOWEST && addr <= JF_HIGHEST;
}

/* An operand of an instruction, as it is when a thread comes by. */
JF_HIDDEN uint64_t jf_value(const struct jf_operand *o, const struct jf_saved *s);

static inline void jf_put(char *at, const struct jf_operand *o, uint64_t v)
{
	switch (o->size) {
	case 1:
		*(uint8_t *)at = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)(void *)at = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)(void *)at = (uint32_t)v;
		break;
	default:
		*(uint64_t *)(void *)at = v;
	}
}

/* --- memory.c ------------------------------------------------------------------------- */

/* Room for the strings of one record, until that is made; NULL: this thread has it already. */
JF_HIDDEN char *jf_scratch_take(void);
JF_HIDDEN void jf_scratch_give(void);
/* These write a text with its end, and return its bytes. */
JF_HIDDEN unsigned int jf_word(char *to, const char *word);
JF_HIDDEN unsigned int jf_memory_string(char *to, unsigned int size, uint64_t from);
JF_HIDDEN unsigned int jf_memory_member_text(const struct jf_path *path, uint64_t from, char *to, unsigned int size);
/* Why memory is not read. */
JF_HIDDEN const char *jf_memory_unknown(void);
JF_HIDDEN bool jf_memory_member(const struct jf_path *path, uint64_t from, uint64_t *to);
/* Both forms of records: does a text in a filter fit. */
JF_HIDDEN bool jf_memory_text(const struct jf_step *step, uint64_t from);
/*
 * A step of memory that @path leads to, or, if that is NULL, of a text at @from. @from is the
 * register of the path.
 */
JF_HIDDEN bool jf_memory(const struct jf_step *step, const struct jf_path *path, uint64_t from, uint64_t *value);

/* A step of a filter that looks at memory or at the caller; @value_of has the record's values. */
static inline __attribute__((__always_inline__))
bool jf_chosen_memory(const struct jf_chosen *chosen, const struct jf_step *step, uint64_t *value, jf_choice_value_fn *value_of,
		      const void *arg)
{
	const struct jf_path *path = step->from >= JF_FROM_PATH ? &chosen->path[step->from - JF_FROM_PATH] : NULL;
	uint64_t from = value_of(path ? path->reg : step->from, arg);

	return step->from == JF_FROM_CALLER ? jf_caller_holds(chosen, step, from) : jf_memory(step, path, from, value);
}

/* --- members.c ------------------------------------------------------------------------ */

/* Writes the part of a record that is before its members. */
typedef void jf_plain_fn(void *to, const void *arg);
/* Makes a record with members; @reg has the registers of arguments. */
JF_HIDDEN void jf_members_record(const struct jf_shown *shown, const uint64_t *reg, jf_plain_fn *plain, const void *arg);

/* --- pair.c --------------------------------------------------------------------------- */

/* A thread has come by an entry or an exit of a call; @s->reg[4] is its stack pointer. */
JF_HIDDEN void jf_pair(const struct jf_spot *spot, const struct jf_saved *s);

#endif /* JF_SAVED_H */
