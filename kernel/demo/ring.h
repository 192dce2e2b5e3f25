/* SPDX-License-Identifier: GPL-2.0 */
/* Where the subscribers of the event set write their records (kernel/demo/ring.c). */
#ifndef JF_RING_H
#define JF_RING_H

#include <linux/types.h>

/**
 * struct jf_rec - a record of a subscriber of the event set
 * @seq:   its number, 0: not written yet
 * @time:  local_clock()
 * @arg:   an argument of the event
 * @pid:   the thread that was running
 * @event: the event
 * @mode:  how it was dispatched
 * @sub:   the subscriber
 * @cpu:   the CPU
 */
struct jf_rec {
	unsigned long	seq;
	u64		time;
	unsigned long	arg;
	s32		pid;
	u32		event : 6, mode : 4, sub : 6, cpu : 16;
};

/**
 * struct jf_ring_stats - numbers of all rings together
 * @records:     records that subscribers wanted to write
 * @overwritten: of these, gone to make room for later ones
 * @dropped:     of these, never written
 */
struct jf_ring_stats {
	u64 records, overwritten, dropped;
};

int jf_ring_init(void);
void jf_ring_exit(void);
/* Any context, NMI included. */
void jf_ring_write(u8 event, u8 mode, u8 sub, unsigned long arg);
/* All records that are there, by time; to be freed with kvfree(). NULL: no memory. */
struct jf_rec *jf_ring_snapshot(unsigned int *num);
void jf_ring_count(struct jf_ring_stats *s);

#endif /* JF_RING_H */
