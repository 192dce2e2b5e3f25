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
 *   go_on()                                     readers see
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
 * Forks: jf_live is empty in the child, so each writer has no packet, and asks for one; that
 * makes a folder for the child. The handler of fork() unmaps the parent's packets, too, but
 * for one with a record in progress: a signal handler has interrupted it, and called fork(). The
 * child will finish that record, and is given a copy of the packet for it.
 */
#include "trace.h"

#include "provider.h"
#include "../lib/text.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define JF_FUTEX(word, op, value, timeout) \
	(syscall(SYS_futex, word, op, value, (const struct timespec *)(timeout), NULL, 0) ? -errno : 0)
#include "pi_lock.h"

_Static_assert(offsetof(struct jf_packet, ring) == 24, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, content_size) == 128, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, tid) + 4 == JF_PACKET_UNTIMED, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, end) == 160, "as the metadata says");
_Static_assert(offsetof(struct jf_packet, begin) == 168, "set_times(): in the same 16 bytes");
_Static_assert(sizeof(struct jf_packet) == JF_PACKET_TIMED, "as the metadata says");

/* How many records are dropped before a ring is asked for again, if there was none. */
#define RETRY		1024
/* The clock is set right when it has run twice as long as the last time, up to so many seconds. */
#define CLOCK_KNOWN	1024

/* Mappings that a process may have, if their number cannot be read: the kernel's default. */
#define MAPPINGS	65530
/*
 * So many threads have counters of their own, also after they have ended; then others go on in
 * these.
 */
#define COUNTED_MAX	1024

struct jf_conf jf_conf;

/**
 * struct ring - of a thread
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
struct ring {
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
 * struct live - the state that a forked child must not have
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
struct live {
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
	struct ring		ring[JF_RINGS_MAX];
};

/* Where rings are mapped, for a child that does not have them any more. */
struct mapped {
	char		*base;
};

__thread struct jf_writer *__jf_writer __JF_OF_THREAD;

/* This thread's destructor has been called. */
static __thread bool has_ended __JF_OF_THREAD;

static struct live *live;
static struct mapped *mapped;
/* Those of them that there are. */
static uint32_t mapped_num;
/*
 * Of this process; in a forked child, of the one that it comes from, until it has one: so losses
 * there are counted, even if the child can never make a folder.
 */
static struct jf_packet *no_ring_mapped;
/* Its value before. Other threads may be about to count there. */
static struct jf_packet *no_ring_before;
/*
 * Kept open, so that recording goes on after chroot() and setuid(), in children, too. @kept_shared
 * is the trace's folder of the first process that recorded, if others may write there: children
 * that may not make one beside it make theirs in it.
 */
static struct jf_kept kept_parent, kept_folder, kept_metadata, kept_shared;
static char shared_path[PATH_MAX - 128];
static pthread_key_t at_thread_end;
static bool have_key;
static uint32_t folders;
/* Only until the pages are there in which it is. */
static uint64_t early_drops;
/* The place that counts records without a ring: no_ring_mapped, if that is there. */
uint64_t *__jf_lost = &early_drops;
/* Where the agent counts those of them that are calls. Before the trace begins it has no calls. */
static uint64_t no_calls;
uint64_t *__jf_lost_calls = &no_calls;

static struct ring *ring_of(struct jf_writer *w)
{
	return (struct ring *)(void *)((char *)w - offsetof(struct ring, w));
}

static struct jf_packet *packet_at(const struct ring *r, uint32_t k)
{
	return (struct jf_packet *)(void *)(r->base + (size_t)k * jf_conf.packet_size);
}

/*
 * The one after @p in the same file, or NULL. Another thread can begin the file anew at any time:
 * then there are records where @p was, and no size that is read there is believed.
 */
static struct jf_packet *packet_after(const struct ring *r, uint32_t k, struct jf_packet *p)
{
	uint64_t size = __JF_LOAD(p->packet_size) >> 3, left = (uint64_t)((char *)packet_at(r, k + 1) - (char *)p);

	return size >= sizeof(*p) && size <= left && left - size >= sizeof(*p) ?
	       (struct jf_packet *)(void *)((char *)p + size) : NULL;
}

/* All packets of a file. */
#define for_each_packet(p, r, k)	for ((p) = packet_at(r, k); (p); (p) = packet_after(r, k, p))

/**
 * struct before - the state of a thread before it came here
 * @signals: those that it blocked
 * @cancel:  could it be cancelled
 */
struct before {
	sigset_t	signals;
	int		cancel;
};

/*
 * Handlers that record would wait for the function that they have interrupted, and a cancelled
 * thread has the lock.
 */
static void keep_off(struct before *was)
{
	sigset_t all;

	sigfillset(&all);
	/* Functions that are called until then can be changed by breakpoints (lib/text.c). */
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

/* With all signals blocked. Its holder makes system calls for a few files. */
static void lock_live(void)
{
	jf_pi_lock(&live->lock, (uint32_t)syscall(SYS_gettid));
}

static void unlock_live(void)
{
	jf_pi_unlock(&live->lock);
}

/*
 * The program has a filter of system calls, and no thread of it makes one for a record. Its threads
 * take no lock for records then, either: to wait for one is such a call.
 */
static bool is_quiet(void)
{
	return __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);
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
static void fill_head(struct jf_packet *p, uint32_t ring, size_t size)
{
	p->magic = JF_PACKET_MAGIC;
	memcpy(p->uuid, live->uuid, sizeof(p->uuid));
	p->ring = ring;
	p->head = head_size();
	p->content_size = head_size() * 8;
	p->packet_size = size * 8;
	if (p->head == JF_PACKET_TIMED)
		p->begin = p->end = jf_clock_now(jf_conf.clock);
}

static int make_packet_file(int dir, const char *hidden, const char *name, size_t size, void *where,
			    struct jf_packet **made, uint32_t ring)
{
	struct jf_packet *p;
	int fd, err = 0;

	fd = dir < 0 ? dir : jf_file_make(dir, hidden, size);
	if (fd < 0)
		return fd;
	p = mmap(where, size, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd, 0);
	if (p == MAP_FAILED)
		err = -errno;
	close(fd);
	if (!err) {
		fill_head(p, ring, size);
		if (renameat(dir, hidden, dir, name)) {
			err = -errno;
			if (!where)
				munmap(p, size);
			else
				mmap(where, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		}
	}
	if (err)
		unlinkat(dir, hidden, 0);
	else
		*made = p;
	return err;
}

/* Of the trace, by a thread that has not the lock. jf_kept_done() is to be called. */
static struct jf_used open_folder(void)
{
	struct jf_used dir;

	lock_live();
	dir = jf_kept_open(&kept_folder, live->folder);
	unlock_live();
	return dir;
}

static int make_ring_file(const struct ring *r, void *where, struct jf_packet **made)
{
	uint32_t nr = (uint32_t)(r - live->ring);
	struct jf_used dir = open_folder();
	char hidden[48], name[48];
	int err;

	/* One number for both: a file that was kept has its name. */
	snprintf(hidden, sizeof(hidden), ".r%u-%u", nr, r->made + r->kept);
	snprintf(name, sizeof(name), "r%u-%u", nr, r->made + r->kept);
	err = make_packet_file(dir.fd, hidden, name, jf_conf.packet_size, where, made, nr);
	jf_kept_done(dir);
	return err;
}

/*
 * A process may have so many mappings (vm.max_map_count), and malloc() fails if there are no more:
 * half of them are the program's. A ring has one, and each file that it has divides it.
 */
static uint32_t mappings = MAPPINGS;

static void read_mappings(void)
{
	char buf[16] = "";
	int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
	long num = fd >= 0 && read(fd, buf, sizeof(buf) - 1) > 0 ? atol(buf) : 0;

	if (fd >= 0)
		close(fd);
	mappings = num > 0 && num < INT32_MAX ? (uint32_t)num : MAPPINGS;
}

static bool may_map(uint32_t num)
{
	return live->placed + __atomic_load_n(&live->packets, __ATOMIC_RELAXED) + num <= mappings / 2;
}

static void give_size_back(void)
{
	__atomic_fetch_sub(&live->size, jf_conf.packet_size, __ATOMIC_RELAXED);
}

/* For one packet more; of mode keep there may be a limit. */
static int take_size(void)
{
	uint64_t was = __atomic_fetch_add(&live->size, jf_conf.packet_size, __ATOMIC_RELAXED);

	if (!jf_conf.max_size || was + jf_conf.packet_size <= jf_conf.max_size)
		return 0;
	give_size_back();
	return -ENOSPC;
}

/* A reader compares the sum with the files that are there. */
static void count_file(void)
{
	if (live->no_ring)
		__atomic_fetch_add(&live->no_ring->files, 1, __ATOMIC_RELAXED);
}

static int make_packet(struct ring *r)
{
	struct jf_packet *p;
	int err;

	err = may_map(1) ? take_size() : -ENOMEM;
	if (err) {
		live->error = err;
		return err;
	}
	err = make_ring_file(r, packet_at(r, r->made), &p);
	if (err) {
		give_size_back();
		live->error = err;
		return err;
	}
	count_file();
	r->made++;
	prctl(PR_GET_NAME, r->comm);
	__atomic_fetch_add(&live->packets, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Step 5 of those who have taken a place and not come to that. */
static void settle(struct jf_packet *p)
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

	settle(p);
	pos = __jf_align(p->content_size >> 3, 8);
	if (p->seq && pos + 8 <= p->packet_size >> 3)
		__atomic_store_n((uint64_t *)(void *)((char *)p + pos), JF_WORD_LEFT(p->seq), __ATOMIC_RELEASE);
}

/* True if each record that was begun in it is over. */
static bool complete(struct jf_packet *p)
{
	settle(p);
	return (__atomic_load_n(&p->committed, __ATOMIC_RELAXED) & UINT32_MAX) == bytes_in(p);
}

/* True if a file can be written anew. */
static bool reusable(const struct ring *r, uint32_t k)
{
	struct jf_packet *p;

	for_each_packet(p, r, k) {
		/*
		 * Never used, or the end came while it was being cleared, in a process whose memory
		 * this is not.
		 */
		if (!p->seq)
			continue;
		/* Acquire: pairs with the consumer's store, after its loads of the packet. */
		if (jf_conf.mode == JF_RECORD_DISCARD && __atomic_load_n(&p->released, __ATOMIC_ACQUIRE) != p->seq)
			return false;
		if (!complete(p))
			return false;
	}
	return true;
}

/* Of a file that is to be written anew. */
static uint64_t records_in(const struct ring *r, uint32_t k)
{
	uint64_t num = 0;
	struct jf_packet *p;

	for_each_packet(p, r, k)
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

static void set_thread(struct jf_packet *p, const struct ring *r)
{
	p->tid = (uint32_t)r->tid;
	p->threads = r->threads;
	memcpy(p->comm, r->comm, sizeof(p->comm));
}

/*
 * Step 7: where the thread records from here on. Pairs with __jf_reserve(), which this may have
 * interrupted.
 */
static void use_packet(struct ring *r, struct jf_packet *p)
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
static void begin_packet(struct ring *r, uint32_t k)
{
	uint64_t overwritten = r->newest ? r->newest->overwritten : 0;
	uint64_t discarded = r->newest ? r->newest->discarded : 0;
	struct jf_packet *p = packet_at(r, k);

	if (r->newest)
		leave(r->newest);
	/* A child of vfork() that had begun to clear it was killed after it had counted them. */
	if (!p->seq && p->overwrites > overwritten)
		overwritten = p->overwrites;
	if (jf_conf.mode == JF_RECORD_OVERWRITE)
		overwritten += records_in(r, k);
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
static uint64_t rest_of(const struct ring *r)
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
static bool go_on(struct ring *r)
{
	struct jf_packet *last = r->newest, *p;
	uint64_t at;

	if (!last)
		return false;
	settle(last);
	/* The thread itself, after its destructor. */
	if (r->tid && last->tid == (uint32_t)r->tid) {
		use_packet(r, last);
		return true;
	}
	at = rest_of(r);
	if (!at || !complete(last))
		return false;
	p = (struct jf_packet *)(void *)((char *)last + at);
	memset(p, 0, sizeof(*p));
	fill_head(p, (uint32_t)(r - live->ring), (last->packet_size >> 3) - at);
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

/* With the lock. Of the metadata. */
static struct jf_used open_metadata(void)
{
	struct jf_used dir, fd = { -ENOENT, false };

	if (kept_metadata.ino)
		fd = jf_kept_open(&kept_metadata, "");
	if (fd.fd >= 0)
		return fd;
	dir = jf_kept_open(&kept_folder, live->folder);
	fd.fd = dir.fd < 0 ? dir.fd : openat(dir.fd, "metadata", O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (dir.fd >= 0)
		fd = fd.fd < 0 ? (struct jf_used){ -errno, false } : jf_kept_take(&kept_metadata, fd.fd);
	jf_kept_done(dir);
	return fd;
}

/*
 * With the lock. The descriptor is looked at when all is ready to be written: a program may close
 * it, and open another file.
 */
static void set_clock(void)
{
	char buf[256];
	uint64_t at = 0;
	size_t len = jf_metadata_clock(buf, sizeof(buf), jf_conf.clock, &at);
	struct jf_used fd;

	if (!len)
		return;
	fd = open_metadata();
	if (fd.fd >= 0)
		jf_file_write(fd.fd, buf, len, at);
	jf_kept_done(fd);
}

static int write_metadata(void)
{
	struct jf_used dir = jf_kept_open(&kept_folder, live->folder);
	int fd;

	if (dir.fd < 0)
		return dir.fd;
	fd = jf_metadata_write(dir.fd, live->uuid, &jf_conf, &live->told);
	jf_kept_done(dir);
	if (fd < 0)
		return fd;
	jf_kept_done(jf_kept_take(&kept_metadata, fd));
	return 0;
}

static int append_metadata(void)
{
	struct jf_used fd = open_metadata();
	int err = fd.fd < 0 ? fd.fd : jf_metadata_append(fd.fd, &live->told);

	jf_kept_done(fd);
	return err;
}

static void check_clock(void)
{
	uint64_t now = __jf_clock_ns();

	if (now - live->checked < live->wait || live->wait > CLOCK_KNOWN * UINT64_C(1000000000))
		return;
	lock_live();
	if (now - live->checked >= live->wait) {
		set_clock();
		live->checked = now;
		live->wait *= 2;
	}
	unlock_live();
}

/*
 * Mode keep: a file that is full stays as it is, and a new one is mapped in its place. If the
 * newest packet was there, its counts go on in the new file.
 */
static int keep_packet(struct ring *r, uint32_t k)
{
	bool newest = r->newest >= packet_at(r, k) && r->newest < packet_at(r, k + 1);
	uint64_t records = records_in(r, k);
	struct jf_packet *p;
	int err = take_size();
	bool taken = !err;

	if (!err)
		err = make_ring_file(r, NULL, &p);
	if (!err && newest) {
		p->discarded = r->newest->discarded;
		p->overwritten = p->overwrites = r->newest->overwritten;
	}
	if (!err && mremap(p, jf_conf.packet_size, jf_conf.packet_size, MREMAP_MAYMOVE | MREMAP_FIXED, packet_at(r, k)) == MAP_FAILED) {
		err = -errno;
		munmap(p, jf_conf.packet_size);
	}
	if (err) {
		if (taken)
			give_size_back();
		live->error = err;
		return err;
	}
	if (newest)
		r->newest = packet_at(r, k);
	/* As jf_record_stats() reads them. */
	lock_live();
	count_file();
	r->kept++;
	r->records += records;
	unlock_live();
	return 0;
}

/* One that was made: the next one that can be written anew. A kept one needs a new file. */
static bool next_made(struct ring *r, bool keep)
{
	uint32_t i, k;

	for (i = 1; i <= r->made; i++) {
		k = (r->cur + i) % r->made;
		if (!reusable(r, k))
			continue;
		if (keep && packet_at(r, k)->seq && (is_quiet() || keep_packet(r, k)))
			return false;
		begin_packet(r, k);
		return true;
	}
	return false;
}

/* With all signals blocked, by the ring's thread, or by one that has just got it. */
static bool next_packet(struct ring *r)
{
	bool keep = jf_conf.mode == JF_RECORD_KEEP;

	if (r->w.packet)
		settle(r->w.packet);
	/* New ones first: so nothing is overwritten before the ring is as large as it was to be. */
	if (r->made < jf_conf.packets && !make_packet(r)) {
		begin_packet(r, r->made - 1);
		return true;
	}
	if (next_made(r, keep))
		return true;
	/* The next try is after so many records. */
	if (keep)
		live->failed = RETRY;
	return false;
}

/*
 * --- mode count --------------------------------------------------------------------------------
 */

/* Of the file, at least; more are added. */
static int map_counts(struct ring *r, uint32_t size)
{
	struct jf_used dir = open_folder();
	int fd, err = 0;
	char name[24];

	if (dir.fd < 0)
		return dir.fd;
	snprintf(name, sizeof(name), JF_COUNTS_NAME, (unsigned int)(r - live->ring));
	if (r->counted) {
		fd = openat(dir.fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			err = -errno;
		else
			err = jf_file_extend(fd, size);
	} else {
		fd = jf_file_make(dir.fd, name, size);
		if (fd < 0)
			err = fd;
	}
	jf_kept_done(dir);
	if (!err && mmap(r->base, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (!err)
		r->counted = size;
	return err;
}

static void set_counts(struct ring *r)
{
	struct jf_counts *c = (struct jf_counts *)(void *)r->base;

	if (!c->magic || c->tid != (uint32_t)r->tid)
		c->threads++;
	c->tid = (uint32_t)r->tid;
	memcpy(c->comm, r->comm, sizeof(c->comm));
	/* Release: pairs with those who read the file. */
	__atomic_store_n(&c->magic, JF_COUNTS_MAGIC, __ATOMIC_RELEASE);
	r->w.counts = c->count;
	/* Pairs with __jf_reserve(), in a thread that this has interrupted. */
	__atomic_store_n(&r->w.num, (uint32_t)((r->counted - sizeof(*c)) / sizeof(*c->count)), __ATOMIC_RELEASE);
}

/*
 * With all signals blocked, by the ring's thread: until @id is there, with all that have come
 * before it.
 */
static bool have_counts(struct ring *r, uint16_t id)
{
	uint32_t last = jf_last_class(), size;
	int err;

	if (last < id)
		last = id;
	size = (uint32_t)__jf_align(sizeof(struct jf_counts) + (last + UINT64_C(1)) * sizeof(uint64_t), 4096);
	err = r->counted < size ? map_counts(r, size) : 0;
	if (err) {
		live->error = err;
		return false;
	}
	set_counts(r);
	return true;
}

/* Those of a thread that has ended are its own as long as there is room for more. */
static bool keeps_counts(const struct ring *r)
{
	return r->counted && live->placed < COUNTED_MAX;
}

/*
 * --- which thread has which ring ---------------------------------------------------------------
 */

static bool thread_is_gone(int tid)
{
	return tid && syscall(SYS_tgkill, live->pid, tid, 0) && errno == ESRCH;
}

static void give_back(struct ring *r)
{
	/* Pairs with __jf_reserve(), if a cancelled thread was in that. */
	__atomic_store_n(&r->w.packet, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&r->w.num, 0, __ATOMIC_RELEASE);
	/* Whatever its thread has begun is over now, for no thread is left to write it. */
	for (uint32_t k = 0; k < r->made; k++) {
		struct jf_packet *p;

		for_each_packet(p, r, k) {
			settle(p);
			p->committed = (p->committed & ~(uint64_t)UINT32_MAX) | bytes_in(p);
		}
	}
	r->used = r->late = false;
}

static void thread_ends(void *ring)
{
	struct ring *r = (struct ring *)ring;
	struct before was;

	/* Its number shows later that it has ended. */
	if (is_quiet()) {
		r->late |= &r->w == __jf_writer;
		return;
	}
	keep_off(&was);
	has_ended = true;
	/* It may be one of a recording that was stopped, or of a parent. */
	if (&r->w == __jf_writer && r >= live->ring && r < live->ring + live->num) {
		__jf_writer = NULL;
		lock_live();
		give_back(r);
		unlock_live();
	}
	let_in(&was);
}

/*
 * Of a packet at least: in mode discard the rest of the last one is little to a thread that could
 * have a ring of its own.
 */
static bool has_room(struct ring *r)
{
	uint32_t k;

	if (jf_conf.mode != JF_RECORD_DISCARD || r->made < jf_conf.packets)
		return true;
	for (k = 0; k < r->made; k++)
		if (reusable(r, k))
			return true;
	return false;
}

/* A place for its packets. One that is left from a recording before this has none. */
static bool has_place(struct ring *r)
{
	uint32_t nr = (uint32_t)(r - live->ring);

	if (r->base)
		return true;
	r->base = mmap(NULL, (size_t)jf_conf.packets * jf_conf.packet_size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->base == MAP_FAILED) {
		live->error = -errno;
		r->base = NULL;
		return false;
	}
	live->placed++;
	mapped[nr].base = r->base;
	if (nr >= mapped_num)
		mapped_num = nr + 1;
	return true;
}

/* Its thread was another one of the same number, or has ended without a destructor. */
static bool is_left(const struct ring *r, int tid)
{
	return r->used && ((tid && r->tid == tid) || (r->late && thread_is_gone(r->tid)));
}

/* One ring more. */
static bool may_place(void)
{
	return live->placed < jf_conf.rings && may_map(1);
}

static struct ring *find_ring(int tid)
{
	struct ring *r, *room = NULL, *full = NULL;
	uint32_t i;

	for (i = 0; i < live->num; i++) {
		r = &live->ring[i];
		if (is_left(r, tid))
			give_back(r);
		if (r->used || (!r->base && !may_place()))
			continue;
		if (tid && r->tid == tid && (has_room(r) || rest_of(r)))
			return r;
		if (!has_room(r) || keeps_counts(r))
			full = r;
		else if (!room)
			room = r;
	}
	if (room)
		return room;
	if (live->num < JF_RINGS_MAX && may_place())
		return &live->ring[live->num++];
	for (i = 0; i < live->num; i++) {
		r = &live->ring[i];
		if (r->used && (r->base || may_place()) && thread_is_gone(r->tid)) {
			give_back(r);
			return r;
		}
	}
	return full;
}

/* A forked child, or the first record of all. */
static int come_alive(void);

/* Beside the number of records that had no ring. */
static void tell_why(void)
{
	__atomic_store_n(&live->no_ring->error, (uint64_t)-live->error, __ATOMIC_RELAXED);
}

/* With all signals blocked. NULL: no ring. */
static struct ring *take_ring(void)
{
	struct ring *r;
	int tid;

	lock_live();
	live->error = 0;
	if (!live->alive && come_alive()) {
		live->failed = RETRY;
		unlock_live();
		return NULL;
	}
	/*
	 * A child of vfork() has another number. Its parent's thread goes on with the ring that the
	 * child gets.
	 */
	tid = getpid() == live->pid ? (int)syscall(SYS_gettid) : 0;
	r = find_ring(tid);
	if (r && !has_place(r))
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
	unlock_live();
	if (!r)
		live->failed = RETRY;
	return r;
}

static void leave_ring(struct ring *r)
{
	lock_live();
	r->used = false;
	tell_why();
	unlock_live();
	live->failed = RETRY;
}

static void have_ring(struct ring *r)
{
	__jf_writer = &r->w;
	/* Not again: it would be called for each record that the thread makes as it ends. */
	if (have_key && !has_ended)
		pthread_setspecific(at_thread_end, r);
}

/* With all signals blocked. */
static bool get_ring(void)
{
	struct ring *r = take_ring();
	bool ok;

	if (!r)
		return false;
	ok = go_on(r) || next_packet(r);
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
	struct ring *r = take_ring();

	if (!r)
		return false;
	if (!have_counts(r, id)) {
		leave_ring(r);
		return false;
	}
	have_ring(r);
	return true;
}

/* Release: pairs with those who count there, as in count_no_ring(). */
static void count_at(uint64_t *counter, uint64_t *calls)
{
	__atomic_store_n(&__jf_lost, counter, __ATOMIC_RELEASE);
	__atomic_store_n(&__jf_lost_calls, calls, __ATOMIC_RELEASE);
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
	uint32_t left = __atomic_load_n(&live->failed, __ATOMIC_RELAXED);

	/* Several threads may come to the last one. */
	while (left && !__atomic_compare_exchange_n(&live->failed, &left, left - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
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
	struct before was;
	bool ok = false;

	if (is_quiet()) {
		ok = w && id && id < w->num;
		if (ok)
			__jf_local_add(&w->counts[id], 1);
	} else if (id && !is_dropped()) {
		keep_off(&was);
		w = __jf_writer;
		/*
		 * A handler may have been here. In a child that no handler of fork() was called in
		 * there are none.
		 */
		ok = w && w->num ? id < w->num || have_counts(ring_of(w), id) : get_counts(id);
		w = __jf_writer;
		if (ok)
			__jf_local_add(&w->counts[id], 1);
		else
			live->failed = RETRY;
		let_in(&was);
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
		settle(p);
		ok = __jf_align(p->content_size >> 3, 8) + len <= w->size ||
		     next_made(ring_of(w), jf_conf.mode == JF_RECORD_KEEP);
	}
	if (!ok && p)
		__jf_local_add(&p->discarded, 1);
	else if (!ok)
		count_no_ring();
	return ok;
}

/* Of the clock: readers do not take such times for the same one, whatever they round. */
#define APART	4096

/* Readers find it empty, before those of the ring that were used. */
static void set_first(const struct ring *r, struct jf_packet *p)
{
	uint64_t first = UINT64_MAX;
	struct jf_packet *other;
	uint32_t k;

	for (k = 0; k < r->made; k++)
		for_each_packet(other, r, k)
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
	struct before was;
	int saved = errno;

	if (!live || !jf_conf.started)
		return;
	/* Of threads that get none from here on. */
	if (live->no_ring)
		__atomic_store_n(&live->no_ring->error, EPERM, __ATOMIC_RELAXED);
	if (jf_conf.mode == JF_RECORD_COUNT)
		return;
	keep_off(&was);
	if (!w || !w->packet)
		get_ring();
	w = __jf_writer;
	while (w && w->packet && ring_of(w)->made < jf_conf.packets && !make_packet(ring_of(w)))
		set_first(ring_of(w), packet_at(ring_of(w), ring_of(w)->made - 1));
	let_in(&was);
	errno = saved;
}

static bool next_for(uint32_t len)
{
	struct jf_packet *p;
	struct jf_writer *w;
	int saved = errno;
	bool ok = false;
	struct before was;

	w = __jf_writer;
	p = w ? w->packet : NULL;
	if (len <= jf_conf.packet_size - sizeof(*p)) {
		if (!p && is_dropped())
			goto count;
		/* Nor is there a packet more of mode keep. */
		if (p && jf_conf.mode == JF_RECORD_KEEP && ring_of(w)->skipped && is_dropped())
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

	if (!live || !jf_conf.started) {
		__atomic_fetch_add(&early_drops, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (jf_conf.mode != JF_RECORD_COUNT)
		return is_quiet() ? next_quiet(len) : next_for(len);
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

/* --- the folder --------------------------------------------------------------------- */

/* For a folder. A dot at the begin would hide it from readers. */
static void folder_name(char *name, size_t size)
{
	char *c;

	jf_process_name(name, size);
	for (c = name; *c; c++) {
		if (*c == '/' || (unsigned char)*c < ' ' || (c == name && *c == '.'))
			*c = '_';
	}
}

/*
 * A folder that root has for itself: no other user comes to its files, but by a descriptor. So
 * files that root makes there can be open to others: to the process itself, when it is another
 * user's.
 */
static bool is_closed(int dir)
{
	struct stat st;

	return !geteuid() && !fstat(dir, &st) && !st.st_uid && !(st.st_mode & 077);
}

/* With the lock. In @dir, whose path is @parent. */
static int make_folder_in(int dir, const char *parent)
{
	char process[24], name[64];
	int i, fd, err;

	folder_name(process, sizeof(process));
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%s-%d-%u", process, (int)getpid(),
			 __atomic_add_fetch(&folders, 1, __ATOMIC_RELAXED));
		err = jf_path(live->folder, sizeof(live->folder), parent, name);
		if (err)
			return err;
		if (!mkdirat(dir, name, 0700))
			break;
		if (errno != EEXIST)
			return -errno;
	}
	if (i == 1000)
		return -EEXIST;
	if (is_closed(dir))
		fchmodat(dir, name, 01733, 0);
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (!kept_shared.ino && is_closed(dir) && strlen(live->folder) < sizeof(shared_path)) {
		memcpy(shared_path, live->folder, strlen(live->folder) + 1);
		jf_kept_done(jf_kept_take(&kept_shared, dup(fd)));
	}
	jf_kept_done(jf_kept_take(&kept_folder, fd));
	return 0;
}

/* With the lock. */
static int make_folder(void)
{
	struct jf_used dir = jf_kept_open(&kept_parent, jf_conf.parent);
	int err = dir.fd < 0 ? dir.fd : make_folder_in(dir.fd, jf_conf.parent);

	jf_kept_done(dir);
	if ((err != -EACCES && err != -EPERM && err != -ENOENT) || !kept_shared.ino)
		return err;
	dir = jf_kept_open(&kept_shared, shared_path);
	err = dir.fd < 0 ? dir.fd : make_folder_in(dir.fd, shared_path);
	jf_kept_done(dir);
	return err;
}

/* With the lock. A trace that has come to nothing. */
static void remove_folder(void)
{
	struct jf_used dir = jf_kept_open(&kept_folder, live->folder);

	if (dir.fd >= 0)
		unlinkat(dir.fd, "metadata", 0);
	jf_kept_done(dir);
	rmdir(live->folder);
}

/* With the lock. Records without a ring are counted there. */
static int make_no_ring(void)
{
	struct jf_used dir = jf_kept_open(&kept_folder, live->folder);
	int err = make_packet_file(dir.fd, ".lost", "lost", JF_NO_RING_SIZE, NULL, &live->no_ring, JF_NO_RING);

	jf_kept_done(dir);
	return err;
}

/* With the lock. To jf-trace, if that has started this. */
static void tell_failed(int err)
{
	struct jf_used dir = jf_kept_open(&kept_parent, jf_conf.parent);
	char text[JF_LOADED_SIZE];
	struct stat st;
	int fd;

	fd = dir.fd < 0 ? -1 : openat(dir.fd, JF_LOADED, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	jf_kept_done(dir);
	if (fd < 0)
		return;
	/* Others may have put a pipe there. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		jf_file_write(fd, text, (size_t)snprintf(text, sizeof(text), "%d\n", -err), 1);
	close(fd);
}

/* With the lock. */
static int come_alive(void)
{
	int err;

	if (getrandom(live->uuid, sizeof(live->uuid), 0) != sizeof(live->uuid))
		return live->error = -EIO;
	err = make_folder();
	if (!err) {
		err = write_metadata();
		if (!err)
			err = make_no_ring();
		if (err)
			remove_folder();
	}
	live->error = err;
	if (err) {
		tell_failed(err);
		return err;
	}
	count_at(&live->no_ring->discarded, &live->no_ring->calls);
	__atomic_fetch_add(&live->no_ring->discarded, __atomic_exchange_n(&live->dropped, 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	no_ring_before = no_ring_mapped;
	no_ring_mapped = live->no_ring;
	live->pid = (int)getpid();
	live->checked = __jf_clock_ns();
	live->wait = 1000000000;
	/* Pairs with jf_record_folder(). */
	__atomic_store_n(&live->alive, 1, __ATOMIC_RELEASE);
	return 0;
}

/**
 * jf_rings_begin() - make the folder of a trace, if it is not there yet
 *
 * With jf_events_lock, while recording is started.
 *
 * Return: 0, or an error of a system call
 */
int jf_rings_begin(void)
{
	struct before was;
	int err = 0;

	keep_off(&was);
	lock_live();
	if (!live->alive)
		err = come_alive();
	unlock_live();
	let_in(&was);
	return err;
}

/*
 * Pages that are never unmapped, nor given to other threads: a thread may have a pointer to its
 * writer from before.
 */
static int make_live(void)
{
	struct live *l = mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct mapped *m;
	struct before was;

	if (l == MAP_FAILED)
		return -ENOMEM;
	m = mmap(NULL, JF_RINGS_MAX * sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED) {
		munmap(l, sizeof(*l));
		return -ENOMEM;
	}
	/* Also for children that no handler is called in. Others: forget_rings(). */
	madvise(l, sizeof(*l), MADV_WIPEONFORK);
	keep_off(&was);
	live = l;
	mapped = m;
	count_at(&l->dropped, &no_calls);
	let_in(&was);
	return 0;
}

/**
 * jf_rings_start() - be ready to record, by jf_conf
 *
 * With jf_events_lock. There is no folder yet: see jf_rings_begin().
 *
 * Return: 0, or an error of a system call
 */
int jf_rings_start(void)
{
	int err = live ? 0 : make_live();

	read_mappings();
	/* As long as there is a way to it. */
	if (!err)
		jf_kept_done(jf_kept_open(&kept_parent, jf_conf.parent));
	return err;
}

/* --- forks: record.c calls these ------------------------------------------------------ */

static struct before before_fork;
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

	quiet_fork = is_quiet();
	if (quiet_fork)
		return;
	keep_off(&before_fork);
	unfinished = 0;
	if (!live)
		return;
	lock_live();
	if (!w || !w->packet)
		return;
	for (k = 0; k < ring_of(w)->made; k++)
		for_each_packet(p, ring_of(w), k)
			if (!complete(p))
				unfinished |= UINT64_C(1) << k;
}

void jf_rings_parent(void)
{
	struct before was = before_fork;

	if (quiet_fork)
		return;
	if (live)
		unlock_live();
	let_in(&was);
}

/*
 * In the child. Its only thread was in one ring at most. The rest that it has yet to write there,
 * of a record that the fork interrupted, goes to pages that no reader maps.
 */
static void forget_rings(void)
{
	struct jf_writer *w = __jf_writer;
	uint32_t i, k;

	if (!live)
		return;
	__jf_writer = NULL;
	/*
	 * jf_rings_prepare() has taken it. So nothing has emptied these pages, whatever madvise()
	 * said (qemu-user does).
	 */
	if (live->lock)
		memset(live, 0, sizeof(*live));
	for (i = 0; i < mapped_num; i++) {
		if (!mapped[i].base)
			continue;
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
	if (no_ring_before)
		munmap(no_ring_before, JF_NO_RING_SIZE);
	no_ring_before = NULL;
	/* A child that becomes another user has no way to write into its parent's trace. */
	jf_kept_drop(&kept_metadata);
	jf_kept_drop(&kept_folder);
}

/* The parent's packets stay mapped, and its descriptors open, as long as this child lives. */
static void forget_quietly(void)
{
	__jf_writer = NULL;
	/* Nothing has emptied these pages. */
	if (live && live->alive)
		memset(live, 0, sizeof(*live));
}

void jf_rings_child(void)
{
	struct before was = before_fork;

	if (quiet_fork) {
		forget_quietly();
		return;
	}
	forget_rings();
	let_in(&was);
}

/* --- for record.c ----------------------------------------------------------------------- */

/*
 * No thread records any more, nor is in the midst of it. Only @live stays, since threads still have
 * pointers to their writers there.
 */
void jf_rings_stop(void)
{
	struct before was;
	uint32_t i;

	keep_off(&was);
	lock_live();
	if (live->alive)
		set_clock();
	jf_kept_drop(&kept_parent);
	jf_kept_drop(&kept_folder);
	jf_kept_drop(&kept_metadata);
	jf_kept_drop(&kept_shared);
	for (i = 0; i < live->num; i++) {
		struct ring *r = &live->ring[i];

		/*
		 * Pairs with __jf_writer_next(): a thread that records later asks for a ring. Until
		 * then this stays its own.
		 */
		__atomic_store_n(&r->w.packet, NULL, __ATOMIC_RELEASE);
		__atomic_store_n(&r->w.num, 0, __ATOMIC_RELEASE);
		r->counted = 0;
		if (r->base)
			munmap(r->base, (size_t)jf_conf.packets * jf_conf.packet_size);
		mapped[i].base = r->base = NULL;
		r->newest = NULL;
		r->made = r->cur = 0;
		r->seq = 0;
		r->kept = 0;
		r->records = 0;
		r->threads = 0;
		r->skipped = false;
	}
	count_at(&live->dropped, &no_calls);
	if (no_ring_mapped)
		munmap(no_ring_mapped, JF_NO_RING_SIZE);
	if (no_ring_before)
		munmap(no_ring_before, JF_NO_RING_SIZE);
	live->no_ring = no_ring_mapped = no_ring_before = NULL;
	live->placed = 0;
	live->packets = live->size = live->dropped = 0;
	live->failed = 0;
	live->error = 0;
	/* Pairs with jf_record_folder(). */
	__atomic_store_n(&live->alive, 0, __ATOMIC_RELEASE);
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
			err = append_metadata();
		if (err == -EMSGSIZE)
			err = write_metadata();
		*told = live->told.id;
	}
	unlock_live();
	let_in(&was);
	return err;
}

/**
 * jf_rings_refused() - tell the trace of a probe that was to be recorded, and cannot be
 * @group: of it
 * @name:  of it
 * @why:   one line
 *
 * A line that cannot be written there is left out.
 */
void jf_rings_refused(const char *group, const char *name, const char *why)
{
	struct jf_used dir = { -ENOENT, false };
	struct before was;

	if (!live || !jf_conf.started)
		return;
	keep_off(&was);
	lock_live();
	if (live->alive)
		dir = jf_kept_open(&kept_folder, live->folder);
	if (dir.fd >= 0)
		jf_metadata_refused(dir.fd, group, name, why);
	jf_kept_done(dir);
	unlock_live();
	let_in(&was);
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
		stats->rings = live->placed;
		stats->packets = __atomic_load_n(&live->packets, __ATOMIC_RELAXED);
		stats->error = live->error;
		stats->no_ring += __atomic_load_n(&live->dropped, __ATOMIC_RELAXED);
		if (live->no_ring) {
			/* First: a call that is counted after this is in the sum alone. */
			stats->calls = __atomic_load_n(&live->no_ring->calls, __ATOMIC_RELAXED);
			stats->no_ring += __atomic_load_n(&live->no_ring->discarded, __ATOMIC_RELAXED);
		}
		for (i = 0; i < live->num; i++) {
			newest = NULL;
			stats->packets += live->ring[i].kept;
			stats->records += live->ring[i].records;
			for (k = 0; k < __atomic_load_n(&live->ring[i].made, __ATOMIC_RELAXED); k++) {
				for_each_packet(p, &live->ring[i], k) {
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
		unlock_live();
		let_in(&was);
	}
	stats->discarded += stats->no_ring;
	stats->no_ring -= stats->calls < stats->no_ring ? stats->calls : stats->no_ring;
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
