/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Rings and the state of a process, for live.c, packet.c, folder.c, grow.c, counts.c, ring.c and
 * rings.c. trace.h has their order, ring.c the argument.
 */
#ifndef JF_TRACE_RINGS_H
#define JF_TRACE_RINGS_H

#include "trace.h"
#include "provider.h"
#include "../lib/text.h"

/* How many records are dropped before a ring is asked for again, if there was none. */
#define JF_RETRY	1024

/**
 * struct jf_ring - of a thread
 * @w:       where its thread records; the thread has a pointer to it
 * @used:    has a thread got it
 * @tid:     which one
 * @comm:    its name
 * @made:    so many packets are there, the first ones
 * @cur:     the present one
 * @skipped: discard, keep: there is no packet, as of the last look
 * @kept:    keep: files that were full, and are mapped no longer
 * @records: in those
 * @counted: of mode count: bytes of its counters
 * @threads: that have had it, one after the other
 * @late:    no destructor gives it back
 * @newest:  the last packet; NULL: there was none
 * @seq:     of that
 * @base:    where they are mapped, side by side
 *
 * @tid is 0 if it cannot be told: a child of vfork() has got it for the thread that it is
 * borrowed from.
 */
struct jf_ring {
	struct jf_writer	w;
	bool			used;
	bool			skipped;
	bool			late;
	int			tid;
	char			comm[16];
	uint32_t		made;
	uint32_t		cur;
	uint32_t		kept;
	uint32_t		counted;
	uint32_t		threads;
	uint64_t		records;
	struct jf_packet	*newest;
	uint64_t		seq;
	char			*base;
} __attribute__((__aligned__(128)));

/**
 * struct jf_live - the state that a forked child must not have
 * @alive:    0 in a forked child that has not recorded
 * @lock: around all of this, but the part that a ring's thread alone uses
 * @failed:   the next try to make something is after so many records
 * @pid:      of this process
 * @error:    of the last one
 * @dropped:  records that had no ring, where no packet counts them
 * @packets:  that were made, and are mapped
 * @size:     bytes of all that were made
 * @num:      rings that were given out, in this recording or before
 * @placed:   those of them that have a place for packets, in this recording
 * @no_ring:  a packet without records, which counts records without a ring: no_ring_mapped, if it
 *            is of this process
 * @checked:  when the clock was set right, in ns
 * @wait:     and how long after that it is again
 * @told:     the classes of its metadata
 * @uuid:     of the trace
 * @folder:   of the trace
 * @ring:     all that may be
 */
struct jf_live {
	uint32_t		alive;
	uint32_t		lock;
	uint32_t		failed;
	int			pid;
	int			error;
	uint64_t		dropped;
	uint64_t		packets;
	uint64_t		size;
	uint32_t		num;
	uint32_t		placed;
	struct jf_packet	*no_ring;
	uint64_t		checked;
	uint64_t		wait;
	struct jf_told		told;
	uint8_t			uuid[16];
	char			folder[PATH_MAX - 64];
	struct jf_ring		ring[JF_RINGS_MAX];
};

/* Where rings are mapped, for a child that does not have them any more. */
struct jf_mapped {
	char		*base;
};

/**
 * struct jf_before - the state of a thread before it came here
 * @signals: those that it blocked
 * @cancel:  could it be cancelled
 */
struct jf_before {
	sigset_t	signals;
	int		cancel;
};

/* --- live.c ------------------------------------------------------------------------ */

extern struct jf_live *jf_live JF_HIDDEN;
extern struct jf_mapped *jf_mapped JF_HIDDEN;
/* Those of them that there are. */
extern uint32_t jf_mapped_num JF_HIDDEN;

JF_HIDDEN int jf_live_make(void);
JF_HIDDEN void jf_live_lock(void);
JF_HIDDEN void jf_live_unlock(void);
JF_HIDDEN void jf_shield(struct jf_before *was);
JF_HIDDEN void jf_unshield(const struct jf_before *was);

/*
 * The program has a filter of system calls, and no thread of it makes one for a record. Its threads
 * take no lock for records then, either: to wait for one is such a call.
 */
static inline bool jf_is_quiet(void)
{
	return __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);
}

static inline struct jf_ring *jf_ring_of(struct jf_writer *w)
{
	return (struct jf_ring *)(void *)((char *)w - offsetof(struct jf_ring, w));
}

static inline struct jf_packet *jf_packet_at(const struct jf_ring *r, uint32_t k)
{
	return (struct jf_packet *)(void *)(r->base + (size_t)k * jf_conf.packet_size);
}

/*
 * The one after @p in the same file, or NULL. Another thread can begin the file anew at any time:
 * then there are records where @p was, and no size that is read there is believed.
 */
static inline struct jf_packet *jf_packet_after(const struct jf_ring *r, uint32_t k, struct jf_packet *p)
{
	uint64_t size = __JF_LOAD(p->packet_size) >> 3, left = (uint64_t)((char *)jf_packet_at(r, k + 1) - (char *)p);

	return size >= sizeof(*p) && size <= left && left - size >= sizeof(*p) ?
	       (struct jf_packet *)(void *)((char *)p + size) : NULL;
}

/* All packets of a file. */
#define jf_for_each_packet(p, r, k)	for ((p) = jf_packet_at(r, k); (p); (p) = jf_packet_after(r, k, p))

/* --- packet.c ---------------------------------------------------------------------- */

JF_HIDDEN uint64_t jf_packet_bytes(const struct jf_packet *p);
JF_HIDDEN void jf_packet_head(struct jf_packet *p, uint32_t ring, size_t size);
JF_HIDDEN void jf_packet_settle(struct jf_packet *p);
JF_HIDDEN bool jf_packet_complete(struct jf_packet *p);
JF_HIDDEN bool jf_ring_reusable(const struct jf_ring *r, uint32_t k);
JF_HIDDEN uint64_t jf_ring_records(const struct jf_ring *r, uint32_t k);
JF_HIDDEN void jf_ring_begin(struct jf_ring *r, uint32_t k);
JF_HIDDEN uint64_t jf_ring_rest(const struct jf_ring *r);
JF_HIDDEN bool jf_ring_go_on(struct jf_ring *r);

/* --- folder.c ---------------------------------------------------------------------- */

/* Only until the pages are there in which it is. */
extern uint64_t jf_early_drops JF_HIDDEN;

JF_HIDDEN void jf_folder_parent(void);
JF_HIDDEN int jf_folder_packet(int dir, const char *hidden, const char *name, size_t size, void *where,
			       struct jf_packet **made, uint32_t ring);
JF_HIDDEN struct jf_used jf_folder_open(void);
JF_HIDDEN void jf_folder_clock(void);
JF_HIDDEN void jf_folder_check_clock(void);
JF_HIDDEN void jf_folder_forget(void);
JF_HIDDEN void jf_folder_leave(void);
JF_HIDDEN void jf_lost_early(void);
JF_HIDDEN int jf_come_alive(void);

/* --- grow.c ------------------------------------------------------------------------ */

JF_HIDDEN void jf_read_mappings(void);
JF_HIDDEN bool jf_may_place(void);
JF_HIDDEN bool jf_ring_place(struct jf_ring *r);
JF_HIDDEN int jf_ring_more(struct jf_ring *r);
JF_HIDDEN bool jf_ring_next_made(struct jf_ring *r, bool keep);
JF_HIDDEN bool jf_ring_next(struct jf_ring *r);

/* --- counts.c ---------------------------------------------------------------------- */

JF_HIDDEN bool jf_ring_counts(struct jf_ring *r, uint16_t id);
JF_HIDDEN bool jf_ring_keeps_counts(const struct jf_ring *r);

#endif
