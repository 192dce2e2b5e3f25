// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tests of libjumpfunc: keys that many threads count. While a thread is a user, the branch
 * is on, whatever others do; a key that has users is counted without the lock; the count of
 * a key that was imported is that of the exporter's, also while its importers come and go.
 *
 * usage: test_lib_count PLUGIN [MILLISECONDS]	a plugin of test_lib_dl.c
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/branch.h>

#include "tap.h"
#include "test_lib_plugin.h"

/* The plugin's imports. */
static int one(int x) { return x + 1; }
DEFINE_JF_KEY_FALSE(host_key);
EXPORT_JF_KEY(host_key);
DEFINE_JF_KEY_ARRAY_FALSE(host_keys, 3);
EXPORT_JF_KEY_ARRAY(host_keys);
DEFINE_DYNFUNC_RET0(host_op, one);
EXPORT_DYNFUNC(host_op);
DEFINE_JF_TRACE(host_event);
EXPORT_JF_TRACE(host_event);

static DEFINE_JF_KEY_FALSE(key);
static DEFINE_JF_KEY_FALSE(never_shared);

/* --- without the lock ---------------------------------------------------------------- */

/*
 * A thread that takes the lock blocks signals. The library's calls come here, in front of libc's,
 * if it is a shared object of its own.
 */
static _Atomic unsigned long blocked;

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	static int (*next)(int how, const sigset_t *set, sigset_t *old);

	if (!next)
		next = (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT, "pthread_sigmask");
	blocked++;
	return next(how, set, old);
}

static void without_lock(void)
{
	unsigned long before = blocked;
	int i;

	CHECK(jf_key_inc(&never_shared) == 0 && blocked > before, "the first user takes it");
	before = blocked;
	for (i = 0; i < 1000; i++)
		CHECK(jf_key_inc(&never_shared) == 0, "inc");
	CHECK(jf_key_count(&never_shared) == 1001, "%d users", jf_key_count(&never_shared));
	for (i = 0; i < 1000; i++)
		CHECK(jf_key_dec(&never_shared) == 0, "dec");
	CHECK(blocked == before, "the lock was taken %lu times", (blocked - before) / 2);
	CHECK(jf_branch_unlikely(&never_shared) && jf_key_dec(&never_shared) == 0 && blocked > before &&
	      !jf_branch_unlikely(&never_shared), "the last user takes it");
	CHECK(jf_key_dec(&never_shared) == -EINVAL, "one too many");
}

/* A change that fails gives back the users that it took away first. */
static void given_back(void)
{
	struct jf_batch b;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK(jf_key_enable(&never_shared) == 0 && jf_key_inc(&key) == 0 && jf_key_inc(&key) == 0, "on");
		jf_batch_init(&b);
		if (i)
			jf_key_batch_set(&b, &never_shared, false);
		jf_key_batch_set(&b, &key, false);
		if (!i)
			jf_key_batch_set(&b, &never_shared, false);
		CHECK(jf_batch_commit(&b) == -EBUSY, "two users");
		CHECK(jf_key_count(&never_shared) == 1 && jf_branch_unlikely(&never_shared), "%d users",
		      jf_key_count(&never_shared));
		CHECK(jf_key_inc(&never_shared) == 0 && jf_key_count(&never_shared) == 2, "counted");
		CHECK(jf_key_dec(&never_shared) == 0 && jf_key_dec(&never_shared) == 0, "off");
		CHECK(jf_key_dec(&key) == 0 && jf_key_dec(&key) == 0 && !jf_key_enabled(&key), "off");
	}
}

/* --- storms --------------------------------------------------------------------------- */

static int stop;

/* Each round: a user, which finds the branch on. It may be the first and the last one. */
static void *users(void *arg)
{
	uintptr_t wrong = 0, rounds = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		wrong += jf_key_inc(&key) != 0;
		wrong += !jf_branch_unlikely(&key) || !jf_branch_likely(&key) || jf_key_count(&key) < 1;
		if (rounds++ % 3 == 0) {
			wrong += jf_key_inc(&key) != 0;
			wrong += jf_key_dec(&key) != 0;
		}
		wrong += jf_key_dec(&key) != 0;
	}
	return (void *)wrong;
}

/* Off is refused while there are users, or follows the last one. */
static void *disables(void *arg)
{
	uintptr_t wrong = 0;
	struct jf_batch b;
	int err;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		jf_batch_init(&b);
		jf_key_batch_set(&b, &never_shared, true);
		jf_key_batch_set(&b, &host_keys[0], true);
		wrong += jf_batch_commit(&b) != 0;
		jf_batch_init(&b);
		jf_key_batch_set(&b, &never_shared, false);
		jf_key_batch_set(&b, &host_keys[0], false);
		err = jf_batch_commit(&b);
		wrong += err != 0;
		wrong += jf_key_enabled(&never_shared) || jf_key_count(&never_shared);
	}
	return (void *)wrong;
}

static void *count_host(void *arg)
{
	uintptr_t wrong = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		wrong += jf_key_inc(&host_key) != 0;
		wrong += !jf_branch_unlikely(&host_key);
		wrong += jf_key_dec(&host_key) != 0;
	}
	return (void *)wrong;
}

/* The same by way of a plugin, which comes and goes. */
static void *count_imported(void *path)
{
	uintptr_t wrong = 0;
	const struct plugin *p;
	void *handle;
	int i;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		p = handle ? dlsym(handle, "plugin") : NULL;
		if (!p)
			return (void *)1;
		for (i = 0; i < 50; i++) {
			wrong += p->array_set(1, 1) != 0 || p->array() != 2;
			wrong += p->array_set(1, 0) != 0 || (p->array() & 2);
			wrong += jf_key_inc(&host_key) != 0;
			wrong += p->imported(0) < 300;
			wrong += jf_key_dec(&host_key) != 0;
		}
		dlclose(handle);
	}
	return (void *)wrong;
}

static void storm(unsigned int ms, unsigned int nr, void *(*const func[])(void *arg), void *arg)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	pthread_t thread[4];
	unsigned int i;
	void *wrong;

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (i = 0; i < nr; i++)
		must(-pthread_create(&thread[i], NULL, func[i], arg), "a thread");
	nanosleep(&t, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < nr; i++) {
		pthread_join(thread[i], &wrong);
		CHECK(!wrong, "thread %u: wrong %lu times", i, (unsigned long)(uintptr_t)wrong);
	}
}

/* The plugin's own count of an imported key, after all others have counted. */
static void imported(unsigned int ms, char *path)
{
	static void *(*const first[])(void *) = { count_host, count_host, count_imported };
	void *handle;
	const struct plugin *p;

	storm(ms, 3, first, path);
	CHECK(jf_key_count(&host_key) == 0 && !jf_key_enabled(&host_key), "%d users", jf_key_count(&host_key));
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	p = handle ? dlsym(handle, "plugin") : NULL;
	CHECK(p, "dlopen");
	storm(ms, 2, first, path);
	CHECK(jf_key_count(&host_key) == 0 && p->import_count() == 0, "%d users", p->import_count());
	CHECK(jf_key_inc(&host_key) == 0 && jf_key_inc(&host_key) == 0 && p->import_count() == 2, "%d users",
	      p->import_count());
	CHECK(p->import_set(0) == 0 && jf_key_count(&host_key) == 1 && p->import_count() == 1, "the plugin counts");
	CHECK(jf_key_dec(&host_key) == 0 && p->import_count() == 0 && dlclose(handle) == 0, "the end");
}

int main(int argc, char **argv)
{
	static void *(*const first[])(void *) = { users, users, users, disables };
	unsigned int ms = argc > 2 ? (unsigned int)atoi(argv[2]) : 300;

	if (argc < 2) {
		fputs("usage: test_lib_count PLUGIN [MILLISECONDS]\n", stderr);
		return 2;
	}
	without_lock();
	finish("a key with users is counted without the lock");
	given_back();
	finish("a change that fails leaves the count");
	storm(ms, 4, first, NULL);
	CHECK(jf_key_count(&key) == 0 && !jf_branch_unlikely(&key), "%d users", jf_key_count(&key));
	finish("while a thread is a user the branch is on");
	imported(ms, argv[1]);
	finish("a key that others import");
	return tap_end();
}
