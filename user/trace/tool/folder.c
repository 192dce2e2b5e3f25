// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Traces' folders. */
#include "tool.h"
#include "../trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int default_parent(char *buf, size_t size)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (dir && *dir == '/' && strlen(dir) < size - 16 && !stat(dir, &st) && S_ISDIR(st.st_mode)) {
		snprintf(buf, size, "%s/" JF_CONTROL_FOLDER, dir);
		if (!jf_folder_own(buf))
			return 0;
	}
	snprintf(buf, size, "/dev/shm/" JF_CONTROL_FOLDER "-%u", (unsigned int)geteuid());
	return jf_folder_own(buf);
}

/* What a trace has, and nothing else. */
static bool is_trace_file(const char *name)
{
	unsigned int ring, k;
	char end;

	if (*name == '.')
		name++;
	return !strcmp(name, "metadata") || !strcmp(name, "metadata.new") || !strcmp(name, "lost") ||
	       sscanf(name, "r%u-%u%c", &ring, &k, &end) == 2 || sscanf(name, "r%u%c", &ring, &end) == 1;
}

static int remove_in(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	struct dirent *e;
	DIR *dir;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (is_trace_file(e->d_name))
			unlinkat(fd, e->d_name, 0);
		else if (depth)
			remove_in(fd, e->d_name, depth - 1);
	}
	closedir(dir);
	/* Not if something is left in it. */
	return unlinkat(at, name, AT_REMOVEDIR) ? -errno : 0;
}

int remove_traces(const char *folder)
{
	return remove_in(AT_FDCWD, folder, 1);
}

unsigned int each_trace(const char *folder, void (*fn)(const char *path, void *arg), void *arg)
{
	char path[PATH_MAX], metadata[PATH_MAX];
	unsigned int num = 0;
	struct dirent *e;
	DIR *dir;

	if (!jf_path(metadata, sizeof(metadata), folder, "metadata") && !access(metadata, F_OK)) {
		if (fn)
			fn(folder, arg);
		return 1;
	}
	dir = opendir(folder);
	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		if (*e->d_name == '.' || jf_path(path, sizeof(path), folder, e->d_name) ||
		    jf_path(metadata, sizeof(metadata), path, "metadata") || access(metadata, F_OK))
			continue;
		num++;
		if (fn)
			fn(path, arg);
	}
	closedir(dir);
	return num;
}
