// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Text cannot be written to the end of a change. A user whose jf_key_inc() returned -EIO
 * counts, as every value does after that; any other error adds none. An object whose
 * constructor has thrown does not exist.
 */
#include <jumpfunc/key.hh>
#include <pthread.h>
#include <sys/wait.h>

#include "pwrite.h"
#include "writes.h"

DEFINE_JF_KEY_FALSE(key);

static int fail_from = -1, fail_with, writes;

static bool fails()
{
	errno = fail_with;
	return fail_from >= 0 && writes++ >= fail_from;
}

FAILING_PWRITE(fails())
FAILING_MREMAP(fails())

__attribute__((__noinline__)) static bool branch()
{
	return jf_branch_unlikely(&key);
}

static bool counts(int err)
{
	return !err || err == -EIO;
}

/* 2: there was an -EIO */
static int by_hand(int from)
{
	int users = 0, err, i, seen = 0;

	fail_from = from;
	for (i = 0; i < 3; i++) {
		writes = 0;
		err = jf_key_inc(&key);
		seen |= err == -EIO;
		users += counts(err);
		MUST(jf_key_count(&key) == users, "inc %d: %s, %d users", i, strerror(-err),
		     jf_key_count(&key));
	}
	for (i = 0; users; i++) {
		writes = 0;
		err = jf_key_dec(&key);
		seen |= err == -EIO;
		users -= counts(err);
		MUST(jf_key_count(&key) == users, "dec %d: %s, %d users", i, strerror(-err),
		     jf_key_count(&key));
		if (err)
			break;
	}
	return seen ? 2 : 0;
}

static int by_object(int from)
{
	bool thrown = false;
	int seen = 0;

	fail_from = from;
	try {
		jumpfunc::key_user user(key);

		MUST(jf_key_count(&key) == 1, "%d users", jf_key_count(&key));
	} catch (const std::system_error &e) {
		thrown = true;
		seen = e.code().value() == EIO ? 2 : 0;
	}
	if (thrown)
		MUST(!jf_key_count(&key), "write %d: %d users", from, jf_key_count(&key));
	return seen;
}

static void *waits(void *arg)
{
	pause();
	return arg;
}

static int in_child(int (*func)(int), int from)
{
	int status;
	pid_t p = fork();

	if (!p) {
		pthread_t t;

		alarm(10);
		pthread_create(&t, NULL, waits, NULL);
		MUST(!jf_key_enable(&key) && !jf_key_disable(&key) && !branch(), "at first");
		_exit(func(from));
	}
	waitpid(p, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	MUST(!status || status == 2, "write %d", from);
	return status;
}

int main()
{
	int i, seen = 0;

	for (i = 0; i < 12; i++) {
		fail_with = i & 1 ? ENOMEM : EPERM;
		seen |= in_child(by_hand, i / 2);
		seen |= in_child(by_object, i / 2);
	}
	if (!seen)
		printf("# not here\n");
	return 0;
}
