// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Events a second of a process, or of a trace that one records. The process is not asked for
 * anything during this.
 */
#include "tool.h"
#include "losses.h"
#include "tally.h"
#include "../trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS	20
#define THREADS	5

/**
 * struct row - of the table
 * @name: of the event
 * @rate: of it, a second
 * @ever: records of it, as far as they were seen
 */
struct row {
	const char	*name;
	double		rate;
	uint64_t	ever;
};

static int by_rate(const void *x, const void *y)
{
	const struct row *a = (const struct row *)x, *b = (const struct row *)y;

	if (a->rate > b->rate || a->rate < b->rate)
		return a->rate > b->rate ? -1 : 1;
	if (a->ever != b->ever)
		return a->ever > b->ever ? -1 : 1;
	return strcmp(a->name, b->name);
}

static size_t make_rows(const struct tally *t, struct row *rows, double seconds)
{
	size_t num = 0;
	uint32_t id;

	for (id = 1; id < TALLY_EVENTS; id++) {
		const struct tally_event *e = &t->event[id];

		if (e->ever)
			rows[num++] = (struct row){ e->name ? e->name : "?", e->made / seconds, e->ever };
	}
	qsort(rows, num, sizeof(*rows), by_rate);
	return num;
}

static int by_total(const void *x, const void *y)
{
	const struct tally_ring *a = *(const struct tally_ring *const *)x, *b = *(const struct tally_ring *const *)y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->ring != b->ring ? a->ring < b->ring ? -1 : 1 : 0;
}

/* Which thread it is that records so much. */
static void show_threads(const struct tally *t, double seconds)
{
	const struct tally_ring **rings = calloc(t->rings + 1, sizeof(*rings));
	size_t num = 0, i;

	for (i = 0; rings && i < t->rings; i++)
		if (t->ring[i].total || t->ring[i].discarded)
			rings[num++] = &t->ring[i];
	if (num > 1 || t->total > t->seen) {
		qsort(rings, num, sizeof(*rings), by_total);
		printf("%14s %14s  THREAD\n", "EVENTS/S", "UNSEEN/S");
	} else {
		num = 0;
	}
	for (i = 0; i < num && i < THREADS; i++) {
		printf("%14.0f %14.0f  ", (double)rings[i]->total / seconds, (double)(rings[i]->total - rings[i]->seen) / seconds);
		if (rings[i]->ring == JF_NO_RING)
			fputs("without a ring, or without room for a call", stdout);
		else
			printf("%" PRIu32 " ", rings[i]->tid);
		put_safe(stdout, rings[i]->name);
		fputs(rings[i]->total > rings[i]->seen ? " *\n" : "\n", stdout);
	}
	if (num > THREADS)
		printf("%zu more\n", num - THREADS);
	free(rings);
}

static void show(const struct tally *t, struct row *rows, double seconds)
{
	size_t num = make_rows(t, rows, seconds), i;

	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	printf("%.0f events/s, lost %.0f/s%s\n", (double)t->total / seconds, (double)t->discarded / seconds,
	       t->total > t->seen ? "; rates of threads marked * are estimates: not all was seen before it was overwritten" : "");
	printf("%14s %14s  EVENT\n", "EVENTS/S", "SEEN");
	for (i = 0; i < num && i < ROWS; i++) {
		printf("%14.0f %14" PRIu64 "  ", rows[i].rate, rows[i].ever);
		put_name(stdout, rows[i].name);
		putchar('\n');
	}
	if (num > ROWS)
		printf("%zu more\n", num - ROWS);
	show_threads(t, seconds);
	fflush(stdout);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int watch(const struct options *o, struct tally *t, pid_t pid)
{
	struct timespec rest = { (time_t)o->interval, (long)((o->interval - (double)(time_t)o->interval) * 1e9) };
	struct row *rows = malloc(TALLY_EVENTS * sizeof(*rows));
	double last = now(), next;
	uint32_t times = 0;
	int err = 0;
	uid_t uid;

	if (!rows)
		return fail("%s", strerror(ENOMEM));
	while (!told_to_end && !err) {
		nanosleep(&rest, NULL);
		next = now();
		if (next <= last)
			continue;
		err = tally_look(t);
		if (!err) {
			show(t, rows, next - last);
			last = next;
		}
		if (ferror(stdout) || (o->times && ++times == o->times))
			break;
		if (pid && !pid_owner(pid, &uid)) {
			note("process %d has ended; its trace is in %s", (int)pid, t->folder);
			break;
		}
	}
	free(rows);
	return err ? fail("%s: %s", t->folder, err == -ENODATA ? "there is no trace any more" : strerror(-err)) :
	       say_losses(t->folder);
}

/* Of a folder. */
static int top_of(const struct options *o, const char *from, pid_t pid)
{
	struct tally t;
	int status, err;

	err = tally_begin(&t, from);
	if (err)
		return fail("%s: %s", from, err == -ENODATA ? "no trace of jumpfunc" : strerror(-err));
	status = watch(o, &t, pid);
	tally_end(&t);
	return status;
}

/* A process begins to record these events, and ends with it. */
static int top_from_now(const struct options *o, pid_t pid)
{
	char folder[PATH_MAX];
	int status = record_from_now(o, pid, NULL, folder, sizeof(folder)), stopped = STATUS_OK;
	uid_t uid;

	if (status && !*folder)
		return status;
	if (!status)
		status = top_of(o, folder, pid);
	if (pid_owner(pid, &uid))
		stopped = stop_process(pid);
	if (!stopped)
		remove_traces(folder);
	return status ? status : stopped;
}

int do_top(const struct options *o, int argc, char **argv)
{
	char folder[PATH_MAX];
	pid_t pid = 0;
	int status;

	(void)argc;
	end_on_signals();
	if (!is_pid(argv[0], &pid))
		return o->num_globs ? (fail("-e is for a process, which records these events then"), STATUS_USAGE) : top_of(o, argv[0], 0);
	if (o->num_globs)
		return top_from_now(o, pid);
	status = trace_of(pid, folder, sizeof(folder));
	return status ? status : top_of(o, folder, pid);
}
