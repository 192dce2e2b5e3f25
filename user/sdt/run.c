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

char *run_object(char *const *command)
{
	const char *source = NULL, *to = NULL;
	bool compiles = false;
	size_t i;

	for (i = 1; command[i]; i++) {
		const char *arg = command[i];

		if (!strcmp(arg, "-c"))
			compiles = true;
		else if (!strcmp(arg, "-S") || !strcmp(arg, "-E") || !strcmp(arg, "-fsyntax-only") || !strcmp(arg, "-M") ||
			 !strcmp(arg, "-MM"))
			return NULL;
		else if (!strcmp(arg, "-o") && command[i + 1])
			to = command[++i];
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
