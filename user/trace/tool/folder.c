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

/* The files of a trace, and nothing else. */
static bool is_trace_file(const char *name)
{
	unsigned int ring;
	char end;

	if (!strcmp(name, JF_REFUSED) || !strcmp(name, JF_LOADED) || sscanf(name, JF_COUNTS_NAME "%c", &ring, &end) == 1)
		return true;
	if (*name == '.')
		name++;
	return !strcmp(name, "metadata") || !strcmp(name, "metadata.new") || !strcmp(name, "lost") ||
	       jf_packet_file(name, &ring, NULL);
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
	return remove_in(AT_FDCWD, folder, 2);
}

static bool only_traces_in(int at, const char *name, int depth, bool *any)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool only = dir;

	if (!dir && fd >= 0)
		close(fd);
	while (only && (e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		*any |= !strcmp(e->d_name, "metadata");
		only = is_trace_file(e->d_name) || (depth && only_traces_in(fd, e->d_name, depth - 1, any));
	}
	if (dir)
		closedir(dir);
	return only;
}

bool only_traces(const char *folder)
{
	bool any = false;

	return only_traces_in(AT_FDCWD, folder, 2, &any) && any;
}

/* One that may not be looked into may be a trace: its readers say so. */
static bool may_be_trace(const char *folder)
{
	char metadata[PATH_MAX];

	if (jf_path(metadata, sizeof(metadata), folder, "metadata"))
		return false;
	return !access(metadata, F_OK) || (errno != ENOENT && errno != ENOTDIR);
}

/*
 * Calls @fn for each trace that is in a folder, and those that are in these: how many, or -errno.
 */
static int each_in(const char *folder, int depth, void (*fn)(const char *path, void *arg), void *arg)
{
	char path[PATH_MAX];
	struct dirent *e;
	int num = 0, in;
	DIR *dir;

	dir = opendir(folder);
	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		if (*e->d_name == '.' || is_trace_file(e->d_name) || jf_path(path, sizeof(path), folder, e->d_name) || !may_be_trace(path))
			continue;
		num++;
		if (fn)
			fn(path, arg);
		/* Of a child that was another user. */
		in = depth ? each_in(path, depth - 1, fn, arg) : 0;
		num += in > 0 ? in : 0;
	}
	closedir(dir);
	return num;
}

int each_trace(const char *folder, void (*fn)(const char *path, void *arg), void *arg)
{
	if (may_be_trace(folder)) {
		if (fn)
			fn(folder, arg);
		return 1;
	}
	return each_in(folder, 1, fn, arg);
}

int any_trace(const char *folder)
{
	int num = each_trace(folder, NULL, NULL);

	if (num < 0)
		return fail("%s: %s", folder, strerror(-num));
	return num ? STATUS_OK : fail("%s: no trace, and no folder of traces: it has no metadata", folder);
}

static void lift(const char *path, void *arg)
{
	const char *folder = (const char *)arg, *name = strrchr(path, '/');
	char to[PATH_MAX];

	/* In another trace. */
	if (name && (size_t)(name - path) > strlen(folder) && !jf_path(to, sizeof(to), folder, name + 1))
		rename(path, to);
}

void lift_traces(const char *folder)
{
	each_trace(folder, lift, (void *)(uintptr_t)folder);
}

/* As metadata.c writes them. */
void each_refused(int dir, void (*fn)(const char *name, const char *why, void *arg), void *arg)
{
	int fd = openat(dir, JF_REFUSED, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[1024], *tab;

	if (!f && fd >= 0)
		close(fd);
	while (f && fgets(line, sizeof(line), f)) {
		tab = strchr(line, '\t');
		if (!tab)
			continue;
		*tab = 0;
		tab[1 + strcspn(tab + 1, "\n")] = 0;
		fn(line, tab + 1, arg);
	}
	if (f)
		fclose(f);
}
