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

/**
 * struct looks - at the traces of a folder, or at the one that the folder is
 * @folder: of them
 * @trace:  each
 * @num:    how many
 * @begun:  a trace that comes now is new
 * @full:   one could not be opened, for there are too many
 * @ours:   it is removed after this
 * @err:    0, or -errno
 */
struct looks {
	const char	*folder;
	struct tally	**trace;
	size_t		num;
	bool		begun;
	bool		full;
	bool		ours;
	int		err;
};

static int by_name(const void *x, const void *y)
{
	const struct row *a = (const struct row *)x, *b = (const struct row *)y;

	return strcmp(a->name, b->name);
}

/* Events of the same name in several processes are one row. */
static size_t join_rows(struct row *rows, size_t num)
{
	size_t i, nr = 0;

	qsort(rows, num, sizeof(*rows), by_name);
	for (i = 0; i < num; i++) {
		if (!nr || strcmp(rows[nr - 1].name, rows[i].name)) {
			rows[nr++] = rows[i];
			continue;
		}
		rows[nr - 1].rate += rows[i].rate;
		rows[nr - 1].ever += rows[i].ever;
	}
	return nr;
}

/* For free(). NULL: no memory. */
static struct row *make_rows(const struct looks *l, size_t *num, double seconds)
{
	size_t room = 1, i;
	struct row *rows;
	uint32_t id;

	for (i = 0; i < l->num; i++)
		room += l->trace[i]->last;
	rows = malloc(room * sizeof(*rows));
	for (*num = i = 0; rows && i < l->num; i++) {
		for (id = 1; id <= l->trace[i]->last; id++) {
			const struct tally_event *e = &l->trace[i]->event[id];

			if (e->ever)
				rows[(*num)++] = (struct row){ e->name ? e->name : "?", e->made / seconds, e->ever };
		}
	}
	if (!rows)
		return NULL;
	if (l->num > 1 && *num)
		*num = join_rows(rows, *num);
	if (*num)
		qsort(rows, *num, sizeof(*rows), by_rate);
	return rows;
}

static int by_total(const void *x, const void *y)
{
	const struct tally_ring *a = *(const struct tally_ring *const *)x, *b = *(const struct tally_ring *const *)y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return a->ring != b->ring ? a->ring < b->ring ? -1 : 1 : 0;
}

static void put_ring(const struct tally_ring *r, double seconds)
{
	printf("%14.0f %14.0f  ", (double)r->total / seconds, (double)(r->total - r->seen) / seconds);
	if (r->ring == JF_NO_RING)
		fputs("without a ring, or without room for a call", stdout);
	else
		printf("%" PRIu32 " ", r->tid);
	put_safe(stdout, r->name);
	fputs(r->total > r->seen ? " *\n" : "\n", stdout);
}

/* Which thread it is that records so much. @some: not all records were seen. */
static void show_threads(const struct looks *l, bool some, double seconds)
{
	const struct tally_ring **rings, *r;
	size_t room = 1, num = 0, i, k;

	for (i = 0; i < l->num; i++)
		room += l->trace[i]->rings;
	rings = calloc(room, sizeof(*rings));
	for (i = 0; rings && i < l->num; i++) {
		for (k = 0; k < l->trace[i]->rings; k++) {
			r = &l->trace[i]->ring[k];
			if (r->total || r->discarded)
				rings[num++] = r;
		}
	}
	if (num < 2 && !some)
		num = 0;
	if (num) {
		qsort(rings, num, sizeof(*rings), by_total);
		printf("%14s %14s  THREAD\n", "EVENTS/S", "UNSEEN/S");
	}
	for (i = 0; i < num && i < THREADS; i++)
		put_ring(rings[i], seconds);
	if (num > THREADS)
		printf("%zu more\n", num - THREADS);
	free(rings);
}

static int show(const struct looks *l, double seconds)
{
	uint64_t total = 0, seen = 0, discarded = 0;
	struct row *rows;
	size_t num, i;

	rows = make_rows(l, &num, seconds);
	if (!rows)
		return -ENOMEM;
	for (i = 0; i < l->num; i++) {
		total += l->trace[i]->total;
		seen += l->trace[i]->seen;
		discarded += l->trace[i]->discarded;
	}
	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	printf("%.0f events/s, lost %.0f/s%s\n", (double)total / seconds, (double)discarded / seconds,
	       total > seen ? "; rates of threads marked * are estimates: not all was seen before it was overwritten" : "");
	printf("%14s %14s  EVENT\n", "EVENTS/S", "SEEN");
	for (i = 0; i < num && i < ROWS; i++) {
		printf("%14.0f %14" PRIu64 "  ", rows[i].rate, rows[i].ever);
		put_name(stdout, rows[i].name);
		putchar('\n');
	}
	if (num > ROWS)
		printf("%zu more\n", num - ROWS);
	free(rows);
	show_threads(l, total > seen, seconds);
	fflush(stdout);
	return 0;
}

/* --- which traces ---------------------------------------------------------------------------- */

static bool is_known(const struct looks *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->num; i++)
		if (!strcmp(l->trace[i]->folder, path))
			return true;
	return false;
}

/* All of a trace that came after the last look was recorded since then. */
static void count_all(struct tally *t)
{
	uint32_t id;

	for (id = 0; id <= t->last; id++)
		t->event[id].ever = t->event[id].now;
}

static void add_trace(const char *path, void *arg)
{
	struct looks *l = (struct looks *)arg;
	struct tally **more, *t;
	int err;

	if (is_known(l, path))
		return;
	/* A power of two has no room for one more. */
	more = l->num & (l->num - 1) ? l->trace : realloc(l->trace, (l->num ? 2 * l->num : 1) * sizeof(*more));
	if (more)
		l->trace = more;
	t = more ? malloc(sizeof(*t)) : NULL;
	err = t ? tally_begin(t, path) : -ENOMEM;
	if (err)
		free(t);
	/*
	 * One that is being made has no metadata yet, and one that is being removed has none any
	 * more.
	 */
	else if (l->begun)
		count_all(t);
	if (!err)
		more[l->num++] = t;
	l->full |= err == -EMFILE && l->num;
	if (err && !(err == -EMFILE && l->num) && !(l->begun && (err == -ENODATA || err == -ENOENT)))
		l->err = err;
}

static int look(struct looks *l)
{
	int num, err = 0;
	size_t i;

	for (i = 0; i < l->num && !err; i++)
		err = tally_look(l->trace[i]);
	num = err ? 0 : each_trace(l->folder, add_trace, l);
	return err ? err : num < 0 ? num : l->err;
}

static int begin_looks(struct looks *l, const char *folder, bool ours)
{
	int num;

	*l = (struct looks){ .folder = folder, .ours = ours };
	num = each_trace(folder, add_trace, l);
	l->begun = true;
	return num < 0 ? num : num ? l->err : -ENODATA;
}

static void end_looks(struct looks *l)
{
	size_t i;

	for (i = 0; i < l->num; i++) {
		tally_end(l->trace[i]);
		free(l->trace[i]);
	}
	free(l->trace);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int watch(const struct options *o, struct looks *l, pid_t pid)
{
	struct timespec rest = { (time_t)o->interval, (long)((o->interval - (double)(time_t)o->interval) * 1e9) };
	double last = now(), next;
	uint32_t times = 0;
	int err = 0;
	uid_t uid;

	while (!told_to_end && !err) {
		nanosleep(&rest, NULL);
		next = now();
		if (next <= last)
			continue;
		err = look(l);
		if (!err)
			err = show(l, next - last);
		last = next;
		if (ferror(stdout) || (o->times && ++times == o->times))
			break;
		if (pid && !pid_owner(pid, &uid)) {
			if (l->ours)
				note("process %d has ended", (int)pid);
			else
				note("process %d has ended; its trace is in %s", (int)pid, l->folder);
			break;
		}
	}
	if (l->full)
		note("%s has more traces than may be open (ulimit -n): %zu were looked at", l->folder, l->num);
	return err ? fail("%s: %s", l->folder, err == -ENODATA ? "there is no trace any more" : strerror(-err)) :
	       say_losses(l->folder);
}

/* Of a folder: a trace, or one that has traces. */
static int top_of(const struct options *o, const char *from, pid_t pid, bool ours)
{
	struct looks l;
	int err, status;

	if (any_trace(from))
		return STATUS_FAILED;
	err = begin_looks(&l, from, ours);
	if (err)
		status = fail("%s: %s", from, err == -ENODATA ? "no trace of jumpfunc" : strerror(-err));
	else
		status = watch(o, &l, pid);
	end_looks(&l);
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
		status = top_of(o, folder, pid, true);
	if (pid_owner(pid, &uid))
		stopped = stop_process(pid);
	if (!stopped)
		remove_traces(folder);
	else
		note("the trace is in %s", folder);
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
		return o->num_globs ? (fail("-e is for a process, which records these events then"), STATUS_USAGE) : top_of(o, argv[0], 0, false);
	if (o->num_globs)
		return top_from_now(o, pid);
	status = trace_of(pid, folder, sizeof(folder));
	return status ? status : top_of(o, folder, pid, false);
}
