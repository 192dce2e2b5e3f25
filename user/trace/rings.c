// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * All rings of a process: their begin, their end, their sums, and forks, at which recording.c calls
 * these functions. ring.c says how a child goes on.
 */
#include "rings.h"

#include <string.h>
#include <sys/mman.h>

/**
 * jf_rings_start() - be ready to record, by jf_conf
 *
 * With jf_events_lock. There is no folder yet: see jf_rings_begin().
 *
 * Return: 0, or an error of a system call
 */
int jf_rings_start(void)
{
	int err = 0;

	if (!jf_live) {
		err = jf_live_make();
		if (!err)
			jf_lost_early();
	}
	jf_read_mappings();
	if (!err)
		jf_folder_parent();
	return err;
}

static struct jf_before before_fork;
/*
 * Packets of the forking thread with a record that it has not finished: it is in a signal handler.
 */
static uint64_t unfinished;
/* Nothing was locked, nor blocked. */
static bool quiet_fork;

/* Before fork(), in the parent: a thread that is in a handler now will be in the child, too. */
void jf_rings_prepare(void)
{
	struct jf_writer *w = __jf_writer;
	struct jf_packet *p;
	uint32_t k;

	quiet_fork = jf_is_quiet();
	if (quiet_fork)
		return;
	jf_shield(&before_fork);
	unfinished = 0;
	if (!jf_live)
		return;
	jf_live_lock();
	if (!w || !w->packet)
		return;
	for (k = 0; k < jf_ring_of(w)->made; k++)
		jf_for_each_packet(p, jf_ring_of(w), k)
			if (!jf_packet_complete(p))
				unfinished |= UINT64_C(1) << k;
}

void jf_rings_parent(void)
{
	struct jf_before was = before_fork;

	if (quiet_fork)
		return;
	if (jf_live)
		jf_live_unlock();
	jf_unshield(&was);
}

/*
 * In the child. Its only thread was in one ring at most. The rest that it has yet to write there,
 * of a record that the fork interrupted, goes to pages that no reader maps.
 */
static void forget_rings(void)
{
	struct jf_writer *w = __jf_writer;
	uint32_t i, k;

	if (!jf_live)
		return;
	__jf_writer = NULL;
	/*
	 * jf_rings_prepare() has taken it. So nothing has emptied these pages, whatever madvise()
	 * said (qemu-user does).
	 */
	if (jf_live->lock)
		memset(jf_live, 0, sizeof(*jf_live));
	for (i = 0; i < jf_mapped_num; i++) {
		if (!jf_mapped[i].base)
			continue;
		for (k = 0; k < jf_conf.packets; k++) {
			char *at = jf_mapped[i].base + (size_t)k * jf_conf.packet_size;

			if (w == &jf_live->ring[i].w && unfinished >> k & 1)
				mmap(at, jf_conf.packet_size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			else
				munmap(at, jf_conf.packet_size);
		}
		jf_mapped[i].base = NULL;
	}
	jf_folder_forget();
}

/* The parent's packets stay mapped, and its descriptors open, as long as this child lives. */
static void forget_quietly(void)
{
	__jf_writer = NULL;
	/* Nothing has emptied these pages. */
	if (jf_live && jf_live->alive)
		memset(jf_live, 0, sizeof(*jf_live));
}

void jf_rings_child(void)
{
	struct jf_before was = before_fork;

	if (quiet_fork) {
		forget_quietly();
		return;
	}
	forget_rings();
	jf_unshield(&was);
}

/*
 * No thread records any more, nor is in the midst of it. Only @live stays, since threads still have
 * pointers to their writers there.
 */
void jf_rings_stop(void)
{
	struct jf_before was;
	uint32_t i;

	jf_shield(&was);
	jf_live_lock();
	if (jf_live->alive)
		jf_folder_clock();
	for (i = 0; i < jf_live->num; i++) {
		struct jf_ring *r = &jf_live->ring[i];

		/*
		 * Pairs with __jf_writer_next(): a thread that records later asks for a ring. Until
		 * then this stays its own.
		 */
		__atomic_store_n(&r->w.packet, NULL, __ATOMIC_RELEASE);
		__atomic_store_n(&r->w.num, 0, __ATOMIC_RELEASE);
		r->counted = 0;
		if (r->base)
			munmap(r->base, (size_t)jf_conf.packets * jf_conf.packet_size);
		jf_mapped[i].base = r->base = NULL;
		r->newest = NULL;
		r->made = r->cur = 0;
		r->seq = 0;
		r->kept = 0;
		r->records = 0;
		r->threads = 0;
		r->skipped = false;
	}
	jf_folder_leave();
	jf_live->placed = 0;
	jf_live->packets = jf_live->size = jf_live->dropped = 0;
	jf_live->failed = 0;
	jf_live->error = 0;
	/* Pairs with jf_record_folder(). */
	__atomic_store_n(&jf_live->alive, 0, __ATOMIC_RELEASE);
	jf_live_unlock();
	jf_unshield(&was);
}

void jf_record_stats(struct jf_record_counts *stats)
{
	struct jf_packet *p, *newest;
	struct jf_before was;
	uint32_t i, k;

	memset(stats, 0, sizeof(*stats));
	stats->no_ring = __atomic_load_n(&jf_early_drops, __ATOMIC_RELAXED);
	if (jf_live) {
		jf_shield(&was);
		jf_live_lock();
		stats->rings = jf_live->placed;
		stats->packets = __atomic_load_n(&jf_live->packets, __ATOMIC_RELAXED);
		stats->error = jf_live->error;
		stats->no_ring += __atomic_load_n(&jf_live->dropped, __ATOMIC_RELAXED);
		if (jf_live->no_ring) {
			/* First: a call that is counted after this is in the sum alone. */
			stats->calls = __atomic_load_n(&jf_live->no_ring->calls, __ATOMIC_RELAXED);
			stats->no_ring += __atomic_load_n(&jf_live->no_ring->discarded, __ATOMIC_RELAXED);
		}
		for (i = 0; i < jf_live->num; i++) {
			newest = NULL;
			stats->packets += jf_live->ring[i].kept;
			stats->records += jf_live->ring[i].records;
			for (k = 0; k < __atomic_load_n(&jf_live->ring[i].made, __ATOMIC_RELAXED); k++) {
				jf_for_each_packet(p, &jf_live->ring[i], k) {
					if (!p->seq)
						continue;
					stats->records += p->committed >> 32;
					if (!newest || newest->seq < p->seq)
						newest = p;
				}
			}
			if (newest) {
				stats->discarded += newest->discarded;
				stats->overwritten += newest->overwritten;
			}
		}
		jf_live_unlock();
		jf_unshield(&was);
	}
	stats->discarded += stats->no_ring;
	stats->no_ring -= stats->calls < stats->no_ring ? stats->calls : stats->no_ring;
}
