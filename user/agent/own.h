/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Threads without the C library's variables (own.c). */
#ifndef JF_AGENT_OWN_H
#define JF_AGENT_OWN_H

#include "agent.h"

/* The mark of a thread, and of threads that share their variables. */
#define JF_OWN_MARK	UINT64_C(0x6a756d7066756e63)
#define JF_OWN_SHARED	(JF_OWN_MARK + 1)
#define JF_OWN_PARTS	4096U

/**
 * struct jf_own_part - of a stack
 * @part: which, or 0
 * @base: of fs, as a thread of the C library had it there
 */
struct jf_own_part {
	uint64_t	part;
	uint64_t	base;
};

extern __thread uint64_t jf_own_mark JF_HIDDEN __attribute__((__tls_model__("initial-exec")));
extern struct jf_own_part jf_own_parts[JF_OWN_PARTS] JF_HIDDEN;
/* At a part that is not in the table. True: the thread has the C library's variables. */
JF_HIDDEN bool jf_own_look(uint64_t part);
/* A thread is about to have no block, or another one. */
JF_HIDDEN void jf_own_give_up(void);
JF_HIDDEN void jf_own_begin(void);

static inline unsigned int jf_own_hash(uint64_t of)
{
	return (unsigned int)(of * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}

static inline bool jf_own_is_known(uint64_t part)
{
	const struct jf_own_part *p = &jf_own_parts[jf_own_hash(part) % JF_OWN_PARTS];
	uint64_t base;

	if (__atomic_load_n(&p->part, __ATOMIC_RELAXED) != part)
		return false;
	__asm__ volatile("movq %%fs:0, %0" : "=r" (base) : : "memory");
	return base == __atomic_load_n(&p->base, __ATOMIC_RELAXED);
}

/*
 * JF_OWN_MARK, JF_OWN_SHARED; or another number: the thread is without the C library's variables.
 * To be called before any of the agent's variables is read. @stack is on the thread's.
 */
static inline uint64_t jf_own(const void *stack)
{
	/* The smallest stack that a thread of the C library has. */
	uint64_t part = (uintptr_t)stack >> 14, mark;

	if (__builtin_expect(!jf_own_is_known(part), 0) && !jf_own_look(part))
		return 0;
	/* Pairs with the look: a compiler takes no load of a variable for one that can fail. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mark = __atomic_load_n(&jf_own_mark, __ATOMIC_RELAXED);
	/* Pairs with the look, as before: the caller's loads come after it. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return mark;
}

#endif /* JF_AGENT_OWN_H */
