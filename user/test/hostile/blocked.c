// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Threads run sites while SIGTRAP is blocked: for good, in a handler whose mask
 * is full, while they wait in ppoll() and in between, and with a raw system call
 * that no wrapper sees. Keys, functions and tracepoints change all the time. The
 * kernel kills a process whose thread meets a breakpoint then.
 */
#define _GNU_SOURCE
#include <jumpfunc/stats.h>
#include <jumpfunc/tracepoint.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
DEFINE_JF_KEY_TRUE(other);
DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

int one(int i);
int two(int i);
int one(int i) { return i + 1; }
int two(int i) { return i + 2; }
DEFINE_DYNFUNC(op, one);

static _Atomic int stop;
static _Atomic long calls, hits;

static void probe(void *data, int i)
{
	(void)data;
	MUST(i == 7, "%d", i);
	hits++;
}

static void sites(void)
{
	int got = dynfunc_call(op, 1);

	MUST(got == 2 || got == 3, "op: %d", got);
	if (jf_branch_unlikely(&key))
		calls++;
	if (jf_branch_likely(&other))
		calls++;
	jf_trace_rx(7);
}

static void *blocks(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!stop)
		sites();
	return arg;
}

static void *blocks_raw(void *arg)
{
	unsigned long all = ~0UL, none = 0;

	while (!stop) {
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
		sites();
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
		sites();
	}
	return arg;
}

static void *polls(void *arg)
{
	struct timespec t = { 0, 1000 };
	sigset_t all;

	sigfillset(&all);
	while (!stop) {
		ppoll(NULL, 0, &t, &all);
		sites();
	}
	return arg;
}

/* Its mask is full. */
static void on_signal(int sig)
{
	int i;

	(void)sig;
	for (i = 0; i < 50; i++)
		sites();
}

static void change(int i)
{
	int err = i & 1 ? jf_key_disable(&key) : jf_key_enable(&key);

	err = err ? err : i & 1 ? jf_key_enable(&other) : jf_key_disable(&other);
	err = err ? err : dynfunc_update(op, i & 1 ? one : two);
	err = err ? err : i & 1 ? unregister_jf_trace_rx(probe, NULL) :
				  register_jf_trace_rx(probe, NULL);
	MUST(!err, "round %d: %s", i, strerror(-err));
	MUST(jf_branch_unlikely(&key) == !(i & 1) && jf_branch_likely(&other) == (i & 1) &&
	     dynfunc_op(0) == (i & 1 ? 1 : 2), "round %d", i);
}

int main(void)
{
	static void *(*const threads[])(void *) = { blocks, blocks_raw, polls };
	struct itimerval often = { { 0, 200 }, { 0, 200 } };
	struct sigaction a = { .sa_handler = on_signal };
	struct jf_stats s;
	pthread_t t[3];
	int i;

	alarm(50);
	sigfillset(&a.sa_mask);
	MUST(!sigaction(SIGPROF, &a, NULL), "sigaction");
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, threads[i], NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	for (i = 0; i < 3000; i++)
		change(i);
	stop = 1;
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	MUST(calls && hits, "%ld calls, %ld probes", calls, hits);
	jf_stats_get(&s, sizeof(s));
	/* Else there was nothing to see. */
	MUST(strcmp(s.writer, "none") && s.patched > 6000, "by %s, %lu sites", s.writer,
	     (unsigned long)s.patched);
	return 0;
}
