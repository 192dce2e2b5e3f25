// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * After setuid() or chroot() a process cannot open its memory any more, by which it changes its
 * text, nor the files of its objects. jf-trace opens them, as root, and sends them with the request
 * (control.h). A process gets no file but those that it has mapped, no folder, and its own memory
 * alone: so it gains no rights.
 */
#include "tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * struct hand - files that are to be sent
 * @num: descriptors
 * @fd:  of them; the first one is of the memory
 */
struct hand {
	unsigned int	num;
	int		fd[JF_CONTROL_FILES];
};

/* True if a user finds the file by that name under a root. */
static bool is_found(int root, uid_t uid, const char *path, uint64_t inode)
{
	struct stat st;
	bool found;
	int fd;

	setfsuid(uid);
	fd = openat(root, path + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	setfsuid(geteuid());
	found = fd >= 0 && !fstat(fd, &st) && st.st_ino == inode;
	if (fd >= 0)
		close(fd);
	return found;
}

/* The file of a line of maps, if the process cannot open it by its name. */
static void take_mapped(struct hand *h, pid_t pid, uid_t uid, int root, const char *line, uint64_t *last)
{
	const char *path = strchr(line, '/');
	uint64_t inode = 0;
	char range[40], link[96];
	int fd;

	if (!path || sscanf(line, "%39s %*s %*s %*s %" SCNu64, range, &inode) != 2 || inode == *last)
		return;
	*last = inode;
	if (is_found(root, uid, path, inode))
		return;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%s", (int)pid, range);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		h->fd[h->num++] = fd;
}

static void take_files(struct hand *h, pid_t pid, uid_t uid)
{
	char path[48], line[PATH_MAX + 128];
	uint64_t last = 0;
	FILE *maps;
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = root < 0 ? NULL : fopen(path, "re");
	while (maps && h->num < JF_CONTROL_FILES && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = 0;
		take_mapped(h, pid, uid, root, line, &last);
	}
	if (maps)
		fclose(maps);
	if (root >= 0)
		close(root);
}

static bool send_all(int fd, const struct jf_message *message, const struct hand *h)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(h->fd))];
	struct iovec v = { (void *)(uintptr_t)message->data, message->size };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (h->num) {
		m.msg_control = room;
		m.msg_controllen = CMSG_SPACE(h->num * sizeof(int));
		memset(room, 0, m.msg_controllen);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(h->num * sizeof(int));
		memcpy(CMSG_DATA(c), h->fd, h->num * sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)message->size;
}

bool send_request(int fd, pid_t pid, uid_t uid, const struct jf_message *message, bool hand_over)
{
	struct hand h = { 0, { 0 } };
	char path[32];
	bool sent;

	if (hand_over && !geteuid()) {
		snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
		h.fd[0] = open(path, O_RDWR | O_CLOEXEC);
		h.num = h.fd[0] >= 0;
	}
	if (h.num)
		take_files(&h, pid, uid);
	sent = send_all(fd, message, &h);
	while (h.num)
		close(h.fd[--h.num]);
	return sent;
}
