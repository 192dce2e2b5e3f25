/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Files that have two names: a path that is a symbolic link, and the path that the link leads to.
 *
 * API:
 *   links_add(l, path)			if @path is a link, keep the last parts of both paths
 *   links_add_names(l, one, other)	keep both, if they differ and neither is empty
 *   links_match(l, glob, kind, group, name)	does a glob match one name of its group
 *   links_free(l)
 *   last_part(path)			the name of a file without its folders
 */
#ifndef JF_LINKS_H
#define JF_LINKS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct links - names of files
 * @name: pairs of names; the two of a pair follow each other
 * @num:  names
 */
struct links {
	char	**name;
	size_t	num;
};

/* Without memory the file has one name. */
void links_add(struct links *l, const char *path);
void links_add_names(struct links *l, const char *one, const char *other);
/* @glob as of glob_matches(). */
bool links_match(const struct links *l, const char *glob, const char *kind, const char *group, const char *name);
void links_free(struct links *l);
/* The name of a file without its folders. */
const char *last_part(const char *path);

#endif /* JF_LINKS_H */
