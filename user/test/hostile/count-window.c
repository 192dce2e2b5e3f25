// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The last user of a key with many sites goes where no text can be written, while another
 * thread counts without the lock. The one is refused, for that reason and no other, and
 * there is no moment at which the key seems to have another user.
 */
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <time.h>

#include "again.h"

DEFINE_JF_KEY_TRUE(key);

#define ONE	n += jf_branch_likely(&key);
#define TEN(m)	m m m m m m m m m m

static __attribute__((__noinline__)) int run(void)
{
	int n = 0;

	TEN(TEN(ONE))
	return n;
}

static _Atomic int stop;

static void *counts(void *arg)
{
	int err = 0;

	while (!stop) {
		/* While it has none this would wait for the lock. */
		if (!err && jf_key_count(&key) <= 0)
			continue;
		if (!err)
			MUST(!jf_key_inc(&key), "inc");
		err = jf_key_dec(&key);
		MUST(!err || err == -EOPNOTSUPP, "dec: %s", strerror(-err));
	}
	return arg;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + 3;
	pthread_t t;
	int err, refused = 0;

	(void)argc;
	must_have(argv, "JUMPFUNC", "off");
	MUST(!pthread_create(&t, NULL, counts, NULL), "thread");
	while (time(NULL) < end) {
		err = jf_key_dec(&key);
		refused += err == -EOPNOTSUPP;
		MUST(!err || err == -EOPNOTSUPP, "dec: %s", strerror(-err));
		if (!err)
			MUST(!jf_key_inc(&key), "inc");
	}
	stop = 1;
	pthread_join(t, NULL);
	MUST(refused && run() == 100 && jf_key_enabled(&key), "%d, %d sites", refused, run());
	return 0;
}
