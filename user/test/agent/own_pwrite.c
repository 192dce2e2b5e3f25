// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program with a pwrite() of its own: calls of libc's come here, and its text changes while it
 * has one thread. With OF_OTHERS it is a sanitizer's. The program calls it once.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OF_OTHERS
static long counted;
static __attribute__((__noinline__)) void count(const void *from)
{
	counted += !!from;
}

ssize_t pwrite(int fd, const void *from, size_t num, off_t at)
{
	count(from);
	return syscall(SYS_pwrite64, fd, from, num, at);
}
#endif

int main(void)
{
	FILE *file = tmpfile();

	return !file || pwrite(fileno(file), "one", 3, 0) != 3;
}
