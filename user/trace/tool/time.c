// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* time: sums of calls, from the counters of a folder (sums.h, count.h): a table, CSV or JSON. */
#include "tool.h"
#include "count.h"
#include "names.h"
#include "tally.h"
#include "../sums.h"
#include "../trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/**
 * struct timed - sums of a function's calls
 * @name:   of it
 * @calls:  how many
 * @total:  nanoseconds of those that are in no other call of the function
 * @within: of the others
 * @self:   without the calls within
 * @max:    of the longest one
 * @begun:  calls that have begun, in the present process
 * @over:   those that have returned, in it
 * @gone:   those that were left, in it
 * @left:   calls that were left by longjmp(), an exception or the end of a thread
 * @inside: those that have not returned, and were not seen to be left
 * @bucket: calls by their duration
 */
struct timed {
	const char	*name;
	uint64_t	calls;
	uint64_t	total;
	uint64_t	within;
	uint64_t	self;
	uint64_t	max;
	uint64_t	begun;
	uint64_t	over;
	uint64_t	gone;
	uint64_t	left;
	uint64_t	inside;
	uint64_t	bucket[JF_SUM_BUCKETS];
};

/**
 * struct times - of all traces in a folder
 * @row:   functions, by the numbers of their names
 * @room:  for how many
 * @names: of them
 * @tally: of the present trace
 * @refused: functions that were asked for and have no sums
 * @beyond:  those that are too many
 * @err:   0, or why not all of it is known, -errno
 */
struct times {
	struct timed	*row;
	size_t		room;
	struct names	names;
	struct tally	tally;
	unsigned int	refused;
	unsigned int	beyond;
	int		err;
};

/* Of that name; or a new one; NULL: no memory. */
static struct timed *row_of(struct times *t, const char *name, size_t len)
{
	struct timed *more;
	size_t nr;

	/* Before the name: each name has a row. */
	if (t->names.num == t->room) {
		more = realloc(t->row, (2 * t->room + 64) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + t->room, 0, (t->room + 64) * sizeof(*more));
		t->row = more;
		t->room = 2 * t->room + 64;
	}
	nr = names_number(&t->names, name, len);
	if (nr == INDEX_NONE)
		return NULL;
	t->row[nr].name = t->names.name[nr];
	return &t->row[nr];
}

static void add_sum(const struct jf_counts *c, uint32_t id, uint64_t num, void *arg)
{
	struct times *t = arg;
	const char *name = t->tally.event[id].name, *what = name ? strrchr(name, '/') : NULL;
	unsigned int bucket;
	struct timed *r;
	char end;

	(void)c;
	if (!name)
		return;
	r = row_of(t, name, jf_sum_name(name));
	if (!r) {
		t->err = -ENOMEM;
		return;
	}
	if (!what)
		r->begun += num;
	else if (!strcmp(what, "/left"))
		r->gone += num;
	else if (!strcmp(what, "/total"))
		r->total += num;
	else if (!strcmp(what, "/within"))
		r->within += num;
	else if (!strcmp(what, "/self"))
		r->self += num;
	else if (!strcmp(what, "/max"))
		r->max = num > r->max ? num : r->max;
	else if (sscanf(what, "/b%u%c", &bucket, &end) == 1 && bucket < JF_SUM_BUCKETS) {
		r->bucket[bucket] += num;
		r->calls += num;
		r->over += num;
	}
}

/*
 * Calls of a process that have begun, and have not returned. A forked child returns from calls that
 * its parent has begun, and can leave them: these are not its own.
 */
static void add_open(struct times *t)
{
	struct timed *r;
	uint64_t open;

	for (r = t->row; r < t->row + t->names.num; r++) {
		open = r->begun > r->over ? r->begun - r->over : 0;
		r->gone = r->gone < open ? r->gone : open;
		r->left += r->gone;
		r->inside += open - r->gone;
		r->begun = r->over = r->gone = 0;
	}
}

/* All but functions that never return. */
static void count_refused(const char *name, const char *why, void *arg)
{
	struct times *t = arg;

	(void)name;
	if (!strcmp(why, JF_SUM_BEYOND))
		t->beyond++;
	else
		t->refused += strncmp(why, "it never returns", 16) != 0;
}

static void add_trace(const char *path, void *arg)
{
	struct times *t = arg;
	int err = tally_begin(&t->tally, path);

	if (!err) {
		err = counts_each(t->tally.dir, add_sum, t);
		add_open(t);
		each_refused(t->tally.dir, count_refused, t);
		tally_end(&t->tally);
	}
	t->err = t->err ? t->err : err;
}

/* The duration that @part of the calls do not exceed, as exactly as buckets have it. */
static uint64_t percentile(const struct timed *r, double part)
{
	uint64_t want = (uint64_t)((double)r->calls * part), seen = 0, begin, end;
	unsigned int i;

	for (i = 0; i < JF_SUM_BUCKETS; i++) {
		if (seen + r->bucket[i] <= want) {
			seen += r->bucket[i];
			continue;
		}
		begin = jf_sum_begin(i);
		end = i + 1 < JF_SUM_BUCKETS ? jf_sum_begin(i + 1) : r->max;
		end = end > r->max ? r->max : end;
		if (end < begin)
			return r->max;
		return begin + (uint64_t)((double)(end - begin) * ((double)(want - seen) + 0.5) / (double)r->bucket[i]);
	}
	return r->max;
}

static int by_total(const void *x, const void *y)
{
	const struct timed *a = x, *b = y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void put_duration(FILE *to, uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s " };
	double value = (double)ns;
	unsigned int i;

	for (i = 0; i < 3 && value >= 1000; i++)
		value /= 1000;
	fprintf(to, "%8.*f %s", !i ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0, value, units[i]);
}

/* Within quotes, which @json escapes, and CSV doubles. */
static void put_text(FILE *to, const char *text, bool json)
{
	for (; *text; text++) {
		if (*text < ' ' || *text > 126)
			putc('?', to);
		else if (*text == '"' || (*text == '\\' && json))
			fprintf(to, "%c%c", json ? '\\' : '"', *text);
		else
			putc(*text, to);
	}
}

static void put_row(FILE *to, const struct options *o, const struct timed *r, bool first)
{
	const uint64_t mean = r->calls ? (r->total + r->within) / r->calls : 0;
	const uint64_t times[] = { r->total, r->self, mean, percentile(r, 0.5), percentile(r, 0.99), r->max };
	static const char *const names[] = { "total", "self", "mean", "p50", "p99", "max" };
	char *name;
	size_t i;

	if (o->json)
		fprintf(to, "%s\n{\"calls\":%" PRIu64, first ? "" : ",", r->calls);
	else
		fprintf(to, o->csv ? "%" PRIu64 : "%12" PRIu64 " ", r->calls);
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (o->json)
			fprintf(to, ",\"%s\":%" PRIu64, names[i], times[i]);
		else if (o->csv)
			fprintf(to, ",%" PRIu64, times[i]);
		else
			put_duration(to, times[i]);
	}
	fputs(o->json ? ",\"function\":\"" : o->csv ? ",\"" : "  ", to);
	name = readable(r->name);
	if (o->json || o->csv)
		put_text(to, name ? name : r->name, o->json);
	else
		put_safe(to, name ? name : r->name);
	free(name);
	if (o->json)
		fprintf(to, "\",\"left\":%" PRIu64 ",\"inside\":%" PRIu64 "}", r->left, r->inside);
	else if (o->csv)
		fprintf(to, "\",%" PRIu64 ",%" PRIu64 "\n", r->left, r->inside);
	else
		putc('\n', to);
}

/* Programs that read a table find calls there that have no time; for others a line has them. */
static bool has_row(const struct options *o, const struct timed *r)
{
	return r->calls || ((o->csv || o->json) && (r->left || r->inside));
}

/* No more than @rows functions. */
static int put_times(FILE *to, const struct options *o, struct times *t, size_t rows)
{
	bool first = true;
	size_t i;

	if (t->names.num)
		qsort(t->row, t->names.num, sizeof(*t->row), by_total);
	if (o->json)
		fputs("[", to);
	else if (o->csv)
		fputs("calls,total_ns,self_ns,mean_ns,p50_ns,p99_ns,max_ns,function,left,inside\n", to);
	else
		fprintf(to, "%12s %8s   %8s   %8s   %8s   %8s   %8s     FUNCTION\n", "CALLS", "TOTAL", "SELF", "MEAN", "P50", "P99", "MAX");
	for (i = 0; i < t->names.num && rows; i++) {
		if (!has_row(o, &t->row[i]))
			continue;
		put_row(to, o, &t->row[i], first);
		first = false;
		rows--;
	}
	if (o->json)
		fputs("\n]\n", to);
	return written(to);
}

static uint64_t left_of(const struct timed *r)
{
	return r->left;
}

static uint64_t inside_of(const struct timed *r)
{
	return r->inside;
}

/* So many functions are named in a line. */
#define NAMED	5

/* A line, if there are any: how many there are by @num, and of which functions most. */
static void say_open(const struct times *t, uint64_t (*num)(const struct timed *r), const char *how)
{
	const struct timed *most[NAMED + 1] = { NULL }, *r;
	uint64_t all = 0, functions = 0;
	char *text = NULL;
	size_t i, size;
	FILE *to;

	for (r = t->row; r < t->row + t->names.num; r++) {
		if (!num(r))
			continue;
		all += num(r);
		functions++;
		for (i = NAMED; i && (!most[i - 1] || num(most[i - 1]) < num(r)); i--)
			most[i] = most[i - 1];
		most[i] = r;
	}
	to = all ? open_memstream(&text, &size) : NULL;
	if (!to)
		return;
	for (i = 0; i < NAMED && most[i]; i++) {
		char *name = readable(most[i]->name);

		fprintf(to, "%s%" PRIu64 " of ", i ? ", " : "", num(most[i]));
		put_safe(to, name ? name : most[i]->name);
		free(name);
	}
	if (functions > NAMED)
		fprintf(to, ", and others of %" PRIu64 " functions", functions - NAMED);
	if (!fclose(to))
		note("not in the table: %" PRIu64 " call%s %s: %s", all, all > 1 ? "s" : "", how, text);
	free(text);
}

int put_sums(FILE *to, const struct options *o, const char *folder, bool *any)
{
	struct times t = { .err = 0 };
	int status;

	each_trace(folder, add_trace, &t);
	*any = t.names.num;
	status = put_times(to, o, &t, SIZE_MAX);
	say_open(&t, left_of, "left by longjmp(), an exception or the end of a thread");
	say_open(&t, inside_of, "that had not returned at the end");
	if (t.refused)
		note("%u function%s no times: jf-trace list -e 'call/...' PID, and JUMPFUNC=verbose, say why", t.refused,
		     t.refused > 1 ? "s have" : " has");
	if (t.beyond)
		note("%u function%s beyond the %d that one process can have; take a narrower pattern", t.beyond,
		     t.beyond > 1 ? "s are" : " is", JF_SUM_FUNCTIONS);
	if (t.beyond && status == STATUS_OK)
		status = STATUS_LOST;
	free(t.row);
	names_free(&t.names);
	return t.err ? fail("%s: not all could be read: %s", folder, strerror(-t.err)) : status;
}

int show_sums(const struct options *o, const char *folder, unsigned int seconds)
{
	struct times t = { .err = 0 };
	struct winsize size;
	size_t rows = 22;
	int status;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row > 4)
		rows = size.ws_row - 3U;
	each_trace(folder, add_trace, &t);
	printf("\033[H\033[Jafter %u s; ^C ends it\n", seconds);
	status = put_times(stdout, o, &t, rows);
	free(t.row);
	names_free(&t.names);
	return status;
}

/* Counts, of patterns that say so. */
int do_time(const struct options *o, int argc, char **argv)
{
	struct options sums = *o;
	const char *glob;
	enum jf_kind kind;
	unsigned int i;
	uint64_t min;
	char *text;

	if (!o->num_globs && (o->pid || !is_folder(argc, argv)))
		return fail("time of which functions? -e GLOB"), STATUS_USAGE;
	if (o->csv && o->json)
		return fail("--csv or --json"), STATUS_USAGE;
	/* Messages are on standard error, and standard output is the program's. */
	if ((o->csv || o->json) && argc && !is_folder(argc, argv) && !o->output)
		return fail("where to? --csv and --json of a program need -o FILE; '-o -' is standard output, which the program shares"),
		       STATUS_USAGE;
	for (i = 0; i < o->num_globs; i++) {
		glob = o->globs[i];
		if (jf_kind_min(&glob, &min))
			return fail("'%s': of sums all calls are a part, also short ones", o->globs[i]), STATUS_USAGE;
		kind = jf_kind_of(&glob);
		if (!*glob || kind == JF_KIND_EVENT || kind == JF_KIND_NOTE)
			return fail("'%s' is no pattern of functions", o->globs[i]), STATUS_USAGE;
		if (*jf_pattern_types(glob) == '(')
			return fail("'%s' is no pattern of functions: of calls no argument is recorded", o->globs[i]), STATUS_USAGE;
		if (asprintf(&text, "time/%s", glob) < 0)
			return fail("%s", strerror(ENOMEM));
		sums.globs[i] = text;
	}
	sums.sums = true;
	return do_count(&sums, argc, argv);
}
