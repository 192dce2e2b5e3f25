// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sockets of processes that have ended without an exit(), as by _exit() or a signal: their names
 * remain.
 */
#include "trace.h"
#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of SYS_renameat2, for which old C libraries have no function. */
#define NOREPLACE	1

/* 0, or an error: -ECONNREFUSED if no process listens. */
static int try_connect(int folder, const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;

	if (fd < 0)
		return -errno;
	/* The folder's path may be longer than an address. */
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%.71s", folder, name);
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		err = -errno;
	close(fd);
	return err;
}

int jf_control_remove(int folder, const char *name)
{
	struct stat st;
	char aside[72];

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EBUSY;
	snprintf(aside, sizeof(aside), ".%ld.%.48s", syscall(SYS_gettid), name);
	if (syscall(SYS_renameat2, folder, name, folder, aside, NOREPLACE))
		return -errno;
	if (try_connect(folder, aside) == -ECONNREFUSED)
		return unlinkat(folder, aside, 0) ? -errno : 0;
	/* A newer one may have the name: then nothing would lead to this one. */
	if (syscall(SYS_renameat2, folder, aside, folder, name, NOREPLACE))
		unlinkat(folder, aside, 0);
	return -EBUSY;
}

/* A process of this name space, which is gone. @space: the end of its names. */
static bool is_gone(const char *name, const char *space)
{
	const char *number = strstr(name, JF_CONTROL_NAME);
	char *end;
	long pid;

	if (!number)
		return false;
	pid = strtol(number + strlen(JF_CONTROL_NAME), &end, 10);
	return pid > 0 && !strcmp(end, space) && kill((pid_t)pid, 0) && errno == ESRCH;
}

void jf_control_sweep(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const char *space;
	struct dirent *e;
	char own[48];

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	jf_control_name(own, sizeof(own), 1, "/proc/self/ns/pid");
	space = own + strlen(JF_CONTROL_NAME "1");
	while ((e = readdir(dir)))
		if (is_gone(e->d_name, space))
			jf_control_remove(dirfd(dir), e->d_name);
	closedir(dir);
}
