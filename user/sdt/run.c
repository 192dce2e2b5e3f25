// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A compiler's command, and which object file it writes: jf-sdt --run cc -c a.c -o a.o
 *
 * What is no compilation of one file to an object file is run as it is.
 */
#define _GNU_SOURCE
#include "jf_sdt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/*
 * NULL: it cannot be read, or, in *@err, it must not be. A FIFO, which the compiler would find empty then, is not
 * waited for.
 */
static char *content_of(const char *path, int *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *text = NULL;
	size_t size = 0;
	struct stat st;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		fprintf(stderr, "jf-sdt: @%s: is no file\n", path);
		*err = -EINVAL;
	} else if (getdelim(&text, &size, 0, file) < 0) {
		/* All of it, else: no file of arguments has a NUL byte. */
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* As compilers do it, a file that cannot be read is an argument as it stands. */
static int expand(struct args *all, const char *arg)
{
	char *text = NULL, *at, *next;
	int err = 0;

	if (*arg == '@' && all->files++ < FILES_MAX)
		text = content_of(arg + 1, &err);
	if (!text)
		return err ? err : add(all, arg) ? 0 : -ENOMEM;
	at = text;
	while (!err && (next = next_arg(&at)) != NULL)
		err = expand(all, next);
	free(text);
	return err;
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

int run_object(char *const *command, char **object)
{
	struct args all = { NULL, 0, 0 };
	int err = 0;
	size_t i;

	*object = NULL;
	for (i = 1; !err && command[i]; i++)
		err = expand(&all, command[i]);
	if (!err)
		*object = object_in(&all);
	for (i = 0; i < all.num; i++)
		free(all.arg[i]);
	free(all.arg);
	return err;
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
