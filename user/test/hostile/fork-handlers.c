// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Handlers for fork() that are older than the library's, so that these are not yet over, in
 * the child, or not any more, in front of the fork: changes are refused, with nothing changed, and
 * all else works as ever, each alone and after each other. The next change finds nothing in its
 * way, in either process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/list.h>
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "plugin.h"

static DEFINE_JF_KEY_FALSE(off_key);
static DEFINE_JF_KEY_TRUE(on_key);
static DEFINE_JF_KEY_FALSE(other_key);
static int one(int i) { return i + 1; }
static int two(int i) { return i + 2; }
DEFINE_DYNFUNC(adds, one);
DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);
DECLARE_JF_TRACE(tx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(tx);

/* The work of handlers, in which of them, and how often they have done it. */
enum {
	CHANGES = 1, BATCHES = 2, SECTIONS = 4, QUIESCES = 8, STATS = 16, CALLBACKS = 32,
	BARRIERS = 64, OBJECTS = 128, LISTS = 256, ALL = 512,
};

enum { PREPARE = 1, PARENT = 2, CHILD = 4 };
static int what, where, done;
static const char *program;
static _Atomic int fired, called, stage;

static void probe(void *data, int i)
{
	(void)data;
	fired += i;
}

static void is_as_it_was(void)
{
	MUST(!jf_branch_unlikely(&off_key), "it was off");
	MUST(jf_branch_unlikely(&on_key), "it was on");
	MUST(dynfunc_call(adds, 1) == 2, "its target was the first one");
}

static void is_refused(int err, int line)
{
	MUST(err == -EDEADLK, "a change in line %d: %d", line, err);
	is_as_it_was();
}

#define REFUSED(change)	is_refused(change, __LINE__)

static void change(void)
{
	REFUSED(jf_key_enable(&off_key));
	REFUSED(jf_key_disable(&on_key));
	REFUSED(jf_key_enable(&on_key));
	REFUSED(jf_key_inc(&off_key));
	REFUSED(jf_key_dec(&on_key));
	REFUSED(dynfunc_update(adds, two));
	REFUSED(register_jf_trace_tx(probe, NULL));
	REFUSED(unregister_jf_trace_rx(probe, NULL));
	REFUSED(jf_keys_set("o*_key", true));
}

static void use_batches(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	MUST(!jf_key_batch_set(&b, &off_key, true), "to add");
	MUST(!dynfunc_batch_set(&b, adds, two), "to add");
	REFUSED(jf_batch_commit(&b));
	MUST(!b.changes, "it is empty");
	jf_key_batch_set(&b, &off_key, true);
	jf_batch_abort(&b);
	/* A query that has to look something up says so, and is not forgotten. */
	REFUSED(jf_trace_batch_register(&b, tx, probe, NULL, JF_TRACE_PRIO_DEFAULT));
	REFUSED(b.err);
	jf_batch_abort(&b);
	REFUSED(jf_keys_batch_set(&b, "off_key", true));
	REFUSED(b.err);
	REFUSED(jf_batch_commit(&b));
}

static int is_listed(const struct jf_info *info, void *arg)
{
	*(bool *)arg |= info->key == &off_key;
	return 0;
}

static void look(void)
{
	bool listed = false;

	MUST(!jf_list(is_listed, &listed) && listed, "the list");
}

static void use_sections(void)
{
	int was = fired;

	jf_read_lock();
	jf_trace_rx(1);
	jf_trace_tx(1);
	jf_read_unlock();
	MUST(fired == was + 1, "%d", fired);
}

static void callback(struct jf_quiesce_head *head)
{
	free(head);
	called++;
}

static void ask(void)
{
	jf_call_quiesced(calloc(1, sizeof(struct jf_quiesce_head)), callback);
}

static void open_and_close(void)
{
	int (*plugin)(void);
	void *p = open_plugin(program);

	plugin = (int (*)(void))dlsym(p, "plugin");
	MUST(plugin && !plugin(), "%s", dlerror());
	dlclose(p);
}

static void work(int at)
{
	struct jf_stats s;

	if (!(where & at))
		return;
	done++;
	if (what & CHANGES)
		change();
	if (what & BATCHES)
		use_batches();
	if (what & SECTIONS)
		use_sections();
	if (what & QUIESCES) {
		jf_quiesce();
		MUST(!jf_quiesce_timeout(1000), "no thread is in a section for long");
	}
	if (what & STATS) {
		jf_stats_get(&s, sizeof(s));
		MUST(s.keys >= 3, "%llu keys", (unsigned long long)s.keys);
	}
	if (what & LISTS)
		look();
	if (what & CALLBACKS)
		ask();
	if (what & BARRIERS)
		jf_quiesce_barrier();
	if (what & OBJECTS)
		open_and_close();
}

static void on_prepare(void) { work(PREPARE); }
static void on_parent(void) { work(PARENT); }
static void on_child(void) { work(CHILD); }

static void early(void)
{
	pthread_atfork(on_prepare, on_parent, on_child);
}

/* Before all constructors of shared objects. */
__attribute__((__section__(".preinit_array"), __used__))
static void (*const before_all)(void) = early;

static void all_can_change(void)
{
	int asked = called;

	MUST(!jf_key_enable(&off_key) && jf_branch_unlikely(&off_key), "to enable");
	MUST(!dynfunc_update(adds, two) && dynfunc_call(adds, 1) == 3, "to update");
	MUST(!register_jf_trace_tx(probe, NULL), "to register");
	jf_quiesce();
	jf_quiesce_barrier();
	asked = called;
	ask();
	jf_quiesce_barrier();
	MUST(called > asked, "a callback was not called");
	MUST(!jf_key_disable(&off_key) && !dynfunc_update(adds, one), "to take back");
	MUST(!unregister_jf_trace_tx(probe, NULL), "to unregister");
	is_as_it_was();
}

static void forks_with(int do_what, int do_where)
{
	int status, before;
	static sigset_t old, now;
	pid_t p;

	what = do_what;
	where = do_where;
	before = done;
	pthread_sigmask(SIG_BLOCK, NULL, &old);
	fflush(stdout);
	p = fork();
	where = 0;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	MUST(!memcmp(&old, &now, sizeof(old)), "the mask is another one");
	if (!p) {
		alarm(20);
		all_can_change();
		_exit(0);
	}
	MUST(done > before || do_where == CHILD, "no handler has run");
	all_can_change();
	waitpid(p, &status, 0);
	MUST(!status, "what %d where %d: %#x", do_what, do_where, status);
}

/* In a section, for which quiesces wait, until a change is made, which waits for a fork. */
static void *changes(void *arg)
{
	bool on = false;

	while (stage < 2) {
		jf_read_lock();
		stage = 1;
		MUST(!(on ? jf_key_disable : jf_key_enable)(&other_key), "to change");
		on = !on;
		jf_read_unlock();
		usleep(20);
	}
	if (on)
		(void)!jf_key_disable(&other_key);
	return arg;
}

/* In a section all the time of a fork: its child has no such thread. */
static void *stays(void *arg)
{
	jf_read_lock();
	stage = 4;
	while (stage == 4)
		usleep(100);
	jf_read_unlock();
	return arg;
}

static void each(int do_where)
{
	int w;

	for (w = 1; w < ALL; w *= 2)
		forks_with(w, do_where);
	forks_with(ALL - 1, do_where);
}

int main(int argc, char **argv)
{
	pthread_t t;
	int i;

	(void)argc;
	program = argv[0];
	alarm(50);
	setlinebuf(stdout);
	MUST(!register_jf_trace_rx(probe, NULL), "probe");
	each(PREPARE);
	each(PARENT);
	each(CHILD);
	each(PREPARE | PARENT | CHILD);
	MUST(!pthread_create(&t, NULL, changes, NULL), "thread");
	while (!stage)
		;
	for (i = 0; i < 100; i++)
		forks_with(CHANGES | SECTIONS | QUIESCES | CALLBACKS | BARRIERS, PREPARE | PARENT | CHILD);
	stage = 2;
	pthread_join(t, NULL);
	MUST(!pthread_create(&t, NULL, stays, NULL), "thread");
	while (stage != 4)
		;
	/* Not in the parent: there it waits for the section. */
	what = SECTIONS | QUIESCES | CALLBACKS | BARRIERS | OBJECTS;
	where = CHILD;
	i = fork();
	if (!i) {
		alarm(5);
		_exit(0);
	}
	where = 0;
	waitpid(i, &i, 0);
	MUST(!i, "a child waits for a thread that it does not have: %#x", i);
	stage = 5;
	pthread_join(t, NULL);
	return 0;
}
