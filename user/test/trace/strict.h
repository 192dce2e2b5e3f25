/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * A reader of traces for the tests: strict, and on purpose without a line of the library's. It uses
 * the data of a CTF reader, content_size and the sizes of fields, and never the words that tell the
 * library which space is free. Each record of the event "counted" must be whole, and each "source"
 * must count upwards.
 *
 * API: strict_folder(folder, &s), then s.source[n].first, .last and .num; s.gaps is how often a
 * number was missing in between, and s.errors counts the errors, with the first one in s.why.
 *
 * A packet whose writer was about to clear it still has its records, which are counted as
 * overwritten already: they are in s.records and in s.cleared.
 *
 * In mode overwrite a packet with a record in progress stays, and later packets go: of a source
 * whose last record is in such a packet, .gone counts the later packets that are not there.
 */
#ifndef JF_TEST_STRICT_H
#define JF_TEST_STRICT_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRICT_WHO	64

struct strict_packet {
	uint64_t	ring, begin, end, lost, seq, gone;
	char		*data;
	size_t		size, content, head;
	uint32_t	tid;
};

struct strict {
	struct {
		uint64_t	first, last, num, gone;
	} source[STRICT_WHO];
	uint64_t	records, cleared, uncommitted, others, packets, rings, lost, gaps, errors;
	bool		timed;
	char		why[256];
	int		counted, small;
};

__attribute__((__format__(__printf__, 2, 3)))
static inline void strict_bad(struct strict *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!s->errors++)
		vsnprintf(s->why, sizeof(s->why), format, args);
	va_end(args);
}

static inline uint64_t strict_get(const char *p, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

static inline char *strict_read(const char *folder, const char *name, size_t *size)
{
	char path[PATH_MAX + 256];
	struct stat st;
	char *data;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		return NULL;
	data = (char *)calloc(1, (size_t)st.st_size + 1);
	if (!data || read(fd, data, (size_t)st.st_size) != st.st_size)
		data = NULL;
	close(fd);
	*size = (size_t)st.st_size;
	return data;
}

static inline uint64_t strict_hash(uint32_t source, uint64_t nr, uint32_t len)
{
	uint64_t h = (nr + 1) * 0x9e3779b97f4a7c15ULL ^ ((uint64_t)source << 32 | len);

	h ^= h >> 29;
	return h * 0xbf58476d1ce4e5b9ULL;
}

static inline void strict_count(struct strict *s, uint32_t source, uint64_t nr, uint64_t gone)
{
	if (source >= STRICT_WHO) {
		strict_bad(s, "source is %u", source);
		return;
	}
	if (!s->source[source].num) {
		s->source[source].first = nr;
	} else if (nr != s->source[source].last + 1) {
		s->gaps++;
		if (nr <= s->source[source].last)
			strict_bad(s, "%u: %llu is followed by %llu", source, (unsigned long long)s->source[source].last,
				   (unsigned long long)nr);
	}
	s->source[source].last = nr;
	s->source[source].gone = gone;
	s->source[source].num++;
}

/*
 * The fields of a record of "counted" or "small", from @p on, up to @end at most: where it ends, or
 * 0.
 */
static inline size_t strict_fields(struct strict *s, const struct strict_packet *pk, size_t p, size_t end, int id)
{
	uint64_t hash = 0, nr;
	uint32_t source, len = 0, i;
	const char *d = pk->data;

	if (id == s->small) {
		if (p + 12 > end)
			return 0;
		strict_count(s, (uint32_t)strict_get(d + p + 8, 4), strict_get(d + p, 8), pk->gone);
		return p + 12;
	}
	if (p + 24 > end)
		return 0;
	hash = strict_get(d + p, 8);
	nr = strict_get(d + p + 8, 8);
	source = (uint32_t)strict_get(d + p + 16, 4);
	len = (uint32_t)strict_get(d + p + 20, 4);
	p += 24;
	if (len > end - p) {
		strict_bad(s, "a record of %u bytes in a packet that ends after %zu", len, end - p);
		return 0;
	}
	if (hash != strict_hash(source, nr, len))
		strict_bad(s, "a torn record: source %u, nr %llu, %u bytes", source, (unsigned long long)nr, len);
	for (i = 0; i < len; i++) {
		if ((unsigned char)d[p + i] != (nr & 0xff)) {
			strict_bad(s, "a torn record: byte %u of nr %llu", i, (unsigned long long)nr);
			break;
		}
	}
	strict_count(s, source, nr, pk->gone);
	return p + len;
}

static inline void strict_records(struct strict *s, const struct strict_packet *pk)
{
	size_t p = pk->head, end = pk->content;
	uint64_t last = pk->begin, time;
	const char *d = pk->data;
	uint32_t size;
	int id;

	while (p < end) {
		p = (p + 7) & ~(size_t)7;
		if (p + 8 > end) {
			strict_bad(s, "no event header fits at %zu of %zu", p, end);
			return;
		}
		id = (int)strict_get(d + p, 2);
		if (!id) {
			size = (uint32_t)strict_get(d + p + 4, 4);
			p += 8;
			if (size > end - p) {
				strict_bad(s, "an uncommitted record of %u bytes in %zu", size, end - p);
				return;
			}
			p += size;
			s->uncommitted++;
			continue;
		}
		size = (uint32_t)strict_get(d + p + 4, 4);
		p += 8;
		if (s->timed) {
			if (p + 8 > end) {
				strict_bad(s, "no time stamp");
				return;
			}
			time = strict_get(d + p, 8);
			if (time < last)
				strict_bad(s, "a time stamp goes back");
			if (time > pk->end)
				strict_bad(s, "a time stamp is later than timestamp_end");
			last = time;
		}
		s->records++;
		s->cleared += !pk->seq;
		if (id == s->counted || id == s->small) {
			size_t was = p;

			p = strict_fields(s, pk, p + (s->timed ? 8 : 0), end, id);
			if (!p)
				return;
			if (p != was + size)
				strict_bad(s, "a record of %u bytes has fields of %zu", size, p - was);
		} else {
			s->others++;
			p += size;
			if (p > end)
				strict_bad(s, "a record goes beyond the end");
		}
	}
}

static inline int strict_order(const void *x, const void *y)
{
	const struct strict_packet *a = (const struct strict_packet *)x, *b = (const struct strict_packet *)y;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static inline int strict_id(const char *metadata, const char *name)
{
	char text[128];
	const char *p;
	int id;

	snprintf(text, sizeof(text), "\n\tname = \"jftest:%s\";\n\tid = ", name);
	p = strstr(metadata, text);
	return p && sscanf(p + strlen(text), "%d;", &id) == 1 ? id : -1;
}

/* Files of several packets, as jf_recover() makes them, too. */
static inline void strict_file(struct strict *s, char *d, size_t size, const uint8_t *uuid,
			       struct strict_packet **all, size_t *num)
{
	size_t at = 0;

	while (at < size) {
		struct strict_packet p;

		memset(&p, 0, sizeof(p));
		p.data = d + at;
		if (size - at < 176 && !(size - at >= 160 && !s->timed)) {
			strict_bad(s, "%zu bytes at the end of a file", size - at);
			return;
		}
		p.size = (size_t)(strict_get(d + at + 136, 8) / 8);
		p.content = (size_t)(strict_get(d + at + 128, 8) / 8);
		p.lost = strict_get(d + at + 144, 8);
		p.tid = (uint32_t)strict_get(d + at + 152, 4);
		p.ring = strict_get(d + at + 24, 8);
		p.seq = strict_get(d + at + 32, 8);
		p.head = s->timed ? 176 : 156;
		p.begin = s->timed ? strict_get(d + at + 168, 8) : 0;
		p.end = s->timed ? strict_get(d + at + 160, 8) : 0;
		if (strict_get(d + at, 4) != 0xc1fc1fc1 || memcmp(d + at + 4, uuid, 16) ||
		    strict_get(d + at + 20, 4)) {
			strict_bad(s, "no packet of this trace");
			return;
		}
		if (p.size > size - at || p.content > p.size || p.content < p.head || !p.size) {
			strict_bad(s, "packet of %zu, content of %zu, in %zu", p.size, p.content, size - at);
			return;
		}
		if (p.begin > p.end)
			strict_bad(s, "a packet ends before it begins");
		*all = (struct strict_packet *)realloc(*all, (*num + 1) * sizeof(p));
		(*all)[(*num)++] = p;
		at += p.size;
	}
}

static inline void strict_uuid(const char *metadata, uint8_t *uuid)
{
	const char *trace = strstr(metadata, "\ntrace {\n"), *p = trace ? strstr(trace, "uuid = \"") : NULL;
	unsigned int byte;
	int i;

	for (i = 0, p = p ? p + 8 : ""; i < 16 && *p; i++, p += 2) {
		p += *p == '-';
		uuid[i] = sscanf(p, "%2x", &byte) == 1 ? (uint8_t)byte : 0;
	}
}

/* Of packets in the order of their rings and times: how many after each are not there. */
static inline void strict_gone(struct strict_packet *all, size_t num)
{
	uint64_t newest = 0, after = 0;
	size_t i;

	for (i = num; i--; ) {
		if (i + 1 == num || all[i].ring != all[i + 1].ring)
			newest = after = 0;
		if (!all[i].seq)
			continue;
		if (!newest)
			newest = all[i].seq;
		all[i].gone = newest - all[i].seq - after++;
	}
}

static inline void strict_folder(const char *folder, struct strict *s)
{
	struct strict_packet *all = NULL;
	size_t num = 0, size, i, files = 0;
	uint8_t uuid[16] = { 0 };
	char *metadata, *data[4096];
	struct dirent *e;
	DIR *dir;

	memset(s, 0, sizeof(*s));
	metadata = strict_read(folder, "metadata", &size);
	dir = opendir(folder);
	if (!metadata || !dir) {
		strict_bad(s, "no metadata in %s", folder);
		return;
	}
	strict_uuid(metadata, uuid);
	s->timed = !!strstr(metadata, "\nclock {");
	s->counted = strict_id(metadata, "counted");
	s->small = strict_id(metadata, "small");
	while ((e = readdir(dir)) && files < 4096) {
		/* Hidden files are none of a trace. */
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "metadata"))
			continue;
		data[files] = strict_read(folder, e->d_name, &size);
		if (!data[files]) {
			strict_bad(s, "cannot read %s", e->d_name);
			continue;
		}
		strict_file(s, data[files++], size, uuid, &all, &num);
	}
	closedir(dir);
	if (s->timed && num)
		qsort(all, num, sizeof(*all), strict_order);
	strict_gone(all, num);
	for (i = 0; i < num; i++) {
		struct strict_packet *p = &all[i];

		/* Events of others in this ring are between them. */
		if (s->timed && i && p->ring == p[-1].ring) {
			if (p->begin < p[-1].end)
				strict_bad(s, "a packet begins before the last one ended");
			if (p->lost < p[-1].lost)
				strict_bad(s, "events_discarded goes back");
		}
		s->packets += p->content > p->head;
		if (i + 1 == num || p->ring != p[1].ring) {
			s->lost += p->lost;
			s->rings++;
		}
		strict_records(s, p);
	}
	for (i = 0; i < files; i++)
		free(data[i]);
	free(all);
	free(metadata);
}

/* With its folder's files. */
static inline void strict_remove(const char *folder)
{
	char path[PATH_MAX + 256];
	struct dirent *e;
	DIR *dir = opendir(folder);

	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

#endif /* JF_TEST_STRICT_H */
