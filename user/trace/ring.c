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
 *   2 seq = 0                                   nothing in it counts, but for what was overwritten
 *   3 content_size: empty                       readers see an empty packet
 *   4 all words = free, that of the new seq
 *   5 end, begin = now                          in this order: begin is never later than end
 *   6 seq = the new one                         it counts again
 *   7 free, packet of struct jf_writer          in this order: see below
 *
 * A packet is complete if all that was begun in it is over (committed is what content_size says).
 * In mode discard it must be new, too, or released by a consumer. Then there is one that
 * no thread writes into but an interrupted writer that is before its step 3, which then fails.
 * That writer has read free first, then packet: so it may have an old free word with
 * a new packet, and fails, but never the other way round.
 *
 * A ring is given back when its thread ends, by a destructor. Where glibc would allocate for that (32 keys
 * were there before) it is not; it is then found by its thread's number, which no thread has any more,
 * when a ring is needed. A ring is never unmapped: a thread's late destructors may record.
 *
 * Forks: jf_live is empty in the child, so each writer has no packet, and asks for one; that
 * makes a folder for the child. The handler of fork() unmaps the parent's packets, too, but
 * for one with a record in progress: a signal handler has interrupted it, and called fork(). The child will
 * finish that record, and is given a copy of the packet for it.
 */
#include "trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(offsetof(struct jf_packet, ring) == 24, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, content_size) == 128, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, tid) + 4 == JF_PACKET_UNTIMED, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, end) == 160, "as the metadata says");
_Static_assert(sizeof(struct jf_packet) == JF_PACKET_TIMED, "as the metadata says");

/* How many records are dropped before a ring is asked for again, if there was none. */
#define RETRY		1024
/* The clock is set right when it has run twice as long as the last time, up to so many seconds. */
#define CLOCK_KNOWN	1024

struct jf_conf jf_conf;

/**
 * struct ring - of a thread
 * @w:       where its thread records; the thread has a pointer to it
 * @used:    has a thread got it
 * @tid:     which one
 * @made:    so many packets are there, the first ones
 * @cur:     the present one
 * @skipped: discard: no packet is free, as of the last look
 * @seq:     of the last one
 * @base:    where they are mapped, side by side
 *
 * @tid is 0 if it cannot be told: a child of vfork() has got it for the thread that it is
 * borrowed from.
 */
struct ring {
	struct jf_writer	w;
	bool			used;
	bool			skipped;
	int			tid;
	uint32_t		made;
	uint32_t		cur;
	uint64_t		seq;
	char			*base;
} __attribute__((__aligned__(128)));

/**
 * struct live - what a forked child must not have
 * @alive:    0 in a forked child that has not recorded
 * @lock:     around all of this, but what a ring's thread alone uses
 * @failed:   the next try to make something is after so many records
 * @pid:      of this process
 * @error:    of the last one
 * @dropped:  records that had no ring, if @no_ring is not there either
 * @packets:  that were made
 * @num:      rings that were made
 * @no_ring:  a packet without records, which counts what had no ring
 * @checked:  when the clock was set right, in ns
 * @wait:     and how long after that it is again
 * @told:     what its metadata has
 * @uuid:     of the trace
 * @folder:   of the trace
 * @ring:     all that may be
 */
struct live {
	uint32_t		alive;
	uint32_t		lock;
	uint32_t		failed;
	int			pid;
	int			error;
	uint64_t		dropped;
	uint64_t		packets;
	uint32_t		num;
	struct jf_packet	*no_ring;
	uint64_t		checked;
	uint64_t		wait;
	struct jf_told		told;
	uint8_t			uuid[16];
	char			folder[PATH_MAX - 64];
	struct ring		ring[];
};

/* Where rings are mapped, for a child that does not have them any more. */
struct mapped {
	char		*base;
};

__thread struct jf_writer *__jf_writer __JF_OF_THREAD;

static struct live *live;
static size_t live_size;
static struct mapped *mapped;
static uint32_t mapped_max;
static struct jf_packet *no_ring_mapped;
static pthread_key_t at_thread_end;
static bool have_key;
static uint32_t folders;
/* Only until the pages are there in which it is. */
static uint64_t early_drops;

static struct ring *ring_of(struct jf_writer *w)
{
	return (struct ring *)(void *)((char *)w - offsetof(struct ring, w));
}

static struct jf_packet *packet_at(const struct ring *r, uint32_t k)
{
	return (struct jf_packet *)(void *)(r->base + (size_t)k * jf_conf.packet_size);
}

/**
 * struct before - what a thread was before it came here
 * @signals: those that it blocked
 * @cancel:  could it be cancelled
 */
struct before {
	sigset_t	signals;
	int		cancel;
};

/* Handlers that record would wait for what they have interrupted, and a cancelled thread has the lock. */
static void keep_off(struct before *was)
{
	sigset_t all;

	sigfillset(&all);
	/* Functions that are called meanwhile may be changed by breakpoints (lib/text.c). */
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &was->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was->cancel);
}

static void let_in(const struct before *was)
{
	int now;

	pthread_setcancelstate(was->cancel, &now);
	pthread_sigmask(SIG_SETMASK, &was->signals, NULL);
}

/* With all signals blocked. Its holder makes system calls for a few files. Acquire: pairs with unlock_live(). */
static void lock_live(void)
{
	while (__atomic_exchange_n(&live->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Release: pairs with lock_live(). */
static void unlock_live(void)
{
	__atomic_store_n(&live->lock, 0, __ATOMIC_RELEASE);
}

static uint32_t head_size(void)
{
	return jf_conf.clock == __JF_CLOCK_NONE ? JF_PACKET_UNTIMED : JF_PACKET_TIMED;
}

/* Of records, each rounded up. */
static uint64_t bytes_in(const struct jf_packet *p)
{
	return __jf_align(p->content_size >> 3, 8) - __jf_align(p->head, 8);
}

/* --- packets ------------------------------------------------------------------------ */

/* A hidden file that is a whole packet gets its name. */
static int make_packet_file(const char *hidden, const char *name, size_t size, void *where,
			    struct jf_packet **made, uint32_t ring)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct jf_packet *p;
	int fd, err = 0;

	if (jf_path(from, sizeof(from), live->folder, hidden) || jf_path(to, sizeof(to), live->folder, name))
		return -ENAMETOOLONG;
	fd = jf_file_make(from, size);
	if (fd < 0)
		return fd;
	p = mmap(where, size, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd, 0);
	if (p == MAP_FAILED)
		err = -errno;
	close(fd);
	if (err) {
		unlink(from);
		return err;
	}
	p->magic = JF_PACKET_MAGIC;
	memcpy(p->uuid, live->uuid, sizeof(p->uuid));
	p->ring = ring;
	p->head = head_size();
	p->content_size = head_size() * 8;
	p->packet_size = size * 8;
	p->begin = p->end = jf_clock_now(jf_conf.clock);
	if (rename(from, to)) {
		err = -errno;
		unlink(from);
		if (!where)
			munmap(p, size);
		else
			mmap(where, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
			     -1, 0);
		return err;
	}
	*made = p;
	return 0;
}

static int make_packet(struct ring *r)
{
	uint32_t nr = (uint32_t)(r - live->ring);
	char hidden[48], name[48];
	struct jf_packet *p;
	int err;

	snprintf(hidden, sizeof(hidden), ".r%u-%u", nr, r->made);
	snprintf(name, sizeof(name), "r%u-%u", nr, r->made);
	err = make_packet_file(hidden, name, jf_conf.packet_size, packet_at(r, r->made), &p, nr);
	if (err) {
		live->error = err;
		return err;
	}
	r->made++;
	__atomic_fetch_add(&live->packets, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Step 4 of those who have taken a place and not come to that. */
static void settle(struct jf_packet *p)
{
	for (;;) {
		uint64_t content = __atomic_load_n(&p->content_size, __ATOMIC_RELAXED);
		uint64_t pos = __jf_align(content >> 3, 8);
		uint64_t word;

		if (pos + 8 > jf_conf.packet_size)
			return;
		word = *(uint64_t *)(void *)((char *)p + pos);
		if (word & JF_WORD_OTHER)
			return;
		__jf_local_cmpxchg(&p->content_size, content, (pos + 8 + (word >> 32)) << 3);
	}
}

/* Is all over that was begun in it? */
static bool complete(struct jf_packet *p)
{
	settle(p);
	return (__atomic_load_n(&p->committed, __ATOMIC_RELAXED) & UINT32_MAX) == bytes_in(p);
}

/* May it be written anew? */
static bool reusable(struct jf_packet *p)
{
	/* Never used, or the end came while it was being cleared, in a process whose memory this is not. */
	if (!p->seq)
		return true;
	/* Acquire: pairs with the consumer's store, after its loads of what the packet has. */
	if (jf_conf.mode == JF_RECORD_DISCARD &&
	    __atomic_load_n(&p->released, __ATOMIC_ACQUIRE) != p->seq)
		return false;
	return complete(p);
}

/*
 * The steps 2 to 7 above. All stores pair with those who read a packet's file: what they see of a step
 * is not without the steps before it. The last two pair with __jf_reserve(), which they may have interrupted.
 */
static void begin_packet(struct ring *r, uint32_t k)
{
	struct jf_packet *last = r->w.packet ? r->w.packet : r->seq ? packet_at(r, r->cur) : NULL;
	struct jf_packet *p = packet_at(r, k);
	uint64_t free = JF_WORD_FREE(r->seq + 1), lost = 0, *word, *end, now;

	if (p->seq && jf_conf.mode == JF_RECORD_OVERWRITE)
		lost = p->committed >> 32;
	p->overwrites = (last ? last->overwritten : 0) + lost;
	__atomic_store_n(&p->seq, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&p->content_size, p->head * 8, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	word = (uint64_t *)(void *)((char *)p + __jf_align(p->head, 8));
	end = (uint64_t *)(void *)((char *)p + jf_conf.packet_size);
	while (word < end)
		*word++ = free;
	p->committed = 0;
	p->released = 0;
	p->tid = (uint32_t)r->tid;
	p->discarded = last ? last->discarded : 0;
	p->overwritten = p->overwrites;
	/* Without time stamps the first record is there. */
	if (p->head == JF_PACKET_TIMED) {
		now = jf_clock_now(jf_conf.clock);
		__atomic_store_n(&p->end, now, __ATOMIC_RELEASE);
		__atomic_store_n(&p->begin, now, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&p->seq, ++r->seq, __ATOMIC_RELEASE);
	r->cur = k;
	r->w.size = jf_conf.packet_size;
	r->w.clock = jf_conf.clock;
	__atomic_store_n(&r->w.free, free, __ATOMIC_RELEASE);
	__atomic_store_n(&r->w.packet, p, __ATOMIC_RELEASE);
}

static void check_clock(void)
{
	uint64_t now = __jf_clock_ns();

	if (now - live->checked < live->wait || live->wait > CLOCK_KNOWN * UINT64_C(1000000000))
		return;
	lock_live();
	if (now - live->checked >= live->wait) {
		jf_metadata_clock(live->folder, jf_conf.clock);
		live->checked = now;
		live->wait *= 2;
	}
	unlock_live();
}

/* With all signals blocked, by the ring's thread, or by one that has just got it. */
static bool next_packet(struct ring *r)
{
	uint32_t i, k;

	if (r->w.packet)
		settle(r->w.packet);
	/* New ones first: so nothing is overwritten before the ring is as large as it was to be. */
	if (r->made < jf_conf.packets && !make_packet(r)) {
		begin_packet(r, r->made - 1);
		return true;
	}
	for (i = 1; i <= r->made; i++) {
		k = (r->cur + i) % r->made;
		if (reusable(packet_at(r, k))) {
			begin_packet(r, k);
			return true;
		}
	}
	return false;
}

/* --- which thread has which ring --------------------------------------------------------------- */

static bool thread_is_gone(int tid)
{
	return tid && syscall(SYS_tgkill, live->pid, tid, 0) && errno == ESRCH;
}

static void give_back(struct ring *r)
{
	/* Pairs with __jf_reserve(), if that is what a cancelled thread was in. */
	__atomic_store_n(&r->w.packet, NULL, __ATOMIC_RELEASE);
	/* Whatever its thread has begun is over now, for no thread is left to write it. */
	for (uint32_t k = 0; k < r->made; k++) {
		struct jf_packet *p = packet_at(r, k);

		settle(p);
		p->committed = (p->committed & ~(uint64_t)UINT32_MAX) | bytes_in(p);
	}
	r->used = false;
}

static void thread_ends(void *ring)
{
	struct ring *r = (struct ring *)ring;
	struct before was;

	keep_off(&was);
	/* It may be one of a recording that was stopped, or of a parent. */
	if (&r->w == __jf_writer && r >= live->ring && r < live->ring + live->num) {
		__jf_writer = NULL;
		lock_live();
		give_back(r);
		unlock_live();
	}
	let_in(&was);
}

static bool has_room(struct ring *r)
{
	uint32_t k;

	if (jf_conf.mode == JF_RECORD_OVERWRITE || r->made < jf_conf.packets)
		return true;
	for (k = 0; k < r->made; k++)
		if (reusable(packet_at(r, k)))
			return true;
	return false;
}

static struct ring *find_ring(int tid)
{
	struct ring *r, *full = NULL;
	uint32_t i;

	for (i = 0; i < live->num; i++) {
		r = &live->ring[i];
		/* Its thread was another one, of the same number. */
		if (r->used && tid && r->tid == tid)
			give_back(r);
		if (!r->used) {
			if (has_room(r))
				return r;
			full = r;
		}
	}
	if (live->num < jf_conf.rings) {
		r = &live->ring[live->num];
		r->base = mmap(NULL, (size_t)jf_conf.packets * jf_conf.packet_size, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (r->base == MAP_FAILED) {
			live->error = -errno;
			r->base = NULL;
			return full;
		}
		mapped[live->num].base = r->base;
		live->num++;
		return r;
	}
	for (i = 0; i < live->num; i++) {
		r = &live->ring[i];
		if (r->used && thread_is_gone(r->tid)) {
			give_back(r);
			return r;
		}
	}
	return full;
}

/* A forked child, or the first record of all. */
static int come_alive(void);

/* With all signals blocked. */
static bool get_ring(void)
{
	struct ring *r;
	bool ok;
	int tid;

	lock_live();
	live->error = 0;
	if (!live->alive && come_alive()) {
		live->failed = RETRY;
		unlock_live();
		return false;
	}
	/* A child of vfork() has another number. Its parent's thread goes on with what it gets. */
	tid = getpid() == live->pid ? (int)syscall(SYS_gettid) : 0;
	r = find_ring(tid);
	if (r) {
		r->used = true;
		r->tid = tid;
	}
	unlock_live();
	if (!r) {
		live->failed = RETRY;
		return false;
	}
	ok = next_packet(r);
	if (!ok && !r->made) {
		lock_live();
		r->used = false;
		unlock_live();
		live->failed = RETRY;
		return false;
	}
	/* If it is full its thread has it all the same: there its records are counted, and not written. */
	if (!ok) {
		/* Before the packet: pairs with __jf_reserve() in a handler. */
		r->w.size = 0;
		__atomic_store_n(&r->w.packet, packet_at(r, r->cur), __ATOMIC_RELEASE);
	}
	__jf_writer = &r->w;
	if (have_key)
		pthread_setspecific(at_thread_end, r);
	return ok;
}

/**
 * __jf_writer_next() - a thread has no packet, or the record does not fit into it
 * @len: of the record
 *
 * Called by __jf_reserve().
 *
 * Return: true if it should try again; else the record was counted as discarded
 */
bool __jf_writer_next(uint32_t len)
{
	struct jf_packet *p;
	struct jf_writer *w;
	int saved = errno;
	bool ok = false;
	struct before was;

	if (!live || !jf_conf.started) {
		__atomic_fetch_add(&early_drops, 1, __ATOMIC_RELAXED);
		return false;
	}
	w = __jf_writer;
	p = w ? w->packet : NULL;
	if (len <= jf_conf.packet_size - sizeof(*p)) {
		/* After a failure some are dropped before there is another try, since that takes long. */
		if (!p && __atomic_load_n(&live->failed, __ATOMIC_RELAXED) &&
		    __atomic_fetch_sub(&live->failed, 1, __ATOMIC_RELAXED) > 1)
			goto count;
		/* A ring that is full and is not read is not looked at any closer. */
		if (p && jf_conf.mode == JF_RECORD_DISCARD && ring_of(w)->skipped) {
			struct ring *r = ring_of(w);
			struct jf_packet *next = packet_at(r, (r->cur + 1) % r->made);

			if (__atomic_load_n(&next->released, __ATOMIC_RELAXED) != next->seq)
				goto count;
		}
		keep_off(&was);
		w = __jf_writer;
		p = w ? w->packet : NULL;
		if (!p) {
			ok = get_ring();
		} else {
			/* A handler may have been here. */
			settle(p);
			ok = __jf_align(p->content_size >> 3, 8) + len <= w->size ||
			     next_packet(ring_of(w));
			ring_of(w)->skipped = !ok;
		}
		if (ok)
			check_clock();
		let_in(&was);
		w = __jf_writer;
		p = w ? w->packet : NULL;
	}
count:
	if (!ok) {
		if (p)
			__jf_local_add(&p->discarded, 1);
		else if (live->no_ring)
			__atomic_fetch_add(&live->no_ring->discarded, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&live->dropped, 1, __ATOMIC_RELAXED);
	}
	errno = saved;
	return ok;
}

/* --- the folder --------------------------------------------------------------------- */

/*
 * The name of the process, for a folder. The kernel's comm comes first: programs write their titles over
 * the arguments. A dot at the begin would hide the folder from readers.
 */
static void process_name(char *name, size_t size)
{
	ssize_t n = -1;
	char *c;
	int fd;

	fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, size - 1);
		close(fd);
	}
	if (n > 1)
		name[n - 1] = '\0';
	else
		snprintf(name, size, "%s", program_invocation_short_name);
	for (c = name; *c; c++) {
		if (*c == '/' || (unsigned char)*c < ' ' || (c == name && *c == '.'))
			*c = '_';
	}
}

/* With the lock. */
static int make_folder(void)
{
	char process[24], name[64];
	int i, err;

	process_name(process, sizeof(process));
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%s-%d-%u", process, (int)getpid(),
			 __atomic_add_fetch(&folders, 1, __ATOMIC_RELAXED));
		err = jf_path(live->folder, sizeof(live->folder), jf_conf.parent, name);
		if (err)
			return err;
		if (!mkdir(live->folder, 0700))
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* With the lock. */
static int come_alive(void)
{
	int err;

	if (getrandom(live->uuid, sizeof(live->uuid), 0) != sizeof(live->uuid))
		return live->error = -EIO;
	err = make_folder();
	if (!err) {
		err = jf_metadata_write(live->folder, live->uuid, jf_conf.clock, &live->told);
		if (!err)
			err = make_packet_file(".lost", "lost", JF_NO_RING_SIZE, NULL, &live->no_ring, JF_NO_RING);
		if (err) {
			char path[PATH_MAX];

			if (!jf_path(path, sizeof(path), live->folder, "metadata"))
				unlink(path);
			rmdir(live->folder);
		}
	}
	live->error = err;
	if (err)
		return err;
	no_ring_mapped = live->no_ring;
	live->no_ring->discarded = __atomic_exchange_n(&live->dropped, 0, __ATOMIC_RELAXED);
	live->pid = (int)getpid();
	live->checked = __jf_clock_ns();
	live->wait = 1000000000;
	/* Pairs with jf_record_folder(). */
	__atomic_store_n(&live->alive, 1, __ATOMIC_RELEASE);
	return 0;
}

/**
 * jf_rings_start() - make the folder of a trace, by jf_conf
 *
 * With jf_events_lock.
 *
 * Return: 0, or an error of a system call
 */
int jf_rings_start(void)
{
	struct before was;
	int err;

	/* Its pages are never unmapped: see jf_rings_stop(). */
	live_size = sizeof(struct live) + jf_conf.rings * sizeof(struct ring);
	live_size = (size_t)__jf_align(live_size, 4096);
	struct live *l = mmap(NULL, live_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l == MAP_FAILED)
		return -ENOMEM;
	struct mapped *m = mmap(NULL, jf_conf.rings * sizeof(*m), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED) {
		munmap(l, live_size);
		return -ENOMEM;
	}
	/* Also for children that no handler is called in. Others: forget_rings(). */
	madvise(l, live_size, MADV_WIPEONFORK);
	keep_off(&was);
	live = l;
	mapped = m;
	mapped_max = jf_conf.rings;
	lock_live();
	err = come_alive();
	unlock_live();
	if (err) {
		live = NULL;
		mapped = NULL;
		munmap(l, live_size);
		munmap(m, mapped_max * sizeof(*m));
	}
	let_in(&was);
	return err;
}

/* --- forks: record.c calls these ------------------------------------------------------ */

static struct before before_fork;
/* Packets of the forking thread with a record that it has not finished: it is in a signal handler. */
static uint64_t unfinished;

/* Before fork(), in the parent: a thread that is in a handler now will be in the child, too. */
void jf_rings_prepare(void)
{
	struct jf_writer *w = __jf_writer;
	uint32_t k;

	keep_off(&before_fork);
	unfinished = 0;
	if (!live)
		return;
	lock_live();
	if (!w || !w->packet)
		return;
	for (k = 0; k < ring_of(w)->made; k++)
		if (!complete(packet_at(ring_of(w), k)))
			unfinished |= UINT64_C(1) << k;
}

void jf_rings_parent(void)
{
	struct before was = before_fork;

	if (live)
		unlock_live();
	let_in(&was);
}

/*
 * In the child. Its only thread was in one ring at most. What it has yet to write there, of a record
 * that the fork interrupted, goes to pages that no reader maps.
 */
static void forget_rings(void)
{
	struct jf_writer *w = __jf_writer;
	struct jf_packet *gone = no_ring_mapped;
	uint32_t i, k;

	if (!live)
		return;
	__jf_writer = NULL;
	/* jf_rings_prepare() has taken it. So nothing has emptied these pages, whatever madvise() said (qemu-user does). */
	if (live->lock)
		memset(live, 0, live_size);
	for (i = 0; i < mapped_max && mapped[i].base; i++) {
		for (k = 0; k < jf_conf.packets; k++) {
			char *at = mapped[i].base + (size_t)k * jf_conf.packet_size;

			if (w == &live->ring[i].w && unfinished >> k & 1)
				mmap(at, jf_conf.packet_size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
			else
				munmap(at, jf_conf.packet_size);
		}
		mapped[i].base = NULL;
	}
	if (gone)
		munmap(gone, JF_NO_RING_SIZE);
	no_ring_mapped = NULL;
}

void jf_rings_child(void)
{
	struct before was = before_fork;

	forget_rings();
	let_in(&was);
}

/* --- for record.c ----------------------------------------------------------------------- */

/*
 * No thread records any more, nor is in the midst of it. Only @live stays, since threads still have pointers to
 * their writers there.
 */
void jf_rings_stop(void)
{
	struct before was;
	uint32_t i;

	keep_off(&was);
	lock_live();
	if (live->alive)
		jf_metadata_clock(live->folder, jf_conf.clock);
	for (i = 0; i < live->num; i++) {
		/* Pairs with __jf_writer_next(): a thread that records later asks for a ring. */
		__atomic_store_n(&live->ring[i].w.packet, NULL, __ATOMIC_RELEASE);
		munmap(live->ring[i].base, (size_t)jf_conf.packets * jf_conf.packet_size);
		live->ring[i].made = 0;
		mapped[i].base = NULL;
	}
	live->num = 0;
	if (live->no_ring)
		munmap(live->no_ring, JF_NO_RING_SIZE);
	live->no_ring = NULL;
	no_ring_mapped = NULL;
	unlock_live();
	let_in(&was);
}

/**
 * jf_rings_metadata() - tell the trace of all events that have a number
 * @told: set to the highest number of which it knows then
 *
 * With jf_events_lock, while recording is started.
 *
 * Return: 0, or the error of a system call; then it can be tried again
 */
int jf_rings_metadata(uint16_t *told)
{
	struct before was;
	int err = 0;

	keep_off(&was);
	lock_live();
	/* A process that has no trace as yet tells it of all when it begins one. */
	*told = UINT16_MAX;
	if (live->alive) {
		if (live->told.id < jf_last_class())
			err = jf_metadata_append(live->folder, &live->told);
		if (err == -EMSGSIZE)
			err = jf_metadata_write(live->folder, live->uuid, jf_conf.clock, &live->told);
		*told = live->told.id;
	}
	unlock_live();
	let_in(&was);
	return err;
}

int jf_record_folder(char *buf, size_t size)
{
	size_t len;

	/* Acquire: pairs with come_alive(), which sets it after the folder's name. */
	if (!live || !__atomic_load_n(&live->alive, __ATOMIC_ACQUIRE))
		return -ENOENT;
	len = strlen(live->folder);
	if (len + 1 > size)
		return -ENAMETOOLONG;
	memcpy(buf, live->folder, len + 1);
	return (int)len;
}

void jf_record_stats(struct jf_record_counts *stats)
{
	struct jf_packet *p, *newest;
	struct before was;
	uint32_t i, k;

	memset(stats, 0, sizeof(*stats));
	stats->no_ring = __atomic_load_n(&early_drops, __ATOMIC_RELAXED);
	if (live) {
		keep_off(&was);
		lock_live();
		stats->rings = live->num;
		stats->packets = __atomic_load_n(&live->packets, __ATOMIC_RELAXED);
		stats->error = live->error;
		stats->no_ring += __atomic_load_n(&live->dropped, __ATOMIC_RELAXED);
		if (live->no_ring)
			stats->no_ring += __atomic_load_n(&live->no_ring->discarded, __ATOMIC_RELAXED);
		for (i = 0; i < live->num; i++) {
			newest = NULL;
			for (k = 0; k < __atomic_load_n(&live->ring[i].made, __ATOMIC_RELAXED); k++) {
				p = packet_at(&live->ring[i], k);
				if (!p->seq)
					continue;
				stats->records += p->committed >> 32;
				if (!newest || newest->seq < p->seq)
					newest = p;
			}
			if (newest) {
				stats->discarded += newest->discarded;
				stats->overwritten += newest->overwritten;
			}
		}
		unlock_live();
		let_in(&was);
	}
	stats->discarded += stats->no_ring;
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
