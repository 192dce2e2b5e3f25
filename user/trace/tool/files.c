// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The files of a program: itself, in the folders of PATH, and the objects that it loads. Its
 * dynamic linker lists these (--list), and does not execute the program.
 */
#include "tool.h"
#include "elf.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* As execvp() does: an empty part of PATH is the present folder, and a folder is no program. */
bool find_program(const char *name, char *buf, size_t size)
{
	const char *path = getenv("PATH"), *end;
	struct stat st;

	if (strchr(name, '/'))
		return (size_t)snprintf(buf, size, "%s", name) < size;
	for (; path; path = *end ? end + 1 : NULL) {
		end = path + strcspn(path, ":");
		if ((size_t)snprintf(buf, size, "%.*s/%s", end > path ? (int)(end - path) : 1, end > path ? path : ".", name) < size &&
		    !access(buf, X_OK) && !stat(buf, &st) && S_ISREG(st.st_mode))
			return true;
	}
	return false;
}

bool get_interpreter(const struct elf *e, char *buf, size_t size)
{
	uint64_t len = 0;
	char *data;
	size_t i;

	for (i = 0; i < e->num; i++)
		if (!strcmp(elf_section_name(e, i), ".interp") && !elf_section(e, i, &data, &len)) {
			len = (size_t)snprintf(buf, size, "%s", data);
			free(data);
			return len && len < size;
		}
	return false;
}

void each_loaded(const char *interpreter, const char *program, void (*fn)(const char *path, void *arg), void *arg)
{
	char line[PATH_MAX + 128], *path;
	int out[2];
	pid_t child;
	FILE *f;

	if (pipe2(out, O_CLOEXEC))
		return;
	child = fork();
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		execl(interpreter, interpreter, "--list", program, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	f = child < 0 ? NULL : fdopen(out[0], "r");
	if (!f)
		close(out[0]);
	while (f && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (!path)
			continue;
		path[strcspn(path, " \n")] = 0;
		fn(path, arg);
	}
	if (f)
		fclose(f);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

void each_file_of(const char *program, void (*fn)(const char *path, void *arg), void *arg)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char interpreter[PATH_MAX] = "";
	struct elf e;

	if (fd < 0)
		return;
	if (!elf_open(&e, fd)) {
		if (!get_interpreter(&e, interpreter, sizeof(interpreter)))
			*interpreter = 0;
		elf_close(&e);
	}
	close(fd);
	fn(program, arg);
	if (*interpreter)
		each_loaded(interpreter, program, fn, arg);
}
