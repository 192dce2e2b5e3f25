/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A file and its debug information. */
#ifndef JF_TYPES_FILE_H
#define JF_TYPES_FILE_H

#include <elfutils/libdwfl.h>
#include <gelf.h>

/**
 * struct file - one that is open
 * @dwfl:   libdw's
 * @module: of it; NULL: libdw cannot read it, or it is for another machine
 * @elf:    of it, and not of its debug file
 */
struct file {
	Dwfl		*dwfl;
	Dwfl_Module	*module;
	Elf		*elf;
};

typedef int name_fn(const char *name, const GElf_Sym *s, void *arg);

void open_file(struct file *f, const char *path);
void close_file(struct file *f);
/* Names that are in a stripped file's debug file. */
int each_name(const struct file *f, name_fn *fn, void *arg);

#endif /* JF_TYPES_FILE_H */
