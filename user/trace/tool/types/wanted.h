/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Functions and paths that the patterns of the user name. */
#ifndef JF_TYPES_WANTED_H
#define JF_TYPES_WANTED_H

#include "../tool.h"
#include "../links.h"

/* Of all patterns. */
#define ALL_PATHS_MAX	2048

/**
 * struct path - of filters, or of members that are recorded
 * @text:  order->price
 * @globs: patterns that have it: a bit for each
 */
struct path {
	char		*text;
	uint64_t	globs;
};

/**
 * struct paths - of all patterns
 * @path: each of them
 * @num:  how many
 * @glob: the number of the pattern that is being read
 */
struct paths {
	struct path	path[ALL_PATHS_MAX];
	unsigned int	num;
	unsigned int	glob;
};

/* A bit for each pattern that matches. One that has nothing but wildcards means no function. */
uint64_t is_wanted(const struct options *o, const struct links *links, const char *group, const char *name);
/* It names an object, and one function in it. */
bool is_exact(const char *glob);
void find_paths(struct paths *p, const struct options *o);

#endif /* JF_TYPES_WANTED_H */
