// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Folders and files, by system calls alone: a signal handler may come here. None keeps a
 * descriptor: a program may close those that it does not know.
 */
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A write beyond the limit would not only fail: SIGXFSZ ends the program. */
static bool beyond_limit(uint64_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       size > limit.rlim_cur;
}

/**
 * jf_file_write() - write all of it
 * @fd:   the file
 * @data: what
 * @size: bytes
 * @at:   where
 *
 * Return: 0, -EFBIG for RLIMIT_FSIZE, or the error of pwrite()
 */
int jf_file_write(int fd, const void *data, size_t size, uint64_t at)
{
	const char *p = (const char *)data;
	ssize_t n;

	if (beyond_limit(at + size))
		return -EFBIG;
	while (size) {
		n = pwrite(fd, p, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		p += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* Where it cannot be asked for, what is written is there. */
static int write_zeros(int fd, size_t size)
{
	static const char zeros[4096];
	size_t at;
	int err;

	for (at = 0; at < size; at += sizeof(zeros)) {
		err = jf_file_write(fd, zeros, sizeof(zeros), at);
		if (err)
			return err;
	}
	return 0;
}

/**
 * jf_file_make() - make a file that has room for what will be written by way of a mapping
 * @path: must not be there yet
 * @size: a multiple of 4096
 *
 * The room is taken here: a store into a page for which a full disk has none is SIGBUS.
 *
 * Return: its descriptor, -EFBIG, or the error of a system call; then it is not there
 */
int jf_file_make(const char *path, size_t size)
{
	int fd, err;

	if (beyond_limit(size))
		return -EFBIG;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	do {
		err = fallocate(fd, 0, 0, (off_t)size) ? -errno : 0;
	} while (err == -EINTR);
	if (err == -EOPNOTSUPP || err == -ENOSYS)
		err = write_zeros(fd, size);
	if (err) {
		close(fd);
		unlink(path);
		return err;
	}
	return fd;
}

/**
 * jf_folder_own() - make a folder that only this user may enter, or see that it is one
 * @path: of the folder
 *
 * Return: 0, -EPERM if it is another user's, a link, or others may enter it, or the error of a system call
 */
int jf_folder_own(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0700))
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return -EPERM;
	return 0;
}

/**
 * jf_path() - of a file in a folder
 * @buf:    is filled in
 * @size:   of @buf
 * @folder: the folder
 * @name:   the file
 *
 * Return: 0, -ENAMETOOLONG
 */
int jf_path(char *buf, size_t size, const char *folder, const char *name)
{
	size_t a = strlen(folder), b = strlen(name);

	if (a + b + 2 > size)
		return -ENAMETOOLONG;
	memcpy(buf, folder, a);
	buf[a] = '/';
	memcpy(buf + a + 1, name, b + 1);
	return 0;
}
