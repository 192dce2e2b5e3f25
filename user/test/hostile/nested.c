// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes that fire other tracepoints, and that register and unregister themselves
 * and others, in several threads, with a timer's signals that fire, too.
 */
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>

#include "hostile.h"

DECLARE_JF_TRACE(outer, JF_PROTO(long a, long b), JF_ARGS(a, b));
DEFINE_JF_TRACE(outer);
DECLARE_JF_TRACE(inner, JF_PROTO(long a), JF_ARGS(a));
DEFINE_JF_TRACE(inner);

static atomic_long calls, wrong;
static _Atomic int stop;

static void leaf(void *data, long a)
{
	atomic_fetch_add(&calls, 1);
	if ((uintptr_t)data % 1000 != 7 || a != 5)
		atomic_fetch_add(&wrong, 1);
}

static void turns(void *data, long a, long b)
{
	void *mine = (void *)((uintptr_t)(a % 20) * 1000 + 7);

	if (b != a + 1 || data != &stop)
		atomic_fetch_add(&wrong, 1);
	if (a & 32)
		(void)!register_jf_trace_prio_inner(leaf, mine, (int)(a % 3));
	else
		(void)!unregister_jf_trace_inner(leaf, mine);
	jf_trace_inner(5);
}

static void itself(void *data, long a, long b)
{
	(void)b;
	(void)!unregister_jf_trace_outer(itself, data);
	if (a & 1)
		jf_trace_outer(a + 1, a + 2);
	(void)!register_jf_trace_outer(itself, data);
}

static void on_alarm(int sig)
{
	(void)sig;
	jf_trace_inner(5);
}

static void *fires(void *arg)
{
	long a;

	for (a = 0; !stop; a++)
		jf_trace_outer(a, a + 1);
	return arg;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval tv = { { 0, 300 }, { 0, 300 } };
	pthread_t t[3];
	int i;

	alarm(30);
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &tv, NULL);
	MUST(!register_jf_trace_outer(turns, &stop), "turns");
	MUST(!register_jf_trace_outer(itself, NULL), "itself");
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, fires, NULL);
	for (i = 0; i < 60 || calls <= 100; i++) {
		jf_quiesce();
		usleep(5000);
	}
	stop = 1;
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("# %ld calls, %ld wrong\n", calls, wrong);
	MUST(calls > 100 && !wrong, "%ld calls, %ld wrong", calls, wrong);
	return 0;
}
