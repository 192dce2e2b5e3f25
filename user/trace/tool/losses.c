// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The losses of a trace: records that were overwritten, and records that were discarded. The heads
 * of packets count both, for each ring. A ring belongs to one thread at a time, and is given to
 * another one when that has ended.
 *
 * A folder is one that a process records into (a file for each packet), or a copy (a file for each
 * ring). It may be hostile: no size in it is believed, and numbers are only shown.
 */
#include "tool.h"
#include "losses.h"
#include "../trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Rings of which a line speaks. */
#define SHOWN		3

/* Room for one more: a power of two has none. NULL: no memory. */
static void *make_room(void *array, size_t num, size_t size)
{
	if (num & (num - 1))
		return array;
	return realloc(array, (num ? num * 2 : 1) * size);
}

static struct ring_losses *find_ring(struct losses *l, uint64_t ring)
{
	size_t *at = index_at(&l->index, ring, 0);
	struct ring_losses *r;

	if (!at || *at != INDEX_NONE)
		return at ? &l->ring[*at] : NULL;
	r = make_room(l->ring, l->num, sizeof(*r));
	if (!r)
		return NULL;
	l->ring = r;
	*at = l->num;
	r += l->num++;
	memset(r, 0, sizeof(*r));
	r->ring = ring;
	r->pid = l->pid;
	return r;
}

/* Once for each packet, until all are there. */
static void add_name(struct losses *l, const struct jf_packet *head)
{
	struct thread_name *t = make_room(l->thread, l->num_threads, sizeof(*t));

	if (!t)
		return;
	l->thread = t;
	t += l->num_threads++;
	t->pid = l->pid;
	t->tid = head->tid;
	snprintf(t->name, sizeof(t->name), "%.*s", (int)sizeof(head->comm), head->comm);
}

static void add_thread(struct ring_losses *r, uint32_t tid)
{
	unsigned int i;

	for (i = 0; i < r->num_tids && i < LOSSES_TIDS; i++)
		if (r->tid[i] == tid)
			return;
	if (i < LOSSES_TIDS)
		r->tid[i] = tid;
	r->num_tids++;
}

/* 0, -EINVAL: it is no packet, or -ENOMEM. */
static int add_head(struct losses *l, const char *name, const struct jf_packet *head, uint64_t room)
{
	uint64_t records = head->committed >> 32, calls;
	struct ring_losses *r;

	if (!jf_head_valid(head, room) || memcmp(head->uuid, l->uuid, sizeof(l->uuid)) ||
	    (head->ring == JF_NO_RING) != !strcmp(name, "lost"))
		return -EINVAL;
	if (head->ring == JF_NO_RING) {
		calls = head->calls < head->discarded ? head->calls : head->discarded;
		l->calls += calls;
		l->no_ring += head->discarded - calls;
		l->discarded += head->discarded;
		/* The file may be another's. */
		if (head->discarded && head->error < 4096)
			l->why = (int)head->error;
		return 0;
	}
	r = find_ring(l, head->ring);
	if (!r)
		return -ENOMEM;
	if (head->overwrites > r->overwritten)
		r->overwritten = head->overwrites;
	if (head->overwritten > r->overwritten)
		r->overwritten = head->overwritten;
	if (head->discarded > r->discarded)
		r->discarded = head->discarded;
	/* It is being cleared. */
	if (!head->seq)
		return 0;
	/* A record has eight bytes at least. */
	r->records += records < head->packet_size / 64 ? records : head->packet_size / 64;
	if (!r->seq || head->seq < r->seq) {
		r->seq = head->seq;
		r->begin = head->head == JF_PACKET_TIMED ? head->begin : 0;
	}
	add_thread(r, head->tid);
	if (head->threads > r->threads)
		r->threads = head->threads;
	add_name(l, head);
	return 0;
}

static int read_file(struct losses *l, const char *name)
{
	int fd = openat(l->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = 0;
	struct jf_packet head;
	struct stat st;
	uint64_t at = 0;

	/* Links and pipes are none of a trace. Others are not left out in silence. */
	if (fd < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : -errno;
	if (fstat(fd, &st))
		err = -errno;
	while (!err && S_ISREG(st.st_mode) && at < (uint64_t)st.st_size && jf_head_read(fd, &head, at)) {
		err = add_head(l, name, &head, (uint64_t)st.st_size - at);
		at += head.packet_size / 8;
	}
	close(fd);
	/* The recovery reports damage. */
	return err == -EINVAL ? 0 : err;
}

/* As metadata.c writes them. False: this is no trace. */
static bool read_metadata(struct losses *l)
{
	int fd = openat(l->dir, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	unsigned long long freq, offset;
	struct process_name *process;
	char text[4097], *p;
	long long seconds;
	ssize_t n;

	l->freq = 0;
	l->pid = 0;
	n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	if (!jf_trace_uuid(text, l->uuid))
		return false;
	p = strstr(text, "\n\tfreq = ");
	if (p && sscanf(p, "\n\tfreq = %llu;\n\toffset_s = %lld;\n\toffset = %llu;", &freq, &seconds, &offset) == 3) {
		l->freq = freq;
		l->seconds = seconds;
		l->offset = offset;
	}
	p = strstr(text, "\n\tvpid = ");
	if (p)
		sscanf(p, "\n\tvpid = %d;", &l->pid);
	l->kept |= !!strstr(text, "\n\ttracer_mode = \"keep\";\n");
	p = strstr(text, "\n\tprocname = \"");
	process = p ? make_room(l->process, l->num_processes, sizeof(*process)) : NULL;
	if (!process)
		return true;
	l->process = process;
	process += l->num_processes++;
	process->pid = l->pid;
	p += sizeof("\n\tprocname = \"") - 1;
	snprintf(process->name, sizeof(process->name), "%.*s", (int)strcspn(p, "\"\n"), p);
	return true;
}

static void set_times(struct losses *l)
{
	struct ring_losses *r;
	uint64_t cycles;

	for (r = l->ring + l->first; r < l->ring + l->num; r++) {
		r->timed = l->freq && r->begin;
		if (!r->timed)
			continue;
		cycles = r->begin % l->freq + l->offset;
		r->seconds = l->seconds + (int64_t)(r->begin / l->freq + cycles / l->freq);
		r->ns = (uint64_t)((double)(cycles % l->freq) / (double)l->freq * 1e9);
	}
}

/* How many files of packets there have been, before those that are there are counted. */
static uint64_t read_files(const struct losses *l)
{
	int fd = openat(l->dir, "lost", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct jf_packet head = { .files = 0 };

	if (fd < 0)
		return 0;
	if (!jf_head_read(fd, &head, 0) || memcmp(head.uuid, l->uuid, sizeof(l->uuid)))
		head.files = 0;
	close(fd);
	return head.files;
}

static void read_folder(const char *path, void *arg)
{
	struct losses *l = (struct losses *)arg;
	uint64_t files = 0, num = 0;
	int err = 0, fd = -1;
	struct dirent *e;
	DIR *dir = NULL;

	l->first = l->num;
	l->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->dir >= 0)
		fd = openat(l->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir)
		err = -errno;
	if (!dir && fd >= 0)
		close(fd);
	index_free(&l->index);
	if (dir && !read_metadata(l))
		err = -ENODATA;
	if (!err)
		files = read_files(l);
	while (!err && (e = readdir(dir))) {
		num += *e->d_name == 'r';
		if (*e->d_name == 'r' || !strcmp(e->d_name, "lost"))
			err = read_file(l, e->d_name);
	}
	if (!err && files > num)
		l->removed += files - num;
	if (dir)
		closedir(dir);
	if (l->dir >= 0)
		close(l->dir);
	set_times(l);
	if (err) {
		l->err = err;
		note("%s: what it has lost is not known: %s", path, strerror(-err));
	}
}

static int by_loss(const void *x, const void *y)
{
	const struct ring_losses *a = (const struct ring_losses *)x, *b = (const struct ring_losses *)y;
	uint64_t of_a = a->overwritten + a->discarded, of_b = b->overwritten + b->discarded;

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a->ring != b->ring ? a->ring < b->ring ? -1 : 1 : 0;
}

static int by_thread(const void *x, const void *y)
{
	const struct thread_name *a = (const struct thread_name *)x, *b = (const struct thread_name *)y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid != b->tid ? a->tid < b->tid ? -1 : 1 : 0;
}

/* Each thread once. */
static void sort_names(struct losses *l)
{
	size_t i, num = 0;

	if (l->num_threads)
		qsort(l->thread, l->num_threads, sizeof(*l->thread), by_thread);
	for (i = 0; i < l->num_threads; i++)
		if (!num || by_thread(&l->thread[num - 1], &l->thread[i]))
			l->thread[num++] = l->thread[i];
	l->num_threads = num;
}

int losses_read(struct losses *l, const char *folder)
{
	int traces;
	size_t i;

	memset(l, 0, sizeof(*l));
	traces = each_trace(folder, read_folder, l);
	if (traces < 0) {
		l->err = traces;
		note("%s: what it has lost is not known: %s", folder, strerror(-traces));
	}
	for (i = 0; i < l->num; i++) {
		l->records += l->ring[i].records;
		l->overwritten += l->ring[i].overwritten;
		l->discarded += l->ring[i].discarded;
	}
	sort_names(l);
	if (l->num)
		qsort(l->ring, l->num, sizeof(*l->ring), by_loss);
	return l->err;
}

void losses_free(struct losses *l)
{
	free(l->ring);
	free(l->thread);
	free(l->process);
	index_free(&l->index);
	memset(l, 0, sizeof(*l));
}

/* --- for people ------------------------------------------------------------------------------ */

/* A line that is made of parts; what does not fit is cut. */
struct line {
	char	text[1024];
	size_t	len;
};

__attribute__((__format__(__printf__, 2, 3)))
static void add(struct line *to, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to->text + to->len, sizeof(to->text) - to->len, format, args);
	va_end(args);
	if (n > 0)
		to->len += (size_t)n;
	if (to->len >= sizeof(to->text))
		to->len = sizeof(to->text) - 1;
}

static void add_threads(struct line *to, const struct ring_losses *r)
{
	unsigned int i;

	add(to, r->num_tids == 1 && r->threads <= 1 ? "thread" : "threads");
	for (i = 0; i < r->num_tids && i < LOSSES_TIDS; i++)
		add(to, "%s %" PRIu32, i ? "," : "", r->tid[i]);
	/* The sums count all threads. */
	if (r->num_tids > LOSSES_TIDS || r->threads > r->num_tids)
		add(to, " and others");
}

static bool is_lossy(const struct ring_losses *r)
{
	return r->overwritten || r->discarded;
}

/* The rings that have lost most, if others have lost less. */
static void add_rings(struct line *to, const struct losses *l)
{
	const struct ring_losses *r;
	size_t lossy = 0, i;

	for (i = 0; i < l->num; i++)
		lossy += is_lossy(&l->ring[i]);
	for (i = 0; l->num > 1 && i < lossy && i < SHOWN; i++) {
		r = &l->ring[i];
		add(to, i ? "; " : " (");
		add_threads(to, r);
		add(to, ": %" PRIu64 ", %" PRIu64 ", %" PRIu64, r->records, r->overwritten, r->discarded);
	}
	if (l->num > 1 && lossy > SHOWN)
		add(to, "; %zu more", lossy - SHOWN);
	if (l->num > 1 && lossy)
		add(to, ")");
}

/* Of records that had no ring. */
static const char *remedy(int why)
{
	switch (why) {
	case 0:
		return "there are as many as are allowed: more (JUMPFUNC_TRACE_RINGS); or its threads cannot record: libjumpfunc-agent(7), CAVEATS";
	case ENOSPC:
	case EDQUOT:
		return "the disk or --max-size is full: another folder (-o), smaller rings (--packets 2)";
	case EMFILE:
	case ENFILE:
		return "no more files can be opened: a higher limit (ulimit -n)";
	case EFBIG:
		return "files must not be as large: a higher limit (ulimit -f), smaller packets (--packet-size 4096)";
	case EPERM:
		return "the program's filter of system calls (seccomp) may end it for what a ring takes: JUMPFUNC_AGENT_STRINGS=always if it does not";
	case ENOMEM:
		return "there is no memory, or there are too many mappings (vm.max_map_count): smaller rings (--packets 2)";
	}
	return strerror(why);
}

static void add_advice(struct line *to, const struct losses *l)
{
	bool any = l->overwritten || l->discarded > l->no_ring + l->calls;

	if (any && l->kept)
		add(to, "; to lose less: a folder on a disk with more room (-o), a higher --max-size or none, fewer events (-e)");
	else if (any)
		add(to, "; to lose less: larger rings (--packets 64, --packet-size 1048576), fewer events (-e), or --mode keep with a folder on a disk (-o)");
	if (l->no_ring)
		add(to, "; %" PRIu64 " had no ring: %s", l->no_ring, remedy(l->why));
	if (l->calls)
		add(to, "; %" PRIu64 LOST_CALLS, l->calls);
}

int losses_say(const struct losses *l)
{
	struct line line = { "", 0 };

	add(&line, "records %" PRIu64 ", overwritten %" PRIu64 ", discarded %" PRIu64, l->records, l->overwritten, l->discarded);
	add_rings(&line, l);
	add_advice(&line, l);
	if (l->removed)
		add(&line, "; %" PRIu64 " files of the trace were removed, and the records in them are in none of these numbers", l->removed);
	note("%s", line.text);
	if (l->err)
		return STATUS_FAILED;
	return l->overwritten || l->discarded || l->removed ? STATUS_LOST : STATUS_OK;
}

int say_losses(const char *folder)
{
	struct losses l;
	int status;

	losses_read(&l, folder);
	status = losses_say(&l);
	losses_free(&l);
	return status;
}

static void add_time(struct line *to, const struct ring_losses *r)
{
	time_t seconds = (time_t)r->seconds;
	struct tm tm;

	if (r->timed && localtime_r(&seconds, &tm))
		add(to, " before %02d:%02d:%02d.%09u", tm.tm_hour, tm.tm_min, tm.tm_sec, (unsigned int)r->ns);
}

void losses_say_begins(const struct losses *l)
{
	size_t num = 0, i;

	for (i = 0; i < l->num; i++) {
		struct line line = { "", 0 };

		if (!l->ring[i].overwritten || ++num > SHOWN)
			continue;
		add(&line, "%" PRIu64 " records of ", l->ring[i].overwritten);
		add_threads(&line, &l->ring[i]);
		add_time(&line, &l->ring[i]);
		add(&line, " were overwritten: what follows is not all");
		note("%s", line.text);
	}
	if (num > SHOWN)
		note("so were records of %zu other rings", num - SHOWN);
}
