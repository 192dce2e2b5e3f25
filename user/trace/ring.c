// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Rings: each thread that records has one. Its packets are files of the trace's folder, and are
 * made one by one, as they are first needed: a thread of few records takes one packet's
 * memory. detail/ring_user.h has the writer's fast path, and the argument for it.
 *
 * The next packet, in __jf_writer_next(), with all signals blocked:
 *
 *   writer                                      the end comes; readers; recovery
 *   ------                                      --------------------------------
 *   1 choose one that is complete
 *   2 seq = 0                                   nothing in it counts but its overwritten records
 *   3 content_size: empty                       readers see an empty packet
 *   4 all words = free, that of the new seq
 *   5 end and begin = now                       one store: two packets never overlap in time
 *   6 seq = the new one                         it counts again
 *   7 free, packet of struct jf_writer          in this order: see below
 *
 * A thread that gets the ring of one that has ended goes on in the rest of the newest packet's
 * file, as another packet of that file, for a packet tells its thread. So a thread of few records
 * takes little room:
 *
 *   jf_ring_go_on()                                     readers see
 *   -------                                     -----------
 *   a head and words of the new one             nothing of it: a free word is before it
 *   b packet_size of the old one: up to there   both
 *
 * The packets of a file are used again together.
 *
 * A packet is complete if each record that was begun in it is over (committed is as large as
 * content_size). In mode discard it must be new, too, or released by a consumer. Then no thread
 * writes into it but an interrupted writer that is before its step 3, which then fails.
 * That writer has read free first, then packet: so it may have an old free word with
 * a new packet, and fails, but never the other way round.
 *
 * A ring is given back when its thread ends, by a destructor. A thread that records after that, as
 * in free() of its own memory, gets its ring again, and no destructor is called any more. If glibc
 * would allocate for a destructor (32 keys were there before) the thread has no destructor at all.
 * Such rings (@late) are found by their thread's number, which no thread has any more, when a ring
 * is needed. A ring is never unmapped: a thread's late destructors may record.
 *
 * A dropped record is counted where it was to be: in the packet (@discarded), or, if the thread has
 * no ring, by folder.c. tool/losses.c reads these numbers.
 *
 * Forks: jf_live is empty in the child, so each writer has no packet, and asks for one; that
 * makes a folder for the child. The handler of fork() unmaps the parent's packets, too, but
 * for one with a record in progress: a signal handler has interrupted it, and called fork(). The
 * child will finish that record, and is given a copy of the packet for it.
 */
#include "rings.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__thread struct jf_writer *__jf_writer __JF_OF_THREAD;

/* This thread's destructor has been called. */
static __thread bool has_ended __JF_OF_THREAD;
static pthread_key_t at_thread_end;
static bool have_key;

static bool thread_is_gone(int tid)
{
	return tid && syscall(SYS_tgkill, jf_live->pid, tid, 0) && errno == ESRCH;
}

static void give_back(struct jf_ring *r)
{
	/* Pairs with __jf_reserve(), if a cancelled thread was in that. */
	__atomic_store_n(&r->w.packet, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&r->w.num, 0, __ATOMIC_RELEASE);
	/* Whatever its thread has begun is over now, for no thread is left to write it. */
	for (uint32_t k = 0; k < r->made; k++) {
		struct jf_packet *p;

		jf_for_each_packet(p, r, k) {
			jf_packet_settle(p);
			p->committed = (p->committed & ~(uint64_t)UINT32_MAX) | jf_packet_bytes(p);
		}
	}
	r->used = r->late = false;
}

static void thread_ends(void *ring)
{
	struct jf_ring *r = (struct jf_ring *)ring;
	struct jf_before was;

	/* Its number shows later that it has ended. */
	if (jf_is_quiet()) {
		r->late |= &r->w == __jf_writer;
		return;
	}
	jf_own(true);
	jf_shield(&was);
	has_ended = true;
	/* It may be one of a recording that was stopped, or of a parent. */
	if (&r->w == __jf_writer && r >= jf_live->ring && r < jf_live->ring + jf_live->num) {
		__jf_writer = NULL;
		jf_live_lock();
		give_back(r);
		jf_live_unlock();
	}
	jf_unshield(&was);
	jf_own(false);
}

/*
 * Of a packet at least: in mode discard the rest of the last one is little to a thread that could
 * have a ring of its own.
 */
static bool has_room(struct jf_ring *r)
{
	uint32_t k;

	if (jf_conf.mode != JF_RECORD_DISCARD || r->made < jf_conf.packets)
		return true;
	for (k = 0; k < r->made; k++)
		if (jf_ring_reusable(r, k))
			return true;
	return false;
}

/* Its thread was another one of the same number, or has ended without a destructor. */
static bool is_left(const struct jf_ring *r, int tid)
{
	return r->used && ((tid && r->tid == tid) || (r->late && thread_is_gone(r->tid)));
}

static struct jf_ring *find_ring(int tid)
{
	struct jf_ring *r, *room = NULL, *full = NULL;
	uint32_t i;

	for (i = 0; i < jf_live->num; i++) {
		r = &jf_live->ring[i];
		if (is_left(r, tid))
			give_back(r);
		if (r->used || (!r->base && !jf_may_place()))
			continue;
		if (tid && r->tid == tid && (has_room(r) || jf_ring_rest(r)))
			return r;
		if (!has_room(r) || jf_ring_keeps_counts(r))
			full = r;
		else if (!room)
			room = r;
	}
	if (room)
		return room;
	if (jf_live->num < JF_RINGS_MAX && jf_may_place())
		return &jf_live->ring[jf_live->num++];
	for (i = 0; i < jf_live->num; i++) {
		r = &jf_live->ring[i];
		if (r->used && (r->base || jf_may_place()) && thread_is_gone(r->tid)) {
			give_back(r);
			return r;
		}
	}
	return full;
}

/* Beside the number of records that had no ring. */
static void tell_why(void)
{
	__atomic_store_n(&jf_live->no_ring->error, (uint64_t)-jf_live->error, __ATOMIC_RELAXED);
}

/* With all signals blocked. NULL: no ring. */
static struct jf_ring *take_ring(void)
{
	struct jf_ring *r;
	int tid;

	jf_live_lock();
	jf_live->error = 0;
	if (!jf_live->alive && jf_come_alive()) {
		jf_live->failed = JF_RETRY;
		jf_live_unlock();
		return NULL;
	}
	/*
	 * A child of vfork() has another number. Its parent's thread goes on with the ring that the
	 * child gets.
	 */
	tid = getpid() == jf_live->pid ? (int)syscall(SYS_gettid) : 0;
	r = find_ring(tid);
	if (r && !jf_ring_place(r))
		r = NULL;
	if (r) {
		r->used = true;
		r->late = has_ended || !have_key;
		r->threads += !r->threads || r->tid != tid;
		r->tid = tid;
		prctl(PR_GET_NAME, r->comm);
	} else {
		tell_why();
	}
	jf_live_unlock();
	if (!r)
		jf_live->failed = JF_RETRY;
	return r;
}

static void leave_ring(struct jf_ring *r)
{
	jf_live_lock();
	r->used = false;
	tell_why();
	jf_live_unlock();
	jf_live->failed = JF_RETRY;
}

static void have_ring(struct jf_ring *r)
{
	__jf_writer = &r->w;
	/* Not again: it would be called for each record that the thread makes as it ends. */
	if (have_key && !has_ended)
		pthread_setspecific(at_thread_end, r);
}

/* With all signals blocked. */
static bool get_ring(void)
{
	struct jf_ring *r = take_ring();
	bool ok;

	if (!r)
		return false;
	ok = jf_ring_go_on(r) || jf_ring_next(r);
	if (!ok && !r->made) {
		leave_ring(r);
		return false;
	}
	/*
	 * If it is full its thread has it all the same: there its records are counted, and not
	 * written.
	 */
	if (!ok) {
		/* Before the packet: pairs with __jf_reserve() in a handler. */
		r->w.size = 0;
		__atomic_store_n(&r->w.packet, r->newest, __ATOMIC_RELEASE);
	}
	have_ring(r);
	return ok;
}

/* The same for mode count. */
static bool get_counts(uint16_t id)
{
	struct jf_ring *r = take_ring();

	if (!r)
		return false;
	if (!jf_ring_counts(r, id)) {
		leave_ring(r);
		return false;
	}
	have_ring(r);
	return true;
}

static void count_no_ring(void)
{
	/* Acquire: pairs with count_at(). */
	__atomic_fetch_add(__atomic_load_n(&__jf_lost, __ATOMIC_ACQUIRE), 1, __ATOMIC_RELAXED);
}

/*
 * After a failure some are dropped before there is another try, since that takes long. Is this one?
 */
static bool is_dropped(void)
{
	uint32_t left = __atomic_load_n(&jf_live->failed, __ATOMIC_RELAXED);

	/* Several threads may come to the last one. */
	while (left && !__atomic_compare_exchange_n(&jf_live->failed, &left, left - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return left > 1;
}

/*
 * Mode count. Without a number, in a program that was compiled when there was none, it cannot be
 * counted.
 */
static void count_call(uint16_t id)
{
	struct jf_writer *w = __jf_writer;
	struct jf_before was;
	bool ok = false;

	if (jf_is_quiet()) {
		ok = w && id && id < w->num;
		if (ok)
			__jf_local_add(&w->counts[id], 1);
	} else if (id && !is_dropped()) {
		jf_shield(&was);
		w = __jf_writer;
		/*
		 * A handler may have been here. In a child that no handler of fork() was called in
		 * there are none.
		 */
		ok = w && w->num ? id < w->num || jf_ring_counts(jf_ring_of(w), id) : get_counts(id);
		w = __jf_writer;
		if (ok)
			__jf_local_add(&w->counts[id], 1);
		else
			jf_live->failed = JF_RETRY;
		jf_unshield(&was);
	}
	if (!ok)
		count_no_ring();
}

/*
 * Without a system call: in a packet that is there, of the ring that the thread has. A signal
 * handler may come at any time, and records nothing (the agent's).
 */
static bool next_quiet(uint32_t len)
{
	struct jf_writer *w = __jf_writer;
	struct jf_packet *p = w ? w->packet : NULL;
	bool ok = false;

	if (p && len <= jf_conf.packet_size - sizeof(*p)) {
		jf_packet_settle(p);
		ok = __jf_align(p->content_size >> 3, 8) + len <= w->size ||
		     jf_ring_next_made(jf_ring_of(w), jf_conf.mode == JF_RECORD_KEEP);
	}
	if (!ok && p)
		__jf_local_add(&p->discarded, 1);
	else if (!ok)
		count_no_ring();
	return ok;
}

/* Of the clock: readers do not take such times for the same one, whatever they round. */
#define APART	4096

/* Readers find it empty, before the ring's used packets. */
static void set_first(const struct jf_ring *r, struct jf_packet *p)
{
	uint64_t first = UINT64_MAX;
	struct jf_packet *other;
	uint32_t k;

	for (k = 0; k < r->made; k++)
		jf_for_each_packet(other, r, k)
			first = other->seq && other->begin < first ? other->begin : first;
	if (p->head == JF_PACKET_TIMED && first > APART && first != UINT64_MAX)
		p->begin = p->end = first - APART;
}

/**
 * __jf_writer_prepare() - make a ring ready for the time when __jf_quiet is set
 *
 * All packets of its ring. Others' rings stay as large as they are.
 */
void __jf_writer_prepare(void)
{
	struct jf_writer *w = __jf_writer;
	struct jf_before was;
	int saved = errno;

	if (!jf_live || !jf_conf.started)
		return;
	/* Of threads that get none from here on. */
	if (jf_live->no_ring)
		__atomic_store_n(&jf_live->no_ring->error, EPERM, __ATOMIC_RELAXED);
	if (jf_conf.mode == JF_RECORD_COUNT)
		return;
	jf_shield(&was);
	if (!w || !w->packet)
		get_ring();
	w = __jf_writer;
	while (w && w->packet && jf_ring_of(w)->made < jf_conf.packets && !jf_ring_more(jf_ring_of(w)))
		set_first(jf_ring_of(w), jf_packet_at(jf_ring_of(w), jf_ring_of(w)->made - 1));
	jf_unshield(&was);
	errno = saved;
}

static bool next_for(uint32_t len)
{
	struct jf_packet *p;
	struct jf_writer *w;
	int saved = errno;
	bool ok = false;
	struct jf_before was;

	w = __jf_writer;
	p = w ? w->packet : NULL;
	if (len <= jf_conf.packet_size - sizeof(*p)) {
		if (!p && is_dropped())
			goto count;
		/* Nor is there a packet more of mode keep. */
		if (p && jf_conf.mode == JF_RECORD_KEEP && jf_ring_of(w)->skipped && is_dropped())
			goto count;
		/* A ring that is full and is not read is not looked at any closer. */
		if (p && jf_conf.mode == JF_RECORD_DISCARD && jf_ring_of(w)->skipped) {
			struct jf_ring *r = jf_ring_of(w);
			struct jf_packet *next = jf_packet_at(r, (r->cur + 1) % r->made);

			if (__atomic_load_n(&next->released, __ATOMIC_RELAXED) != next->seq)
				goto count;
		}
		jf_shield(&was);
		w = __jf_writer;
		p = w ? w->packet : NULL;
		if (!p) {
			ok = get_ring();
		} else {
			/* A handler may have been here. */
			jf_packet_settle(p);
			ok = __jf_align(p->content_size >> 3, 8) + len <= w->size ||
			     jf_ring_next(jf_ring_of(w));
			jf_ring_of(w)->skipped = !ok;
		}
		if (ok)
			jf_folder_check_clock();
		jf_unshield(&was);
		w = __jf_writer;
		p = w ? w->packet : NULL;
	}
count:
	if (!ok) {
		if (p)
			__jf_local_add(&p->discarded, 1);
		else
			count_no_ring();
	}
	errno = saved;
	return ok;
}

/**
 * __jf_writer_next_as() - a thread has no packet and no counter, or the record does not fit into
 * the packet
 * @len: of the record
 * @id: the event that it is counted for
 *
 * Called by __jf_reserve().
 *
 * Return: true if it should try again; else the record was counted, as one of @id or as discarded
 */
bool __jf_writer_next_as(uint32_t len, uint16_t id)
{
	int saved = errno;

	if (!jf_live || !jf_conf.started) {
		__atomic_fetch_add(&jf_early_drops, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (jf_conf.mode != JF_RECORD_COUNT)
		return jf_is_quiet() ? next_quiet(len) : next_for(len);
	count_call(id);
	errno = saved;
	return false;
}

/**
 * __jf_writer_next() - the same, in programs that were compiled when nothing was counted
 * @len: of the record
 */
bool __jf_writer_next(uint32_t len)
{
	return __jf_writer_next_as(len, 0);
}

__attribute__((__constructor__(101)))
static void begins(void)
{
	have_key = !pthread_key_create(&at_thread_end, thread_ends);
#ifdef __GLIBC__
	/* Beyond these the first value that a thread sets is in memory that is allocated for it. */
	if (have_key && at_thread_end >= 32) {
		pthread_key_delete(at_thread_end);
		have_key = false;
	}
#endif
}
