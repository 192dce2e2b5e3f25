/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Three forms that an SDT probe may have, compared: main.c lists the measurements.
 *
 * form.c is compiled once for each, with FORM defined as one of these names in lower case:
 *
 *   none	no probe: this is subtracted
 *   site	an asm goto site: jumpfunc's <sys/sdt.h>
 *   call	a call whose five bytes are a nop while the probe is off, with the arguments set
 *		up as for a call: the rest of a call of a function that does not exist
 *   page	a read of a page that is not readable while probes are on, and arguments in a
 *		place that each thread has: SIGSEGV's handler calls the subscriber
 */
#ifndef JF_USER_BENCH_FORMS_H
#define JF_USER_BENCH_FORMS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOT		64	/* probes of plain() and of busy() each */
#define MANY_PARTS	50
#define MANY_IN_PART	100

struct form {
	const char *name;
	/* @turns times all HOT, among instructions that wait for nothing; three arguments. */
	long (*plain)(unsigned long turns, long a, long b, long c);
	/* The same, with twelve values in use before and after each. */
	long (*busy)(unsigned long turns, long a, long b, long c);
	void (*const *many)(long a, long b, long c);
};

extern const struct form form_none, form_site, form_call, form_page;

/* The page form. */
struct page_probe {
	const void *ip;		/* of the instruction that reads */
	const char *name;
	bool enabled;
};
#define PAGE_READ_SIZE	6	/* of that instruction */
extern char page_read[4096];
extern __thread volatile long page_args[3];

/*
 * jf_sdt_register() for the probes of that form: @names is a name, or one that ends in "*".
 * Returns how many these are.
 */
int page_enable(const char *names);
int page_disable(void);
void page_begin(void);
/* The work of subscribers, in each form. */
extern volatile long forms_seen;

#endif /* JF_USER_BENCH_FORMS_H */
