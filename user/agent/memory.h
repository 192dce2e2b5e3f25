/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Strings and members, in the memory of the program (memory.c). */
#ifndef JF_AGENT_MEMORY_H
#define JF_AGENT_MEMORY_H

#include "agent.h"
#include "chosen.h"

#include "user/trace/choice.h"

/* Bytes of an argument that is a string, with its end. */
#define JF_STRING_SIZE	256
/* The same in a signal handler that has interrupted a record of strings. */
#define JF_STRING_NESTED	32

/* Pointers that a path follows, and paths of a probe. */
#define JF_LOADS_MAX	6
#define JF_PATHS_MAX	192

/**
 * struct jf_path - where memory is
 * @reg:   which register of arguments has the first pointer
 * @num:   of @offset: all but the last lead to a pointer
 * @size:  bytes of the value, 1 to 8; of a text that is there: at most so many
 * @shift: of a bit field, in bits
 * @bits:  of it, or 0
 * @sign:  it is signed
 * @text:  a text is there, and no pointer to it
 * @string: it is a pointer to a text
 * @offset: from a pointer on
 */
struct jf_path {
	uint8_t		reg;
	uint8_t		num;
	uint8_t		size;
	uint8_t		shift;
	uint8_t		bits;
	bool		sign;
	bool		text;
	bool		string;
	int32_t		offset[JF_LOADS_MAX];
};

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

#endif /* JF_AGENT_MEMORY_H */
