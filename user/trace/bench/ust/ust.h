/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A contender of the benchmark of tracers (main.c): its loop. */
#ifndef JF_UST_H
#define JF_UST_H

#include <stdbool.h>

/* @n events, each with two arguments: a number of 32 bits, and @n. */
void loop(long n);

#endif /* JF_UST_H */
