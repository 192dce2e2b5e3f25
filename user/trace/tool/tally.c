// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "tally.h"
#include "tool.h"
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

#define FILES_MAX	(1u << 18)
#define SIZE_MAX_	(64u << 20)

/* --- names of events -------------------------------------------------------------------- */

static char *read_metadata(struct tally *t, uint64_t *size)
{
	int fd = openat(t->dir, "metadata", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
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

/* As metadata.c writes it. */
static bool learn_names(struct tally *t)
{
	static const char begin[] = "\nevent {\n\tname = \"";
	uint64_t size = 0;
	char *text = read_metadata(t, &size), *p, *name, *end;
	unsigned int id;
	bool ok;

	if (!text)
		return false;
	ok = strstr(text, "\n\ttracer_name = \"jumpfunc\";\n");
	/* Events only come. */
	if (ok && size != t->metadata) {
		t->metadata = size;
		for (p = text; (p = strstr(p, begin)); ) {
			name = p += sizeof(begin) - 1;
			end = strchr(p, '"');
			if (!end || sscanf(end, "\"; id = %u;", &id) != 1)
				continue;
			*end = 0;
			p = end + 1;
			if (id < TALLY_EVENTS && !t->event[id].name)
				t->event[id].name = strdup(name);
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
	size_t i;
	char end;

	for (i = 0; i < t->num; i++)
		if (!strcmp(t->packet[i].name, name))
			return &t->packet[i];
	if (t->num == FILES_MAX || strlen(name) >= sizeof(p->name) || sscanf(name, "r%u-%u%c", &ring, &k, &end) != 2)
		return NULL;
	/* A power of two has no room for one more. */
	if (!(t->num & (t->num - 1))) {
		p = realloc(t->packet, (t->num ? t->num * 2 : 1) * sizeof(*p));
		if (!p)
			return NULL;
		t->packet = p;
	}
	p = &t->packet[t->num++];
	memset(p, 0, sizeof(*p));
	memcpy(p->name, name, strlen(name) + 1);
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

static int count_record(const struct jf_record_seen *r, void *arg)
{
	struct counting *c = (struct counting *)arg;

	if (!r->id)
		return 0;
	if (r->id >= c->room) {
		uint32_t room = (r->id + 64u) & ~63u;
		uint32_t *more = realloc(c->count, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + c->room, 0, (room - c->room) * sizeof(*more));
		c->count = more;
		c->room = room;
	}
	c->count[r->id]++;
	return 0;
}

/* What it has more than the last time. */
static void add_counts(struct tally *t, struct tally_packet *p, const struct counting *c, uint64_t seq)
{
	bool same = p->seq == seq;
	uint32_t id, old;

	for (id = 1; id < c->room; id++) {
		old = same && id < p->room ? p->count[id] : 0;
		if (c->count[id] > old) {
			t->event[id].now += c->count[id] - old;
			t->seen += c->count[id] - old;
		}
	}
	free(p->count);
	p->count = c->count;
	p->room = c->room;
	p->seq = seq;
}

static int read_packet(struct tally *t, struct tally_packet *p, int fd, uint64_t size)
{
	struct counting c = { NULL, 0 };
	struct jf_packet head, again;
	char *data;
	int err = -ENOMEM;

	if (size > SIZE_MAX_)
		return 0;
	data = malloc(size);
	if (!data)
		return err;
	err = 0;
	if (pread(fd, data, size, 0) == (ssize_t)size && pread(fd, &again, sizeof(again), 0) == sizeof(again)) {
		memcpy(&head, data, sizeof(head));
		/* It was cleared meanwhile: the next look sees the new one. */
		if (head.seq && head.seq == again.seq) {
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

/**
 * struct ring_sum - what the newest packet of a ring says
 * @ring: which
 * @seq:  of that packet
 * @over: records that were overwritten before it
 * @lost: discarded ones
 */
struct ring_sum {
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	over;
	uint64_t	lost;
};

/**
 * struct sums - of all rings
 * @ring:    each
 * @num:     how many
 * @records: that packets have now
 */
struct sums {
	struct ring_sum	*ring;
	size_t		num;
	uint64_t	records;
};

static void add_sum(struct sums *s, uint64_t ring, const struct jf_packet *head)
{
	struct ring_sum *r = s->ring;
	size_t i;

	for (i = 0; i < s->num && s->ring[i].ring != ring; i++)
		;
	if (i == s->num) {
		r = realloc(s->ring, (s->num + 1) * sizeof(*r));
		if (!r)
			return;
		s->ring = r;
		r[s->num++] = (struct ring_sum){ ring, 0, 0, 0 };
	}
	r = &s->ring[i];
	s->records += head->committed >> 32;
	if (head->seq >= r->seq) {
		r->seq = head->seq;
		r->over = head->overwritten;
		r->lost = head->discarded;
	}
}

static int look_at(struct tally *t, struct sums *s, const char *name)
{
	int fd = openat(t->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = 0;
	struct tally_packet *p;
	struct jf_packet head;
	struct stat st;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    head.magic == JF_PACKET_MAGIC) {
		p = find_packet(t, name);
		if (p && head.seq) {
			add_sum(s, p->ring, &head);
			if (p->seq != head.seq || p->mark[0] != head.content_size || p->mark[1] != head.committed)
				err = read_packet(t, p, fd, (uint64_t)st.st_size);
		} else if (!strcmp(name, "lost")) {
			add_sum(s, JF_NO_RING, &head);
		}
	}
	close(fd);
	return err;
}

int tally_look(struct tally *t)
{
	struct sums s = { NULL, 0, 0 };
	uint64_t sums[2] = { 0, 0 };
	struct dirent *e;
	int fd, err = 0;
	uint32_t id;
	size_t i;
	DIR *dir;

	t->seen = 0;
	for (id = 0; id < TALLY_EVENTS; id++)
		t->event[id].now = 0;
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
			err = look_at(t, &s, e->d_name);
	closedir(dir);
	sums[0] = s.records;
	for (i = 0; i < s.num; i++) {
		sums[0] += s.ring[i].over;
		sums[1] += s.ring[i].lost;
	}
	free(s.ring);
	/* Heads were read at several moments. */
	t->total = sums[0] > t->sums[0] ? sums[0] - t->sums[0] : 0;
	if (t->total < t->seen)
		t->total = t->seen;
	t->discarded = sums[1] > t->sums[1] ? sums[1] - t->sums[1] : 0;
	t->sums[0] = sums[0];
	t->sums[1] = sums[1];
	for (id = 0; id < TALLY_EVENTS; id++)
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
	for (id = 0; id < TALLY_EVENTS; id++)
		t->event[id].ever = 0;
	return 0;
}

void tally_end(struct tally *t)
{
	size_t i;

	for (i = 0; i < t->num; i++)
		free(t->packet[i].count);
	free(t->packet);
	for (i = 0; t->event && i < TALLY_EVENTS; i++)
		free(t->event[i].name);
	free(t->event);
	if (t->dir >= 0)
		close(t->dir);
	t->dir = -1;
}
