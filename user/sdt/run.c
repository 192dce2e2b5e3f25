// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A compiler's command, and which object file it writes: jf-sdt --run cc -c a.c -o a.o
 *
 * What is no compilation of one file to an object file is run as it is.
 */
#define _GNU_SOURCE
#include "jf_sdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), more = strlen(end);

	return len > more && !strcmp(s + len - more, end);
}

static bool is_source(const char *arg)
{
	static const char *const ends[] = { ".c", ".i", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".CPP", ".ii", ".s", ".S", ".sx" };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (*arg != '-' && ends_with(arg, ends[i]))
			return true;
	return false;
}

/* In the present folder, with another ending. */
static char *object_of(const char *source)
{
	const char *name = strrchr(source, '/');
	size_t len;
	char *object;

	name = name ? name + 1 : source;
	len = (size_t)(strrchr(name, '.') - name);
	object = malloc(len + 3);
	if (object) {
		memcpy(object, name, len);
		strcpy(object + len, ".o");
	}
	return object;
}

/* --- arguments, and those in a file: @file ------------------------------------------------ */

/* Files may name each other, and themselves. */
#define FILES_MAX	2000

struct args {
	char		**arg;
	size_t		num;
	unsigned int	files;
};

static bool add(struct args *all, const char *arg)
{
	char **more = realloc(all->arg, (all->num + 1) * sizeof(*more));

	if (!more)
		return false;
	all->arg = more;
	more[all->num] = strdup(arg);
	return more[all->num++];
}

/*
 * The next argument at @*at, which it is copied over: between white space, in quotation marks of either kind or not; a
 * backslash takes the meaning from the character after it. NULL: there is none.
 */
static char *next_arg(char **at)
{
	char *from = *at + strspn(*at, " \t\n\v\f\r"), *to = from, *arg = from, quote = 0;

	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t\n\v\f\r", *from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote ? *from == quote : *from == '\'' || *from == '"')
			quote = quote ? 0 : *from;
		else
			*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = 0;
	return arg;
}

static char *content_of(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	/* All of it: no file of arguments has a NUL byte. */
	if (getdelim(&text, &size, 0, file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* As compilers do it, a file that cannot be read is an argument as it stands. */
static bool expand(struct args *all, const char *arg)
{
	char *text = *arg == '@' && all->files++ < FILES_MAX ? content_of(arg + 1) : NULL, *at = text, *next;
	bool ok = true;

	if (!text)
		return add(all, arg);
	while (ok && (next = next_arg(&at)) != NULL)
		ok = expand(all, next);
	free(text);
	return ok;
}

static char *object_in(const struct args *all)
{
	const char *source = NULL, *to = NULL;
	bool compiles = false;
	size_t i;

	for (i = 0; i < all->num; i++) {
		const char *arg = all->arg[i];

		if (!strcmp(arg, "-c"))
			compiles = true;
		else if (!strcmp(arg, "-S") || !strcmp(arg, "-E") || !strcmp(arg, "-fsyntax-only") || !strcmp(arg, "-M") ||
			 !strcmp(arg, "-MM"))
			return NULL;
		else if (!strcmp(arg, "-o") && i + 1 < all->num)
			to = all->arg[++i];
		else if (!strncmp(arg, "-o", 2) && arg[2])
			to = arg + 2;
		else if (is_source(arg))
			source = arg;
	}
	if (!compiles)
		return NULL;
	if (to)
		return strdup(to);
	return source ? object_of(source) : NULL;
}

char *run_object(char *const *command)
{
	struct args all = { NULL, 0, 0 };
	char *object = NULL;
	bool ok = true;
	size_t i;

	for (i = 1; ok && command[i]; i++)
		ok = expand(&all, command[i]);
	if (ok)
		object = object_in(&all);
	for (i = 0; i < all.num; i++)
		free(all.arg[i]);
	free(all.arg);
	return object;
}

int run_command(char *const *command)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(command[0], command);
		fprintf(stderr, "jf-sdt: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			pid = -1;
	if (pid < 0) {
		fprintf(stderr, "jf-sdt: %s: %s\n", command[0], strerror(errno));
		return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
