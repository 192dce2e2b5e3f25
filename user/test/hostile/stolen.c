// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * While keys change, another thread closes all descriptors that it does not know, and
 * opens a file of its own. Whichever number that gets, no text is written to the file, and
 * a change that says that it is done is done. Linked where addresses are small, so that
 * any file system would take the writes there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

#define ONE		n += jf_branch_unlikely(&key); __asm__ volatile(".skip 200, 0x90");
#define TEN(m)		m m m m m m m m m m
#define SITES		1000

static __attribute__((__noinline__)) int run(void)
{
	int n = 0;

	TEN(TEN(TEN(ONE)))
	return n;
}

static char data[] = "/tmp/jf-stolen-XXXXXX";
static _Atomic int stop, opened;

static void *closes(void *arg)
{
	int i, fds[8];

	while (!stop) {
		syscall(SYS_close_range, 3, ~0U, 0);
		for (i = 0; i < 8; i++)
			fds[i] = open(data, O_RDWR | O_CLOEXEC);
		opened += fds[7] >= 0;
		for (i = 0; i < 8; i++)
			close(fds[i]);
	}
	return arg;
}

int main(void)
{
	struct stat st;
	pthread_t t;
	int i, err, done = 0, fd = mkstemp(data);

	alarm(100);
	MUST(fd >= 0, "%m");
	pthread_create(&t, NULL, closes, NULL);
	for (i = 0; i < 3000; i++) {
		err = i & 1 ? jf_key_disable(&key) : jf_key_enable(&key);
		done += !err;
		MUST(err || run() == (i & 1 ? 0 : SITES), "%d of %d sites", run(), SITES);
		MUST(!stat(data, &st), "%m");
		if (st.st_size) {
			unlink(data);
			MUST(0, "change %d has written %lld bytes to a file", i, (long long)st.st_size);
		}
		MUST(!err, "change %d: %s", i, strerror(-err));
	}
	stop = 1;
	pthread_join(t, NULL);
	unlink(data);
	MUST(done && opened, "%d changes, %d files", done, opened);
	return 0;
}
