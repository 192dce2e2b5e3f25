// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A thread stays in a section while probes come and go. Replaced code waits, at about a
 * kilobyte for each, and no change asks for each of it. When the section is over the next
 * change frees it.
 */
#define _GNU_SOURCE
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <stdatomic.h>

#include "syscall.h"

#define PAIRS	300

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
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

/*
 * Pages of this process that are not in a file. Kernels from 6.2 to 6.15 have but about as many in
 * status.
 */
static long kilobytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	char line[128];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Anonymous: %ld", &kb) == 1)
			break;
	MUST(f && kb > 0, "/proc/self/smaps_rollup: %ld", kb);
	fclose(f);
	return kb;
}

static void come_and_go(void)
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		MUST(!register_jf_trace_rx(probe, NULL), "register");
		MUST(!unregister_jf_trace_rx(probe, NULL), "unregister");
	}
}

int main(void)
{
	long before, kept, after;
	pthread_t t;

	alarm(20);
	come_and_go();
	MUST(!pthread_create(&t, NULL, stays, NULL), "thread");
	while (!inside)
		usleep(100);
	before = kilobytes();
	come_and_go();
	kept = kilobytes() - before;
	MUST(kept >= PAIRS / 4 && kept <= 8 * PAIRS, "%ld kB are kept for %d pairs", kept, PAIRS);
	MUST(looks <= 10 * PAIRS, "asked %ld times whether a thread is alive", looks);
	go = 1;
	pthread_join(t, NULL);
	/* The free memory is enough for as many again, and more. */
	before = kilobytes();
	come_and_go();
	come_and_go();
	after = kilobytes() - before;
	MUST(after < kept / 4, "%ld kB more, where %ld kB were free", after, kept);
	return 0;
}
