// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tests of libjumpfunc: the list of entities, changes by name, keys that the environment enables,
 * and probes in batches. A C++ compiler takes this file, too.
 *
 * usage: test_lib_list PLUGIN [PLUGIN2]	plugins of test_lib_dl.c
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/list.h>
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>

#include "tap.h"
#ifdef __cplusplus
#define BEGIN_C	extern "C" {
#define END_C	}
#else
#define BEGIN_C
#define END_C
#endif
BEGIN_C
#include "test_lib_plugin.h"
END_C

static char *const *arguments;

DEFINE_JF_KEY_FALSE(debug_rx);
DEFINE_JF_KEY_FALSE(debug_tx);
EXPORT_JF_KEY(debug_tx);
DEFINE_JF_KEY_TRUE(fast);
static DEFINE_JF_KEY_FALSE(other);

static int one(int x) { return x + 1; }
static int two(int x) { return x + 2; }
DEFINE_DYNFUNC(op, one);
EXPORT_DYNFUNC(op);
DEFINE_DYNFUNC_RET0(filter, one);

DECLARE_JF_TRACE(rx, JF_PROTO(int x), JF_ARGS(x));
DEFINE_JF_TRACE(rx);
DECLARE_JF_TRACE(tx, JF_PROTO(int x, long y), JF_ARGS(x, y));
DEFINE_JF_TRACE(tx);
EXPORT_JF_TRACE(tx);

/* The plugin's imports. */
DEFINE_JF_KEY_FALSE(host_key);
EXPORT_JF_KEY(host_key);
DEFINE_DYNFUNC_RET0(host_op, one);
EXPORT_DYNFUNC(host_op);
DEFINE_JF_TRACE(host_event);
EXPORT_JF_TRACE(host_event);
DECLARE_JF_KEY_ARRAY(host_keys, 3);

__attribute__((__noinline__)) static int branches(void)
{
	return (jf_branch_unlikely(&debug_rx) ? 1 : 0) | (jf_branch_unlikely(&debug_tx) ? 2 : 0) |
	       (jf_branch_likely(&fast) ? 4 : 0) | (jf_branch_unlikely(&other) ? 8 : 0);
}

/* --- the list ------------------------------------------------------------------------ */

/* The names to look for, and the results. */
struct look {
	const char	*name;
	enum jf_kind	kind;
	unsigned int	num;
	struct jf_info	info;
	char		object[256];
};

static int look_at(const struct jf_info *i, void *arg)
{
	struct look *l = (struct look *)arg;

	if (i->kind != l->kind || strcmp(i->name, l->name))
		return 0;
	l->num++;
	l->info = *i;
	snprintf(l->object, sizeof(l->object), "%s", i->object);
	return 0;
}

static struct look look_for(enum jf_kind kind, const char *name)
{
	struct look l;

	memset(&l, 0, sizeof(l));
	l.kind = kind;
	l.name = name;
	CHECK(jf_list(look_at, &l) == 0, "the list");
	return l;
}

static const char *file_of(const struct look *l)
{
	const char *slash = strrchr(l->object, '/');

	return slash ? slash + 1 : l->object;
}

static void probe_rx(void *data, int x) { *(long *)data += x; }
static void probe_rx2(void *data, int x) { *(long *)data += 1000 * x; }
static void probe_tx(void *data, int x, long y) { *(long *)data += x + y; }

static int no_more(const struct jf_info *i, void *arg)
{
	(void)i;
	return ++*(int *)arg == 3 ? 42 : 0;
}

static void listed(void)
{
	const char *self = strrchr(arguments[0], '/') ? strrchr(arguments[0], '/') + 1 : arguments[0];
	size_t least = JF_HAVE_PATCHING ? 1 : 0;
	struct look l = look_for(JF_KIND_KEY, "debug_tx");
	long seen = 0;
	int num = 0;

	CHECK(l.num == 1 && l.info.exported && !l.info.on && l.info.users == 0 &&
	      l.info.num == 1 && l.info.nth == 0 && l.info.key == &debug_tx && !l.info.target, "debug_tx");
	CHECK(l.info.sites >= least && (least || !l.info.sites), "%zu sites", l.info.sites);
	CHECK(!strcmp(file_of(&l), self), "its object is %s", l.object);
	l = look_for(JF_KIND_KEY, "debug_rx");
	CHECK(l.num == 1 && !l.info.exported, "debug_rx");
	l = look_for(JF_KIND_KEY, "fast");
	CHECK(l.num == 1 && l.info.on && l.info.users == 1, "fast");
	CHECK(jf_key_inc(&fast) == 0, "inc");
	CHECK(look_for(JF_KIND_KEY, "fast").info.users == 2 && jf_key_dec(&fast) == 0, "its users");
	l = look_for(JF_KIND_FUNC, "op");
	CHECK(l.num == 1 && l.info.on && l.info.exported && l.info.target == (void *)(uintptr_t)one, "op");
	l = look_for(JF_KIND_FUNC, "filter");
	CHECK(l.num == 1 && !l.info.on && !l.info.exported && !l.info.target, "filter");
	l = look_for(JF_KIND_TRACE, "tx");
	CHECK(l.num == 1 && !l.info.on && l.info.exported && l.info.users == 0, "tx");
	l = look_for(JF_KIND_TRACE, "rx");
	CHECK(l.num == 1 && !l.info.exported, "rx");
	CHECK(register_jf_trace_rx(probe_rx, &seen) == 0 && register_jf_trace_rx(probe_rx2, &seen) == 0, "probes");
	jf_trace_rx(1);
	CHECK(seen == 1001, "%ld", seen);
	l = look_for(JF_KIND_TRACE, "rx");
	CHECK(l.info.on && l.info.users == 2 && l.info.sites >= least, "rx with two probes");
	CHECK(unregister_jf_trace_rx(probe_rx, &seen) == 0 && unregister_jf_trace_rx(probe_rx2, &seen) == 0, "back");
	/* The parts of a tracepoint are not shown. */
	CHECK(look_for(JF_KIND_KEY, "__jf_on_rx").num == 0 && look_for(JF_KIND_FUNC, "__jf_tp_rx").num == 0, "its parts");
	CHECK(jf_list(no_more, &num) == 42 && num == 3, "it ends when it is told to");
}

/* A callback has no lock: it can change the listed entries, and ask for the list. */
static int busy(const struct jf_info *i, void *arg)
{
	int *num = (int *)arg;

	if (i->kind == JF_KIND_KEY && i->key == &debug_rx) {
		CHECK(jf_key_enable(&debug_rx) == 0 && branches() & 1, "a change from a callback");
		CHECK(look_for(JF_KIND_KEY, "debug_rx").info.on, "a list from a callback");
		CHECK(jf_key_disable(&debug_rx) == 0, "a change from a callback");
	}
	++*num;
	return 0;
}

static void *toggles(void *arg)
{
	int *stop = (int *)arg, err = 0;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		err |= jf_key_enable(&debug_tx) | jf_key_disable(&debug_tx);
		err |= dynfunc_update(op, two) | dynfunc_update(op, one);
	}
	return (void *)(uintptr_t)err;
}

static void *opens(void *arg)
{
	int *stop = (int *)arg, wrong = 0;
	void *handle;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		handle = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
		wrong |= !handle || dlclose(handle);
	}
	return (void *)(uintptr_t)wrong;
}

static void others_change(void)
{
	pthread_t t[2];
	void *err[2];
	int stop = 0, i, num, least = 0;

	CHECK(jf_list(busy, &least) == 0 && least >= 9, "%d are shown", least);
	must(-pthread_create(&t[0], NULL, toggles, &stop), "a thread");
	must(-pthread_create(&t[1], NULL, opens, &stop), "a thread");
	for (i = 0; i < 200; i++) {
		num = 0;
		CHECK(jf_list(busy, &num) == 0 && num >= least, "%d are shown", num);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++) {
		pthread_join(t[i], &err[i]);
		CHECK(!err[i], "thread %d", i);
	}
}

static void plugins(void)
{
	size_t own = look_for(JF_KIND_KEY, "host_key").info.sites;
	const struct plugin *p;
	struct look l;
	void *handle;

	CHECK(look_for(JF_KIND_KEY, "shared_name").num == 0, "it is not there yet");
	handle = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
	p = handle ? (const struct plugin *)dlsym(handle, "plugin") : NULL;
	must(p ? 0 : -ENOENT, "dlopen");
	l = look_for(JF_KIND_KEY, "shared_name");
	CHECK(l.num == 1 && l.info.key == p->key && strstr(arguments[1], file_of(&l)), "of %s", l.object);
	l = look_for(JF_KIND_KEY, "host_key");
	CHECK(l.num == 1 && l.info.key == &host_key, "what is imported is shown %u times", l.num);
	CHECK(l.info.sites >= own + (JF_HAVE_PATCHING ? 2 : 0), "%zu sites", l.info.sites);
	l = look_for(JF_KIND_KEY, "host_keys");
	CHECK(l.num == 3 && l.info.nth == 2 && l.info.num == 3 && l.info.key == &host_keys[2] &&
	      l.info.exported, "an array");
	CHECK(jf_keys_set("host_ke?s", true) == 3 && p->array() == 7 && jf_keys_set("host_ke?s", false) == 3 &&
	      p->array() == 0, "all of an array");
	CHECK(jf_keys_set("plugin*:shared_n*", true) == 1 && p->branch() == 1, "by its object");
	CHECK(jf_keys_set("other*:shared_n*", false) == -ENOENT && p->branch() == 1, "by another one");
	CHECK(jf_keys_set("shared_name", false) == 1 && p->branch() == 0, "by its name");
	CHECK(dlclose(handle) == 0, "dlclose");
	CHECK(look_for(JF_KIND_KEY, "shared_name").num == 0, "it is still there");
}

/* --- names --------------------------------------------------------------------------- */

static void names(void)
{
	struct jf_batch b;

	CHECK(jf_keys_set("debug_*", true) == 2 && branches() == 7, "%d", branches());
	CHECK(jf_keys_set("debug_*", true) == 2 && branches() == 7, "again");
	CHECK(jf_keys_set("d*_rx", false) == 1 && branches() == 6, "a star in between");
	CHECK(jf_keys_set("*", false) >= 4 && branches() == 0, "all");
	CHECK(jf_keys_set("*a*s*t", true) == 1 && branches() == 4, "several stars");
	CHECK(jf_keys_set("debug_?x", true) == 2 && branches() == 7, "one character");
	CHECK(jf_keys_set("debug_?", false) == -ENOENT && jf_keys_set("debug_", false) == -ENOENT &&
	      jf_keys_set("ebug_rx", false) == -ENOENT && jf_keys_set("debug_rx?", false) == -ENOENT &&
	      jf_keys_set("", false) == -ENOENT && branches() == 7, "what is only similar");
	/* Two users: none is changed. */
	CHECK(jf_key_inc(&debug_tx) == 0 && jf_keys_set("debug_*", false) == -EBUSY && branches() == 7 &&
	      jf_key_count(&debug_rx) == 1 && jf_key_count(&debug_tx) == 2, "all or none");
	CHECK(jf_key_dec(&debug_tx) == 0, "dec");
	jf_batch_init(&b);
	CHECK(jf_keys_batch_set(&b, "debug_*", false) == 2 && jf_keys_batch_set(&b, "none", true) == 0,
	      "in a batch");
	dynfunc_batch_set(&b, op, two);
	CHECK(branches() == 7 && jf_batch_commit(&b) == 0 && branches() == 4 && dynfunc_op(1) == 3, "with others");
	CHECK(dynfunc_update(op, one) == 0, "back");
	/* A tracepoint's branch follows its probes, and nothing else. */
	CHECK(jf_keys_set("rx", true) == -ENOENT && jf_keys_set("__jf_on_rx", true) == -ENOENT &&
	      !jf_trace_rx_enabled(), "a tracepoint");
}

/* --- the environment ------------------------------------------------------------------ */

/* The child's results: branches(), then the result of a plugin that was opened later. */
static int child(void)
{
	void *handle = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
	const struct plugin *p = handle ? (const struct plugin *)dlsym(handle, "plugin") : NULL;

	return p ? branches() | p->branch() << 4 : 255;
}

/* In a program that was begun with @names; its output is in @said. */
static int begun_with(const char *names, const char *mode, char *said, size_t size)
{
	int fds[2], status;
	ssize_t nr, len = 0;
	pid_t pid;

	must(pipe(fds) ? -errno : 0, "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fds[1], 2);
		close(fds[0]);
		setenv("JUMPFUNC_ENABLE", names, 1);
		setenv("JUMPFUNC", mode, 1);
		if (getenv("JF_TEST_RUNNER"))
			execlp("/bin/sh", "sh", "-c", "exec $JF_TEST_RUNNER \"$@\"", "sh", arguments[0],
			       arguments[1], "--child", (char *)NULL);
		execl(arguments[0], arguments[0], arguments[1], "--child", (char *)NULL);
		_exit(255);
	}
	close(fds[1]);
	while ((nr = read(fds[0], said + len, size - 1 - (size_t)len)) > 0)
		len += nr;
	said[len] = '\0';
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void environment(void)
{
	const char *slash = strrchr(arguments[0], '/');
	char said[8192], own[300];
	int got;

	got = begun_with("debug_rx,other", "verbose", said, sizeof(said));
	CHECK(got == (1 | 4 | 8), "%#x", (unsigned int)got);
	CHECK(!strstr(said, "no key"), "%s", said);
	got = begun_with("debug_*,,shared_name,", "", said, sizeof(said));
	CHECK(got == (1 | 2 | 4 | 16) && !said[0], "%#x: %s", (unsigned int)got, said);
	got = begun_with("missing,rx,shared_*", "verbose", said, sizeof(said));
	CHECK(got == (4 | 16), "%#x", (unsigned int)got);
	CHECK(strstr(said, "missing is the name of no key so far"), "%s", said);
	CHECK(strstr(said, "missing is the name of no key\n"), "%s", said);
	CHECK(strstr(said, "rx is the name of a tracepoint"), "%s", said);
	CHECK(strstr(said, "shared_* is the name of no key so far") &&
	      !strstr(said, "shared_* is the name of no key\n") && strstr(said, "shared_* has enabled 1"),
	      "%s", said);
	got = begun_with("missing", "", said, sizeof(said));
	CHECK(got == 4 && !said[0], "%#x: %s", (unsigned int)got, said);
	/* Where text cannot be written they cannot change, and it says so; else they can. */
	snprintf(own, sizeof(own), "%s:debug_rx,*.so:debug_tx", slash ? slash + 1 : arguments[0]);
	got = begun_with(own, "off", said, sizeof(said));
	CHECK(got == (JF_HAVE_PATCHING ? 4 : 5) &&
	      !!strstr(said, "debug_rx of the program cannot be enabled: ") == JF_HAVE_PATCHING,
	      "%#x: %s", (unsigned int)got, said);
}

/* A copy of this program that is root's, begun by another user. -1: not here. */
static int privileged(void)
{
	char path[] = "/tmp/test_lib_list.XXXXXX", bytes[65536];
	int from = open(arguments[0], O_RDONLY), to = mkstemp(path), status = -1;
	ssize_t nr;
	pid_t pid;

	while (from >= 0 && to >= 0 && (nr = read(from, bytes, sizeof(bytes))) > 0)
		must(write(to, bytes, (size_t)nr) == nr ? 0 : -EIO, "write");
	if (from < 0 || to < 0 || fchmod(to, 04755))
		return -1;
	close(from);
	close(to);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("JUMPFUNC_ENABLE", "debug_rx", 1);
		if (setuid(65534))
			_exit(255);
		execl(path, path, arguments[1], "--secure", (char *)NULL);
		_exit(255);
	}
	waitpid(pid, &status, 0);
	unlink(path);
	return WIFEXITED(status) && WEXITSTATUS(status) != 255 ? WEXITSTATUS(status) : -1;
}

static void ignored(void)
{
	int got = geteuid() || getenv("JF_TEST_RUNNER") || getenv("JF_TEST_EMULATED") ? -1 : privileged();

	if (got == -1) {
		CHECK(true, "not here");
		finish("JUMPFUNC_ENABLE in set-user-ID programs # SKIP needs root, and a /tmp with such programs");
		return;
	}
	CHECK(got == 4, "%#x", (unsigned int)got);
	finish("JUMPFUNC_ENABLE is ignored in set-user-ID programs");
}

/* --- probes in batches ---------------------------------------------------------------- */

static struct jf_stats stats(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return s;
}

#define TRACES(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) \
	x(15) x(16) x(17) x(18) x(19)
#define TRACE(nr) DECLARE_JF_TRACE(many##nr, JF_PROTO(int x), JF_ARGS(x)); DEFINE_JF_TRACE(many##nr);
TRACES(TRACE)
#define FIRE(nr)	jf_trace_many##nr(1);
#define ADD(nr)		err |= jf_trace_batch_register(&b, many##nr, probe_rx, &seen, JF_TRACE_PRIO_DEFAULT);
#define ADD2(nr)	err |= jf_trace_batch_register(&b, many##nr, probe_rx2, &seen, 20);
#define REMOVE(nr)	err |= jf_trace_batch_unregister(&b, many##nr, probe_rx, &seen);
#define REMOVE2(nr)	err |= jf_trace_batch_unregister(&b, many##nr, probe_rx2, &seen);

static long fire_all(long *seen)
{
	*seen = 0;
	TRACES(FIRE)
	return *seen;
}

/* Twenty tracepoints, with a key and a dynamic function, in one transaction. */
static void many(void)
{
	struct jf_stats before = stats(), after;
	bool patches = strcmp(before.writer, "none");
	static long seen;
	struct jf_batch b;
	int err = 0;

	jf_batch_init(&b);
	TRACES(ADD)
	TRACES(ADD2)
	jf_key_batch_set(&b, &other, true);
	dynfunc_batch_set(&b, op, two);
	CHECK(!err && fire_all(&seen) == 0 && branches() == 4, "nothing before the commit");
	before = stats();
	CHECK(jf_batch_commit(&b) == 0, "commit");
	after = stats();
	CHECK(after.syncs - before.syncs == (!patches ? 0 : !strcmp(after.form, "store") ? 2 : 3) &&
	      after.commits - before.commits == (patches ? 1 : 0), "%llu broadcasts, %llu commits",
	      (unsigned long long)(after.syncs - before.syncs),
	      (unsigned long long)(after.commits - before.commits));
	CHECK(fire_all(&seen) == 20 * 1001 && branches() == 12 && dynfunc_op(1) == 3, "%ld", seen);
	jf_batch_init(&b);
	TRACES(REMOVE2)
	TRACES(REMOVE)
	jf_key_batch_set(&b, &other, false);
	dynfunc_batch_set(&b, op, one);
	before = stats();
	CHECK(!err && jf_batch_commit(&b) == 0, "commit");
	CHECK(stats().syncs - before.syncs <= 4 && fire_all(&seen) == 0 && branches() == 4 && dynfunc_op(1) == 2,
	      "%ld", seen);
	jf_quiesce();
}

static void all_or_none(void)
{
	long seen = 0;
	struct jf_batch b;
	struct jf_stats before;

	CHECK(register_jf_trace_rx(probe_rx, &seen) == 0, "register");
	/* The last one is there already. */
	jf_batch_init(&b);
	jf_trace_batch_register(&b, tx, probe_tx, &seen, JF_TRACE_PRIO_DEFAULT);
	jf_trace_batch_register(&b, rx, probe_rx2, &seen, JF_TRACE_PRIO_DEFAULT);
	jf_key_batch_set(&b, &other, true);
	jf_trace_batch_register(&b, rx, probe_rx, &seen, JF_TRACE_PRIO_DEFAULT);
	CHECK(jf_batch_commit(&b) == -EEXIST && !jf_trace_tx_enabled() && branches() == 4, "twice");
	jf_batch_init(&b);
	jf_trace_batch_unregister(&b, rx, probe_rx, &seen);
	jf_trace_batch_unregister(&b, rx, probe_rx, &seen);
	CHECK(jf_batch_commit(&b) == -ENOENT && jf_trace_rx_enabled(), "taken away twice");
	/* A key that cannot be disabled takes the probes with it. */
	CHECK(jf_key_inc(&fast) == 0, "inc");
	jf_batch_init(&b);
	jf_trace_batch_register(&b, tx, probe_tx, &seen, JF_TRACE_PRIO_DEFAULT);
	jf_trace_batch_unregister(&b, rx, probe_rx, &seen);
	jf_key_batch_set(&b, &fast, false);
	CHECK(jf_batch_commit(&b) == -EBUSY && !jf_trace_tx_enabled() && jf_trace_rx_enabled() &&
	      jf_key_dec(&fast) == 0, "a key with two users");
	seen = 0;
	jf_trace_rx(1);
	jf_trace_tx(1, 2);
	CHECK(seen == 1, "%ld", seen);
	/* In the order in which that was asked for: an exchange. */
	jf_batch_init(&b);
	jf_trace_batch_unregister(&b, rx, probe_rx, &seen);
	jf_trace_batch_register(&b, rx, probe_rx2, &seen, JF_TRACE_PRIO_DEFAULT);
	CHECK(jf_batch_commit(&b) == 0, "an exchange");
	seen = 0;
	jf_trace_rx(1);
	CHECK(seen == 1000, "%ld", seen);
	/* There and back is no change, and no broadcast. */
	before = stats();
	jf_batch_init(&b);
	jf_trace_batch_unregister(&b, rx, probe_rx2, &seen);
	jf_trace_batch_register(&b, rx, probe_rx2, &seen, JF_TRACE_PRIO_DEFAULT);
	CHECK(jf_batch_commit(&b) == 0 && stats().syncs == before.syncs && stats().commits == before.commits,
	      "a change that is none");
	jf_batch_init(&b);
	CHECK(jf_trace_batch_register(&b, tx, NULL, &seen, 0) == -EINVAL && jf_batch_commit(&b) == -EINVAL,
	      "no probe");
	jf_batch_init(&b);
	jf_trace_batch_register(&b, tx, probe_tx, &seen, JF_TRACE_PRIO_DEFAULT);
	jf_batch_abort(&b);
	CHECK(jf_batch_commit(&b) == 0 && !jf_trace_tx_enabled(), "an aborted batch");
	CHECK(unregister_jf_trace_rx(probe_rx2, &seen) == 0, "back");
	jf_quiesce();
}

/* A batch that waits while the object of its tracepoint is closed. */
static void closed(void)
{
	const struct plugin *p;
	struct jf_batch b;
	long seen = 0;
	void *handle = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);

	p = handle ? (const struct plugin *)dlsym(handle, "plugin") : NULL;
	must(p ? 0 : -ENOENT, "dlopen");
	CHECK(p->watch(1) == 0, "a probe in a plugin");
	jf_batch_init(&b);
	CHECK(jf_keys_batch_set(&b, "shared_name", true) == 1, "its key");
	jf_trace_batch_register(&b, rx, probe_rx, &seen, JF_TRACE_PRIO_DEFAULT);
	CHECK(dlclose(handle) == 0, "dlclose");
	CHECK(jf_batch_commit(&b) == -ENODEV && !jf_trace_rx_enabled() && !jf_trace_host_event_enabled(),
	      "it is gone");
}

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc == 3 && !strcmp(argv[2], "--child"))
		return child();
	if (argc == 3 && !strcmp(argv[2], "--secure"))
		return getauxval(AT_SECURE) ? branches() : 255;
	if (argc != 2) {
		fputs("usage: test_lib_list PLUGIN\n", stderr);
		return 2;
	}
	listed();
	finish("a list of keys, functions and tracepoints");
	plugins();
	finish("objects that come and go, and what they import");
	others_change();
	finish("a list while others change and open objects");
	names();
	finish("changes by name");
	environment();
	finish("JUMPFUNC_ENABLE");
	ignored();
	many();
	finish("probes of twenty tracepoints in one transaction");
	all_or_none();
	finish("probes in batches: all or none");
	closed();
	finish("a batch whose object is closed");
	return tap_end();
}
