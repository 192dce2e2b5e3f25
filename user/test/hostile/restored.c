// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A process of several threads is restored from a file by a tool that does not know of
 * membarrier(): it is registered no more. Changes register it again.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <pthread.h>

#include "syscall.h"

DEFINE_JF_KEY_FALSE(key);

static int forgotten;

static int denied(long nr, const long *args)
{
	if (nr == SYS_membarrier && args[0] == REGISTER)
		forgotten = 0;
	return nr == SYS_membarrier && args[0] == SYNC_CORE && forgotten;
}

static void *waits(void *arg)
{
	pause();
	return arg;
}

int main(void)
{
	pthread_t t;
	int err;

	pthread_create(&t, NULL, waits, NULL);
	MUST(!jf_key_enable(&key), "enable");
	forgotten = 1;
	err = jf_key_disable(&key);
	MUST(!err && !jf_branch_unlikely(&key), "disable: %s", strerror(-err));
	return 0;
}
