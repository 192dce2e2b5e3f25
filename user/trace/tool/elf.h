/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Reading ELF files of 64 bits that may be damaged, or made to do harm. Files are read, not mapped:
 * a file that is shortened in the meantime would be SIGBUS. A section's bytes are copied, and are
 * no more than the file has.
 *
 * API:
 *   elf_open(), elf_open_memory(), elf_close()
 *   elf_section()			a section's bytes
 *   elf_at(), elf_string_at()		the bytes that will be at an address
 *   elf_string()			of a table of strings
 */
#ifndef JF_ELF_H
#define JF_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct elf - a file
 * @fd:    of it, or -1
 * @data:  if it is in memory
 * @size:  its bytes
 * @head:  its header
 * @sh:    its sections
 * @num:   how many
 * @names: of sections; it ends with a 0 byte
 * @names_size: its bytes, with that
 */
struct elf {
	int		fd;
	const char	*data;
	uint64_t	size;
	Elf64_Ehdr	head;
	Elf64_Shdr	*sh;
	size_t		num;
	char		*names;
	uint64_t	names_size;
};

/*
 * 0, -ENOEXEC if it is no ELF file of this machine's kind, -EINVAL if it is damaged, -ENOMEM, or
 * the error of read()
 */
int elf_open(struct elf *e, int fd);
int elf_open_memory(struct elf *e, const void *data, size_t size);
void elf_close(struct elf *e);

const char *elf_section_name(const struct elf *e, size_t nr);
/*
 * Copies a section, and a 0 byte after it. 0, -ENODATA if it has no bytes in the file, -EINVAL,
 * -ENOMEM
 */
int elf_section(const struct elf *e, size_t nr, char **data, uint64_t *size);
/* The file's bytes for an address, into @buf. */
bool elf_at(const struct elf *e, uint64_t addr, void *buf, size_t size);
bool elf_string_at(const struct elf *e, uint64_t addr, char *buf, size_t size);
/* In a section that elf_section() has copied; "" if it is not there. */
const char *elf_string(const char *table, uint64_t size, uint64_t at);

#endif /* JF_ELF_H */
