/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Patterns that were switched on and off, kept for events and probes of objects that are loaded
 * later. Used by libjumpfunc-trace and by the agent.
 *
 * API:
 *   jf_wish_new(kind, glob, choice, members, on)	one of them
 *   jf_wish_add(list, wish)		the newest; those that it makes void are gone
 *   jf_wish_fits(wish, kind)		can it match a probe of this kind
 *   jf_wishes_forget(list)		all of them
 *
 * The newest that matches a name counts. A process may be asked for days, so the list has no wish
 * without an effect: none whose names a newer one matches, too, and none that switches off where no
 * older one switches on.
 */
#ifndef JF_WISHES_H
#define JF_WISHES_H

#include <stdbool.h>
#include <stdint.h>

#include "kind.h"

/**
 * struct jf_wish - a pattern that was switched on or off
 * @next:    the one before it
 * @on:      which of both
 * @plain:   @glob has no signs of a pattern
 * @here:    for the caller: the present object may have names that it matches
 * @kind:    of probes
 * @strings: for the caller: arguments that are recorded as strings, too: bit 0 is the first
 * @min:     for the caller, of calls: shorter ones are not recorded; in nanoseconds
 * @sums:    for the caller, of calls: sums of them, and no records
 * @choice:  for the caller: which records are made
 * @members: for the caller: that are recorded
 * @hash:    of the name in @glob
 * @glob:    of names
 */
struct jf_wish {
	struct jf_wish	*next;
	bool		on;
	bool		plain;
	bool		here;
	enum jf_kind	kind;
	uint16_t	strings;
	uint64_t	min;
	bool		sums;
	const char	*choice;
	const char	*members;
	uint32_t	hash;
	char		glob[];
};

/**
 * jf_wish_new() - a wish that is in no list
 * @kind: of probes
 * @glob: of names, without the kind
 * @choice: which records are made, as in a pattern, or NULL
 * @members: that are recorded, as in a pattern, or NULL
 * @on:   to switch on, or off
 *
 * Context: allocates.
 * Return: it, for jf_wish_add() or free(), or NULL
 */
__attribute__((__visibility__("hidden")))
struct jf_wish *jf_wish_new(enum jf_kind kind, const char *glob, const char *choice, const char *members, bool on);

/**
 * jf_wish_add() - take a wish into a list
 * @list: the newest first; the caller has its lock
 * @new:  the wish, which is freed if it has no effect
 */
__attribute__((__visibility__("hidden")))
void jf_wish_add(struct jf_wish **list, struct jf_wish *new);

/**
 * jf_wishes_forget() - free all wishes
 * @list: of them
 */
__attribute__((__visibility__("hidden")))
void jf_wishes_forget(struct jf_wish **list);

static inline bool jf_wish_fits(const struct jf_wish *w, enum jf_kind kind)
{
	return w->kind == JF_KIND_ANY || w->kind == kind;
}

#endif /* JF_WISHES_H */
