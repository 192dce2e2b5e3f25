// SPDX-License-Identifier: GPL-2.0
/*
 * One write of text fails in the middle of a change, as for want of memory. What
 * is executed is the old or the new instruction all the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <stdint.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static int fail_at = -1, writes, failed;

/* Stands in front of libc's. */
ssize_t pwrite(int fd, const void *bytes, size_t num, off_t at);
ssize_t pwrite(int fd, const void *bytes, size_t num, off_t at)
{
	static ssize_t (*real)(int, const void *, size_t, off_t);

	if (!real)
		real = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	if (fail_at >= 0 && writes++ == fail_at) {
		failed++;
		errno = ENOMEM;
		return -1;
	}
	return real(fd, bytes, num, at);
}

static volatile int stop;
static void *calls(void *arg)
{
	while (!stop)
		if (jf_branch_unlikely(&key))
			__asm__ volatile("nop");
	return arg;
}

int main(void)
{
	pthread_t t;
	int i, err, is;

	alarm(20);
	pthread_create(&t, NULL, calls, NULL);
	usleep(1000);
	for (i = 0; i < 40; i++) {
		writes = 0;
		fail_at = i;
		err = i & 1 ? jf_key_disable(&key) : jf_key_enable(&key);
		fail_at = -1;
		is = jf_branch_unlikely(&key);
		MUST(!err || err == -ENOMEM, "write %d: %s", i, strerror(-err));
		MUST(is == jf_key_enabled(&key), "write %d: %s", i, strerror(-err));
		usleep(1000);
	}
	MUST(failed >= 3, "%d writes failed", failed);
	err = jf_key_enable(&key);
	MUST(!err && jf_branch_unlikely(&key), "afterwards: %s", strerror(-err));
	err = jf_key_disable(&key);
	MUST(!err && !jf_branch_unlikely(&key), "afterwards: %s", strerror(-err));
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
