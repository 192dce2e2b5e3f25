/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Names and patterns of them. The kernel part has this and libjumpfunc, and
 * libjumpfunc-trace with more in its patterns. Bytes are compared: there is no
 * locale, which may be another thread's affair, or open a converter with locks.
 */
#ifndef JF_GLOB_H
#define JF_GLOB_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#endif

/*
 * The rest after the first element of the pattern from @p to @end (which is not empty, nor begins
 * with a star) if @c fits it; otherwise NULL. '?' is any character.
 */
static inline const char *jf_glob_one(const char *p, const char *end, char c)
{
	(void)end;
	return *p == '?' || *p == c ? p + 1 : NULL;
}

/**
 * jf_glob_fits_at - does a pattern match all of a text
 * @at:   the character of it with this number, or 0 after the last one
 * @text: argument of @at
 * @p:    the pattern, in which '*' is any number of any characters
 * @end:  of the pattern
 * @one:  matches its other elements, as jf_glob_one() does
 *
 * When a star fits no more, only the last one is tried again: the elements between two stars fit
 * best where they fit first. So the time is bounded by the product of both lengths.
 *
 * Return: whether it is.
 */
static inline int jf_glob_fits_at(char (*at)(const void *text, size_t nr),
				  const void *text, const char *p, const char *end,
				  const char *(*one)(const char *p,
						     const char *end, char c))
{
	const char *star = NULL, *next;
	size_t nr = 0, from = 0;
	char c;

	while ((c = at(text, nr))) {
		if (p < end && *p == '*') {
			star = ++p;
			from = nr;
			continue;
		}
		next = p < end ? one(p, end, c) : NULL;
		if (next) {
			p = next;
			nr++;
		} else if (star) {
			p = star;
			nr = ++from;
		} else {
			return 0;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

static inline char jf_glob_char(const void *s, size_t nr)
{
	return ((const char *)s)[nr];
}

/**
 * jf_glob_fits - does a pattern match all of a string
 * @s:   the string
 * @p:   the pattern
 * @end: of the pattern
 * @one: as of jf_glob_fits_at()
 *
 * Return: whether it is.
 */
static inline int jf_glob_fits(const char *s, const char *p, const char *end,
			       const char *(*one)(const char *p, const char *end,
						  char c))
{
	return jf_glob_fits_at(jf_glob_char, s, p, end, one);
}

#endif /* JF_GLOB_H */
