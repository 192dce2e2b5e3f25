// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Probes whose names are like a pattern that matches none. */
#include "tool.h"
#include "near.h"
#include "../glob.h"
#include "../kind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_MAX	3
/* Bytes of a name that is suggested. */
#define TEXT_MAX	160
/* Of names that are compared. */
#define WORD_MAX	64

/* How many letters are to be changed, left out or put in; upper and lower case are one. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1], i, k, before, here;
	size_t len = strlen(b);

	if (len > WORD_MAX || strlen(a) > WORD_MAX)
		return WORD_MAX;
	for (k = 0; k <= len; k++)
		row[k] = k;
	for (i = 0; a[i]; i++) {
		before = row[0];
		row[0] = i + 1;
		for (k = 1; k <= len; k++) {
			here = row[k];
			before += tolower((unsigned char)a[i]) != tolower((unsigned char)b[k - 1]);
			row[k] = before;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
			if (here + 1 < row[k])
				row[k] = here + 1;
			before = here;
		}
	}
	return row[len];
}

/**
 * struct sought - a pattern, in parts
 * @group: before the colon, without wildcards; "": no colon
 * @name:  the rest, without wildcards
 * @glob:  the same with wildcards
 */
struct sought {
	char		group[WORD_MAX + 1];
	char		name[WORD_MAX + 1];
	const char	*glob;
};

static void without_wildcards(char *to, const char *from, size_t len)
{
	size_t n = 0;

	for (; len-- && n < WORD_MAX; from++)
		if (!strchr("*?[]\\", *from))
			to[n++] = *from;
	to[n] = 0;
}

static unsigned int unlike(const char *want, const char *have)
{
	unsigned int d = distance(want, have), len = (unsigned int)strlen(want);

	if (d <= (len + 2) / 4)
		return d;
	return len > 2 && strstr(have, want) ? 8 + (unsigned int)strlen(have) : WORD_MAX;
}

/* The more, the worse; WORD_MAX: it is nothing like that. */
static unsigned int rate(const struct sought *s, const struct found *f)
{
	unsigned int group = 0;

	if (*s->group) {
		group = unlike(s->group, f->group);
		/* "libc" for "libc.so.6" */
		if (group == WORD_MAX && strncmp(s->group, f->group, strlen(s->group)))
			return *s->name && jf_glob_matches(s->glob, f->name) ? 32 : WORD_MAX;
		group = group == WORD_MAX ? 1 : group;
	}
	if (jf_glob_matches(s->glob, f->name))
		return group;
	group += unlike(s->name, f->name);
	return group < WORD_MAX ? group : WORD_MAX;
}

/**
 * struct near - the best so far
 * @text: of a probe; of a group, where the pattern has no name
 * @rate: of it
 */
struct near {
	char		text[TEXT_MAX];
	unsigned int	rate;
};

static void insert(struct near *near, const char *text, unsigned int rating)
{
	unsigned int i, k;

	for (i = 0; i < NEAR_MAX; i++)
		if (!strcmp(near[i].text, text))
			return;
	for (i = 0; i < NEAR_MAX && near[i].rate <= rating; i++)
		;
	if (i == NEAR_MAX)
		return;
	for (k = NEAR_MAX - 1; k > i; k--)
		near[k] = near[k - 1];
	snprintf(near[i].text, TEXT_MAX, "%s", text);
	near[i].rate = rating;
}

/* The same function by the name that its source has. */
static void suggest_demangled(struct near *near, const struct sought *s, const struct found *f)
{
	char *text = *s->name && !strcmp(f->kind, "function") ? jf_demangle(demangler(), f->name) : NULL;
	char line[TEXT_MAX];
	struct found g = *f;

	if (text) {
		g.name = jf_demangled_short(text);
		snprintf(line, sizeof(line), "%.64s:%.64s", g.group, g.name);
		insert(near, line, rate(s, &g));
	}
	free(text);
}

void suggest(const char *glob, const struct found_list *list, bool sums)
{
	struct near near[NEAR_MAX];
	const char *names = glob, *colon = jf_group_end(glob);
	struct sought s;
	char text[TEXT_MAX], all[NEAR_MAX * (TEXT_MAX + 8)] = "";
	size_t i, len = 0;

	/* Probes of other kinds are suggested, too. */
	jf_kind_of(&names);
	s.glob = colon ? colon + 1 : names;
	without_wildcards(s.group, names, colon ? (size_t)(colon - names) : 0);
	without_wildcards(s.name, s.glob, strlen(s.glob));
	for (i = 0; i < NEAR_MAX; i++)
		near[i] = (struct near){ "", WORD_MAX };
	for (i = 0; i < list->num; i++) {
		const struct found *f = &list->found[i];

		if (sums && strcmp(f->kind, "function"))
			continue;
		snprintf(text, sizeof(text), "%.64s:%.64s", f->group, *s.name ? f->name : "*");
		insert(near, text, rate(&s, f));
		suggest_demangled(near, &s, f);
	}
	for (i = 0; i < NEAR_MAX && *near[i].text && len < sizeof(all); i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s'%s'", i ? ", " : "", near[i].text);
	if (!*s.name && !*s.group && sums)
		note("'%s' names no function, and no object of functions, as 'libc.so.6:*' does", glob);
	else if (!*s.name && !*s.group)
		note("no event and no note matches '%s'; functions are recorded if the pattern names them or their object, "
		     "as 'libc.so.6:*'", glob);
	else if (*all)
		note("no probe matches '%s'; did you mean %s?", glob, all);
	else
		note("no probe matches '%s'", glob);
}
