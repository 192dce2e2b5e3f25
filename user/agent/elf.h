/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The sections and symbols of a file (elf.c). */
#ifndef JF_AGENT_ELF_H
#define JF_AGENT_ELF_H

#include "agent.h"

/**
 * struct jf_elf - a file, of which nothing is taken for granted
 * @data: all of it
 * @size: bytes
 */
struct jf_elf {
	const uint8_t	*data;
	size_t		size;
};

/**
 * struct jf_section - a part of a file
 * @data: NULL: no data
 * @size: bytes
 * @addr: where it is, in memory, from the object's own 0 on
 */
struct jf_section {
	const uint8_t	*data;
	size_t		size;
	uint64_t	addr;
};

/**
 * struct jf_symbol - a function
 * @name:  of it
 * @value: from the object's own 0 on
 * @size:  bytes
 * @indirect: its value is the address of a function that returns its place
 */
struct jf_symbol {
	const char	*name;
	uint64_t	value;
	uint64_t	size;
	bool		indirect;
};

typedef int jf_symbol_fn(const struct jf_symbol *symbol, void *arg);

/**
 * struct jf_stamp - tells a file from another one of its path
 * @inode:   its number
 * @seconds: since when it is as it is
 * @nanoseconds: of that
 */
struct jf_stamp {
	uint64_t	inode;
	uint64_t	seconds;
	uint64_t	nanoseconds;
};

JF_HIDDEN int jf_elf_check(const struct jf_elf *elf);
JF_HIDDEN struct jf_section jf_elf_section(const struct jf_elf *elf, const char *name);
JF_HIDDEN int jf_elf_functions(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg);
JF_HIDDEN int jf_elf_entries(const struct jf_elf *elf, jf_symbol_fn *fn, void *arg);

#endif /* JF_AGENT_ELF_H */
