// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Programs that cannot be executed, and the reason. */
#include "tool.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(const char *name, const char *why)
{
	return fail("%s: %s", name, why), STATUS_RUN_NOT_EXECUTABLE;
}

/* NULL: the kernel has to say it. */
static const char *why_not(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno == ENOENT && !lstat(path, &st) ? "it is a link that leads nowhere" : strerror(errno);
	if (S_ISDIR(st.st_mode))
		return "it is a folder, and no program";
	if (!S_ISREG(st.st_mode))
		return "it is no file of a program";
	if (!(st.st_mode & 0111))
		return "it has no right to be executed: chmod +x";
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return "this user may not execute it, or its file system is mounted with noexec";
	return NULL;
}

int check_program(const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	const char *why;

	if (!*name)
		return fail("'': there is no such program"), STATUS_RUN_NOT_FOUND;
	/* A name that is in no folder of PATH is execvp()'s to refuse. */
	if (!find_program(name, path, sizeof(path)))
		return STATUS_OK;
	if (lstat(path, &st) && errno == ENOENT)
		return fail("%s: there is no such program", name), STATUS_RUN_NOT_FOUND;
	why = why_not(path);
	return why ? refused(name, why) : STATUS_OK;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, ELFMAG, SELFMAG);
}

void execute_program(char **argv)
{
	char path[PATH_MAX];
	int fd = find_program(argv[0], path, sizeof(path)) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;

	/* execvp() has a shell read files that the kernel does not know: that is for scripts. */
	if (fd >= 0 && is_elf(fd))
		execv(path, argv);
	else
		execvp(argv[0], argv);
}

/* "#!/bin/sh -e" */
static void script_interpreter(int fd, char *buf, size_t size)
{
	char line[256] = "", *at = line + 2;

	*buf = 0;
	if (pread(fd, line, sizeof(line) - 1, 0) < 3 || memcmp(line, "#!", 2))
		return;
	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = 0;
	snprintf(buf, size, "%s", at);
}

/* As the program's header says. */
static void elf_interpreter(int fd, char *buf, size_t size)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	unsigned int i;
	ssize_t n;

	*buf = 0;
	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(part))
		return;
	for (i = 0; i < head.e_phnum; i++) {
		if (pread(fd, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) != sizeof(part))
			return;
		if (part.p_type != PT_INTERP || part.p_filesz >= size)
			continue;
		n = pread(fd, buf, part.p_filesz, (off_t)part.p_offset);
		buf[n > 0 ? n : 0] = 0;
		return;
	}
}

/* Of the program at @path: the one that executes it, if that cannot be executed. */
static bool bad_interpreter(const char *path, bool *elf, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*elf = fd >= 0 && is_elf(fd);
	*buf = 0;
	if (fd < 0)
		return false;
	if (*elf)
		elf_interpreter(fd, buf, size);
	else
		script_interpreter(fd, buf, size);
	close(fd);
	return *buf && why_not(buf);
}

int explain_program(const char *name, int err)
{
	char path[PATH_MAX], interpreter[PATH_MAX];
	bool elf = false;

	if (!find_program(name, path, sizeof(path)))
		*path = 0;
	if (*path && bad_interpreter(path, &elf, interpreter, sizeof(interpreter)))
		fail("%s: its interpreter %s: %s", name, interpreter, why_not(interpreter));
	else if (err == -ENOENT)
		return fail("%s: there is no such program", name), STATUS_RUN_NOT_FOUND;
	else if (err == -ENOEXEC && elf)
		fail("%s: it is a program of another machine, or its file is damaged", name);
	else
		fail("%s: %s", name, strerror(-err));
	return STATUS_RUN_NOT_EXECUTABLE;
}
