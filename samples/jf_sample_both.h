/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Sample: one source for a kernel module and a program. jf_sample_both_middle.c is the common part;
 * jf_sample_both_module.c and jf_sample_both_program.c are around it.
 */
#ifndef JF_SAMPLE_BOTH_H
#define JF_SAMPLE_BOTH_H

#include <jumpfunc/tracepoint.h>

DECLARE_JF_KEY(both_checked);
DECLARE_JF_TRACE(both_item, JF_PROTO(unsigned int nr, long value), JF_ARGS(nr, value));

/* Adds up @num items, each weighed as is the fashion, and returns the sum. */
long both_sum(const long *items, unsigned int num);

/**
 * both_run() - show all that there is: 0, or the error that it met
 * @say: is called with a line for each step
 */
int both_run(void (*say)(const char *what, long value));

#endif /* JF_SAMPLE_BOTH_H */
