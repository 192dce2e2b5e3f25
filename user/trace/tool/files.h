/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The dynamic linker of a program, and the objects that it loads. */
#ifndef JF_FILES_H
#define JF_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct elf;

/* False: the file names none, or it does not fit. */
bool get_interpreter(const struct elf *e, char *buf, size_t size);
/* "name => /path (0x...)", or "/path (0x...)" */
void each_loaded(const char *interpreter, const char *program, void (*fn)(const char *path, void *arg), void *arg);

#endif /* JF_FILES_H */
