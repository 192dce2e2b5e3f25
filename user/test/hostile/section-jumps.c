// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes and sections that are left by longjmp(): they last until their thread ends. A probe
 * that is left by pthread_exit() or by a cancellation is over before its thread is. And
 * jf_quiesce_timeout() counts milliseconds.
 */
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <time.h>

#include "hostile.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int how), JF_ARGS(how));
DEFINE_JF_TRACE(rx);

enum { JUMP, JUMP_FROM_SECTION, EXIT, CANCEL };
static jmp_buf back;
static _Atomic int stage;

static void probe(void *data, int how)
{
	(void)data;
	if (how == JUMP)
		longjmp(back, 1);
	if (how == EXIT)
		pthread_exit(NULL);
	stage = 1;
	for (;;)
		pause();
}

static void stays_while_it_is_looked_at(void *arg)
{
	(void)arg;
	stage = 2;
	while (stage == 2)
		usleep(100);
}

static void *thread(void *arg)
{
	int how = *(int *)arg;

	pthread_cleanup_push(stays_while_it_is_looked_at, NULL);
	if (!setjmp(back)) {
		if (how == JUMP_FROM_SECTION) {
			jf_read_lock();
			longjmp(back, 1);
		}
		jf_trace_rx(how);
	}
	pthread_cleanup_pop(1);
	return NULL;
}

static double milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Whether it is waited for while it lives. */
static void with(int how, int expected)
{
	double start;
	pthread_t t;
	int err;

	stage = 0;
	MUST(!pthread_create(&t, NULL, thread, &how), "thread");
	if (how == CANCEL) {
		while (stage != 1)
			usleep(100);
		MUST(jf_quiesce_timeout(20) == -ETIMEDOUT, "a probe that runs is not waited for");
		pthread_cancel(t);
	}
	while (stage != 2)
		usleep(100);
	start = milliseconds();
	err = jf_quiesce_timeout(expected ? 50 : 5000);
	MUST(err == expected, "%d: %s", how, strerror(-err));
	MUST(!expected || milliseconds() - start >= 50, "%g ms", milliseconds() - start);
	stage = 3;
	pthread_join(t, NULL);
	MUST(!jf_quiesce_timeout(5000), "%d: its thread has ended", how);
}

int main(void)
{
	alarm(30);
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	with(JUMP, -ETIMEDOUT);
	with(JUMP_FROM_SECTION, -ETIMEDOUT);
	with(EXIT, 0);
	with(CANCEL, 0);
	return 0;
}
