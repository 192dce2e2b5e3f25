// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Files that have two names (links.h). */
#include "tool.h"
#include "links.h"

#include <stdlib.h>
#include <string.h>

const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void add_pair(struct links *l, const char *one, const char *other)
{
	char **more = realloc(l->name, (l->num + 2) * sizeof(*more));

	if (!more)
		return;
	l->name = more;
	more[l->num] = strdup(one);
	more[l->num + 1] = strdup(other);
	if (more[l->num] && more[l->num + 1]) {
		l->num += 2;
		return;
	}
	free(more[l->num]);
	free(more[l->num + 1]);
}

void links_add_names(struct links *l, const char *one, const char *other)
{
	if (*one && *other && strcmp(one, other))
		add_pair(l, one, other);
}

void links_add(struct links *l, const char *path)
{
	char *target = realpath(path, NULL);

	if (target)
		links_add_names(l, last_part(path), last_part(target));
	free(target);
}

bool links_match(const struct links *l, const char *glob, const char *kind, const char *group, const char *name)
{
	size_t i;

	if (glob_matches(glob, kind, group, name))
		return true;
	for (i = 0; i < l->num; i++)
		if (!strcmp(l->name[i], group) && glob_matches(glob, kind, l->name[i ^ 1], name))
			return true;
	return false;
}

void links_free(struct links *l)
{
	while (l->num)
		free(l->name[--l->num]);
	free(l->name);
	l->name = NULL;
}
