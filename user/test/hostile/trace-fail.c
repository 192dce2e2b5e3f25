// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A probe whose registration fails never runs, although the iterator, which is in use, has
 * calls under way at any time: memory that runs out, and writes of text that fail.
 */
#define _GNU_SOURCE
#include <jumpfunc/tracepoint.h>
#include <pthread.h>
#include <sys/wait.h>

#include "hostile.h"
#include "maps.h"
#include "pwrite.h"
#include "writes.h"

/* More than an image holds. */
#define MANY	17

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static _Atomic unsigned long calls, strange;
static _Atomic int stop;
/* So many allocations succeed, 0: all; from this write of text on all fail, -1: none. */
static int left, fail_from = -1, writes;

/* Calls from here on see all stores up to now. */
static void let_pass(void)
{
	unsigned long until = calls + 3;

	while (calls < until)
		usleep(50);
}

static int fails(void)
{
	if (!left || --left)
		return 0;
	let_pass();
	return 1;
}

FAILING_MMAP(fails())

static int write_fails(void)
{
	if (fail_from < 0 || writes++ < fail_from)
		return 0;
	let_pass();
	errno = EPERM;
	return 1;
}

FAILING_PWRITE(write_fails())
FAILING_MREMAP(write_fails())

static void probe(void *data, int i)
{
	*(long *)data += i;
}

static void stranger(void *data, int i)
{
	(void)data, (void)i;
	strange++;
}

static void *caller(void *arg)
{
	while (!stop) {
		jf_trace_rx(1);
		calls++;
	}
	return arg;
}

static long sum[MANY];

static void add(int from, int to)
{
	for (; from < to; from++)
		MUST(!register_jf_trace_rx(probe, &sum[from]), "probe %d", from);
}

static void begin(pthread_t *t)
{
	pthread_create(t, NULL, caller, NULL);
	while (!calls)
		usleep(100);
}

static void end(pthread_t t)
{
	stop = 1;
	pthread_join(t, NULL);
}

static void try(const char *what, int nr)
{
	int err = register_jf_trace_prio_rx(stranger, NULL, 99);

	left = 0;
	fail_from = -1;
	let_pass();
	MUST(!err || err == -EIO || !strange, "%s %d: %s, and the probe has run", what, nr,
	     strerror(-err));
	MUST((err && err != -EIO) || strange, "%s %d: the probe has not run", what, nr);
}

static void no_memory(int nr)
{
	pthread_t t;

	add(0, MANY);
	begin(&t);
	left = nr;
	try("allocation", nr);
	end(t);
}

static void no_write(int nr)
{
	pthread_t t;

	add(0, MANY - 1);
	begin(&t);
	fail_from = nr;
	writes = 0;
	(void)!register_jf_trace_rx(probe, &sum[MANY - 1]);
	if (writes >= nr)
		try("write", nr);
	end(t);
}

static void in_child(void (*func)(int), int nr)
{
	int status;
	pid_t p = fork();

	if (!p) {
		alarm(10);
		func(nr);
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "%d: status %#x", nr, status);
}

int main(void)
{
	int nr;

	for (nr = 1; nr < 6; nr++)
		in_child(no_memory, nr);
	for (nr = 0; nr < 12; nr++)
		in_child(no_write, nr);
	return 0;
}
