/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Both readers of fuzz_types have functions of the same names, so each has a file of its own. */
#ifndef JF_FUZZ_TYPES_H
#define JF_FUZZ_TYPES_H

#include <stdbool.h>
#include <stddef.h>

/* The agent reads lines. @ours: jf-trace has written them, so the agent has to take each. */
void read_lines(const char *lines, size_t size, bool ours);

#endif /* JF_FUZZ_TYPES_H */
