// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A thread stays in a section while probes come and go. What was replaced waits, and no
 * change asks for each of it.
 */
#define _GNU_SOURCE
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <stdatomic.h>

#include "syscall.h"

#define PAIRS	300

DECLARE_JF_TRACE(rx, PROTO(int i), ARGS(i));
DEFINE_JF_TRACE(rx);

static _Atomic int inside, go;
static _Atomic long looks;

static int denied(long nr, const long *args)
{
	(void)args;
	looks += nr == SYS_tgkill;
	return 0;
}

static void probe(void *data, int i)
{
	(void)data, (void)i;
}

static void *stays(void *arg)
{
	jf_read_lock();
	inside = 1;
	while (!go)
		usleep(1000);
	jf_read_unlock();
	return arg;
}

int main(void)
{
	pthread_t t;
	int i;

	alarm(20);
	MUST(!pthread_create(&t, NULL, stays, NULL), "thread");
	while (!inside)
		usleep(100);
	for (i = 0; i < PAIRS; i++) {
		MUST(!register_jf_trace_rx(probe, NULL), "register");
		MUST(!unregister_jf_trace_rx(probe, NULL), "unregister");
	}
	MUST(looks <= 10 * PAIRS, "asked %ld times whether a thread is alive", looks);
	go = 1;
	pthread_join(t, NULL);
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	return 0;
}
