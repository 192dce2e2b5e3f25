// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Reading rings that another process has written, or is writing right now. Nothing is believed:
 * files are read, not mapped (a file that is shortened in the meantime would be SIGBUS), sizes are
 * checked before they are used, and damage ends a packet.
 *
 * Records are found by the words that they begin with, as ring_user.h has it; content_size is only
 * a lower bound.
 *
 *   reader                                      writer
 *   ------                                      ------
 *   a read the packet                           i  seq = 0, then all is cleared, seq = new
 *   b read it again                             ii write a record's fields
 *   c read its head once more                   iii id
 *
 *   A record counts if its id is in what a has read: then ii was before that, so what b has
 *   read has all of it. If the writer has begun to clear the packet before b was
 *   over, c sees another seq, and nothing of it counts.
 */
#include "ids.h"
#include "trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jumpfunc/recover.h>

#define SIZE_MAX_PACKET		(64u << 20)
#define SIZE_MAX_METADATA	(64 << 20)

/* One of them is a tool's, which may have no library of tracepoints. */
static uint64_t align8(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

static uint64_t word_at(const char *data, uint64_t pos)
{
	uint64_t w;

	memcpy(&w, data + pos, sizeof(w));
	return w;
}

/**
 * jf_head_valid() - is it the head of a packet
 * @p:    as it was read
 * @size: bytes from its begin on to the end of its file
 */
bool jf_head_valid(const struct jf_packet *p, uint64_t size)
{
	return p->magic == JF_PACKET_MAGIC && !p->stream_id &&
	       (p->head == JF_PACKET_TIMED || p->head == JF_PACKET_UNTIMED) &&
	       !(p->packet_size & 63) && p->packet_size >= align8(p->head) * 8 && p->packet_size <= SIZE_MAX_PACKET * 8ull &&
	       p->packet_size <= size * 8 && p->content_size <= p->packet_size &&
	       p->content_size >= p->head * 8;
}

/**
 * struct seen - where a look at a packet came to
 * @records:     whole ones
 * @uncommitted: others
 * @damaged:     it is not as it should be
 */
struct seen {
	uint64_t	records;
	uint64_t	uncommitted;
	bool		damaged;
};

/*
 * @data tells which records there are, and @fields, of the same size, has their fields. Both begin
 * with a head that is valid.
 */
static int walk(const char *data, const char *fields, uint64_t size, struct seen *s,
		int (*fn)(const struct jf_record_seen *record, void *arg), void *arg)
{
	struct jf_packet head;
	struct jf_record_seen r;
	uint64_t pos, end, last = 0, word;
	int ret = 0;

	memcpy(&head, data, sizeof(head) < size ? sizeof(head) : size);
	pos = align8(head.head);
	end = head.head;
	if (head.head == JF_PACKET_TIMED)
		last = head.begin;
	while (head.seq && pos + 8 <= size) {
		word = word_at(data, pos);
		if (word & JF_WORD_OTHER) {
			s->damaged |= word != JF_WORD_FREE(head.seq) && word != JF_WORD_LEFT(head.seq);
			break;
		}
		r.id = (uint16_t)word;
		r.size = (uint32_t)(word >> 32);
		r.time = 0;
		r.data = fields + pos + 8;
		if (r.size > size - pos - 8 || (head.head == JF_PACKET_TIMED && r.size < 8)) {
			s->damaged = true;
			break;
		}
		end = pos + 8 + r.size;
		pos = align8(end);
		if (head.head == JF_PACKET_TIMED && r.id) {
			r.time = word_at(r.data, 0);
			/* A clock went back: the record is kept, as of the one before it. */
			if (r.time < last) {
				s->damaged = true;
				r.time = last;
			}
			last = r.time;
		}
		if (head.head == JF_PACKET_TIMED) {
			r.data = (const char *)r.data + 8;
			r.size -= 8;
		}
		if (r.id)
			s->records++;
		else
			s->uncommitted++;
		if (fn) {
			ret = fn(&r, arg);
			if (ret)
				return ret;
		}
	}
	/* The writer had come further than there is anything of it. */
	s->damaged |= end * 8 < head.content_size;
	return 0;
}

int jf_recover_packet(const void *data, size_t size,
		      int (*fn)(const struct jf_record_seen *record, void *arg), void *arg,
		      struct jf_recovered *result)
{
	struct seen s = { 0, 0, false };
	struct jf_packet head;
	int ret;

	if (size < sizeof(head))
		return -EINVAL;
	memcpy(&head, data, sizeof(head));
	if (!jf_head_valid(&head, size) || head.packet_size != size * 8)
		return -EINVAL;
	ret = walk(data, data, size, &s, fn, arg);
	if (result) {
		result->packets += !!head.seq;
		result->records += s.records;
		result->uncommitted += s.uncommitted;
		result->damaged += s.damaged;
	}
	return ret;
}

/* --- folders --------------------------------------------------------------------------- */

/**
 * struct found - a packet
 * @name: of its file
 * @at:   where it is in that
 * @ring: that it says it is of
 * @seq:  that it says it has
 * @size: of the packet
 */
struct found {
	char		name[32];
	uint64_t	at;
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	size;
};

/**
 * struct recovery - of a folder
 * @from:   the folder
 * @to:     the other one, or -1
 * @known:  by an event's id: is it one of the trace
 * @uuid:   of the trace
 * @found:  its packets
 * @num:    how many
 * @result: the result
 */
struct recovery {
	int			from;
	int			to;
	uint8_t			known[65536 / 8];
	uint8_t			uuid[16];
	struct found		*found;
	size_t			num;
	struct jf_recovered	*result;
};

/* All of it, or the part up to the end of the file. */
static ssize_t read_at(int fd, void *buf, size_t size, uint64_t from)
{
	size_t at = 0;
	ssize_t n;

	while (at < size) {
		n = pread(fd, (char *)buf + at, size - at, (off_t)(from + at));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		at += (size_t)n;
	}
	return (ssize_t)at;
}

static int open_regular(int folder, const char *name, uint64_t *size)
{
	/* A pipe that another user has put there would not be waited for. */
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0) {
		close(fd);
		return -EINVAL;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

static int write_file(int folder, const char *name, const void *data, size_t size)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = jf_file_write(fd, data, size, 0);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "01234567-89ab-..." */
static bool parse_uuid(const char *text, uint8_t *uuid)
{
	int i;

	for (i = 0; i < 16; i++) {
		int a, b;

		if (*text == '-')
			text++;
		a = hex(text[0]);
		b = a < 0 ? -1 : hex(text[1]);
		if (b < 0)
			return false;
		uuid[i] = (uint8_t)(a << 4 | b);
		text += 2;
	}
	return *text == '"';
}

/**
 * jf_trace_uuid() - the UUID of a trace
 * @text: its metadata, as metadata.c has written it: up to the streams at least
 * @uuid: set to it
 *
 * Return: is it metadata of jumpfunc
 */
bool jf_trace_uuid(const char *text, uint8_t *uuid)
{
	const char *p = strstr(text, "\ntrace {\n");

	/* Clocks have one, too. */
	p = p ? strstr(p, "\n\tuuid = \"") : NULL;
	return !strncmp(text, "/* CTF 1.8 */\n", 14) && p && parse_uuid(p + 10, uuid) &&
	       strstr(text, "\n\ttracer_name = \"jumpfunc\";\n");
}

static bool parse_metadata(struct recovery *rec, const char *text)
{
	const char *p = text, *name;
	unsigned int id;
	size_t len;

	if (!jf_trace_uuid(text, rec->uuid))
		return false;
	while ((p = jf_event_next(p, &name, &len, &id)))
		if (id <= UINT16_MAX)
			rec->known[id / 8] |= (uint8_t)(1 << id % 8);
	return true;
}

static int recover_metadata(struct recovery *rec)
{
	uint64_t size;
	int fd = open_regular(rec->from, "metadata", &size), err = 0;
	char *text;
	ssize_t n;

	if (fd < 0)
		return fd == -ENOENT || fd == -EINVAL || fd == -ELOOP ? -ENODATA : fd;
	if (size > SIZE_MAX_METADATA) {
		close(fd);
		return -EFBIG;
	}
	text = malloc(size + 1);
	if (!text) {
		close(fd);
		return -ENOMEM;
	}
	n = read_at(fd, text, size, 0);
	close(fd);
	if (n < 0) {
		err = (int)n;
	} else {
		text[n] = 0;
		if (strlen(text) != (size_t)n || !parse_metadata(rec, text))
			err = -ENODATA;
		else if (rec->to >= 0)
			err = write_file(rec->to, "metadata", text, (size_t)n);
	}
	free(text);
	return err;
}

static int by_order(const void *x, const void *y)
{
	const struct found *a = (const struct found *)x, *b = (const struct found *)y;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Of this trace, and of the ring that its name says. */
static bool is_ours(const struct recovery *rec, const struct jf_packet *p, uint64_t size, const char *name)
{
	unsigned int ring;

	if (!jf_head_valid(p, size) || memcmp(p->uuid, rec->uuid, sizeof(p->uuid)))
		return false;
	if (!strcmp(name, "lost"))
		return p->ring == JF_NO_RING && !p->seq;
	/* A copy has a file for each ring. */
	return jf_packet_file(name, &ring, NULL) && p->ring == ring;
}

static int add_packet(struct recovery *rec, const char *name, const struct jf_packet *head, uint64_t at)
{
	struct found *f;

	/* A power of two has no room for one more. */
	if (!(rec->num & (rec->num - 1))) {
		f = realloc(rec->found, (rec->num ? rec->num * 2 : 1) * sizeof(*f));
		if (!f)
			return -ENOMEM;
		rec->found = f;
	}
	f = &rec->found[rec->num++];
	memcpy(f->name, name, strlen(name) + 1);
	f->at = at;
	f->ring = head->ring;
	f->seq = head->seq;
	f->size = head->packet_size / 8;
	return 0;
}

/**
 * jf_head_read() - read the head of a packet
 * @fd:   the file
 * @head: set to it; the rest is 0, for without time stamps it is shorter
 * @at:   where
 *
 * Return: is it there
 */
bool jf_head_read(int fd, struct jf_packet *head, uint64_t at)
{
	memset(head, 0, sizeof(*head));
	return read_at(fd, head, sizeof(*head), at) >= JF_PACKET_UNTIMED;
}

/* A file has several packets if several threads had its ring, one after the other. */
static int find_in_file(struct recovery *rec, const char *name)
{
	uint64_t size, at = 0;
	struct jf_packet head;
	int fd, err = 0;

	fd = open_regular(rec->from, name, &size);
	if (fd < 0)
		return 0;
	do {
		if (!jf_head_read(fd, &head, at) || !is_ours(rec, &head, size - at, name)) {
			rec->result->damaged++;
			break;
		}
		err = add_packet(rec, name, &head, at);
		at += head.packet_size / 8;
	} while (!err && at < size);
	close(fd);
	return err;
}

static int find_packets(struct recovery *rec)
{
	int fd = openat(rec->from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct dirent *e;
	DIR *dir;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(dir)))
		if ((e->d_name[0] == 'r' || !strcmp(e->d_name, "lost")) && strlen(e->d_name) < sizeof(rec->found->name))
			err = find_in_file(rec, e->d_name);
	closedir(dir);
	if (rec->num)
		qsort(rec->found, rec->num, sizeof(*rec->found), by_order);
	return err;
}

/**
 * struct copy - of a packet's whole records
 * @rec:  the recovery
 * @buf:  is filled in, after the head
 * @end:  of the last one
 * @head: size of the head
 * @last: time stamp of the last one
 * @num:  how many
 * @bad:  an event that the trace does not know was left out
 */
struct copy {
	const struct recovery	*rec;
	char			*buf;
	uint64_t		end;
	uint64_t		head;
	uint64_t		last;
	uint64_t		num;
	bool			bad;
};

static int copy_record(const struct jf_record_seen *r, void *arg)
{
	struct copy *c = (struct copy *)arg;
	uint64_t pos = align8(c->end), word, extra = c->head == JF_PACKET_TIMED ? 8 : 0;

	if (!r->id)
		return 0;
	if (!(c->rec->known[r->id / 8] >> r->id % 8 & 1)) {
		c->bad = true;
		return 0;
	}
	/* The bytes between two records are 0: they are not copied. */
	memset(c->buf + c->end, 0, pos - c->end);
	word = (uint64_t)(r->size + extra) << 32 | r->id;
	memcpy(c->buf + pos, &word, 8);
	if (extra)
		memcpy(c->buf + pos + 8, &r->time, 8);
	memcpy(c->buf + pos + 8 + extra, r->data, r->size);
	c->end = pos + 8 + extra + r->size;
	c->last = r->time;
	c->num++;
	return 0;
}

/**
 * struct output - of a ring
 * @fd:    the file, -1: none yet
 * @at:    its size
 * @end:   when the last packet ended
 * @seq:   of the last packet
 * @lost:  records that it discarded, as of the last packet
 * @over:  records that it overwrote
 */
struct output {
	int		fd;
	uint64_t	at;
	uint64_t	end;
	uint64_t	seq;
	uint64_t	lost;
	uint64_t	over;
};

static int write_packet(struct recovery *rec, struct output *out, const struct found *f,
			struct jf_packet *head, struct copy *c)
{
	uint64_t size = align8(c->end);
	char name[32];
	int err;

	memset(c->buf + c->end, 0, size - c->end);
	head->content_size = c->end * 8;
	head->packet_size = size * 8;
	head->committed = c->num << 32 | (size - align8(c->head));
	head->released = 0;
	head->comm[sizeof(head->comm) - 1] = 0;
	if (f->ring != JF_NO_RING)
		head->calls = 0;
	head->files = 0;
	if (c->head == JF_PACKET_TIMED) {
		/*
		 * It need not be right; readers want it to be no later than the next one's begin.
		 */
		head->end = c->num ? c->last : head->begin;
		out->end = head->end;
	}
	memcpy(c->buf, head, c->head);
	if (out->fd < 0) {
		snprintf(name, sizeof(name), f->ring == JF_NO_RING ? "lost" : "r%u", (unsigned int)f->ring);
		out->fd = openat(rec->to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (out->fd < 0)
			return -errno;
	}
	err = jf_file_write(out->fd, c->buf, size, out->at);
	out->at += size;
	return err;
}

/**
 * read_packet() - read it as the table above has it
 * @rec:  the recovery
 * @f:    the packet
 * @data: room for two of it; filled in
 * @size: set to its bytes: fewer than before if another packet has begun after it
 *
 * Return: it is there; else it was counted as damaged or vanished
 */
static bool read_packet(struct recovery *rec, const struct found *f, char *data, uint64_t *size)
{
	int fd = open_regular(rec->from, f->name, size);
	struct jf_packet head, again;
	bool there;

	there = fd >= 0 && read_at(fd, data, f->size, f->at) == (ssize_t)f->size &&
		read_at(fd, data + f->size, f->size, f->at) == (ssize_t)f->size &&
		jf_head_read(fd, &again, f->at);
	if (fd >= 0)
		close(fd);
	if (there)
		memcpy(&head, data, sizeof(head));
	if (!there || (!f->at && !is_ours(rec, &head, f->size, f->name))) {
		rec->result->damaged++;
		return false;
	}
	/* One that was after another is no more when the file is written anew. */
	if (!is_ours(rec, &head, f->size, f->name) || head.seq != f->seq || again.seq != f->seq) {
		rec->result->vanished++;
		return false;
	}
	*size = head.packet_size / 8;
	return true;
}

/* @data has room for three packets of the size. */
static int recover_packet(struct recovery *rec, struct output *out, const struct found *f, char *data)
{
	struct copy c = { rec, data + 2 * f->size, 0, 0, 0, 0, false };
	struct seen s = { 0, 0, false };
	struct jf_packet head;
	uint64_t size;
	int err;

	if (!read_packet(rec, f, data, &size))
		return 0;
	memcpy(&head, data, sizeof(head));
	if (!f->seq && f->ring != JF_NO_RING) {
		if (head.overwrites > out->over)
			out->over = head.overwrites;
		if (head.discarded > out->lost)
			out->lost = head.discarded;
		return 0;
	}
	/* The writer gives each number once. */
	if (f->seq && f->seq == out->seq) {
		rec->result->damaged++;
		return 0;
	}
	/* A clock went back: the records are kept, as walk() does it. */
	if (f->seq && head.head == JF_PACKET_TIMED && head.begin < out->end) {
		s.damaged = true;
		head.begin = out->end;
		memcpy(data, &head, head.head);
	}
	c.head = c.end = head.head;
	err = walk(data, data + f->size, size, &s, copy_record, &c);
	if (err)
		return err;
	/* The newest say how many there were. */
	out->seq = f->seq;
	if (head.discarded > out->lost)
		out->lost = head.discarded;
	head.discarded = out->lost;
	if (head.overwritten > out->over)
		out->over = head.overwritten;
	rec->result->packets += !!f->seq;
	rec->result->records += c.num;
	rec->result->uncommitted += s.uncommitted;
	rec->result->damaged += s.damaged || c.bad;
	if (rec->to < 0) {
		out->end = c.num ? c.last : head.begin;
		return 0;
	}
	return f->seq || head.discarded ? write_packet(rec, out, f, &head, &c) : 0;
}

static int recover_ring(struct recovery *rec, size_t first, size_t end)
{
	struct output out = { -1, 0, 0, 0, 0, 0 };
	uint64_t size = 0;
	char *data;
	int err = 0;
	size_t i;

	for (i = first; i < end; i++)
		if (rec->found[i].size > size)
			size = rec->found[i].size;
	data = malloc(size * 3);
	if (!data)
		return -ENOMEM;
	for (i = first; i < end && !err; i++)
		err = recover_packet(rec, &out, &rec->found[i], data);
	free(data);
	if (out.fd >= 0 && close(out.fd) && !err)
		err = -errno;
	rec->result->rings += out.seq || out.lost;
	rec->result->discarded += out.lost;
	rec->result->overwritten += out.over;
	return err;
}

int jf_recover(const char *from, const char *to, struct jf_recovered *result)
{
	struct jf_recovered own;
	struct recovery rec = { .to = -1, .result = result ? result : &own };
	size_t i, j;
	int err = 0;

	memset(rec.result, 0, sizeof(*rec.result));
	rec.from = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (rec.from < 0)
		return -errno;
	if (to) {
		if (mkdir(to, 0700))
			err = -errno;
		else
			rec.to = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (!err && rec.to < 0)
			err = -errno;
	}
	if (!err)
		err = recover_metadata(&rec);
	if (!err)
		err = find_packets(&rec);
	for (i = 0; i < rec.num && !err; i = j) {
		for (j = i + 1; j < rec.num && rec.found[j].ring == rec.found[i].ring; j++)
			;
		err = recover_ring(&rec, i, j);
	}
	free(rec.found);
	close(rec.from);
	if (rec.to >= 0)
		close(rec.to);
	/* It was made here, and stays if something is in it. */
	if (err && rec.to >= 0)
		rmdir(to);
	return err;
}
