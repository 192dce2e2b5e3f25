// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Folders and files, by system calls alone: a signal handler may come here.
 *
 * Files that are needed after chroot() or setuid() are kept open (struct jf_kept), by a high
 * number, which programs do not expect to get. A program may close descriptors that it does not
 * know, and open something else: so each is compared before it is used, and a file that is not
 * there any more is opened again by its name.
 */
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * jf_close() - close a file
 * @fd: the file
 *
 * A thread can record before ThreadSanitizer knows that thread, and the close() of clang 19's
 * ThreadSanitizer crashes there. This is no cancellation point, either.
 */
void jf_close(int fd)
{
	syscall(SYS_close, fd);
}

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

/**
 * jf_file_writev() - write all of several pieces, one after the other
 * @fd:  the file
 * @v:   the pieces
 * @num: how many
 * @at:  where
 *
 * Return: as jf_file_write()
 */
int jf_file_writev(int fd, const struct iovec *v, int num, uint64_t at)
{
	size_t size = 0, done;
	ssize_t n;
	int i, err;

	for (i = 0; i < num; i++)
		size += v[i].iov_len;
	if (beyond_limit(at + size))
		return -EFBIG;
	do {
		n = pwritev(fd, v, num, (off_t)at);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	/* The rest, if there is any. */
	for (i = 0, done = (size_t)n; i < num; at += v[i++].iov_len) {
		if (done >= v[i].iov_len) {
			done -= v[i].iov_len;
			continue;
		}
		err = jf_file_write(fd, (const char *)v[i].iov_base + done, v[i].iov_len - done, at + done);
		if (err)
			return err;
		done = 0;
	}
	return 0;
}

/* Where it cannot be asked for, written data are there. */
static int write_zeros(int fd, size_t at, size_t size)
{
	static const char zeros[4096];
	int err;

	for (; at < size; at += sizeof(zeros)) {
		err = jf_file_write(fd, zeros, sizeof(zeros), at);
		if (err)
			return err;
	}
	return 0;
}

static bool is_kept(const struct jf_kept *k)
{
	struct stat st;

	return k->ino && !fstat(k->fd, &st) && st.st_dev == k->dev && st.st_ino == k->ino;
}

/**
 * jf_kept_drop() - keep it no longer
 * @k: what
 */
void jf_kept_drop(struct jf_kept *k)
{
	if (is_kept(k))
		jf_close(k->fd);
	memset(k, 0, sizeof(*k));
}

/**
 * jf_kept_take() - keep a file or a folder
 * @k:  set to it; its former file is dropped
 * @fd: of it
 *
 * Return: @fd, or another descriptor in its place; if that is not kept, as it can have no high
 * number, jf_kept_done() closes it
 */
struct jf_used jf_kept_take(struct jf_kept *k, int fd)
{
	struct jf_used used = { fd, true };
	struct stat st;
	int high;

	jf_kept_drop(k);
	if (fstat(fd, &st))
		return used;
	k->dev = st.st_dev;
	k->ino = st.st_ino;
	k->fd = -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, JF_FIRST_FD);
	if (high < 0)
		return used;
	jf_close(fd);
	k->fd = high;
	return (struct jf_used){ high, false };
}

/**
 * jf_kept_open() - a folder, to be used for a moment
 * @k:    the kept folder
 * @path: of the folder, if it has to be opened
 *
 * With the lock that @k is for. The descriptor may be used without it, and jf_kept_done() is to be
 * called then.
 *
 * Return: its descriptor, -ENOENT if another folder has that name, or the error of open()
 */
struct jf_used jf_kept_open(struct jf_kept *k, const char *path)
{
	struct stat st;
	int fd;

	if (is_kept(k))
		return (struct jf_used){ k->fd, false };
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return (struct jf_used){ -errno, false };
	if (k->ino && (fstat(fd, &st) || st.st_dev != k->dev || st.st_ino != k->ino)) {
		jf_close(fd);
		return (struct jf_used){ -ENOENT, false };
	}
	/* The program has closed it. */
	k->ino = 0;
	return jf_kept_take(k, fd);
}

/**
 * jf_kept_done() - it was used
 * @used: as jf_kept_open() or jf_kept_take() has returned it
 */
void jf_kept_done(struct jf_used used)
{
	if (used.own)
		jf_close(used.fd);
}

/**
 * jf_file_extend() - allocate space in a file, for later writes by way of a mapping
 * @fd:   of the file, whose content stays
 * @size: that it has then, a multiple of 4096; not less than before
 *
 * The room is taken here: a store into a page for which a full disk has none is SIGBUS.
 *
 * Return: 0, -EFBIG, or the error of a system call
 */
int jf_file_extend(int fd, size_t size)
{
	struct stat st;
	int err;

	if (beyond_limit(size))
		return -EFBIG;
	do {
		err = fallocate(fd, 0, 0, (off_t)size) ? -errno : 0;
	} while (err == -EINTR);
	if (err != -EOPNOTSUPP && err != -ENOSYS)
		return err;
	return fstat(fd, &st) ? -errno : write_zeros(fd, (size_t)st.st_size, size);
}

/**
 * jf_file_make() - make a file with space for later writes by way of a mapping
 * @dir:  in which folder
 * @name: of it, which no other file has for good
 * @size: a multiple of 4096
 *
 * Its room is taken, as jf_file_extend() does it.
 *
 * Return: its descriptor, -EFBIG, or the error of a system call; then it is not there
 */
int jf_file_make(int dir, const char *name, size_t size)
{
	int fd, err;

	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* One that was killed here, a child of vfork(), has left it. */
	if (fd < 0 && errno == EEXIST && !unlinkat(dir, name, 0))
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = jf_file_extend(fd, size);
	if (err) {
		jf_close(fd);
		unlinkat(dir, name, 0);
		return err;
	}
	return fd;
}

/**
 * jf_folder_own() - make a folder that only this user may enter, or see that it is one
 * @path: of the folder
 *
 * Return: 0, -EPERM if it is another user's, a link, or others may enter it, or the error of a
 * system call
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

static bool take_number(const char **at, unsigned int *number)
{
	const char *p = *at;

	for (*number = 0; *p >= '0' && *p <= '9' && *number < 100000000; p++)
		*number = *number * 10 + (unsigned int)(*p - '0');
	if (p == *at)
		return false;
	*at = p;
	return true;
}

/**
 * jf_packet_file() - is this the name of a file of packets
 * @name: a file of a trace: "r5-2", as the recorder writes it, or "r5" of a copy
 * @ring: is set to the number of the ring
 * @nr:   is set to the number of the file, 0 in a copy; NULL: not asked for
 *
 * The folder of a program that is called r has a name like "r-4711-1".
 */
bool jf_packet_file(const char *name, unsigned int *ring, unsigned int *nr)
{
	unsigned int number = 0;
	bool is_one;

	if (*name++ != 'r' || !take_number(&name, ring))
		return false;
	is_one = !*name || (*name++ == '-' && take_number(&name, &number) && !*name);
	if (nr)
		*nr = number;
	return is_one;
}
