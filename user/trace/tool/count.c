// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * count: how often a program, or a process from now on, comes by each probe. Each thread counts in
 * memory that it shares with a file (JF_RECORD_COUNT), and nothing is recorded: the numbers are
 * exact, whatever ends the process.
 */
#include "tool.h"
#include "threads.h"
#include "count.h"
#include "losses.h"
#include "tally.h"
#include "../trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/detail/ring_user.h>
#include <jumpfunc/recover.h>

/* Packets have 64 MiB at most, and a copy's file has all of a ring. */
#define FILE_MAX	(1LL << 33)

/* --- reading ------------------------------------------------------------------------------- */

static int read_counts(int dir, const char *name, counts_fn *fn, void *arg)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = 0;
	struct jf_counts *c = NULL;
	struct stat st;
	uint32_t id;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : -errno;
	if (fstat(fd, &st))
		err = -errno;
	if (!err && S_ISREG(st.st_mode)) {
		c = calloc(1, JF_COUNTS_SIZE);
		n = c ? pread(fd, c, JF_COUNTS_SIZE, 0) : -1;
		err = !c ? -ENOMEM : n < 0 ? -errno : 0;
	}
	close(fd);
	if (!err && c && c->magic == JF_COUNTS_MAGIC)
		for (id = 1; id < TALLY_EVENTS; id++)
			if (c->count[id])
				fn(c, id, c->count[id], arg);
	free(c);
	return err;
}

/**
 * struct packet_counts - records of a packet, by event
 * @count: how many
 * @last:  the highest event that has any
 */
struct packet_counts {
	uint64_t	count[TALLY_EVENTS];
	uint32_t	last;
};

static int count_record(const struct jf_record_seen *r, void *arg)
{
	struct packet_counts *p = (struct packet_counts *)arg;

	p->count[r->id]++;
	if (r->id > p->last)
		p->last = r->id;
	return 0;
}

/* One packet, of @size bytes. */
static void read_packet(const void *data, uint64_t size, struct packet_counts *p, counts_fn *fn, void *arg)
{
	struct jf_counts head = { .magic = JF_COUNTS_MAGIC, .threads = 1 };
	const struct jf_packet *packet = (const struct jf_packet *)data;
	uint32_t id;

	/* There may be many packets of few events. */
	memset(p->count, 0, (p->last + UINT32_C(1)) * sizeof(*p->count));
	p->last = 0;
	/* Damage is reported elsewhere; whole packets before the damage count. */
	if (jf_recover_packet(data, size, count_record, p, NULL))
		return;
	head.tid = packet->tid;
	memcpy(head.comm, packet->comm, sizeof(head.comm));
	for (id = 1; id <= p->last; id++)
		if (p->count[id])
			fn(&head, id, p->count[id], arg);
}

/* Packets of a file, one after the other. */
static int read_packets(int dir, const char *name, counts_fn *fn, void *arg)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = 0;
	struct packet_counts *p = calloc(1, sizeof(*p));
	uint64_t at, size;
	char *data = NULL;
	struct stat st;
	ssize_t n = 0;

	if (fd < 0) {
		free(p);
		return errno == ENOENT || errno == ELOOP ? 0 : -errno;
	}
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISREG(st.st_mode) && st.st_size > 0) {
		/* It is sparse, or read in parts, only if another program has made it so. */
		data = st.st_size <= FILE_MAX ? malloc((size_t)st.st_size) : NULL;
		n = data && p ? pread(fd, data, (size_t)st.st_size, 0) : -1;
		err = !data || !p ? -ENOMEM : n < 0 ? -errno : 0;
	}
	close(fd);
	for (at = 0; !err && at + sizeof(struct jf_packet) <= (uint64_t)n; at += size) {
		const struct jf_packet *packet = (const struct jf_packet *)(void *)(data + at);

		size = packet->packet_size / 8;
		if (packet->magic != JF_PACKET_MAGIC || size < sizeof(*packet) || size % 8 || size > (uint64_t)n - at)
			break;
		read_packet(packet, size, p, fn, arg);
	}
	free(data);
	free(p);
	return err;
}

/* Calls @read for each file of a folder that @is_one says by its name. */
static int each_file(int dir, bool (*is_one)(const char *name), int (*read)(int dir, const char *name, counts_fn *fn, void *arg),
		     counts_fn *fn, void *arg)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0, one;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((e = readdir(d))) {
		one = is_one(e->d_name) ? read(dir, e->d_name, fn, arg) : 0;
		err = err ? err : one;
	}
	closedir(d);
	return err;
}

static bool has_counts(const char *name)
{
	unsigned int nr;
	char end;

	return sscanf(name, JF_COUNTS_NAME "%c", &nr, &end) == 1;
}

/* As the process writes it, or as a copy has it. */
static bool has_packets(const char *name)
{
	unsigned int ring;

	return jf_packet_file(name, &ring, NULL);
}

int counts_each(int dir, counts_fn *fn, void *arg)
{
	return each_file(dir, has_counts, read_counts, fn, arg);
}

int records_each(int dir, counts_fn *fn, void *arg)
{
	return each_file(dir, has_packets, read_packets, fn, arg);
}

/**
 * struct counted - calls of an event by a thread
 * @name:    of the event
 * @pid:     of the process
 * @tid:     of the thread; 0: it cannot be told
 * @threads: that have counted there, this one last
 * @comm:    its name
 * @num:     calls
 */
struct counted {
	char		*name;
	int		pid;
	uint32_t	tid;
	uint32_t	threads;
	char		comm[17];
	uint64_t	num;
};

/**
 * struct all_counted - of all traces in a folder
 * @row:   each event of each thread
 * @num:   how many
 * @tally: of the present trace, which has the events' names
 * @pid:   of its process
 * @each:  gets them
 * @err:   0, or why not all of it is known, -errno
 */
struct all_counted {
	struct counted		*row;
	size_t			num;
	struct tally		tally;
	int			pid;
	int			(*each)(int dir, counts_fn *fn, void *arg);
	int			err;
};

static void add_row(const struct jf_counts *c, uint32_t id, uint64_t num, void *arg)
{
	struct all_counted *all = (struct all_counted *)arg;
	const char *name = all->tally.event[id].name;
	struct counted *r = all->row;

	/* A power of two has no room for one more. */
	if (!(all->num & (all->num - 1)))
		r = realloc(r, (all->num ? all->num * 2 : 1) * sizeof(*r));
	if (!r) {
		all->err = -ENOMEM;
		return;
	}
	all->row = r;
	r += all->num;
	*r = (struct counted){ strdup(name ? name : "?"), all->pid, c->tid, c->threads, "", num };
	snprintf(r->comm, sizeof(r->comm), "%.*s", (int)sizeof(c->comm), c->comm);
	if (r->name)
		all->num++;
	else
		all->err = -ENOMEM;
}

static void add_trace(const char *path, void *arg)
{
	struct all_counted *all = (struct all_counted *)arg;
	const char *dash = strrchr(path, '-');
	int err = tally_begin(&all->tally, path);

	/* "program-PID-1" */
	while (dash && dash > path && *--dash != '-')
		;
	all->pid = dash ? atoi(dash + 1) : 0;
	if (!err) {
		err = all->each(all->tally.dir, add_row, all);
		tally_end(&all->tally);
	}
	all->err = all->err ? all->err : err;
}

/* --- showing ------------------------------------------------------------------------------- */

static int by_thread(const void *x, const void *y)
{
	const struct counted *a = (const struct counted *)x, *b = (const struct counted *)y;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid != b->tid ? a->tid < b->tid ? -1 : 1 : 0;
}

/* A thread that stands there several times, for it has several packets, is one row. */
static void join_rows(struct all_counted *all)
{
	size_t i, num = 0;

	if (all->num)
		qsort(all->row, all->num, sizeof(*all->row), by_thread);
	for (i = 0; i < all->num; i++) {
		if (!num || by_thread(&all->row[num - 1], &all->row[i])) {
			all->row[num++] = all->row[i];
			continue;
		}
		all->row[num - 1].num += all->row[i].num;
		free(all->row[i].name);
	}
	all->num = num;
}

static int by_name(const void *x, const void *y)
{
	const struct counted *a = (const struct counted *)x, *b = (const struct counted *)y;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	if (a->num != b->num)
		return a->num > b->num ? -1 : 1;
	return a->tid != b->tid ? a->tid < b->tid ? -1 : 1 : 0;
}

/**
 * struct event_sum - of one event
 * @first: its first row
 * @num:   how many
 * @calls: of all of them
 */
struct event_sum {
	const struct counted	*first;
	size_t			num;
	uint64_t		calls;
};

static int by_calls(const void *x, const void *y)
{
	const struct event_sum *a = (const struct event_sum *)x, *b = (const struct event_sum *)y;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	return strcmp(a->first->name, b->first->name);
}

static void put_thread(FILE *to, const struct counted *r, bool with_pid)
{
	fprintf(to, "%14" PRIu64 "    ", r->num);
	if (with_pid)
		fprintf(to, "%d/", r->pid);
	fprintf(to, "%" PRIu32 " ", r->tid);
	put_safe(to, r->comm);
	if (r->threads > 1)
		fprintf(to, ", and %" PRIu32 " threads before it", r->threads - 1);
	putc('\n', to);
}

static int put_counts(FILE *to, struct all_counted *all, const char *what)
{
	struct event_sum *sum = calloc(all->num + 1, sizeof(*sum));
	bool several = false;
	size_t i, k, num = 0;

	if (!sum)
		return fail("%s", strerror(ENOMEM));
	join_rows(all);
	if (all->num)
		qsort(all->row, all->num, sizeof(*all->row), by_name);
	for (i = 0; i < all->num; i++) {
		if (!num || strcmp(sum[num - 1].first->name, all->row[i].name))
			sum[num++].first = &all->row[i];
		sum[num - 1].num++;
		sum[num - 1].calls += all->row[i].num;
		several |= all->row[i].pid != all->row[0].pid;
	}
	if (num)
		qsort(sum, num, sizeof(*sum), by_calls);
	fprintf(to, "%14s  PROBE, and its threads\n", what);
	for (i = 0; i < num; i++) {
		fprintf(to, "%14" PRIu64 "  ", sum[i].calls);
		put_name(to, sum[i].first->name);
		putc('\n', to);
		for (k = 0; k < sum[i].num; k++)
			put_thread(to, &sum[i].first[k], several);
	}
	free(sum);
	return written(to);
}

static int put_table(FILE *to, const char *folder, struct all_counted *all, const char *what)
{
	int status;
	size_t i;

	each_trace(folder, add_trace, all);
	status = put_counts(to, all, what);
	for (i = 0; i < all->num; i++)
		free(all->row[i].name);
	free(all->row);
	return all->err ? fail("%s: not all could be read: %s", folder, strerror(-all->err)) : status;
}

int put_records(FILE *to, const char *folder)
{
	struct all_counted all = { .each = records_each };

	return put_table(to, folder, &all, "RECORDS");
}

/*
 * The counters of a folder's traces. STATUS_LOST: calls, or functions, could not be counted.
 * STATUS_NONE: there are records, and no counters.
 */
static int show_counts(FILE *to, const struct options *o, const char *folder)
{
	struct all_counted all = { .each = counts_each };
	bool any;
	int status = o->sums ? put_sums(to, o, folder, &any) : put_table(to, folder, &all, "CALLS");
	struct losses l;

	if (!o->sums)
		any = all.num;
	losses_read(&l, folder);
	if (l.discarded > l.calls)
		note("%" PRIu64 " calls were not counted: there was no memory, or no file, for the counters of a thread, or it was in a program "
		     "that was compiled for an earlier version", l.discarded - l.calls);
	if (l.calls)
		note("%" PRIu64 LOST_CALLS, l.calls);
	status = status == STATUS_FAILED || l.err ? STATUS_FAILED : l.discarded ? STATUS_LOST : status;
	if (!any && l.records && status != STATUS_FAILED) {
		note("%s has records, and no %s: jf-trace report%s %s", folder, o->sums ? "sums of calls" : "counters", o->sums ? " --summary" : "", folder);
		status = STATUS_NONE;
	}
	losses_free(&l);
	return status;
}

static FILE *open_output(const struct options *o, FILE *without)
{
	FILE *to = !o->output ? without : strcmp(o->output, "-") ? fopen(o->output, "we") : stdout;

	if (!to)
		fail("%s: %s", o->output, strerror(errno));
	return to;
}

static int close_output(const struct options *o, FILE *to, int status)
{
	/* main() looks at standard output itself. */
	if (o->output && to != stdout && fclose(to) && status == STATUS_OK)
		return fail("%s: %s", o->output, strerror(errno));
	return status;
}

/* --- of what ------------------------------------------------------------------------------- */

static char leaving[PATH_MAX + 64];

static void leave(int sig)
{
	_exit(write(STDERR_FILENO, leaving, strlen(leaving)) < 0 ? STATUS_FAILED : 128 + sig);
}

/* ^C ends the reading of a large trace, which stays. An ignored signal stays ignored. */
static void leave_on_signal(const char *folder)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction act, old;
	size_t i;

	snprintf(leaving, sizeof(leaving), "jf-trace: interrupted; the trace is in %s\n", folder);
	memset(&act, 0, sizeof(act));
	act.sa_handler = leave;
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

static int count_folder(const struct options *o, const char *folder)
{
	FILE *to;

	if (any_trace(folder))
		return STATUS_FAILED;
	to = open_output(o, stdout);
	return to ? close_output(o, to, show_counts(to, o, folder)) : STATUS_FAILED;
}

static int count_program(const struct options *o, char **argv)
{
	/* Nothing but -e is for both: the trace's folder is our own. */
	struct options run = { .num_globs = o->num_globs, .mode = "count", .registers = !any_choice(o) };
	FILE *to = open_output(o, stderr);
	struct run r;
	int status;

	if (!to)
		return STATUS_RUN_FAILED;
	memcpy(run.globs, o->globs, sizeof(run.globs));
	status = run_program(&run, argv, &r);
	if (status) {
		close_output(o, to, status);
		return status;
	}
	leave_on_signal(r.folder);
	status = show_run(&run, argv[0], &r) ? show_counts(to, o, r.folder) : STATUS_OK;
	if (close_output(o, to, status) == STATUS_FAILED)
		status = STATUS_FAILED;
	/* Numbers that could not be shown stay. */
	if (status == STATUS_FAILED)
		note("the trace is in %s", r.folder);
	else
		remove_traces(r.folder);
	if (r.status)
		return r.status;
	return status == STATUS_OK ? status : status == STATUS_LOST ? STATUS_RUN_LOST : STATUS_RUN_NO_REPORT;
}

/* Until ^C, or until the process has ended. @live: shows the sums so far, as top(1) its table. */
static void wait_for_end(const struct options *o, pid_t pid, const char *folder, bool live)
{
	uint64_t begin = now_ns(), last = begin;
	uid_t uid;

	note("counting; ^C ends it");
	while (!told_to_end && pid_owner(pid, &uid)) {
		rest(100000000);
		if (!live || told_to_end || (double)(now_ns() - last) < o->interval * 1e9)
			continue;
		last = now_ns();
		live = show_sums(o, folder, (unsigned int)((last - begin) / 1000000000)) == STATUS_OK;
	}
	/* The table of all takes the place of the last one. */
	if (live && last > begin)
		fputs("\033[H\033[J", stdout);
}

static int count_process(const struct options *o, pid_t pid)
{
	char folder[PATH_MAX];
	FILE *to = open_output(o, stdout);
	int status, stopped = STATUS_OK;
	bool counted;
	uid_t uid;

	if (!to)
		return STATUS_FAILED;
	end_on_signals();
	status = record_from_now(o, pid, "count", folder, sizeof(folder));
	if (status && !*folder)
		return close_output(o, to, status);
	counted = !status;
	if (counted)
		wait_for_end(o, pid, folder, o->sums && !o->output && !o->csv && !o->json && isatty(STDOUT_FILENO));
	if (pid_owner(pid, &uid))
		stopped = stop_process(pid);
	if (counted) {
		leave_on_signal(folder);
		status = show_counts(to, o, folder);
	}
	/* Numbers that could not be shown stay. */
	if (!stopped && !(counted && status == STATUS_FAILED))
		remove_traces(folder);
	else
		note("the trace is in %s", folder);
	return close_output(o, to, status ? status : stopped);
}

bool is_folder(int argc, char **argv)
{
	struct stat st;

	return argc == 1 && !stat(argv[0], &st) && S_ISDIR(st.st_mode);
}

int do_count(const struct options *o, int argc, char **argv)
{
	pid_t pid;

	if (o->pid) {
		if (argc)
			return fail("count a process (-p), or a program"), STATUS_USAGE;
		return is_pid(o->pid, &pid) ? count_process(o, pid) : (fail("'%s' is no number of a process", o->pid), STATUS_USAGE);
	}
	if (!argc)
		return fail("count what? jf-trace count PROGRAM, or -p PID"), STATUS_USAGE;
	if (is_folder(argc, argv))
		return count_folder(o, argv[0]);
	return count_program(o, argv);
}
