// SPDX-License-Identifier: GPL-2.0
/*
 * A flight recorder: one ring of records for each CPU, the latest overwrite the
 * oldest. Written without locks from any context, NMI included.
 *
 * Only the ring's own CPU writes, with preemption off, so writers of one ring
 * nest like interrupts do: an inner one is done before the outer one goes on.
 * To write a record:
 *
 *   1. take a number, which says where it goes
 *   2. claim the place: its number becomes JF_REC_BUSY. If it is that already,
 *	an outer writer is being overtaken by a whole round of inner ones; if it
 *	is higher than ours, we are that outer one. Either way the record is
 *	dropped, and counted
 *   3. fill it in
 *   4. give it its number
 *
 *   writer			    reader, on another CPU
 *   rec->seq = BUSY		    seq = rec->seq (acquire)
 *   smp_wmb()			    copy the record
 *   fill in			    smp_rmb()
 *   rec->seq = number (release)    whole if seq is still the same
 *
 * Every number ends up as a record or as a drop, so nothing is lost in silence:
 * numbers taken = records there + records overwritten + records dropped.
 */
#include "demo/ring.h"

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sort.h>
#include <asm/local.h>

/* Records of a CPU; a power of two. */
#define JF_RING_SIZE	2048
#define JF_REC_BUSY	ULONG_MAX

/**
 * struct jf_ring - the ring of one CPU
 * @head:    the number that was taken last; the first one is 1
 * @dropped: numbers that were taken in vain
 * @rec:     the records
 */
struct jf_ring {
	local_t		head;
	local_t		dropped;
	struct jf_rec	rec[JF_RING_SIZE];
};

static DEFINE_PER_CPU(struct jf_ring *, jf_rings);

notrace void jf_ring_write(u8 event, u8 mode, u8 sub, unsigned long arg)
{
	struct jf_ring *ring;
	unsigned long num, seq;
	struct jf_rec *rec;

	/* From 7.0 on tracepoints need not do that for us. */
	preempt_disable_notrace();
	ring = __this_cpu_read(jf_rings);
	num = local_inc_return(&ring->head);
	rec = &ring->rec[num & (JF_RING_SIZE - 1)];

	seq = READ_ONCE(rec->seq);
	if (seq >= num || cmpxchg_local(&rec->seq, seq, JF_REC_BUSY) != seq) {
		local_inc(&ring->dropped);
		goto out;
	}
	/* BUSY before the contents. Pairs with smp_rmb() in jf_rec_copy(). */
	smp_wmb();
	rec->time = local_clock();
	rec->arg = arg;
	rec->pid = current->pid;
	rec->event = event;
	rec->mode = mode;
	rec->sub = sub;
	rec->cpu = smp_processor_id();
	/* Pairs with smp_load_acquire() in jf_rec_copy(). */
	smp_store_release(&rec->seq, num);
out:
	preempt_enable_notrace();
}

static bool jf_rec_copy(struct jf_rec *to, const struct jf_rec *from)
{
	/* Pairs with smp_store_release() in jf_ring_write(). */
	unsigned long seq = smp_load_acquire(&from->seq);

	if (!seq || seq == JF_REC_BUSY)
		return false;
	/* A writer can overwrite it during the copy; if so, the copy is dropped below. */
	data_race(memcpy(to, from, sizeof(*to)));
	/* The contents before the number, again. Pairs with smp_wmb() there. */
	smp_rmb();
	if (READ_ONCE(from->seq) != seq)
		return false;
	to->seq = seq;
	return true;
}

static int jf_rec_cmp(const void *a, const void *b)
{
	const struct jf_rec *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	/* Of one CPU, most likely. */
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

struct jf_rec *jf_ring_snapshot(unsigned int *num)
{
	unsigned int i, n = 0;
	struct jf_rec *recs;
	int cpu;

	recs = kvmalloc_array(num_possible_cpus(), JF_RING_SIZE * sizeof(*recs),
			      GFP_KERNEL);
	if (!recs)
		return NULL;
	for_each_possible_cpu(cpu)
		for (i = 0; i < JF_RING_SIZE; i++)
			if (jf_rec_copy(&recs[n],
					&per_cpu(jf_rings, cpu)->rec[i]))
				n++;
	sort(recs, n, sizeof(*recs), jf_rec_cmp, NULL);
	*num = n;
	return recs;
}

void jf_ring_count(struct jf_ring_stats *s)
{
	unsigned int i, there;
	int cpu;

	memset(s, 0, sizeof(*s));
	for_each_possible_cpu(cpu) {
		struct jf_ring *ring = per_cpu(jf_rings, cpu);
		u64 dropped = local_read(&ring->dropped);
		u64 taken = local_read(&ring->head);

		for (i = 0, there = 0; i < JF_RING_SIZE; i++)
			there += READ_ONCE(ring->rec[i].seq) != 0;
		s->records += taken;
		s->dropped += dropped;
		/* While others write, the three are not of the same moment. */
		if (taken > dropped + there)
			s->overwritten += taken - dropped - there;
	}
}

void jf_ring_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvfree(per_cpu(jf_rings, cpu));
}

int jf_ring_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(jf_rings, cpu) = kvzalloc_node(sizeof(struct jf_ring),
						       GFP_KERNEL,
						       cpu_to_node(cpu));
		if (!per_cpu(jf_rings, cpu)) {
			jf_ring_exit();
			return -ENOMEM;
		}
	}
	return 0;
}
