// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Globs of probes' names: see glob.h. Nothing here allocates, or looks at the locale. */
#include "glob.h"

#include <stddef.h>
#include <string.h>

#include "common/glob.h"

/* Of a class: pairs of a first byte and a last one. */
static const struct {
	const char	*name;
	const char	*pairs;
} classes[] = {
	{ "alnum", "azAZ09" }, { "alpha", "azAZ" }, { "blank", "\t\t  " }, { "cntrl", "\1\37\177\177" }, { "digit", "09" },
	{ "graph", "!~" }, { "lower", "az" }, { "print", " ~" }, { "punct", "!/:@[`{~" }, { "space", "\t\r  " },
	{ "upper", "AZ" }, { "xdigit", "09afAF" },
};

static bool is_between(char first, char c, char last)
{
	return (unsigned char)first <= (unsigned char)c && (unsigned char)c <= (unsigned char)last;
}

/*
 * @p is after "[:" in a set. The rest after the class, and in @fits whether it has @c; NULL: it is
 * no class.
 */
static const char *pass_class(const char *p, const char *end, char c, bool *fits)
{
	const char *pair;
	size_t i, len;

	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		len = strlen(classes[i].name);
		if ((size_t)(end - p) < len + 2 || memcmp(p, classes[i].name, len) || memcmp(p + len, ":]", 2))
			continue;
		for (pair = classes[i].pairs; *pair; pair += 2)
			*fits |= is_between(pair[0], c, pair[1]);
		return p + len + 2;
	}
	return NULL;
}

/* A character of a set, which a backslash can precede. NULL: the text is at its end. */
static const char *pass_byte(const char *p, const char *end, char *byte)
{
	if (p < end && *p == '\\')
		p++;
	if (p == end)
		return NULL;
	*byte = *p;
	return p + 1;
}

/*
 * @p is after a '['. The rest after the set, and in @fits whether it has @c; NULL: the set has no
 * end.
 */
static const char *pass_set(const char *p, const char *end, char c, bool *fits)
{
	bool not = p < end && (*p == '!' || *p == '^'), found = false;
	const char *begin = p += not, *next;
	char first, last;

	/* In front a closing bracket is one of its characters. */
	while (p && p < end && (*p != ']' || p == begin)) {
		next = end - p > 1 && p[0] == '[' && p[1] == ':' ? pass_class(p + 2, end, c, &found) : NULL;
		if (next) {
			p = next;
			continue;
		}
		p = pass_byte(p, end, &first);
		last = first;
		if (p && end - p > 1 && p[0] == '-' && p[1] != ']')
			p = pass_byte(p + 1, end, &last);
		found |= p && is_between(first, c, last);
	}
	*fits = found != not;
	return p && p < end ? p + 1 : NULL;
}

/* The rest after the first element, if @c fits it: as jf_glob_one(). */
static const char *fit_one(const char *p, const char *end, char c)
{
	const char *next;
	bool fits;

	switch (*p) {
	case '\\':
		return end - p > 1 && p[1] == c ? p + 2 : NULL;
	case '[':
		next = pass_set(p + 1, end, c, &fits);
		/* One that has no end is a character. */
		if (next)
			return fits ? next : NULL;
		break;
	}
	return jf_glob_one(p, end, c);
}

/* Brackets of a name need no backslash. */
static bool is_itself(const char *glob, const char *name)
{
	return !strcmp(glob, name) && !strchr(glob, '\\');
}

/**
 * jf_glob_matches() - does a glob match a name
 * @glob: the glob
 * @name: the name, all of which must fit; as a glob it matches itself, also with brackets
 */
bool jf_glob_matches(const char *glob, const char *name)
{
	return is_itself(glob, name) || jf_glob_fits(name, glob, glob + strlen(glob), fit_one);
}

struct probe_name {
	const char	*group;
	const char	*name;
	size_t		len;	/* of @group */
};

/* A character of "group:name", which is nowhere in one: names of C++ have no bound. */
static char char_of(const void *text, size_t nr)
{
	const struct probe_name *p = (const struct probe_name *)text;

	return nr < p->len ? p->group[nr] : nr == p->len ? ':' : p->name[nr - p->len - 1];
}

/**
 * jf_glob_matches_probe() - does a glob match a probe
 * @glob:  with a colon it is one of "group:name", without one of "name"; NULL matches all
 * @group: of the probe
 * @name:  of the probe
 */
bool jf_glob_matches_probe(const char *glob, const char *group, const char *name)
{
	const struct probe_name full = { group, name, strlen(group) };

	if (!glob)
		return true;
	if (!strchr(glob, ':'))
		return jf_glob_matches(glob, name);
	if (!strncmp(glob, group, full.len) && glob[full.len] == ':' && is_itself(glob + full.len + 1, name))
		return true;
	return jf_glob_fits_at(char_of, &full, glob, glob + strlen(glob), fit_one);
}

/* True for the colon of "name[abi:cxx11]". */
static bool in_brackets(const char *text, const char *at)
{
	const char *p;

	for (p = at; p > text; p--) {
		if (p[-1] == ']')
			return false;
		if (p[-1] == '[')
			return strchr(at, ']');
	}
	return false;
}

const char *jf_group_end(const char *glob)
{
	const char *p;

	for (p = strchr(glob, ':'); p; p = strchr(p, ':')) {
		if (in_brackets(glob, p)) {
			p++;
			continue;
		}
		if (p[1] == ':') {
			p += 2;
			continue;
		}
		if (p[1] != ']' && (p == glob || p[-1] != '['))
			return p;
		p++;
	}
	return NULL;
}
