// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A fuzzer for the recovery, for libFuzzer. The first byte of an input says how it is used: as a
 * packet, as a packet whose head is right so that its records are looked at, or as the metadata and
 * packets of a folder. With -r, FILE of a real packet may be among the seeds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE
#include <jumpfunc/detail/ring_user.h>
#include <jumpfunc/recover.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char folder[64], copy[96];

static const char metadata[] =
	"/* CTF 1.8 */\n\ntrace {\n\tuuid = \"00000000-0000-0000-0000-000000000000\";\n};\n"
	"env {\n\ttracer_name = \"jumpfunc\";\n};\n"
	"\nevent {\n\tname = \"a:b\";\n\tid = 1;\n};\n";

struct seen {
	const uint8_t	*data;
	size_t		size;
	uint64_t	records;
	uint64_t	last;
};

/* All that is handed on is within the packet, and in order. */
static int look(const struct jf_record_seen *r, void *arg)
{
	struct seen *s = (struct seen *)arg;
	const uint8_t *p = (const uint8_t *)r->data;
	volatile uint8_t sum = 0;
	uint32_t i;

	assert(p >= s->data && p <= s->data + s->size && r->size <= (size_t)(s->data + s->size - p));
	for (i = 0; i < r->size; i++)
		sum = (uint8_t)(sum + p[i]);
	if (r->id) {
		assert(r->time >= s->last);
		s->last = r->time;
	}
	s->records++;
	return 0;
}

static void put(const char *name, const void *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void clear(const char *where)
{
	static const char *const names[] = { "metadata", "r0", "r0-0", "r0-1", "lost" };
	char path[160];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", where, names[i]);
		unlink(path);
	}
}

/* A head that is right, but for the input's fields. */
static void fix_head(uint8_t *packet, size_t size, uint8_t how)
{
	struct jf_packet head;

	memcpy(&head, packet, sizeof(head));
	head.magic = 0xc1fc1fc1;
	memset(head.uuid, 0, sizeof(head.uuid));
	head.stream_id = 0;
	head.ring = 0;
	head.head = how & 4 ? JF_PACKET_UNTIMED : JF_PACKET_TIMED;
	head.packet_size = size * 8;
	head.content_size = head.head * 8 + head.content_size % (head.packet_size - head.head * 8 + 1);
	head.seq = how & 8 ? head.seq : 1;
	memcpy(packet, &head, head.head);
}

/* The result has nothing to recover. */
static void check_copy(const struct jf_recovered *r)
{
	struct jf_recovered again;
	struct jf_packet head;
	uint64_t records = 0;
	char path[160];
	struct stat st;
	size_t at, len;
	uint8_t *out;
	int fd;

	snprintf(path, sizeof(path), "%s/r0", copy);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return;
	fstat(fd, &st);
	out = (uint8_t *)calloc(1, (size_t)st.st_size + sizeof(head));
	assert(read(fd, out, (size_t)st.st_size) == st.st_size);
	close(fd);
	for (at = 0; at < (size_t)st.st_size; at += len) {
		memcpy(&head, out + at, sizeof(head));
		len = head.packet_size / 8;
		assert(len && len <= (size_t)st.st_size - at);
		memset(&again, 0, sizeof(again));
		if (len >= sizeof(head)) {
			assert(!jf_recover_packet(out + at, len, NULL, NULL, &again));
			assert(!again.damaged && !again.uncommitted);
			records += again.records;
		}
	}
	free(out);
	assert(records <= r->records);
}

static void as_folder(const uint8_t *data, size_t size, uint8_t how)
{
	size_t half = size / 2 & ~(size_t)7;
	uint8_t *packet = (uint8_t *)malloc(size + 8);
	struct jf_recovered r;
	int err;

	memcpy(packet, data, size);
	if (how & 16) {
		put("metadata", data, size);
	} else {
		put("metadata", metadata, sizeof(metadata) - 1);
		if (half >= sizeof(struct jf_packet)) {
			fix_head(packet, half, how);
			put("r0-0", packet, half);
			if (how & 32)
				fix_head(packet + half, half, how | 8);
			put("r0-1", packet + half, half);
		}
	}
	err = jf_recover(folder, copy, &r);
	assert(how & 16 || !err);
	if (!err)
		check_copy(&r);
	clear(copy);
	rmdir(copy);
	clear(folder);
	free(packet);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/jf-fuzz-XXXXXX" : "/dev/shm/jf-fuzz-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	snprintf(copy, sizeof(copy), "%s/copy", folder);
	return 0;
}

__attribute__((__destructor__))
static void ends(void)
{
	if (*folder)
		rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jf_recovered r;
	struct seen s;
	uint8_t *packet;
	uint8_t how;

	if (!size)
		return 0;
	how = *data++;
	size--;
	if ((how & 3) == 3) {
		as_folder(data, size, how);
		return 0;
	}
	/* As large as it says, so that AddressSanitizer sees accesses beyond. */
	size &= ~(size_t)(how & 3 ? 7 : 0);
	packet = (uint8_t *)malloc(size ? size : 1);
	memcpy(packet, data, size);
	if (how & 3 && size >= sizeof(struct jf_packet))
		fix_head(packet, size, how);
	memset(&r, 0, sizeof(r));
	memset(&s, 0, sizeof(s));
	s.data = packet;
	s.size = size;
	jf_recover_packet(packet, size, look, &s, &r);
	assert(s.records == r.records + r.uncommitted || r.damaged || !r.packets);
	free(packet);
	return 0;
}
