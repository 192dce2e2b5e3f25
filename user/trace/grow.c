// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A ring's files: made one by one, as they are first needed, kept if the mode says so, or written
 * anew.
 */
#include "rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Mappings that a process may have, if their number cannot be read: the kernel's default. */
#define MAPPINGS	65530

/*
 * A process may have so many mappings (vm.max_map_count), and malloc() fails if there are no more:
 * half of them are the program's. A ring has one, and each file that it has divides it.
 */
static uint32_t mappings = MAPPINGS;

void jf_read_mappings(void)
{
	char buf[16] = "";
	int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
	long num = fd >= 0 && read(fd, buf, sizeof(buf) - 1) > 0 ? atol(buf) : 0;

	if (fd >= 0)
		jf_close(fd);
	mappings = num > 0 && num < INT32_MAX ? (uint32_t)num : MAPPINGS;
}

static bool may_map(uint32_t num)
{
	return jf_live->placed + __atomic_load_n(&jf_live->packets, __ATOMIC_RELAXED) + num <= mappings / 2;
}

/* One ring more. */
bool jf_may_place(void)
{
	return jf_live->placed < jf_conf.rings && may_map(1);
}

/* A place for its packets. One that is left from a recording before this has none. */
bool jf_ring_place(struct jf_ring *r)
{
	uint32_t nr = (uint32_t)(r - jf_live->ring);

	if (r->base)
		return true;
	r->base = mmap(NULL, (size_t)jf_conf.packets * jf_conf.packet_size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->base == MAP_FAILED) {
		jf_live->error = -errno;
		r->base = NULL;
		return false;
	}
	jf_live->placed++;
	jf_mapped[nr].base = r->base;
	if (nr >= jf_mapped_num)
		jf_mapped_num = nr + 1;
	return true;
}

static int make_ring_file(const struct jf_ring *r, void *where, struct jf_packet **made)
{
	uint32_t nr = (uint32_t)(r - jf_live->ring);
	struct jf_used dir = jf_folder_open();
	char hidden[48], name[48];
	int err;

	/* One number for both: a file that was kept has its name. */
	snprintf(hidden, sizeof(hidden), ".r%u-%u", nr, r->made + r->kept);
	snprintf(name, sizeof(name), "r%u-%u", nr, r->made + r->kept);
	err = jf_folder_packet(dir.fd, hidden, name, jf_conf.packet_size, where, made, nr);
	jf_kept_done(dir);
	return err;
}

static void give_size_back(void)
{
	__atomic_fetch_sub(&jf_live->size, jf_conf.packet_size, __ATOMIC_RELAXED);
}

/* For one packet more; of mode keep there may be a limit. */
static int take_size(void)
{
	uint64_t was = __atomic_fetch_add(&jf_live->size, jf_conf.packet_size, __ATOMIC_RELAXED);

	if (!jf_conf.max_size || was + jf_conf.packet_size <= jf_conf.max_size)
		return 0;
	give_size_back();
	return -ENOSPC;
}

/* A reader compares the sum with the files that are there. */
static void count_file(void)
{
	if (jf_live->no_ring)
		__atomic_fetch_add(&jf_live->no_ring->files, 1, __ATOMIC_RELAXED);
}

int jf_ring_more(struct jf_ring *r)
{
	struct jf_packet *p;
	int err;

	err = may_map(1) ? take_size() : -ENOMEM;
	if (err) {
		jf_live->error = err;
		return err;
	}
	err = make_ring_file(r, jf_packet_at(r, r->made), &p);
	if (err) {
		give_size_back();
		jf_live->error = err;
		return err;
	}
	count_file();
	r->made++;
	prctl(PR_GET_NAME, r->comm);
	__atomic_fetch_add(&jf_live->packets, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * Mode keep: a file that is full stays as it is, and a new one is mapped in its place. If the
 * newest packet was there, its counts go on in the new file.
 */
static int keep_packet(struct jf_ring *r, uint32_t k)
{
	bool newest = r->newest >= jf_packet_at(r, k) && r->newest < jf_packet_at(r, k + 1);
	uint64_t records = jf_ring_records(r, k);
	struct jf_packet *p;
	int err = take_size();
	bool taken = !err;

	if (!err)
		err = make_ring_file(r, NULL, &p);
	if (!err && newest) {
		p->discarded = r->newest->discarded;
		p->overwritten = p->overwrites = r->newest->overwritten;
	}
	if (!err && mremap(p, jf_conf.packet_size, jf_conf.packet_size, MREMAP_MAYMOVE | MREMAP_FIXED, jf_packet_at(r, k)) == MAP_FAILED) {
		err = -errno;
		munmap(p, jf_conf.packet_size);
	}
	if (err) {
		if (taken)
			give_size_back();
		jf_live->error = err;
		return err;
	}
	if (newest)
		r->newest = jf_packet_at(r, k);
	/* As jf_record_stats() reads them. */
	jf_live_lock();
	count_file();
	r->kept++;
	r->records += records;
	jf_live_unlock();
	return 0;
}

/* One that was made: the next one that can be written anew. A kept one needs a new file. */
bool jf_ring_next_made(struct jf_ring *r, bool keep)
{
	uint32_t i, k;

	for (i = 1; i <= r->made; i++) {
		k = (r->cur + i) % r->made;
		if (!jf_ring_reusable(r, k))
			continue;
		if (keep && jf_packet_at(r, k)->seq && (jf_is_quiet() || keep_packet(r, k)))
			return false;
		jf_ring_begin(r, k);
		return true;
	}
	return false;
}

/* With all signals blocked, by the ring's thread, or by one that has just got it. */
bool jf_ring_next(struct jf_ring *r)
{
	bool keep = jf_conf.mode == JF_RECORD_KEEP;

	if (r->w.packet)
		jf_packet_settle(r->w.packet);
	/* New ones first: so nothing is overwritten before the ring is as large as it was to be. */
	if (r->made < jf_conf.packets && !jf_ring_more(r)) {
		jf_ring_begin(r, r->made - 1);
		return true;
	}
	if (jf_ring_next_made(r, keep))
		return true;
	/* The next try is after so many records. */
	if (keep)
		jf_live->failed = JF_RETRY;
	return false;
}
