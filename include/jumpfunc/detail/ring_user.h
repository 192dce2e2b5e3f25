/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The ring that a program's events are written into: what the code of an event does itself.
 * Included by trace_event_user.h, and by the library that has the rest (user/trace).
 *
 * A ring belongs to one thread and has some packets. Each is a file, mapped shared, that is a
 * whole CTF packet at any moment: whatever ends the process, babeltrace2 reads what is there.
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
 *   2 read the clock; timestamp_end -> time, if it is old
 *   3 word at pos: free -> size, if it is free  begun: the place is taken
 *   4 content_size -> pos + size, if it is old  seen by readers, as not committed
 *   5 write the fields, in place
 *   6 id = that of the event                    committed
 *   7 committed += size                         the packet may be reused
 *
 * Each "if" is one instruction, compare and exchange without a lock prefix: only signal
 * handlers of this thread write here, and they do not come into the midst of an instruction.
 *
 *   A handler that records between 1 and 3 takes the place, and leaves a later timestamp_end.
 *   3 fails, and the writer starts again with a later time: so time stamps never go back.
 *   One that records between 3 and 4 finds the word taken. It does 4 for the writer, then
 *   records after it; the writer's own 4 then fails, as it should. So content_size never goes
 *   back, and all that is committed is within it.
 *   One that fills the packet, and all others until this one's turn comes again, finds that
 *   7 is missing in it, and leaves it alone. Before 3 there is nothing that could be missing;
 *   but in a packet that was used again the free word is another one, and 3 fails.
 *
 * A handler's record is whole when it is committed, whether or not the one that it interrupted
 * is ever finished, and it never waits. A record that is left by longjmp() stays uncommitted, and
 * its packet is not used again before the thread has ended.
 *
 * Stores reach the file in the order in which they are written here: x86 makes them visible to
 * others in that order, and the compiler keeps it since they are atomic. Elsewhere 4 and 6
 * are release. A process that is killed ends between two instructions; what was stored before is
 * in the page cache, which the kernel does not lose with the process.
 */
#ifndef JUMPFUNC_RING_USER_H
#define JUMPFUNC_RING_USER_H

#include <jumpfunc/tracepoint.h>

#ifdef __x86_64__
/* What there is of <x86intrin.h>, which takes long to include. */
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
 * @seq:          number of this packet among those of the ring; 0: none, it is being cleared
 * @released:     @seq, once a consumer has read it and the writer may reuse it
 * @overwritten:  records of this ring that were overwritten, up to the begin of this packet
 * @committed:    number of records that are not in progress any more << 32, plus their bytes,
 *                each rounded up to 8
 * @head:         content_size of a packet without a record, in bytes: JF_PACKET_TIMED, or
 *                JF_PACKET_UNTIMED where there are no time stamps
 * @overwrites:   what @overwritten will be; holds while @seq is 0
 * @reserved:     0
 * @content_size: in bits, from the begin of the packet to the end of the last record
 * @packet_size:  in bits
 * @discarded:    records of this ring that found no room, up to the end of this packet
 * @tid:          the thread that wrote it
 * @unused:       0, so that what follows is where it is elsewhere, too
 * @end:          not before the time stamp of the last record
 * @begin:        when the packet was begun; both are not there without time stamps
 *
 * CTF readers do not see @seq to @reserved: what follows has a large alignment. The fields are
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
	uint64_t	reserved[6];
	uint64_t	content_size;
	uint64_t	packet_size;
	uint64_t	discarded;
	uint32_t	tid;
	uint32_t	unused;
	uint64_t	end;
	uint64_t	begin;
} __attribute__((__aligned__(8)));

/* What is where no record has begun yet; bits of JF_WORD_OTHER are 0 in that of a record. */
#define JF_WORD_FREE(seq)	((uint64_t)(seq) << 32 | JF_WORD_OTHER)
#define JF_WORD_OTHER		UINT64_C(0xffff0000)

#define JF_PACKET_TIMED		176
#define JF_PACKET_UNTIMED	156

/**
 * struct jf_writer - where a thread records
 * @packet: its packet; NULL: it has to ask for one first
 * @free:   JF_WORD_FREE() of that
 * @size:   of a packet
 * @clock:  one of enum jf_record_clock
 *
 * In memory that a forked child finds empty (MADV_WIPEONFORK), so that it never writes into
 * a ring of its parent. The library's structure is larger.
 */
struct jf_writer {
	struct jf_packet	*packet;
	uint64_t		free;
	uint32_t		size;
	uint32_t		clock;
};

/**
 * struct jf_slot - a record that is being written
 * @packet: where it is
 * @at:     its first word
 * @len:    its bytes, rounded up
 * @id:     what it is committed as; 0: it is not
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
uint64_t __jf_clock_ns(void);
__JF_END_DECLS

/* Only this thread and its signal handlers write these words. */
static __JF_INLINE uint64_t __jf_local_cmpxchg(uint64_t *p, uint64_t old, uint64_t val)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ volatile("cmpxchgq %2, %1"
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
	__asm__ volatile("addq %1, %0" : "+m" (*p) : "er" (val) : "memory", "cc");
#else
	__atomic_fetch_add(p, val, __ATOMIC_RELAXED);
#endif
}

static __JF_INLINE uint64_t __jf_align(uint64_t size, uint64_t to)
{
	return (size + to - 1) & ~(to - 1);
}

/**
 * __jf_reserve() - begin a record
 * @slot: is filled in, for __jf_slot_end()
 * @size: bytes of the event's fields
 *
 * Context: any, also a signal handler that interrupts this function. The first record of a
 * thread, and the one that finds its packet full, make system calls.
 * Return: where the fields are to be written, or NULL: there is no room, and that was counted
 */
static __JF_INLINE void *__jf_reserve(struct jf_slot *slot, uint64_t size)
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
			 * begin_packet(), in a handler.
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
					time = w->clock == __JF_CLOCK_TSC ? __jf_rdtsc() :
					       w->clock == __JF_CLOCK_NONE ? 0 : __jf_clock_ns();
					if (len != 8 + size)
						__jf_local_cmpxchg(&p->end, end, time);
					was = __jf_local_cmpxchg((uint64_t *)(void *)at, free,
								 (len - 8) << 32);
					if (__builtin_expect(was == free, 1))
						break;
					/* Taken by the record that is interrupted, before its 4. */
					if (!(was & JF_WORD_OTHER))
						__jf_local_cmpxchg(&p->content_size, content,
								   (pos + 8 + (was >> 32)) << 3);
					continue;
				}
			}
		}
		if (!__jf_writer_next(len > UINT32_MAX ? UINT32_MAX : (uint32_t)len))
			return NULL;
	}
	slot->packet = p;
	slot->at = at;
	slot->len = (uint32_t)__jf_align(len, 8);
	/* Pairs with the reader's load: a reader that sees the record sees its first word. */
	__jf_local_cmpxchg(&p->content_size, content, (pos + len) << 3);
	if (len == 8 + size)
		return at + 8;
	*(uint64_t *)(void *)(at + 8) = time;
	return at + 16;
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
