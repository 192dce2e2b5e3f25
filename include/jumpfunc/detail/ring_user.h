/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The ring that a program's events are written into: the part that the code of an event does
 * itself. Included by trace_event_user.h, and by the library that has the rest (user/trace).
 *
 * A ring belongs to one thread and has some packets. Each is a file, mapped shared, that is a
 * whole CTF packet at any moment, or several that threads have written one after the other:
 * whatever ends the process, babeltrace2 reads what is there.
 *
 *   record:  | id | - | size | time stamp | the event's fields |    from a multiple of 8 bytes on
 *              16   16   32       64        bits
 *
 * A record with the id 0 is one that was begun and not committed. That is an event of the
 * trace, too ("jumpfunc:uncommitted"), with @size bytes that mean nothing, so a reader gets
 * past it. All words after the last record are "free": a number that no record begins with,
 * and another one each time that the packet is used (JF_WORD_FREE).
 *
 *   writer                                      the end comes, or a signal handler
 *   ------                                      ----------------------------------
 *   1 pos = content_size, aligned
 *   2 read the clock
 *   3 word at pos: free -> size, if it is free  begun: the place is taken
 *   4 timestamp_end -> time, if it is old
 *   5 content_size -> pos + size, if it is old  seen by readers, as not committed
 *   6 write the fields, in place
 *   7 id = the id of the event                  committed
 *   8 committed += size                         the packet may be reused
 *
 * Each "if" is one instruction, compare and exchange without a lock prefix: only signal
 * handlers of this thread write here, and they do not come into the midst of an instruction.
 *
 *   A handler that records between 1 and 3 takes the place: 3 fails, and the writer starts
 *   again with a later time. So time stamps never go back.
 *   One that goes on in the next packet, since its record is larger, has the first free word say
 *   so (JF_WORD_LEFT), before that packet begins. 3 fails: no record of a packet is later than the
 *   begin of the next one, and neither is its timestamp_end, which only one with a place sets.
 *   One that records between 3 and 5 finds the word taken. It does 5 for the writer, then
 *   records after it; the writer's own 4 and 5 then fail, as they should. So content_size and
 *   timestamp_end never go back, and all that is committed is within them.
 *   One that fills the packet, and all others until this one's turn comes again, finds that
 *   8 is missing in it, and leaves it alone. Before 3 there is nothing that could be missing;
 *   but in a packet that was used again the free word is another one, and 3 fails.
 *
 * A handler's record is whole when it is committed, whether or not the one that it interrupted
 * is ever finished, and it never waits. A record that is left by longjmp() stays uncommitted, and
 * its packet is not used again before the thread has ended.
 *
 * Stores reach the file in the order in which they are written here: x86 makes them visible to
 * others in that order, and the compiler keeps it since they are atomic. Elsewhere 5 and 7
 * are release. A process that is killed ends between two instructions; all stores before are in the
 * page cache, which the kernel does not lose with the process.
 */
#ifndef JUMPFUNC_RING_USER_H
#define JUMPFUNC_RING_USER_H

#include <jumpfunc/tracepoint.h>

#ifdef __x86_64__
/* The used part of <x86intrin.h>, which takes long to include. */
#define __jf_rdtsc()		__builtin_ia32_rdtsc()
#else
#define __jf_rdtsc()		UINT64_C(0)
#endif

/**
 * struct jf_packet - the begin of a packet, as CTF readers and the writer see it
 * @magic:        0xc1fc1fc1
 * @uuid:         of the trace; the metadata has the same
 * @stream_id:    0: there is one kind of streams
 * @ring:         which ring it is of (stream_instance_id)
 * @seq:          number of this packet among the ring's packets; 0: none, it is being cleared
 * @released:     @seq, once a consumer has read it and the writer may reuse it
 * @overwritten:  records of this ring that were overwritten, up to the begin of this packet
 * @committed:    number of records that are not in progress any more << 32, plus their bytes,
 *                each rounded up to 8
 * @head:         content_size of a packet without a record, in bytes: JF_PACKET_TIMED, or
 *                JF_PACKET_UNTIMED where there are no time stamps
 * @overwrites:   what @overwritten will be; holds while @seq is 0
 * @comm:         name of that thread, as the kernel had it when the ring grew last;
 *                unused bytes are 0
 * @threads:      that have had this ring up to then, one after the other: the sums do not tell
 *                whose records were lost
 * @calls:        of the packet that counts records without a ring: those of @discarded that were
 *                calls of functions, for which the agent had no room
 * @error:        of the packet that counts records without a ring: why the last had none, an error
 *                number; 0: there were as many rings as are allowed
 * @files:        of the packet that counts records without a ring: files of packets that the trace
 *                has had, all of which are there; of a copy 0
 * @content_size: in bits, from the begin of the packet to the end of the last record
 * @packet_size:  in bits
 * @discarded:    records of this ring that found no room, up to the end of this packet
 * @tid:          the thread that wrote it
 * @unused:       0, so that what follows is where it is elsewhere, too
 * @end:          not before the time stamp of the last record
 * @begin:        when the packet was begun; both are not there without time stamps
 *
 * CTF readers do not see @seq to @files: what follows has a large alignment. The fields are
 * written by the thread whose ring it is, but for @released.
 */
struct jf_packet {
	uint32_t	magic;
	uint8_t		uuid[16];
	uint32_t	stream_id;
	uint64_t	ring;
	uint64_t	seq;
	uint64_t	released;
	uint64_t	overwritten;
	uint64_t	committed;
	uint64_t	head;
	uint64_t	overwrites;
	char		comm[16];
	uint64_t	threads;
	uint64_t	calls;
	uint64_t	error;
	uint64_t	files;
	uint64_t	content_size;
	uint64_t	packet_size;
	uint64_t	discarded;
	uint32_t	tid;
	uint32_t	unused;
	uint64_t	end;
	uint64_t	begin;
} __attribute__((__aligned__(8)));

/* The word where no record has begun yet; in a record's word the bits of JF_WORD_OTHER are 0. */
#define JF_WORD_FREE(seq)	((uint64_t)(seq) << 32 | JF_WORD_OTHER)
#define JF_WORD_OTHER		UINT64_C(0xffff0000)
/* The first of those words once the writer has gone on in another packet. */
#define JF_WORD_LEFT(seq)	(JF_WORD_FREE(seq) | 1)

#define JF_PACKET_TIMED		176
#define JF_PACKET_UNTIMED	156

/**
 * struct jf_writer - where a thread records
 * @packet: its packet; NULL: it has to ask for one first
 * @free:   JF_WORD_FREE() of that
 * @size:   of a packet
 * @clock:  one of enum jf_record_clock
 * @counts: calls of events, by their ids, where these are counted and not recorded
 * @num:    ids that are there
 *
 * In memory that a forked child finds empty (MADV_WIPEONFORK), so that it never writes into
 * a ring of its parent. The library's structure is larger.
 */
struct jf_writer {
	struct jf_packet	*packet;
	uint64_t		free;
	uint32_t		size;
	uint32_t		clock;
	uint64_t		*counts;
	uint32_t		num;
};

/**
 * struct jf_slot - a record that is being written
 * @packet: where it is
 * @at:     its first word
 * @len:    its bytes, rounded up
 * @id:     its number when it is committed; 0: it is not
 */
struct jf_slot {
	struct jf_packet	*packet;
	char			*at;
	uint32_t		len;
	uint16_t		id;
};

/* As in enum jf_record_clock, <jumpfunc/record.h>. */
#define __JF_CLOCK_TSC		1
#define __JF_CLOCK_MONOTONIC	2
#define __JF_CLOCK_NONE		3

__JF_BEGIN_DECLS
extern __thread struct jf_writer *__jf_writer __JF_OF_THREAD;
bool __jf_writer_next(uint32_t len);
bool __jf_writer_next_as(uint32_t len, uint16_t id);
uint64_t __jf_clock_ns(void);
__JF_END_DECLS

/* Only this thread and its signal handlers write these words. */
static __JF_INLINE uint64_t __jf_local_cmpxchg(uint64_t *p, uint64_t old, uint64_t val)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ volatile("cmpxchg{q %2, %1| %1, %2}"
			 : "+a" (old), "+m" (*p) : "r" (val) : "memory", "cc");
#else
	/* Release: pairs with the loads of readers, as the table above has them. */
	__atomic_compare_exchange_n(p, &old, val, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
#endif
	return old;
}

static __JF_INLINE void __jf_local_add(uint64_t *p, uint64_t val)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ volatile("add{q %1, %0| %0, %1}" : "+m" (*p) : "r" (val) : "memory", "cc");
#else
	__atomic_fetch_add(p, val, __ATOMIC_RELAXED);
#endif
}

static __JF_INLINE uint64_t __jf_align(uint64_t size, uint64_t to)
{
	return (size + to - 1) & ~(to - 1);
}

/* Step 2: @known is used if no handler has recorded since then. */
static __JF_INLINE uint64_t __jf_time(const struct jf_writer *w, uint64_t end, uint64_t known)
{
	if (w->clock == __JF_CLOCK_NONE)
		return 0;
	if (known >= end && known)
		return known;
	return w->clock == __JF_CLOCK_TSC ? __jf_rdtsc() : __jf_clock_ns();
}

/**
 * __jf_reserve_at() - begin a record, or count it
 * @slot:  is filled in, for __jf_slot_end()
 * @size:  bytes of the event's fields
 * @id:    the event that is counted
 * @known: the time by the ring's clock before this call, or 0: the caller has not read it
 *
 * Context: any, also a signal handler that interrupts this function. The first record of a
 * thread, and the one that finds its packet full, make system calls.
 * Return: where the fields are to be written, or NULL: there is no room, which was counted, or
 * the event was counted, and is not recorded
 */
static __JF_INLINE void *__jf_reserve_at(struct jf_slot *slot, uint64_t size, uint16_t id, uint64_t known)
{
	uint64_t content, pos, time, end, was, free, len;
	struct jf_writer *w;
	struct jf_packet *p;
	char *at;

	for (;;) {
		w = __jf_writer;
		len = 16 + size;
		if (__builtin_expect(w != NULL, 1)) {
			/*
			 * Of the packet, or of one before it: then 3 fails. Pairs with
			 * jf_ring_begin(), in a handler.
			 */
			free = __atomic_load_n(&w->free, __ATOMIC_RELAXED);
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
			p = __atomic_load_n(&w->packet, __ATOMIC_RELAXED);
			if (__builtin_expect(w->clock == __JF_CLOCK_NONE, 0))
				len = 8 + size;
			if (__builtin_expect(p != NULL, 1)) {
				content = __atomic_load_n(&p->content_size, __ATOMIC_RELAXED);
				end = __atomic_load_n(&p->end, __ATOMIC_RELAXED);
				pos = __jf_align(content >> 3, 8);
				if (__builtin_expect(pos + len <= w->size, 1)) {
					at = (char *)p + pos;
					time = __jf_time(w, end, known);
					was = __jf_local_cmpxchg((uint64_t *)(void *)at, free,
								 (len - 8) << 32);
					if (__builtin_expect(was == free, 1))
						break;
					/* Taken by the record that is interrupted, before its 5. */
					if (!(was & JF_WORD_OTHER))
						__jf_local_cmpxchg(&p->content_size, content,
								   (pos + 8 + (was >> 32)) << 3);
					continue;
				}
			} else if (id < __atomic_load_n(&w->num, __ATOMIC_RELAXED)) {
				__jf_local_add(&w->counts[id], 1);
				return NULL;
			}
		}
		if (!__jf_writer_next_as(len > UINT32_MAX ? UINT32_MAX : (uint32_t)len, id))
			return NULL;
	}
	slot->packet = p;
	slot->at = at;
	slot->len = (uint32_t)__jf_align(len, 8);
	/* Before readers see the record. */
	if (len != 8 + size)
		__jf_local_cmpxchg(&p->end, end, time);
	/* Pairs with the reader's load: a reader that sees the record sees its first word. */
	__jf_local_cmpxchg(&p->content_size, content, (pos + len) << 3);
	if (len == 8 + size)
		return at + 8;
	*(uint64_t *)(void *)(at + 8) = time;
	return at + 16;
}

/* The same with the time of this call. */
static __JF_INLINE void *__jf_reserve(struct jf_slot *slot, uint64_t size, uint16_t id)
{
	return __jf_reserve_at(slot, size, id, 0);
}

/*
 * The end of a slot's block: commits, unless it was left in another way than it should (an
 * exception, a cancelled thread); then the record stays uncommitted, and is over all the same.
 */
static __JF_INLINE void __jf_slot_end(struct jf_slot *slot)
{
	if (!slot->packet)
		return;
	/* Release: pairs with the reader's load of the id, which is before those of the fields. */
	if (slot->id)
		__atomic_store_n((uint16_t *)(void *)slot->at, slot->id, __ATOMIC_RELEASE);
	/*
	 * First all of the record: pairs with complete(), in a handler, which then has the packet
	 * written anew.
	 */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__jf_local_add(&slot->packet->committed, (UINT64_C(1) << 32) + slot->len);
}

#define __JF_SLOT(name)							\
	struct jf_slot name __attribute__((__cleanup__(__jf_slot_end))) = { NULL, NULL, 0, 0 }

#endif /* JUMPFUNC_RING_USER_H */
