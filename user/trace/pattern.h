/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Patterns of probes, as the agent and jf-trace take them: a kind and a slash, a glob (provider.h),
 * which arguments are strings, in brackets, and which records are made (choice.h). All but the glob
 * can be left out.
 *
 *   python:line	libc*:fopen(string,string)	takes(_,,string)	note/mill:*
 *   mill:grind if weight > 3	prog:pay(order->price, order->name)
 *
 * Brackets that have types of C++ are part of the glob: shop::price_of(Order const&). A list with a
 * blank, one of &*<>: or brackets in it, or a part that is a type of the language or begins with a
 * capital, is such a one, unless a part of it is "string" or "_". A part with "->", a point or an
 * index is a member that an argument leads to: a path, as in filters.
 *
 * API:
 *   jf_pattern_types(text)		where the brackets of strings begin, the choice, or the end
 *   jf_pattern_parse(pattern, text)	take one apart; a pure function
 */
#ifndef JF_PATTERN_H
#define JF_PATTERN_H

#include <stdint.h>

#include "choice.h"
#include "kind.h"

/* Of the part before the choice, with a 0 at its end; and of all of it. */
#define JF_PATTERN_MAX	256
#define JF_PATTERN_TEXT	(JF_PATTERN_MAX + JF_CHOICE_MAX)
/* Arguments that a note has at most, and a pattern can speak of. */
#define JF_ARGS_MAX	12
/* Those of them that are recorded as strings at most. */
#define JF_STRINGS_MAX	4
/* Members that a pattern can name. */
#define JF_SHOWN_MAX	8

/**
 * struct jf_pattern - one that was taken apart
 * @kind:    of probes
 * @min:     of calls: shorter ones are not recorded; in nanoseconds
 * @glob:    of names
 * @strings: a bit for each argument that is a string; bit 0 is the first
 * @members: that are recorded: paths, with a comma between two, or empty
 * @choice:  which records are made: a part of the parsed text, or empty
 * @why:     the reason against it, in words that follow "is no pattern of probes: "
 */
struct jf_pattern {
	enum jf_kind	kind;
	uint64_t	min;
	char		glob[JF_PATTERN_MAX];
	uint16_t	strings;
	char		members[JF_PATTERN_MAX];
	const char	*choice;
	char		why[JF_CHOICE_WHY];
};

/**
 * jf_pattern_types() - the part of a pattern that says which arguments are strings
 * @text: the pattern
 *
 * Context: any.
 * Return: its bracket, the blank before its choice, or the end of @text
 */
const char *jf_pattern_types(const char *text);

/**
 * jf_pattern_parse() - take a pattern apart
 * @p:    is filled in
 * @text: the pattern
 *
 * Context: any.
 * Return: 0, or -EINVAL: @p->why has the reason
 */
int jf_pattern_parse(struct jf_pattern *p, const char *text);

#endif /* JF_PATTERN_H */
