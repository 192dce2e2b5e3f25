// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A file is read: the lines of its functions' arguments, and of names that are in its debug file
 * alone. user/agent/types.c has the form of the lines.
 */
#include "read.h"
#include "name.h"
#include "function.h"
#include "wanted.h"
#include "file.h"
#include "../links.h"

#include <stdlib.h>
#include <string.h>

/* The agent's file has a blank after a path, and a line for each function. */
static bool is_path(const char *path)
{
	return *path == '/' && !strpbrk(path, " \n");
}

static void read_file(const char *path, const struct types *t)
{
	char *real = realpath(path, NULL);
	struct reading r = { .path = path, .real = real && strcmp(real, path) && is_path(real) ? real : NULL, .to = t->to, .paths = t->paths };
	struct links links = { NULL, 0 };
	struct file f;

	links_add(&links, path);
	open_file(&f, path);
	put_names(&f, &r, &links, t->o, t->loaded);
	if (f.module && !t->o->registers)
		read_symbols(&r, f.module, t->o, &links);
	put_arguments(&r, &f);
	free(r.symbol);
	links_free(&links);
	close_file(&f);
	free(real);
}

void one_file(const char *path, void *arg)
{
	struct types *t = (struct types *)arg;

	if (is_path(path))
		read_file(path, t);
	t->loaded = true;
}
