// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Packets in memory: complete, begun, gone on in, and left. ring.c has the steps and their
 * argument.
 */
#include "rings.h"

#include <string.h>

_Static_assert(offsetof(struct jf_packet, ring) == 24, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, content_size) == 128, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, tid) + 4 == JF_PACKET_UNTIMED, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, end) == 160, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, begin) == 168, "set_times(): in the same 16 bytes");
_Static_assert(sizeof(struct jf_packet) == JF_PACKET_TIMED, "as the metadata says");

static uint32_t head_size(void)
{
	return jf_conf.clock == __JF_CLOCK_NONE ? JF_PACKET_UNTIMED : JF_PACKET_TIMED;
}

/* Of records, each rounded up. */
uint64_t jf_packet_bytes(const struct jf_packet *p)
{
	return __jf_align(p->content_size >> 3, 8) - __jf_align(p->head, 8);
}

/* A hidden file that is a whole packet gets its name. */
void jf_packet_head(struct jf_packet *p, uint32_t ring, size_t size)
{
	p->magic = JF_PACKET_MAGIC;
	memcpy(p->uuid, jf_live->uuid, sizeof(p->uuid));
	p->ring = ring;
	p->head = head_size();
	p->content_size = head_size() * 8;
	p->packet_size = size * 8;
	if (p->head == JF_PACKET_TIMED)
		p->begin = p->end = jf_clock_now(jf_conf.clock);
}

/* Step 5 of those who have taken a place and not come to that. */
void jf_packet_settle(struct jf_packet *p)
{
	for (;;) {
		uint64_t content = __atomic_load_n(&p->content_size, __ATOMIC_RELAXED);
		uint64_t pos = __jf_align(content >> 3, 8);
		uint64_t word;

		if (pos + 8 > p->packet_size >> 3)
			return;
		word = *(uint64_t *)(void *)((char *)p + pos);
		if (word & JF_WORD_OTHER)
			return;
		__jf_local_cmpxchg(&p->content_size, content, (pos + 8 + (word >> 32)) << 3);
	}
}

/*
 * No record begins in it any more, for the next record begins a packet: pairs with
 * __jf_reserve(), which this may have interrupted. Readers take the word as a free one.
 */
static void leave(struct jf_packet *p)
{
	uint64_t pos;

	jf_packet_settle(p);
	pos = __jf_align(p->content_size >> 3, 8);
	if (p->seq && pos + 8 <= p->packet_size >> 3)
		__atomic_store_n((uint64_t *)(void *)((char *)p + pos), JF_WORD_LEFT(p->seq), __ATOMIC_RELEASE);
}

/* True if each record that was begun in it is over. */
bool jf_packet_complete(struct jf_packet *p)
{
	jf_packet_settle(p);
	return (__atomic_load_n(&p->committed, __ATOMIC_RELAXED) & UINT32_MAX) == jf_packet_bytes(p);
}

/* True if a file can be written anew. */
bool jf_ring_reusable(const struct jf_ring *r, uint32_t k)
{
	struct jf_packet *p;

	jf_for_each_packet(p, r, k) {
		/*
		 * Never used, or the end came while it was being cleared, in a process whose memory
		 * this is not.
		 */
		if (!p->seq)
			continue;
		/* Acquire: pairs with the consumer's store, after its loads of the packet. */
		if (jf_conf.mode == JF_RECORD_DISCARD && __atomic_load_n(&p->released, __ATOMIC_ACQUIRE) != p->seq)
			return false;
		if (!jf_packet_complete(p))
			return false;
	}
	return true;
}

/* Of a file that is to be written anew. */
uint64_t jf_ring_records(const struct jf_ring *r, uint32_t k)
{
	uint64_t num = 0;
	struct jf_packet *p;

	jf_for_each_packet(p, r, k)
		num += p->seq ? p->committed >> 32 : 0;
	return num;
}

static void clear_words(struct jf_packet *p, uint64_t free)
{
	uint64_t *word = (uint64_t *)(void *)((char *)p + __jf_align(p->head, 8));
	uint64_t *end = (uint64_t *)(void *)((char *)p + (p->packet_size >> 3));

	while (word < end)
		*word++ = free;
}

static void set_thread(struct jf_packet *p, const struct jf_ring *r)
{
	p->tid = (uint32_t)r->tid;
	p->threads = r->threads;
	memcpy(p->comm, r->comm, sizeof(p->comm));
}

/*
 * Step 7: where the thread records from here on. Pairs with __jf_reserve(), which this may have
 * interrupted.
 */
static void use_packet(struct jf_ring *r, struct jf_packet *p)
{
	r->newest = p;
	r->w.size = (uint32_t)(p->packet_size >> 3);
	r->w.clock = jf_conf.clock;
	__atomic_store_n(&r->w.free, JF_WORD_FREE(p->seq), __ATOMIC_RELEASE);
	__atomic_store_n(&r->w.packet, p, __ATOMIC_RELEASE);
}

/* Step 5: by one instruction, for the end can come before or after it only. */
static void set_times(struct jf_packet *p, uint64_t now)
{
	typedef uint64_t both __attribute__((__vector_size__(16), __may_alias__));

	/* Pairs with those who read the file: they see the steps before this one. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile both *)(void *)&p->end = (both){ now, now };
}

/*
 * The steps 2 to 7 above. All stores pair with those who read a packet's file: they see a step
 * together with the steps before it. The last two pair with __jf_reserve(), which they may
 * have interrupted.
 */
void jf_ring_begin(struct jf_ring *r, uint32_t k)
{
	uint64_t overwritten = r->newest ? r->newest->overwritten : 0;
	uint64_t discarded = r->newest ? r->newest->discarded : 0;
	struct jf_packet *p = jf_packet_at(r, k);

	if (r->newest)
		leave(r->newest);
	/* A child of vfork() that had begun to clear it was killed after it had counted them. */
	if (!p->seq && p->overwrites > overwritten)
		overwritten = p->overwrites;
	if (jf_conf.mode == JF_RECORD_OVERWRITE)
		overwritten += jf_ring_records(r, k);
	p->overwrites = overwritten;
	__atomic_store_n(&p->seq, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&p->content_size, p->head * 8, __ATOMIC_RELEASE);
	/* Those after it in the file are no more. */
	__atomic_store_n(&p->packet_size, (uint64_t)jf_conf.packet_size * 8, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	clear_words(p, JF_WORD_FREE(r->seq + 1));
	p->committed = 0;
	p->released = 0;
	set_thread(p, r);
	p->discarded = discarded;
	p->overwritten = overwritten;
	/* Without time stamps the first record is there. */
	if (p->head == JF_PACKET_TIMED)
		set_times(p, jf_clock_now(jf_conf.clock));
	__atomic_store_n(&p->seq, ++r->seq, __ATOMIC_RELEASE);
	r->cur = k;
	use_packet(r, p);
}

/* The room that a packet after another one must have, to be worth its head. */
#define LEAST	512

/*
 * Where in the newest packet's file another thread could go on: bytes from the packet on; 0:
 * nowhere.
 */
uint64_t jf_ring_rest(const struct jf_ring *r)
{
	const struct jf_packet *p = r->newest;
	uint64_t at;

	if (!p)
		return 0;
	/* A free word stays between them: there readers of the first one stop. */
	at = __jf_align(__jf_align(p->content_size >> 3, 8) + 8, 128);
	return at + sizeof(*p) + LEAST <= p->packet_size >> 3 ? at : 0;
}

/* By a thread that has just got the ring: in the rest of the newest packet's file. */
bool jf_ring_go_on(struct jf_ring *r)
{
	struct jf_packet *last = r->newest, *p;
	uint64_t at;

	if (!last)
		return false;
	jf_packet_settle(last);
	/* The thread itself, after its destructor. */
	if (r->tid && last->tid == (uint32_t)r->tid) {
		use_packet(r, last);
		return true;
	}
	at = jf_ring_rest(r);
	if (!at || !jf_packet_complete(last))
		return false;
	p = (struct jf_packet *)(void *)((char *)last + at);
	memset(p, 0, sizeof(*p));
	jf_packet_head(p, (uint32_t)(r - jf_live->ring), (last->packet_size >> 3) - at);
	clear_words(p, JF_WORD_FREE(r->seq + 1));
	set_thread(p, r);
	p->discarded = last->discarded;
	p->overwritten = p->overwrites = last->overwritten;
	p->seq = ++r->seq;
	/* Release: pairs with those who read the file, and find the new one here. */
	__atomic_store_n(&last->packet_size, at * 8, __ATOMIC_RELEASE);
	use_packet(r, p);
	return true;
}
