// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Functions and paths that the patterns of the user name. */
#include "wanted.h"
#include "../links.h"
#include "../../choice.h"
#include "../../glob.h"
#include "../../kind.h"
#include "../../pattern.h"

#include <string.h>

uint64_t is_wanted(const struct options *o, const struct links *links, const char *group, const char *name)
{
	uint64_t globs = 0;
	unsigned int i;

	_Static_assert(GLOBS_MAX <= 64, "a bit for each");

	for (i = 0; i < o->num_globs; i++) {
		const char *glob = o->globs[i], *text = glob;

		jf_kind_of(&text);
		if (text[strspn(text, "*?")] && links_match(links, glob, "function", group, name))
			globs |= UINT64_C(1) << i;
	}
	return globs;
}

bool is_exact(const char *glob)
{
	const char *text = glob, *colon;

	jf_kind_of(&text);
	colon = jf_group_end(text);
	return colon && strcspn(colon + 1, "*?[") >= glob_length(colon + 1);
}

static int add_path(struct jf_step *step, const char *name, size_t len, const void *arg)
{
	struct paths *p = *(struct paths *const *)arg;
	unsigned int i;

	(void)step;
	for (i = 0; i < p->num && !jf_choice_is(p->path[i].text, name, len); i++)
		;
	if (i == ALL_PATHS_MAX || strcspn(name, "-.[") >= len)
		return 0;
	if (i == p->num)
		p->path[i] = (struct path){ strndup(name, len), 0 };
	p->path[i].globs |= UINT64_C(1) << p->glob;
	p->num += i == p->num && p->path[i].text;
	return 0;
}

/* Those that are recorded. */
static void add_members(struct paths *p, const char *glob)
{
	struct jf_pattern pattern;
	const char *at;
	size_t len;

	if (jf_pattern_parse(&pattern, glob))
		return;
	for (at = pattern.members; *at; at += len + (at[len] == ',')) {
		len = strcspn(at, ",");
		add_path(NULL, at, len, &p);
	}
}

void find_paths(struct paths *p, const struct options *o)
{
	const struct jf_choice_names names = { add_path, add_path, NULL, &p, NULL };
	struct jf_choice c;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++) {
		p->glob = i;
		jf_choice_parse(&c, jf_choice_begin(o->globs[i]), &names);
		add_members(p, o->globs[i]);
	}
}
