/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Copies of instructions, with the same effect at another place (displace.c). */
#ifndef JF_AGENT_DISPLACE_H
#define JF_AGENT_DISPLACE_H

#include "agent.h"

/* Bytes of the longest instruction. */
#define JF_INSN_MAX	15

/**
 * struct jf_code - code that is being made
 * @bytes: of it
 * @size:  of @bytes
 * @used:  of them
 * @at:    where it will be
 */
struct jf_code {
	uint8_t		*bytes;
	size_t		size;
	size_t		used;
	uintptr_t	at;
};

/**
 * struct jf_moved - an instruction that was copied
 * @len: of it, at its place
 * @ends: the next instruction is not executed after it
 */
struct jf_moved {
	unsigned int	len;
	bool		ends;
};

JF_HIDDEN int jf_displace(struct jf_code *code, const uint8_t *insn, size_t avail, uintptr_t at,
			  struct jf_moved *moved);
JF_HIDDEN void jf_code_put(struct jf_code *code, const void *bytes, size_t num);
JF_HIDDEN int jf_code_jmp(struct jf_code *code, uintptr_t to);

#endif /* JF_AGENT_DISPLACE_H */
