// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

DEFINE_JF_KEY_FALSE(plugin_key);
static _Atomic int inside;

static void *waits(void *arg)
{
	jf_read_lock();
	inside = 1;
	if (!jf_branch_unlikely(&plugin_key))
		pause();
	jf_read_unlock();
	return arg;
}

void library_starts(void);
void library_starts(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waits, NULL);
	while (!inside)
		;
}
