// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * All keys are set by a pattern while objects come and go, and while other changes are under
 * way: an object that is closed in between is no longer one of them.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/list.h>
#include <pthread.h>
#include <time.h>

#include "plugin.h"

DEFINE_JF_KEY_FALSE(many);

#define ONE	n += jf_branch_unlikely(&many);
#define TEN(m)	m m m m m m m m m m

static __attribute__((__noinline__)) int run(void)
{
	int n = 0;

	TEN(TEN(TEN(ONE)))
	return n;
}

static _Atomic int stop;
static const char *program;

static void *opens(void *arg)
{
	while (!stop)
		MUST(!dlclose(open_plugin(program)), "%s", dlerror());
	return arg;
}

static void *changes(void *arg)
{
	while (!stop)
		MUST(!jf_key_enable(&many) && !jf_key_disable(&many), "a change");
	return arg;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + 3;
	int i, err = 0, found;
	pthread_t t[2];

	(void)argc;
	program = argv[0];
	MUST(!pthread_create(&t[0], NULL, opens, NULL) && !pthread_create(&t[1], NULL, changes, NULL),
	     "threads");
	for (i = 0; err >= 0 && time(NULL) < end; i++)
		err = jf_keys_set("*", i & 1);
	stop = 1;
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	MUST(err >= 0, "call %d: %s", i, strerror(-err));
	found = jf_keys_set("*", true);
	MUST(found == 1 && run() == 1000, "%d, %d sites", found, run());
	found = jf_keys_set("none*", true);
	MUST(found == -ENOENT, "%d", found);
	return 0;
}
