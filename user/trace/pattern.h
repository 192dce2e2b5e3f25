/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Patterns of probes, as the agent and jf-trace take them: a glob (provider.h), and maybe in brackets what arguments are.
 *
 *   python:line	libc*:fopen(string,string)	takes(_,,string)
 *
 * API:
 *   jf_pattern_parse(pattern, text)	take one apart; a pure function
 */
#ifndef JF_PATTERN_H
#define JF_PATTERN_H

#include <stdint.h>

/* With the 0 at its end. */
#define JF_PATTERN_MAX	256
/* Arguments that a note has at most, and a pattern can speak of. */
#define JF_ARGS_MAX	12
/* Those of them that are recorded as strings at most. */
#define JF_STRINGS_MAX	4

/**
 * struct jf_pattern - one that was taken apart
 * @glob:    of names
 * @strings: a bit for each argument that is a string; bit 0 is the first
 * @why:     it is none, in words that follow "is no pattern of probes: "
 */
struct jf_pattern {
	char		glob[JF_PATTERN_MAX];
	uint16_t	strings;
	char		why[96];
};

/**
 * jf_pattern_parse() - take a pattern apart
 * @p:    is filled in
 * @text: the pattern
 *
 * Context: any.
 * Return: 0, or -EINVAL: @p->why says why it is none
 */
int jf_pattern_parse(struct jf_pattern *p, const char *text);

#endif /* JF_PATTERN_H */
