/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Kinds of probes in patterns: "function/mill:*" matches functions, and no event or note of such a
 * name; "call/mill:*" matches calls of functions, "time/mill:*" sums of them. A kind must say so.
 *
 * API:
 *   jf_kind_of(&text)		the kind that a pattern begins with; the rest is left
 *   jf_kind_min(&text, &ns)	the same of "call>1ms/": calls that take as long, or longer
 *   jf_kind_fits(&text, kind)	can the pattern match a probe of this kind; NULL matches all
 *
 * Files have no '/' in their names, so no other pattern of an object's functions begins like that.
 */
#ifndef JF_KIND_H
#define JF_KIND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum jf_kind {
	JF_KIND_ANY,
	JF_KIND_EVENT,
	JF_KIND_NOTE,
	JF_KIND_FUNCTION,
	JF_KIND_CALL,
	JF_KIND_TIME,		/* sums of calls, in mode count */
};

/* "1ms", up to @end: a number and ns, us, ms or s. False: another text. */
static inline bool jf_kind_duration(const char *text, char end, uint64_t *ns)
{
	static const struct {
		const char	*name;
		uint64_t	ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	unsigned int digits, i;
	uint64_t number = 0;

	for (digits = 0; digits < 9 && *text >= '0' && *text <= '9'; digits++)
		number = number * 10 + (uint64_t)(*text++ - '0');
	for (i = 0; digits && i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(text, units[i].name, len) || text[len] != end)
			continue;
		*ns = number * units[i].ns;
		return true;
	}
	return false;
}

/* False: the text does not begin so. */
static inline bool jf_kind_min(const char **text, uint64_t *ns)
{
	if (strncmp(*text, "call>", 5) || !jf_kind_duration(*text + 5, '/', ns))
		return false;
	*text = strchr(*text, '/') + 1;
	return true;
}

static inline enum jf_kind jf_kind_of(const char **text)
{
	static const char *const names[] = {
		[JF_KIND_EVENT] = "event/", [JF_KIND_NOTE] = "note/", [JF_KIND_FUNCTION] = "function/",
		[JF_KIND_CALL] = "call/", [JF_KIND_TIME] = "time/",
	};
	unsigned int i;
	uint64_t min;

	if (jf_kind_min(text, &min))
		return JF_KIND_CALL;
	for (i = JF_KIND_EVENT; i <= JF_KIND_TIME; i++) {
		size_t len = strlen(names[i]);

		if (strncmp(*text, names[i], len))
			continue;
		*text += len;
		return (enum jf_kind)i;
	}
	return JF_KIND_ANY;
}

static inline bool jf_kind_fits(const char **text, enum jf_kind kind)
{
	enum jf_kind of = *text ? jf_kind_of(text) : JF_KIND_ANY;

	return of == JF_KIND_ANY || of == kind;
}

#endif /* JF_KIND_H */
