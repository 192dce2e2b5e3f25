// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program for tools.sh to run under tools: a branch, a dynamic function, other
 * threads that run through both, and changes at the same time.
 * usage: tools_prog [CHANGES]
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

DEFINE_JF_KEY_FALSE(key);

static int first(int x)
{
	return x + 1;
}

static int second(int x)
{
	return x + 2;
}

DEFINE_DYNFUNC(op, first);

/* For gdb: a breakpoint goes there. */
void *site_address;
int stop;

__attribute__((noinline)) int step(int x)
{
	int way = 0;

	if (jf_branch_unlikely(&key))
		way = 10;
	return way + dynfunc_call(op, x);
}

/* Of each caller. */
static unsigned long wrong[2], calls[2];

static void *caller(void *arg)
{
	unsigned long nr = (unsigned long)arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		int got = step(1);

		/* Branch and function change together, a call may see the change. */
		if (got != 2 && got != 3 && got != 12 && got != 13)
			wrong[nr]++;
		__atomic_fetch_add(&calls[nr], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int change(int on)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &key, on);
	dynfunc_batch_set(&b, op, on ? second : first);
	return jf_batch_commit(&b);
}

int main(int argc, char **argv)
{
	long i, changes = argc > 1 ? atol(argv[1]) : 2;
	unsigned long stale = 0;
#ifdef JF_TESTED
	const struct jf_site_rec *rec = __start___jf_sites_now;
#else
	const struct jf_site_rec *rec = __start___jf_sites;
#endif
	struct jf_stats stats;
	pthread_t threads[2];
	int err = 0;

	while (!(rec->flags & JF_SITE_BRANCH))
		rec++;
	/* Where the instruction begins. */
	site_address = (char *)(uintptr_t)&rec->addr + rec->addr - !!(rec->flags & JF_SITE_PREFIX);
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, caller, (void *)i))
			return 1;
	for (i = 1; i <= changes && !err; i++) {
		err = change(i & 1);
		if (!err && step(1) != (i & 1 ? 13 : 2))
			stale++;
	}
	/* A busy machine may begin a caller after all changes: then there was nothing to see. */
	for (i = 0; i < 2; i++)
		while (__atomic_load_n(&calls[i], __ATOMIC_RELAXED) < 2)
			usleep(100);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	jf_stats_get(&stats, sizeof(stats));
	printf("changes %ld error %s stale %lu wrong %lu writer %s\n", changes,
	       err ? strerror(-err) : "none", stale, wrong[0] + wrong[1], stats.writer);
	return err || stale || wrong[0] || wrong[1];
}
