// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Mode count: each thread's counters, in a file of the trace that readers do not see.
 */
#include "rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * So many threads have counters of their own, also after they have ended; then others go on in
 * these.
 */
#define COUNTED_MAX	1024

/* Of the file, at least; more are added. */
static int map_counts(struct jf_ring *r, uint32_t size)
{
	struct jf_used dir = jf_folder_open();
	int fd, err = 0;
	char name[24];

	if (dir.fd < 0)
		return dir.fd;
	snprintf(name, sizeof(name), JF_COUNTS_NAME, (unsigned int)(r - jf_live->ring));
	if (r->counted) {
		fd = openat(dir.fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			err = -errno;
		else
			err = jf_file_extend(fd, size);
	} else {
		fd = jf_file_make(dir.fd, name, size);
		if (fd < 0)
			err = fd;
	}
	jf_kept_done(dir);
	if (!err && mmap(r->base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (!err)
		r->counted = size;
	return err;
}

static void set_counts(struct jf_ring *r)
{
	struct jf_counts *c = (struct jf_counts *)(void *)r->base;

	if (!c->magic || c->tid != (uint32_t)r->tid)
		c->threads++;
	c->tid = (uint32_t)r->tid;
	memcpy(c->comm, r->comm, sizeof(c->comm));
	/* Release: pairs with those who read the file. */
	__atomic_store_n(&c->magic, JF_COUNTS_MAGIC, __ATOMIC_RELEASE);
	r->w.counts = c->count;
	/* Pairs with __jf_reserve(), in a thread that this has interrupted. */
	__atomic_store_n(&r->w.num, (uint32_t)((r->counted - sizeof(*c)) / sizeof(*c->count)), __ATOMIC_RELEASE);
}

/*
 * With all signals blocked, by the ring's thread: until @id is there, with all that have come
 * before it.
 */
bool jf_ring_counts(struct jf_ring *r, uint16_t id)
{
	uint32_t last = jf_last_class(), size;
	int err;

	if (last < id)
		last = id;
	size = (uint32_t)__jf_align(sizeof(struct jf_counts) + (last + UINT64_C(1)) * sizeof(uint64_t), 4096);
	err = r->counted < size ? map_counts(r, size) : 0;
	if (err) {
		jf_live->error = err;
		return false;
	}
	set_counts(r);
	return true;
}

/* Those of a thread that has ended are its own as long as there is room for more. */
bool jf_ring_keeps_counts(const struct jf_ring *r)
{
	return r->counted && jf_live->placed < COUNTED_MAX;
}
