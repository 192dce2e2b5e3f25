/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
#ifndef JF_USER_SCALE_H
#define JF_USER_SCALE_H

#include <jumpfunc/branch.h>

/* The key of nearly all sites. */
DECLARE_JF_KEY(scale_all);
/* And that of one. */
DECLARE_JF_KEY(scale_one);

/* How many of its sites were on. */
#define SCALE_PART_SITES	5000
unsigned int scale_part(void);

/* Made by the Makefile: all parts, and how many these are. */
extern unsigned int (*const scale_parts[])(void);
extern const unsigned int scale_nr_parts;

/* memory.c: the memory that this process has for itself. False: not known. */
bool scale_private(unsigned long *text_kb, unsigned long *data_kb);

/* others.c: ns to change all sites as others do it, without a protocol; or 0. */
double scale_mprotect(unsigned int sites);
double scale_remap(unsigned int sites);

/*
 * waits.c: the longest wait of others in each of @nr changes of all sites, or without them.
 * @object is opened during the changes. The name of the waiter, for people.
 */
unsigned int scale_wait_kinds(void);
const char *scale_wait(unsigned int kind, const char *object, int with, double *ns, unsigned long nr);

#endif /* JF_USER_SCALE_H */
