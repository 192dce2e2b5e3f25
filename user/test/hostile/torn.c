// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * One write of text fails in the middle of a change, as for want of memory. What
 * is executed is the old or the new instruction all the same. In the end all fail from
 * the middle of a change on, and another writer takes over.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <pthread.h>
#include <stdint.h>

#include "pwrite.h"

DEFINE_JF_KEY_FALSE(key);

static int fail_at = -1, for_good, writes, failed;

static ssize_t instead(int fd, const void *bytes, size_t num, off_t at)
{
	if (fail_at >= 0 && (writes++ == fail_at || (for_good && writes > fail_at))) {
		failed++;
		errno = for_good ? EPERM : ENOMEM;
		return -1;
	}
	return real_pwrite(fd, bytes, num, at);
}

static volatile int stop;
static void *calls(void *arg)
{
	while (!stop)
		if (jf_branch_unlikely(&key))
			__asm__ volatile("nop");
	return arg;
}

/* One write is a number, one for the page, and the rest is in the middle. */
static void fails_for_good(void)
{
	struct jf_stats s;
	int err;

	for_good = 1;
	writes = 0;
	fail_at = 2;
	err = jf_key_enable(&key);
	jf_stats_get(&s, sizeof(s));
	/* The first of three steps can be taken back. */
	MUST(err == -EOPNOTSUPP && !jf_branch_unlikely(&key), "%s", strerror(-err));
	err = jf_key_enable(&key);
	jf_stats_get(&s, sizeof(s));
	MUST(!strcmp(s.writer, "remap"), "%s", s.writer);
	MUST(!err && jf_branch_unlikely(&key), "by another writer: %s", strerror(-err));
	err = jf_key_disable(&key);
	MUST(!err && !jf_branch_unlikely(&key), "by another writer: %s", strerror(-err));
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
	fails_for_good();
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
