// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Control sockets of processes, from outside: control.h has their places.
 *
 * The folder must be of the user that the process belongs to, and closed to others; the process at
 * the other end must be that one.
 */
#include "tool.h"
#include "connect.h"
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FOLDERS		8
/* Each 20 ms: a process that has no descriptor tries again after a second. */
#define SOCKET_TRIES	100

bool is_pid(const char *text, pid_t *pid)
{
	uint32_t n;

	if (strspn(text, "0123456789") != strlen(text) || !jf_number_parse(text, &n) || n > INT_MAX)
		return false;
	*pid = (pid_t)n;
	return true;
}

int number_each(const char *folder, number_fn *fn, void *arg)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	pid_t number;
	int ret = 0;

	if (!dir)
		return -errno;
	while (!ret && (e = readdir(dir)))
		if (is_pid(e->d_name, &number))
			ret = fn(number, arg);
	closedir(dir);
	return ret;
}

bool pid_owner(pid_t pid, uid_t *uid)
{
	char path[48], line[256];
	unsigned int id;
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	/* The effective one. A zombie has none that answers. */
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "State:\tZ", 8))
			break;
		if (sscanf(line, "Uid:\t%*u\t%u", &id) == 1) {
			*uid = id;
			ok = true;
			break;
		}
	}
	fclose(f);
	return ok;
}

/* XDG_RUNTIME_DIR of a process, if it may be read. */
static bool runtime_dir(pid_t pid, char *buf, size_t size)
{
	char path[48], *text = NULL;
	size_t room = 0;
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!ok && getdelim(&text, &room, 0, f) > 0)
		ok = !strncmp(text, "XDG_RUNTIME_DIR=/", 17) &&
		     (size_t)snprintf(buf, size, "%s/" JF_CONTROL_FOLDER, text + 16) < size;
	free(text);
	fclose(f);
	return ok;
}

/* True if it sees other files: the tool is in another name space of mounts. */
static bool is_elsewhere(pid_t pid)
{
	struct stat own, other;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return !stat(path, &other) && !stat("/proc/self/ns/mnt", &own) &&
	       (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

/* The same folders as the process sees them. A path that has no room is left out. */
static unsigned int add_elsewhere(char (*folder)[PATH_MAX], unsigned int n, pid_t pid)
{
	unsigned int i, all = n;

	for (i = 0; i < n && all < FOLDERS; i++)
		if (snprintf(folder[all], PATH_MAX, "/proc/%d/root%s", (int)pid, folder[i]) < PATH_MAX)
			all++;
	return all;
}

/*
 * Where sockets of a user's processes are, in their order. @pid: 0, or one whose environment
 * counts.
 */
static unsigned int folders_of(uid_t uid, pid_t pid, char (*folder)[PATH_MAX])
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	unsigned int n = 0;

	if (pid && runtime_dir(pid, folder[n], PATH_MAX))
		n++;
	if (uid == geteuid() && dir && *dir == '/' &&
	    snprintf(folder[n], PATH_MAX, "%s/" JF_CONTROL_FOLDER, dir) < PATH_MAX)
		n++;
	snprintf(folder[n++], PATH_MAX, "/run/user/%u/" JF_CONTROL_FOLDER, (unsigned int)uid);
	snprintf(folder[n++], PATH_MAX, "/tmp/" JF_CONTROL_FOLDER "-%u", (unsigned int)uid);
	return pid && is_elsewhere(pid) ? add_elsewhere(folder, n, pid) : n;
}

/* Opened, if it is the user's and no other one may enter it. */
static int open_folder(const char *path, uid_t uid)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != uid || (st.st_mode & 077)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/*
 * By a name in a folder. @pid: the process, or 0 for any, and gets its number. -ENOENT: no socket.
 * -ECONNREFUSED: there was one that no process listens at, and it was removed.
 */
static int connect_in(int folder, uid_t uid, const char *name, pid_t *pid)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct stat st;
	int fd, err;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != uid)
		return -EPERM;
	/* The folder's path may be longer than an address. */
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", folder, name);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at))) {
		err = -errno;
		/* It listens before it has this name. */
		if (err == -ECONNREFUSED)
			jf_control_remove(folder, name);
	} else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || peer.uid != uid || (*pid && peer.pid != *pid)) {
		err = -EPERM;
	} else {
		*pid = peer.pid;
		return fd;
	}
	close(fd);
	return err;
}

static pid_t number_inside(pid_t pid)
{
	pid_t inner = inner_number(pid);

	return inner ? inner : pid;
}

static int connect_by_name(int folder, uid_t uid, pid_t pid)
{
	char name[48], plain[48], ns[48];
	pid_t inner = number_inside(pid);
	int fd;

	snprintf(ns, sizeof(ns), "/proc/%d/ns/pid", (int)pid);
	snprintf(plain, sizeof(plain), JF_CONTROL_NAME "%d", (int)inner);
	jf_control_name(name, sizeof(name), (int)inner, ns);
	fd = connect_in(folder, uid, name, &pid);
	/* It could not look at its name space. */
	return fd == -ENOENT && strcmp(name, plain) ? connect_in(folder, uid, plain, &pid) : fd;
}

/* True if root asks, and looks there next: the process was root's when it made its socket. */
static bool is_roots(const char *path)
{
	int fd = geteuid() ? -1 : open_folder(path, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Once for each folder: a command can ask many processes, and ask one often. */
static void note_folder(const char *path, uid_t uid)
{
	static char *noted[16];
	size_t i;

	for (i = 0; i < sizeof(noted) / sizeof(*noted) && noted[i]; i++)
		if (!strcmp(noted[i], path))
			return;
	if (i < sizeof(noted) / sizeof(*noted))
		noted[i] = strdup(path);
	note("%s is not used: it is another user's, or others may enter it: chown %u and chmod 700, or give the program another XDG_RUNTIME_DIR",
	     path, (unsigned int)uid);
}

/* In folders of a user. @folder_of: 0, or the process, whose environment counts, too. */
static int connect_as(pid_t pid, uid_t uid, pid_t folder_of)
{
	char (*folder)[PATH_MAX] = malloc(FOLDERS * sizeof(*folder));
	int dir, fd = -ENOENT, first = -ENOENT;
	unsigned int i, n;

	if (!folder)
		return -ENOMEM;
	n = folders_of(uid, folder_of, folder);
	for (i = 0; i < n && fd < 0; i++) {
		dir = open_folder(folder[i], uid);
		if (dir < 0) {
			if (dir == -EPERM && !is_roots(folder[i]))
				note_folder(folder[i], uid);
			continue;
		}
		fd = connect_by_name(dir, uid, pid);
		close(dir);
		/* An error of one socket counts more than the lack of others. */
		if (first == -ENOENT)
			first = fd;
	}
	free(folder);
	return fd < 0 ? first : fd;
}

/*
 * To a process that has no folder, as after chroot(). @pid: as of connect_in(). Any process can
 * have the name: the kernel says which one it is.
 */
static int connect_bare(pid_t name, uid_t uid, pid_t *pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err = 0;
	socklen_t len = sizeof(struct ucred), size;
	struct sockaddr_un at;
	struct ucred peer;

	if (fd < 0)
		return -errno;
	size = jf_control_bare(&at, (int)name);
	if (connect(fd, (const struct sockaddr *)&at, size))
		err = -ENOENT;
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || (*pid && peer.pid != *pid) ||
		 (peer.uid != uid && peer.uid && geteuid()))
		err = -EPERM;
	if (!err) {
		*pid = peer.pid;
		return fd;
	}
	close(fd);
	return err;
}

static int connect_to(pid_t pid, uid_t uid)
{
	int fd = connect_as(pid, uid, pid), own = -ENOENT;

	/* It was root's when it made its socket. */
	if (fd < 0 && !geteuid() && uid)
		own = connect_as(pid, 0, pid);
	if (fd < 0 && own < 0)
		own = connect_bare(number_inside(pid), uid, &pid);
	return own >= 0 ? own : fd;
}

/*
 * True if the process has the thread that serves. Such a process can be about to make its socket
 * anew, as after close() of all.
 */
static bool is_served(pid_t pid)
{
	char path[64], name[32] = "";
	bool served = false;
	struct dirent *e;
	FILE *f;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !served && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)pid, e->d_name);
		f = fopen(path, "re");
		served = f && fgets(name, sizeof(name), f) && !strcmp(name, JF_CONTROL_THREAD "\n");
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return served;
}

/* As connect_to(), with patience for a socket that is made anew. */
static int connect_patiently(pid_t pid, uid_t uid)
{
	const struct timespec rest = { 0, 20000000 };
	int fd, tries = 0;

	do {
		if (tries)
			nanosleep(&rest, NULL);
		fd = connect_to(pid, uid);
	} while ((fd == -ENOENT || fd == -ECONNREFUSED) && ++tries < SOCKET_TRIES && is_served(pid));
	return fd;
}

/* After a refused connection the process's own last words count. */
static int explain(pid_t pid, int err)
{
	uid_t uid;

	if (!pid_owner(pid, &uid))
		fail("there is no process %d", (int)pid);
	else if (err == -ENOENT || err == -ECONNREFUSED)
		fail("process %d has no control socket: jf-trace record -p %d -e GLOB loads the agent into it (or count, time, top); jf-trace run, "
		     "JUMPFUNC_TRACE_CONTROL=1 and jf_record_control() make one from the begin", (int)pid, (int)pid);
	else
		fail("process %d: its control socket: %s", (int)pid, strerror(-err));
	return -ECOMM;
}

int open_control(pid_t pid, uid_t *owner)
{
	char state[64];
	uid_t uid;
	int fd;

	*owner = 0;
	if (!pid_owner(pid, &uid)) {
		/* Its remains are removed. */
		fd = connect_to(pid, geteuid());
		if (fd >= 0)
			close(fd);
		return explain(pid, -ENOENT);
	}
	if (geteuid() && uid != geteuid()) {
		fail("process %d belongs to another user: that user and root alone may control it", (int)pid);
		return -ECOMM;
	}
	if (status_line(pid, "State:", state, sizeof(state)) && *state == 'T') {
		fail("process %d is stopped, and cannot answer: kill -CONT %d lets it go on", (int)pid, (int)pid);
		return -ECOMM;
	}
	*owner = uid;
	fd = connect_patiently(pid, uid);
	return fd < 0 ? explain(pid, fd) : fd;
}

bool has_control(pid_t pid)
{
	uid_t uid;
	int fd;

	if (!pid_owner(pid, &uid) || (geteuid() && uid != geteuid()))
		return false;
	fd = connect_patiently(pid, uid);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Another process's socket can have been given this name. */
static bool is_named(const char *name, pid_t pid)
{
	char is[48];
	int n = snprintf(is, sizeof(is), JF_CONTROL_NAME "%d", (int)number_inside(pid));

	return !strncmp(name, is, (size_t)n) && (!name[n] || name[n] == '-');
}

/* Those without a folder, of this user; all for root. */
static void each_bare(void (*fn)(pid_t pid, void *arg), void *arg)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[256];
	const char *at;
	uint32_t name;
	pid_t pid;
	int fd;

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		at = strstr(line, "@" JF_CONTROL_BARE);
		if (!at || !jf_number_parse(at + 1 + strlen(JF_CONTROL_BARE), &name))
			continue;
		/* Others' connections have the same line. */
		if (!strstr(line, " 00010000 "))
			continue;
		pid = 0;
		fd = connect_bare((pid_t)name, geteuid(), &pid);
		if (fd >= 0)
			close(fd);
		if (fd >= 0 && pid && number_inside(pid) == (pid_t)name)
			fn(pid, arg);
	}
	if (f)
		fclose(f);
}

static void each_of(uid_t uid, void (*fn)(pid_t pid, void *arg), void *arg)
{
	char (*folder)[PATH_MAX] = malloc(FOLDERS * sizeof(*folder));
	unsigned int i, n = folder ? folders_of(uid, 0, folder) : 0;
	struct dirent *e;
	int fd, peer;
	pid_t pid;
	DIR *dir;

	for (i = 0; i < n; i++) {
		fd = open_folder(folder[i], uid);
		/* A folder that two of the names lead to is read once. */
		if (fd < 0 || (i && !strcmp(folder[i], folder[i - 1]))) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		peer = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		dir = peer < 0 ? NULL : fdopendir(peer);
		while (dir && (e = readdir(dir))) {
			/* One of a name space that is not seen from here has no number. */
			pid = 0;
			if (strncmp(e->d_name, JF_CONTROL_NAME, strlen(JF_CONTROL_NAME)))
				continue;
			peer = connect_in(fd, uid, e->d_name, &pid);
			if (peer >= 0)
				close(peer);
			if (peer >= 0 && pid && is_named(e->d_name, pid))
				fn(pid, arg);
		}
		if (dir)
			closedir(dir);
		close(fd);
	}
	free(folder);
}

/* Root reaches other users' processes, too: by folders whose names are those users' numbers. */
static void each_other(const char *parent, const char *begin, void (*fn)(pid_t pid, void *arg), void *arg)
{
	DIR *dir = opendir(parent);
	struct dirent *e;
	uint32_t uid;

	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, begin, strlen(begin)) && jf_number_parse(e->d_name + strlen(begin), &uid))
			each_of(uid, fn, arg);
	if (dir)
		closedir(dir);
}

void each_control(void (*fn)(pid_t pid, void *arg), void *arg)
{
	each_of(geteuid(), fn, arg);
	each_bare(fn, arg);
	if (geteuid())
		return;
	each_other("/run/user", "", fn, arg);
	each_other("/tmp", JF_CONTROL_FOLDER "-", fn, arg);
}

bool seen_from_here(pid_t pid, char *path, size_t size)
{
	char root[32];
	size_t len;

	if (!is_elsewhere(pid))
		return true;
	len = (size_t)snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	if (len + strlen(path) >= size)
		return false;
	memmove(path + len, path, strlen(path) + 1);
	memcpy(path, root, len);
	return true;
}
