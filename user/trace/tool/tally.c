// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "tally.h"
#include "tool.h"
#include "../ids.h"
#include "../trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jumpfunc/detail/ring_user.h>
#include <jumpfunc/recover.h>

#define SIZE_MAX_	(64u << 20)

/* --- names of events -------------------------------------------------------------------- */

char *tally_metadata(int dir, uint64_t *size)
{
	int fd = openat(dir, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= 0 && st.st_size <= SIZE_MAX_)
		text = malloc((size_t)st.st_size + 1);
	if (text) {
		n = pread(fd, text, (size_t)st.st_size, 0);
		text[n < 0 ? 0 : n] = 0;
		*size = (uint64_t)st.st_size;
	}
	close(fd);
	return text;
}

/* Memory of others is not touched: there can be many processes. */
static void seen_id(struct tally *t, uint32_t id)
{
	if (id > t->last)
		t->last = id;
}

/* As metadata.c writes it. */
static bool learn_names(struct tally *t)
{
	uint64_t size = 0;
	char *text = tally_metadata(t->dir, &size);
	const char *p = text, *name;
	unsigned int id;
	size_t len;
	bool ok;

	if (!text)
		return false;
	ok = strstr(text, "\n\ttracer_name = \"jumpfunc\";\n");
	/* Events only come. */
	if (ok && size != t->metadata) {
		t->metadata = size;
		while ((p = jf_event_next(p, &name, &len, &id)))
			if (id < TALLY_EVENTS && !t->event[id].name) {
				t->event[id].name = strndup(name, len);
				seen_id(t, id);
			}
	}
	free(text);
	return ok;
}

/* --- packets ------------------------------------------------------------------------------ */

static struct tally_packet *find_packet(struct tally *t, const char *name)
{
	struct tally_packet *p;
	unsigned int ring, k;
	size_t *at;

	if (!jf_packet_file(name, &ring, &k))
		return NULL;
	at = index_at(&t->by_name, ring, k);
	if (!at || *at != INDEX_NONE)
		return at ? &t->packet[*at] : NULL;
	/* A power of two has no room for one more. */
	if (!(t->num & (t->num - 1))) {
		p = realloc(t->packet, (t->num ? t->num * 2 : 1) * sizeof(*p));
		if (!p)
			return NULL;
		t->packet = p;
	}
	*at = t->num;
	p = &t->packet[t->num++];
	memset(p, 0, sizeof(*p));
	p->ring = ring;
	return p;
}

/**
 * struct counting - for count_record()
 * @count: by id; of this packet
 * @room:  ids that it has
 */
struct counting {
	uint32_t	*count;
	uint32_t	room;
};

static bool make_counts(uint32_t **count, uint32_t *room, uint32_t id)
{
	uint32_t need = (id + 64u) & ~63u, *more;

	if (id < *room)
		return true;
	more = realloc(*count, need * sizeof(*more));
	if (!more)
		return false;
	memset(more + *room, 0, (need - *room) * sizeof(*more));
	*count = more;
	*room = need;
	return true;
}

static int count_record(const struct jf_record_seen *r, void *arg)
{
	struct counting *c = (struct counting *)arg;

	if (!r->id)
		return 0;
	if (!make_counts(&c->count, &c->room, r->id))
		return -ENOMEM;
	c->count[r->id]++;
	return 0;
}

/* The one that a packet is of, or a new one; NULL: no memory. */
static struct tally_ring *find_ring(struct tally *t, uint64_t ring)
{
	size_t *at = index_at(&t->by_ring, ring, 0);
	struct tally_ring *r;

	if (!at || *at != INDEX_NONE)
		return at ? &t->ring[*at] : NULL;
	/* A power of two has no room for one more. */
	if (!(t->rings & (t->rings - 1))) {
		r = realloc(t->ring, (t->rings ? t->rings * 2 : 1) * sizeof(*r));
		if (!r)
			return NULL;
		t->ring = r;
	}
	*at = t->rings;
	r = &t->ring[t->rings++];
	memset(r, 0, sizeof(*r));
	r->ring = ring;
	return r;
}

/* Its growth since the last time. */
static void add_counts(struct tally *t, struct tally_packet *p, const struct counting *c, uint64_t seq)
{
	struct tally_ring *r = find_ring(t, p->ring);
	bool same = p->seq == seq;
	uint32_t id, old;

	for (id = 1; id < c->room; id++) {
		old = same && id < p->room ? p->count[id] : 0;
		if (c->count[id] <= old || !r || !make_counts(&r->count, &r->room, id))
			continue;
		r->count[id] += c->count[id] - old;
		r->seen += c->count[id] - old;
		t->event[id].now += c->count[id] - old;
		seen_id(t, id);
		t->seen += c->count[id] - old;
	}
	free(p->count);
	p->count = c->count;
	p->room = c->room;
	p->seq = seq;
}

/* @size bytes from @at on. */
static int read_packet(struct tally *t, struct tally_packet *p, int fd, uint64_t at, uint64_t size)
{
	struct counting c = { NULL, 0 };
	struct jf_packet head, again;
	char *data;
	int err = -ENOMEM;

	if (size > SIZE_MAX_ || size < sizeof(head))
		return 0;
	data = malloc(size);
	if (!data)
		return err;
	err = 0;
	if (pread(fd, data, size, (off_t)at) == (ssize_t)size && pread(fd, &again, sizeof(again), (off_t)at) == sizeof(again)) {
		memcpy(&head, data, sizeof(head));
		/*
		 * It was cleared, or another has begun after it, during this look: the next look
		 * sees that.
		 */
		if (head.seq && head.seq == again.seq && head.packet_size == size * 8) {
			err = jf_recover_packet(data, size, count_record, &c, NULL);
			if (!err) {
				p->mark[0] = head.content_size;
				p->mark[1] = head.committed;
				add_counts(t, p, &c, head.seq);
				c.count = NULL;
			} else if (err == -EINVAL) {
				err = 0;
			}
		}
	}
	free(c.count);
	free(data);
	return err;
}

static void add_sum(struct tally *t, uint64_t ring, const struct jf_packet *head)
{
	struct tally_ring *r = find_ring(t, ring);

	if (!r)
		return;
	r->records += head->committed >> 32;
	if (head->seq < r->seq)
		return;
	r->seq = head->seq;
	r->over = head->overwritten;
	r->lost = head->discarded;
	r->tid = head->tid;
	snprintf(r->name, sizeof(r->name), "%.*s", (int)sizeof(head->comm), head->comm);
}

/* Packets of a file, one after the other. Only the last one still changes. */
static int look_at(struct tally *t, const char *name)
{
	int fd = openat(t->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = 0;
	struct tally_packet *p = find_packet(t, name);
	bool lost = !strcmp(name, "lost");
	struct jf_packet head;
	struct stat st;
	uint64_t at = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		st.st_size = 0;
	while (!err && at < (uint64_t)st.st_size && jf_head_read(fd, &head, at) &&
	       jf_head_valid(&head, (uint64_t)st.st_size - at)) {
		uint64_t size = head.packet_size / 8;

		if (lost)
			add_sum(t, JF_NO_RING, &head);
		if (lost)
			break;
		if (p && head.seq) {
			add_sum(t, p->ring, &head);
			if (head.seq > p->seq ||
			    (head.seq == p->seq && (p->mark[0] != head.content_size || p->mark[1] != head.committed)))
				err = read_packet(t, p, fd, at, size);
		}
		at += size;
	}
	close(fd);
	return err;
}

static void begin_look(struct tally *t)
{
	uint32_t id;
	size_t i;

	t->seen = t->total = t->discarded = 0;
	for (id = 0; id <= t->last; id++) {
		t->event[id].now = 0;
		t->event[id].made = 0;
	}
	for (i = 0; i < t->rings; i++) {
		struct tally_ring *r = &t->ring[i];

		r->records = r->seen = 0;
		if (r->count)
			memset(r->count, 0, r->room * sizeof(*r->count));
	}
}

/*
 * Records that were overwritten before they were seen are taken to be of the same events as the
 * rest of its ring, in proportion.
 */
static void add_ring(struct tally *t, struct tally_ring *r)
{
	uint64_t made = r->records + r->over;
	double factor;
	uint32_t id;

	/* Heads were read at several moments. */
	r->total = made > r->sums[0] ? made - r->sums[0] : 0;
	if (r->total < r->seen)
		r->total = r->seen;
	r->discarded = r->lost > r->sums[1] ? r->lost - r->sums[1] : 0;
	r->sums[0] = made;
	r->sums[1] = r->lost;
	t->total += r->total;
	t->discarded += r->discarded;
	factor = r->seen ? (double)r->total / (double)r->seen : 0;
	for (id = 1; id < r->room; id++)
		t->event[id].made += (double)r->count[id] * factor;
}

int tally_look(struct tally *t)
{
	struct dirent *e;
	int fd, err = 0;
	uint32_t id;
	size_t i;
	DIR *dir;

	begin_look(t);
	if (!learn_names(t))
		return -ENODATA;
	fd = openat(t->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(dir)))
		if (*e->d_name == 'r' || !strcmp(e->d_name, "lost"))
			err = look_at(t, e->d_name);
	closedir(dir);
	for (i = 0; i < t->rings; i++)
		add_ring(t, &t->ring[i]);
	for (id = 0; id <= t->last; id++)
		t->event[id].ever += t->event[id].now;
	return err;
}

int tally_begin(struct tally *t, const char *folder)
{
	uint32_t id;
	int err;

	memset(t, 0, sizeof(*t));
	if (strlen(folder) >= sizeof(t->folder))
		return -ENAMETOOLONG;
	memcpy(t->folder, folder, strlen(folder) + 1);
	t->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dir < 0)
		return -errno;
	t->event = calloc(TALLY_EVENTS, sizeof(*t->event));
	err = t->event ? tally_look(t) : -ENOMEM;
	if (err) {
		tally_end(t);
		return err;
	}
	for (id = 0; id <= t->last; id++)
		t->event[id].ever = 0;
	return 0;
}

void tally_end(struct tally *t)
{
	size_t i;

	for (i = 0; i < t->num; i++)
		free(t->packet[i].count);
	free(t->packet);
	for (i = 0; i < t->rings; i++)
		free(t->ring[i].count);
	free(t->ring);
	index_free(&t->by_name);
	index_free(&t->by_ring);
	for (i = 0; t->event && i <= t->last; i++)
		free(t->event[i].name);
	free(t->event);
	if (t->dir >= 0)
		close(t->dir);
	t->dir = -1;
}
