/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Filters of probes, in the form in which threads execute them. choose.c makes them, and callers.c
 * finds the functions that they name.
 */
#ifndef JF_AGENT_CHOSEN_H
#define JF_AGENT_CHOSEN_H

#include "agent.h"
#include "retire.h"

#include "user/trace/choice.h"

struct jf_path;

/* Where a value is, in a step. Below these: a register of arguments, or a note's operand. */
enum jf_from {
	JF_FROM_IP = 16,
	JF_FROM_CALLER,
	JF_FROM_RET,
	JF_FROM_DURATION,
	JF_FROM_DEPTH,
	JF_FROM_TAIL,
	JF_FROM_TID,
	JF_FROM_VECTOR = 32,	/* of a function's vector registers, the first one */
	JF_FROM_PATH = 64,	/* memory: the first path of the probe */
};

/* Part of a program's text. */
struct jf_range {
	uintptr_t	start;
	uintptr_t	end;
};

/**
 * struct jf_ranges - of functions
 * @retired: for jf_retire()
 * @num:   how many
 * @room:  for how many
 * @range: ascending; between two others are
 */
struct jf_ranges {
	struct jf_retired	retired;
	size_t			num;
	size_t			room;
	struct jf_range		range[];
};

/**
 * struct jf_callers - functions that filters name as callers
 * @next:   of all
 * @glob:   their names
 * @users:  filters that have it
 * @wanted: a filter will have it
 * @looks:  at the present object
 * @ranges: where they are; NULL: they were not looked for
 * @next_ranges: those that are collected
 */
struct jf_callers {
	struct jf_callers	*next;
	char			*glob;
	unsigned int		users;
	bool			wanted;
	bool			looks;
	struct jf_ranges	*ranges;
	struct jf_ranges	*next_ranges;
};

/* In one filter. */
#define JF_CALLERS_MAX	8

/**
 * struct jf_chosen - which records of a probe are made
 * @retired: for jf_retire()
 * @callers: by the size that the steps have which ask for them
 * @path:   of the probe
 * @choice: its last steps may have no memory
 */
struct jf_chosen {
	struct jf_retired	retired;
	struct jf_callers	*callers[JF_CALLERS_MAX];
	const struct jf_path	*path;
	struct jf_choice	choice;
};

/* No thread has it any more. With agent_lock. */
static inline void jf_chosen_forget(struct jf_chosen *c)
{
	unsigned int i;

	for (i = 0; c && i < JF_CALLERS_MAX; i++)
		if (c->callers[i])
			c->callers[i]->users--;
	free(c);
}

/* A return address follows the call, which can be the last instruction of its function. */
static inline bool jf_callers_fit(const struct jf_callers *c, uintptr_t caller)
{
	/* Acquire: pairs with publish(), in callers.c. */
	const struct jf_ranges *r = __atomic_load_n(&c->ranges, __ATOMIC_ACQUIRE);
	size_t low = 0, high = r ? r->num : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->range[mid].end < caller)
			low = mid + 1;
		else
			high = mid;
	}
	return r && low < r->num && r->range[low].start < caller;
}

/* The result of a test of the caller. */
static inline bool jf_caller_holds(const struct jf_chosen *chosen, const struct jf_step *s, uintptr_t caller)
{
	return jf_callers_fit(chosen->callers[s->size], caller) != (s->number >> 32);
}

#endif /* JF_AGENT_CHOSEN_H */
