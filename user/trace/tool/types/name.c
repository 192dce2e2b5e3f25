// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Lines of the names that are in the debug file of a stripped file alone. */
#include "name.h"
#include "wanted.h"
#include "../tool.h"

#include <string.h>
#include <sys/stat.h>

/**
 * struct naming - of a file
 * @r:       of it
 * @links:   its names
 * @o:       which functions
 * @library: the program loads it
 * @stamp:   tells it from another one of its path
 */
struct naming {
	const struct reading	*r;
	const struct links	*links;
	const struct options	*o;
	bool			library;
	struct stat		stamp;
};

static void put_name_line(const struct naming *n, const char *path, const GElf_Sym *s, const char *name)
{
	fprintf(n->r->to, "%s %llx +%llx %llx.%llx.%lx %s\n", path, (unsigned long long)s->st_value, (unsigned long long)s->st_size,
		(unsigned long long)n->stamp.st_ino, (unsigned long long)n->stamp.st_mtim.tv_sec, n->stamp.st_mtim.tv_nsec, name);
}

/*
 * "libc.so.6:*" and "strlen" mean functions that a library offers, whatever is installed; its inner
 * ones have to be named with it. The agent wants to know whether it has libjumpfunc in it.
 */
static bool is_named(const struct naming *n, const char *name)
{
	uint64_t globs = is_wanted(n->o, n->links, last_part(n->r->path), name);
	unsigned int i;

	for (i = 0; i < n->o->num_globs; i++)
		if (globs >> i & 1 && (!n->library || is_exact(n->o->globs[i])))
			return true;
	return !strcmp(name, "__jf_object_register");
}

static int one_name(const char *name, const GElf_Sym *s, void *arg)
{
	const struct naming *n = (const struct naming *)arg;

	if (!is_named(n, name))
		return 0;
	put_name_line(n, n->r->path, s, name);
	if (n->r->real)
		put_name_line(n, n->r->real, s, name);
	return 0;
}

void put_names(const struct file *f, const struct reading *r, const struct links *links, const struct options *o, bool library)
{
	struct naming n = { .r = r, .links = links, .o = o, .library = library };

	if (!stat(r->path, &n.stamp))
		each_name(f, one_name, &n);
}
