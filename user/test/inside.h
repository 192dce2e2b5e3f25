/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The inside of the library, for tests. They are linked with its objects, and with
 * inside.c: a program with keys of its own cannot include lib.h.
 *
 * API:
 *   inside_sites(ent, sites, max)	the sites of a key or dynamic function, by address
 *   inside_words(sites, num)		true if the handler's word agrees with the text
 *   inside_traps()			INT3s answered so far; takes no lock
 */
#ifndef JF_TEST_INSIDE_H
#define JF_TEST_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum inside_kind {
	INSIDE_BRANCH,
	INSIDE_CALL,
	INSIDE_TRAMPOLINE,
};

struct inside_site {
	const uint8_t		*addr;
	enum inside_kind	kind;
	const void		*site;	/* the library's */
};

struct jf_ent;

size_t inside_sites(struct jf_ent *ent, struct inside_site *sites, size_t max);
bool inside_words(const struct inside_site *sites, size_t num);
/* The last byte of a call during a change without breakpoints. */
uint8_t inside_guard(const struct inside_site *site);
uint64_t inside_traps(void);

#endif /* JF_TEST_INSIDE_H */
