// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Shared objects that are opened and closed: their sites, data that stays after them, and those
 * that libjumpfunc does not accept. And fork(), with and without threads: the child's text is its
 * own.
 *
 * usage: test_lib_dl PLUGIN OTHER-PLUGIN BAD-PLUGIN GREEDY-PLUGIN
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/stats.h>

#include "tap.h"
#include "test_lib_plugin.h"

static const char *paths[4];

DEFINE_JF_KEY_FALSE(shared_name);
static int plain(int x) { return x; }
DEFINE_DYNFUNC(op, plain);
DECLARE_JF_TRACE(event, JF_PROTO(int x), JF_ARGS(x));
DEFINE_JF_TRACE(event);

DEFINE_JF_KEY_FALSE(host_key);
EXPORT_JF_KEY(host_key);
DEFINE_DYNFUNC_RET0(host_op, plain);
EXPORT_DYNFUNC(host_op);

/* One of these two is a fourth one for an importer that does not count. */
DEFINE_JF_KEY_TRUE(before_keys);
DEFINE_JF_KEY_ARRAY_FALSE(host_keys, 3);
EXPORT_JF_KEY_ARRAY(host_keys);
DEFINE_JF_KEY_TRUE(after_keys);
DEFINE_JF_TRACE(host_event);
EXPORT_JF_TRACE(host_event);

static int set_target(int (*func)(int))
{
	return dynfunc_update(op, func);
}

static int add_probe(void (*func)(void *data, int x), void *data)
{
	return register_jf_trace_event(func, data);
}

static const struct host host = { set_target, add_probe };

__attribute__((__noinline__)) static int branch(void)
{
	return jf_branch_unlikely(&shared_name);
}

static struct jf_stats stats(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s;
}

static const struct plugin *plugin_open(const char *path, void **handle)
{
	const struct plugin *p;

	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	p = *handle ? dlsym(*handle, "plugin") : NULL;
	if (!p) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	return p;
}

static void opened_and_closed(void)
{
	struct jf_stats before = stats(), with;
	const struct plugin *p, *q;
	void *handle, *other;

	p = plugin_open(paths[0], &handle);
	with = stats();
	CHECK(with.objects == before.objects + 1 && with.keys == before.keys + 7 &&
	      with.funcs == before.funcs + 3 &&
	      with.sites >= before.sites + (JF_HAVE_PATCHING ? 4 : 0),
	      "what came with it");
	/* A trampoline. Its branches are right as compiled. */
	CHECK(!strcmp(with.writer, "none") || with.patched > before.patched,
	      "its sites were not patched");
	CHECK(p->branch() == 0 && p->func(5) == 10, "as initialised");
	CHECK(jf_key_enable(&shared_name) == 0 && branch() && p->branch() == 0,
	      "keys of the same name");
	CHECK(p->set(1) == 0 && p->branch() == 1 && p->func(5) == 15, "set");

	q = plugin_open(paths[1], &other);
	CHECK(q->branch() == 0 && q->func(5) == 10, "another one has its own");
	CHECK(p->set(0) == 0 && q->set(1) == 0, "set both");
	CHECK(p->branch() == 0 && q->branch() == 1, "both");
	CHECK(dlclose(other) == 0, "dlclose");
	CHECK(p->branch() == 0 && p->set(1) == 0 && p->branch() == 1, "the first one stays");
	CHECK(dlclose(handle) == 0, "dlclose");
	CHECK(stats().objects == before.objects && stats().sites == before.sites &&
	      stats().keys == before.keys, "what is left");
	CHECK(jf_key_disable(&shared_name) == 0 && !branch(), "disable");
}

/* A key and a function of the program, with sites in two plugins. */
static void imports(void)
{
	const struct plugin *p, *q;
	void *handle, *other;

	CHECK(jf_key_inc(&host_key) == 0, "inc");
	p = plugin_open(paths[0], &handle);
	CHECK(p->imported(5) == 300, "it comes with the present values");
	q = plugin_open(paths[1], &other);
	CHECK(dynfunc_update(host_op, plain) == 0 && p->imported(5) == 305 &&
	      q->imported(5) == 305, "the program changes it for all");
	CHECK(p->import_set(1) == 0 && jf_key_count(&host_key) == 2 &&
	      q->imported(5) == 315 && dynfunc_host_op(5) == 15, "a plugin does");
	CHECK(dlclose(other) == 0, "dlclose");
	CHECK(p->import_set(0) == 0 && jf_key_dec(&host_key) == 0 &&
	      p->imported(5) == 0 && !dynfunc_query(host_op) && !p->import_query(), "off");
	CHECK(p->import_set(1) == 0 && p->import_query() && dlclose(handle) == 0, "dlclose");
	CHECK(dynfunc_host_op(5) == 0 && !dynfunc_query(host_op), "its target is gone");
	CHECK(jf_key_count(&host_key) == 1 && jf_key_dec(&host_key) == 0, "its user is not");
}

static int array(void)
{
	return (jf_branch_unlikely(&host_keys[0]) ? 1 : 0) |
	       (jf_branch_likely(&host_keys[1]) ? 2 : 0) |
	       (jf_branch_unlikely(&host_keys[2]) ? 4 : 0);
}

static void imported_arrays(void)
{
	const struct plugin *p, *q;
	void *handle, *other;
	int i;

	CHECK(jf_key_enable(&host_keys[1]) == 0, "enable");
	p = plugin_open(paths[0], &handle);
	q = plugin_open(paths[1], &other);
	CHECK(array() == 2 && p->array() == 2 && q->array() == 2, "the present values");
	for (i = 0; i < 8; i++) {
		CHECK(p->array_set(0, i & 1) == 0 && q->array_set(1, i & 2) == 0 &&
		      (i & 4 ? jf_key_enable(&host_keys[2]) :
			       jf_key_disable(&host_keys[2])) == 0, "set");
		CHECK(array() == i && p->array() == i && q->array() == i,
		      "%d: %d %d %d", i, array(), p->array(), q->array());
	}
	CHECK(dlclose(handle) == 0 && q->array() == 7, "dlclose");
	for (i = 0; i < 3; i++)
		CHECK(q->array_set(i, 0) == 0, "off");
	CHECK(array() == 0 && q->array() == 0 && dlclose(other) == 0, "off");
}

static void host_probe(void *data, int x, const char *s)
{
	*(int *)data += s[0] == 'x' ? x : -1;
}

static void imported_traces(void)
{
	const struct plugin *p, *q;
	void *handle, *other;
	int sum = 0;

	CHECK(register_jf_trace_host_event(host_probe, &sum) == 0, "register");
	p = plugin_open(paths[0], &handle);
	q = plugin_open(paths[1], &other);
	CHECK(p->fire(1) == 1 && q->fire(2) == 1 && sum == 3, "they find it on: %d", sum);
	CHECK(p->watch(1) == 0 && p->watch(1) == -EEXIST && q->watch(1) == 0, "watch");
	jf_trace_host_event(4, "x");
	CHECK(q->fire(8) == 1 && sum == 15 && *p->seen == 12 && *q->seen == 12,
	      "%d %d %d", sum, *p->seen, *q->seen);
	CHECK(unregister_jf_trace_host_event(host_probe, &sum) == 0, "unregister");
	/* It goes without a word, and its probe with it. */
	CHECK(dlclose(other) == 0 && p->fire(16) == 1 && *p->seen == 28, "dlclose");
	CHECK(p->watch(0) == 0 && p->watch(0) == -ENOENT && p->fire(32) == 0 &&
	      !jf_trace_host_event_enabled() && *p->seen == 28 && sum == 15, "off");
	CHECK(p->watch(1) == 0 && dlclose(handle) == 0, "dlclose");
	CHECK(!jf_trace_host_event_enabled(), "the probe is gone");
	jf_trace_host_event(64, "x");
	CHECK(sum == 15, "off");
}

/* It goes without a word: nothing may lead into it any more. */
static void left_behind(void)
{
	const struct plugin *p;
	void *handle;
	int i;

	for (i = 0; i < 3; i++) {
		p = plugin_open(paths[0], &handle);
		CHECK(p->init(&host) == 0, "init");
		CHECK(dynfunc_op(1) == 1001 && jf_trace_event_enabled(), "in use");
		jf_trace_event(7);
		CHECK(dlclose(handle) == 0, "dlclose");
		CHECK(dynfunc_query(op) == (void *)(uintptr_t)plain, "the target");
		CHECK(dynfunc_op(1) == 1, "the fall-back");
		CHECK(!jf_trace_event_enabled(), "the probe");
		jf_trace_event(7);
	}
}

static void refused(const char *path)
{
	struct jf_stats before = stats();
	const struct plugin *p;
	void *handle;

	p = plugin_open(path, &handle);
	CHECK(stats().refused == before.refused + 1, "it was not refused");
	CHECK(stats().sites == before.sites, "it has sites");
	CHECK(p->branch() == 0 && p->func(5) == 10, "as compiled it is correct");
	CHECK(p->set(1) == -ENODEV && p->branch() == 0, "a change");
	CHECK(dlclose(handle) == 0, "dlclose");
}

static void *sleeper(void *arg)
{
	pause();
	return arg;
}

static uint64_t syncs_of(int (*change)(struct jf_key *key))
{
	uint64_t before = stats().syncs;

	CHECK(change(&host_key) == 0, "change");
	return stats().syncs - before;
}

static void with_threads(void)
{
	/* Its branches go both ways. */
	unsigned int syncs = !strcmp(stats().form, "flip") ? 4 : !strcmp(stats().form, "store") ? 2 : 3;
	uint64_t before = stats().patched, on, off;
	const struct plugin *p;
	pthread_t t;
	void *handle;
	int i;

	must(-pthread_create(&t, NULL, sleeper, NULL), "a thread");
	p = plugin_open(paths[0], &handle);
	CHECK(!strcmp(stats().writer, "none") || stats().patched > before,
	      "its sites were not patched");
	CHECK(p->branch() == 0 && p->func(5) == 10 && p->imported(5) == 0, "as initialised");
	for (i = 0; i < 4; i++) {
		on = syncs_of(jf_key_enable);
		CHECK(p->imported(5) == 300, "on, round %d", i);
		off = syncs_of(jf_key_disable);
		CHECK(p->imported(5) == 0, "off, round %d", i);
		CHECK(p->set(1) == 0 && p->branch() == 1 && p->func(5) == 15, "set");
		CHECK(p->set(0) == 0 && p->branch() == 0 && p->func(5) == 10, "set back");
	}
	CHECK(!strcmp(stats().writer, "none") || (on == syncs && off == on),
	      "%d and %d broadcasts", (int)on, (int)off);
	pthread_cancel(t);
	pthread_join(t, NULL);
	CHECK(dlclose(handle) == 0, "dlclose");
}

/* --- fork --------------------------------------------------------------------- */

static int stop;
static const struct plugin *spinning;

static void *spin(void *arg)
{
	(void)arg;
	return (void *)spinning->spin(&stop);
}

/* In the child: everything works, and is its own. */
static int child(const struct plugin *p)
{
	static int sum;
	pthread_t t;
	void *wrong;
	int i;

	stop = 0;
	if (pthread_create(&t, NULL, spin, NULL))
		return 10;
	for (i = 0; i < 200; i++)
		if (p->set(i & 1) || p->branch() != (i & 1) || p->func(1) != 2 + (i & 1))
			return 11;
	if (jf_key_enable(&shared_name) || !branch())
		return 12;
	if (p->init(&host) || dynfunc_op(1) != 1001)
		return 13;
	jf_trace_event(sum);
	stop = 1;
	pthread_join(t, &wrong);
	if (wrong)
		return 14;
	jf_quiesce();
	return 0;
}

static void forks(bool threads)
{
	const struct plugin *p;
	pthread_t t;
	void *handle, *wrong = NULL;
	int i, status;
	pid_t pid;

	spinning = p = plugin_open(paths[0], &handle);
	stop = 0;
	if (threads)
		must(-pthread_create(&t, NULL, spin, NULL), "a thread");
	for (i = 0; i < 10; i++) {
		CHECK(p->set(i & 1) == 0, "set");
		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(child(p));
		/* In the parent, at the same time. */
		CHECK(p->set(!(i & 1)) == 0 && p->branch() == !(i & 1), "the parent's");
		waitpid(pid, &status, 0);
		CHECK(status == 0, "the child ends with %#x", status);
		CHECK(p->branch() == !(i & 1), "the child has changed the parent's key");
		CHECK(!branch() && dynfunc_op(1) == 1 && !jf_trace_event_enabled(),
		      "the child has changed the parent");
		CHECK(p->func(1) == 2 + !(i & 1), "the parent's function");
	}
	stop = 1;
	if (threads)
		pthread_join(t, &wrong);
	CHECK(!wrong, "the thread met something wrong");
	CHECK(dlclose(handle) == 0, "dlclose");
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* A child that closes all files, and opens others: no byte of them is ours. */
static void files_closed(void)
{
	char path[] = "/tmp/test_lib_dl.XXXXXX";
	int fd = mkstemp(path), i, bad = 0, status;
	char text[64];
	pid_t pid;

	CHECK(jf_key_enable(&shared_name) == 0 && jf_key_disable(&shared_name) == 0, "set");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (i = 3; i < 64; i++)
			dup2(fd, i);
		bad |= jf_key_enable(&shared_name) || !branch();
		bad |= jf_key_disable(&shared_name) || branch();
		bad |= lseek(64 - 1, 0, SEEK_END) != 0;
		_exit(bad);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0, "status %#x", status);
	CHECK(pread(fd, text, sizeof(text), 0) == 0, "text went to a file");
	/* Also without a fork. */
	for (i = 3; i < 64; i++)
		if (i != fd)
			dup2(fd, i);
	CHECK(jf_key_enable(&shared_name) == 0 && branch(), "enable");
	CHECK(jf_key_disable(&shared_name) == 0 && !branch(), "disable");
	CHECK(pread(fd, text, sizeof(text), 0) == 0, "text went to a file");
	for (i = 3; i < 64; i++)
		if (i != fd) {
			CHECK(is_same_file(i, fd), "file %d is another one now", i);
			close(i);
		}
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fputs("usage: test_lib_dl PLUGIN OTHER-PLUGIN BAD-PLUGIN GREEDY-PLUGIN\n", stderr);
		return 2;
	}
	memcpy(paths, argv + 1, sizeof(paths));
	opened_and_closed();
	finish("dlopen, dlclose: sites come and go");
	imports();
	finish("keys and functions of another object");
	imported_arrays();
	finish("arrays of keys of another object");
	imported_traces();
	finish("tracepoints of another object");
	left_behind();
	finish("dlclose: what leads into it falls back");
	refused(paths[2]);
	finish("tables of another version are refused");
	refused(paths[3]);
	finish("one that imports more keys than there are is refused");
	with_threads();
	finish("dlopen in a program with threads");
	forks(false);
	finish("fork: parent and child have text of their own");
	/* qemu-user 7.2 ends the child of a process that has threads. */
	if (!getenv("JF_TEST_EMULATED")) {
		forks(true);
		finish("fork of a program with threads");
	}
	files_closed();
	finish("a program that closes our file is not written to");
	return tap_end();
}
