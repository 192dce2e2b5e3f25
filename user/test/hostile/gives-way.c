// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * In the middle of a change of very many sites, when it gives way to others, signal handlers
 * of that thread run, other threads fork, change other keys, open and close objects, and exit.
 * A child has all of the change, as soon as it runs; a handler that does not come back leaves
 * nothing half done for the next change of the key; and a breakpoint that a tracer sets
 * meanwhile has all taken back, as far as another one lets it. The library is built so that
 * a change is long from 65 sites on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
EXPORT_JF_KEY(key);
DEFINE_JF_KEY_FALSE(other);

#define ONE		n += jf_branch_unlikely(&key);
#define TEN(m)		m m m m m m m m m m
#define NEAR		__attribute__((__noinline__, __no_reorder__))
#define SITES		1002

NEAR int first(void);
NEAR int run_most(void);
NEAR int last(void);
NEAR int first(void) { return jf_branch_unlikely(&key); }
NEAR int run_most(void)
{
	int n = 0;

	TEN(TEN(TEN(ONE)))
	return n;
}
NEAR int last(void) { return jf_branch_unlikely(&key); }

static __attribute__((__noinline__)) int other_is_on(void)
{
	return jf_branch_unlikely(&other);
}

static int run(void)
{
	return first() + run_most() + last();
}

static void must_be(int on, const char *when)
{
	MUST(run() == on * SITES && jf_key_enabled(&key) == on, "%s: %d sites, the key is %d", when, run(),
	     jf_key_enabled(&key));
}

static void must_end(pid_t pid, const char *what)
{
	int status = 1;

	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "%s: %#x", what, status);
}

/* --- what a signal handler finds ----------------------------------------------------- */

static void (*volatile action)(int half);
static volatile int halves, handled;
static int mem;
static sigjmp_buf away;

static unsigned char was;

static void on_usr1(int sig)
{
	int n, half;

	(void)sig;
	/* There is a breakpoint in the way. */
	if (was)
		return;
	n = run();
	half = n && n != SITES;
	halves += half;
	handled++;
	if (action)
		action(half);
}

/* It comes mostly while the lock is held, and then when the slice is done. */
static volatile int stop_sending;
static pthread_t changes;

static void *sends(void *arg)
{
	while (!stop_sending) {
		pthread_kill(changes, SIGUSR1);
		usleep(10);
	}
	return arg;
}

static pthread_t begin_sending(void)
{
	pthread_t t;

	changes = pthread_self();
	stop_sending = 0;
	halves = handled = 0;
	MUST(!pthread_create(&t, NULL, sends, NULL), "pthread_create");
	return t;
}

static void end_sending(pthread_t t)
{
	stop_sending = 1;
	pthread_join(t, NULL);
}

static int forked;

static void forks(int half)
{
	pid_t pid;

	if (!half || forked)
		return;
	forked = 1;
	pid = fork();
	if (!pid) {
		int n = run();

		MUST(n == SITES || !n, "a child has %d of %d sites", n, SITES);
		must_be(jf_key_enabled(&key), "in a child");
		/* It comes back to the change, which is done. */
		action = NULL;
		forked = 2;
		return;
	}
	must_end(pid, "the child of a handler");
}

static void leaves(int half)
{
	if (half)
		siglongjmp(away, 1);
}

/* What was there, and where: in the way of what is not done yet, and of taking back what is. */
static struct {
	unsigned char *at, was;
} breaks[2];
static int nr_breaks;

static void break_in(int (*func)(void))
{
	unsigned char *at = (unsigned char *)(unsigned long)func, byte = 0xcc;
	int i;

	/* The site is a jump, or test; what is before it may be anything short. */
	for (i = 0; i < 16 && at[i] != 0xe9 && at[i] != 0xa9 && at[i] != 0x0f; i++)
		;
	was = at[i];
	breaks[nr_breaks].at = at + i;
	breaks[nr_breaks++].was = was;
	MUST(pwrite(mem, &byte, 1, (off_t)(unsigned long)(at + i)) == 1, "%m");
}

static void set_breakpoint(int half)
{
	if (half && !was)
		break_in(last);
}

static void set_breakpoints(int half)
{
	if (half && !was) {
		break_in(first);
		break_in(last);
	}
}

static void take_breakpoints(void)
{
	for (; nr_breaks; nr_breaks--) {
		off_t at = (off_t)(unsigned long)breaks[nr_breaks - 1].at;

		MUST(pwrite(mem, &breaks[nr_breaks - 1].was, 1, at) == 1, "%m");
	}
	was = 0;
}

static void in_child(void)
{
	pthread_t t = begin_sending();
	pid_t self = getpid();
	int i;

	action = forks;
	for (i = 1; !forked && i < 1000; i++) {
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "change %d", i);
		must_be(i & 1, "with a fork()");
	}
	MUST(forked, "no fork()");
	if (getpid() == self)
		end_sending(t);
	_exit(0);
}

/* Where the thread is cancelled; it might as well end there. */
static void is_cancelled(int half)
{
	if (!half)
		return;
	action = NULL;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void *changes_and_ends(void *arg)
{
	pthread_t t = begin_sending();
	int i;

	*(pthread_t *)arg = t;
	action = is_cancelled;
	for (i = 1; i < 1000; i++)
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "change %d", i);
	return arg;
}

/* What it had begun is done when it has ended. */
static void cancelled(void)
{
	pthread_t t, sender;
	void *result;

	MUST(!pthread_create(&t, NULL, changes_and_ends, &sender), "pthread_create");
	pthread_join(t, &result);
	MUST(result == PTHREAD_CANCELED, "not cancelled");
	stop_sending = 1;
	pthread_join(sender, NULL);
	must_be(jf_key_enabled(&key), "when a thread was cancelled");
	MUST(!jf_key_enable(&other) && other_is_on() && !jf_key_disable(&other), "another key");
	MUST(!jf_key_disable(&key), "disable");
	must_be(0, "after a thread was cancelled");
}

/* In the middle of a change that gives a key its first user another thread takes that away. */
static volatile int enabling, result;
static _Atomic int asked, answered;

static void *takes_user(void *arg)
{
	while (!asked)
		usleep(10);
	result = jf_key_dec(&key);
	answered = 1;
	return arg;
}

static void waits_for_it(int half)
{
	if (!half || !enabling || asked)
		return;
	asked = 1;
	while (!answered)
		usleep(10);
}

/* It does the rest of the change first, before which there is no user. */
static void same_key(void)
{
	pthread_t t = begin_sending(), other_thread;
	int i;

	MUST(!pthread_create(&other_thread, NULL, takes_user, NULL), "pthread_create");
	action = waits_for_it;
	for (i = 0; !asked && i < 1000; i++) {
		enabling = 1;
		MUST(!jf_key_enable(&key), "enable");
		enabling = 0;
		if (!asked)
			MUST(!jf_key_disable(&key), "disable");
	}
	MUST(asked, "no handler ran while the key was being enabled");
	action = NULL;
	end_sending(t);
	pthread_join(other_thread, NULL);
	MUST(!result, "dec in the middle of a change: %s", strerror(-result));
	must_be(0, "after its only user was taken away");
}

static void handlers(void)
{
	pthread_t t = begin_sending();
	pid_t pid;
	int i, state;

	for (i = 1; i <= 200; i++) {
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "change %d", i);
		must_be(i & 1, "with a signal handler");
	}
	end_sending(t);
	MUST(halves, "no handler ran while a change was under way");

	pid = fork();
	if (!pid)
		in_child();
	must_end(pid, "a fork() in a handler");

	t = begin_sending();
	action = leaves;
	if (!sigsetjmp(away, 1)) {
		for (i = 1; i < 1000; i++)
			MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "change %d", i);
		MUST(0, "the handler did not leave");
	}
	action = NULL;
	end_sending(t);
	MUST(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) && state == PTHREAD_CANCEL_ENABLE,
	     "the thread cannot be cancelled any more");
	/* Another key is not held up, and this one can be changed. */
	MUST(!jf_key_enable(&other) && other_is_on() && !jf_key_disable(&other), "another key");
	MUST(!jf_key_disable(&key), "disable");
	must_be(0, "when a handler had left");
}

/* The key is what it was before a change that fails: that is returned. */
static int fails(void (*sets)(int half))
{
	pthread_t t = begin_sending();
	int i, err = 0, on = 0;

	action = sets;
	for (i = 1; !err && i < 1000; i++) {
		err = i & 1 ? jf_key_enable(&key) : jf_key_disable(&key);
		on = err ? !(i & 1) : i & 1;
	}
	action = NULL;
	end_sending(t);
	/* It may have come where no comparison follows any more. */
	MUST(was && err == -EBUSY, "%s, with a breakpoint", strerror(-err));
	MUST(jf_key_enabled(&key) == on, "the key is %d after a change that failed", !on);
	return on;
}

static void breakpoint(void)
{
	int n, on;

	mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (mem < 0) {
		printf("# breakpoints: not here\n");
		return;
	}
	on = fails(set_breakpoint);
	take_breakpoints();
	must_be(on, "after one that failed");
	MUST(!jf_key_enable(&key), "without the breakpoint");
	must_be(1, "without the breakpoint");
	MUST(!jf_key_disable(&key), "off");

	/* What could not be taken back is so by the next change, even one to the same value. */
	on = fails(set_breakpoints);
	take_breakpoints();
	n = run();
	MUST(n && n != SITES, "%d sites after two breakpoints", n);
	MUST(!(on ? jf_key_enable(&key) : jf_key_disable(&key)), "to what it was");
	must_be(on, "after what could not be taken back");
	MUST(!jf_key_enable(&key), "without the breakpoints");
	must_be(1, "without the breakpoints");
	MUST(!jf_key_disable(&key), "off");
}

/* --- what other threads do ------------------------------------------------------------- */

static _Atomic int stop;
static const char *plugin;

static void *toggles_other(void *arg)
{
	int i;

	for (i = 1; !stop; i++) {
		MUST(!(i & 1 ? jf_key_enable(&other) : jf_key_disable(&other)), "another key");
		MUST(other_is_on() == (i & 1), "another key");
	}
	return arg;
}

/* The same one, and often. */
static void *toggles_same(void *arg)
{
	while (!stop) {
		MUST(!jf_key_inc(&key), "inc");
		MUST(run() == SITES, "%d sites with a user", run());
		MUST(!jf_key_dec(&key), "dec");
	}
	return arg;
}

static void *forks_often(void *arg)
{
	while (!stop) {
		pid_t pid = fork();

		if (!pid) {
			must_be(jf_key_enabled(&key), "in a child");
			MUST(!jf_key_enable(&key), "in a child");
			must_be(1, "in a child");
			_exit(0);
		}
		must_end(pid, "a child");
	}
	return arg;
}

/* The plugin has a site of the key; it is there while this is held and it is not NULL. */
static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static int (*plugin_key)(int *value);

static void *opens(void *arg)
{
	while (!stop) {
		void *p = dlopen(plugin, RTLD_NOW);

		MUST(p, "%s", dlerror());
		pthread_mutex_lock(&plugin_lock);
		plugin_key = (int (*)(int *))dlsym(p, "plugin_key");
		MUST(plugin_key, "%s", dlerror());
		pthread_mutex_unlock(&plugin_lock);
		usleep(200);
		pthread_mutex_lock(&plugin_lock);
		plugin_key = NULL;
		pthread_mutex_unlock(&plugin_lock);
		dlclose(p);
	}
	return arg;
}

static void *exits(void *arg)
{
	usleep(1 + (useconds_t)(unsigned long)arg % 1000);
	exit(0);
	return arg;
}

/* At any time in the middle of a change, with a helper or without. */
static void exit_within(void)
{
	unsigned long i;

	for (i = 0; i < 40; i++) {
		pid_t pid = fork();
		pthread_t t;

		if (!pid) {
			MUST(!pthread_create(&t, NULL, exits, (void *)(i * 37)), "pthread_create");
			for (;;)
				MUST(!jf_key_enable(&key) && !jf_key_disable(&key), "a change");
		}
		must_end(pid, "exit() in the middle of a change");
	}
}

static void ask_plugin(int on)
{
	int value;

	pthread_mutex_lock(&plugin_lock);
	if (plugin_key)
		MUST(plugin_key(&value) == on && value == on, "the plugin has %d", !on);
	pthread_mutex_unlock(&plugin_lock);
}

static void with(void *(*thread)(void *), int changes, int same)
{
	pthread_t t;
	int i;

	stop = 0;
	MUST(!pthread_create(&t, NULL, thread, NULL), "pthread_create");
	for (i = 1; i <= changes; i++) {
		if (same) {
			MUST(!jf_key_inc(&key) && run() == SITES && !jf_key_dec(&key), "%d sites", run());
			continue;
		}
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "change %d", i);
		must_be(i & 1, "beside another thread");
		ask_plugin(i & 1);
	}
	stop = 1;
	pthread_join(t, NULL);
	must_be(0, "in the end");
}

int main(int argc, char **argv)
{
	char name[4096];
	struct jf_stats s;

	(void)argc;
	snprintf(name, sizeof(name), "%s.plugin.so", argv[0]);
	plugin = name;
	alarm(100);
	MUST(!jf_key_enable(&key), "enable");
	must_be(1, "at first");
	MUST(!jf_key_disable(&key), "disable");
	signal(SIGUSR1, on_usr1);
	handlers();
	same_key();
	cancelled();
	with(toggles_other, 200, 0);
	with(toggles_same, 200, 1);
	with(forks_often, 200, 0);
	with(opens, 300, 0);
	exit_within();
	/* The last one: after a change that could not be taken back, no change is long. */
	breakpoint();
	jf_stats_get(&s, sizeof(s));
	MUST(s.commits, "no commits");
	return 0;
}
