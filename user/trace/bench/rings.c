// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Rings per CPU and per thread: the cost of a place in a ring, a record of 32 bytes and its commit:
 *
 *   plain        per thread, by loads and stores: no signal handler can record. The lower bound.
 *   exchange     per thread, by compare and exchange without a lock prefix: libjumpfunc-trace
 *   restartable  per thread, by a restartable sequence (rseq): a signal handler restarts it
 *   per CPU      by a restartable sequence for the place and another one for the commit
 *
 * For x86-64 and glibc from 2.35 on, which registers rseq; elsewhere it says so.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HAVE_RSEQ
#endif
#endif

#ifdef HAVE_RSEQ
#define PACKET	65536
#define PACKETS	8
#define RECORD	32
#define LOOP	200000
#define CPUS	1024

struct packet {
	uint64_t	content, committed, end, pad[13];
};

struct ring {
	struct packet	*packet;
	char		*base;
	unsigned int	cur;
	int		fill;
} __attribute__((__aligned__(64)));

struct record {
	uint64_t	word, time, a, b;
};

static __thread struct ring *own __attribute__((__tls_model__("initial-exec")));
static struct ring *of_cpu[CPUS];

__attribute__((__noinline__, __cold__))
static void next_packet(struct ring *r)
{
	r->cur = (r->cur + 1) % PACKETS;
	r->packet = (struct packet *)(void *)(r->base + r->cur * PACKET);
	/* Compare and exchange finds a word that tells that the place is free. */
	if (r->fill)
		memset(r->packet, 0xff, PACKET);
	r->packet->committed = 0;
	r->packet->content = sizeof(struct packet);
}

#define BARRIER()	__asm__ volatile("" ::: "memory")
#define STORE(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)

static inline __attribute__((__always_inline__)) uint64_t clock_of(int timed)
{
	return timed ? __builtin_ia32_rdtsc() : 0;
}

static inline __attribute__((__always_inline__))
void fill(struct record *rec, uint64_t time, uint64_t a, uint64_t b)
{
	rec->time = time;
	rec->a = a;
	rec->b = b;
	BARRIER();
	STORE((uint16_t *)(void *)rec, 5);
	BARRIER();
}

static inline __attribute__((__always_inline__)) void commit(struct packet *p)
{
	__asm__ volatile("addq %1, %0" : "+m" (p->committed) : "i" (RECORD) : "memory", "cc");
}

static inline __attribute__((__always_inline__)) void plain(uint64_t a, uint64_t b, int timed)
{
	struct record *rec;
	struct packet *p;
	uint64_t pos, time;

	while ((pos = own->packet->content) + RECORD > PACKET)
		next_packet(own);
	p = own->packet;
	time = clock_of(timed);
	STORE(&p->end, time);
	rec = (struct record *)(void *)((char *)p + pos);
	STORE(&rec->word, (uint64_t)RECORD << 32);
	BARRIER();
	STORE(&p->content, pos + RECORD);
	fill(rec, time, a, b);
	commit(p);
}

static inline __attribute__((__always_inline__)) uint64_t exchange64(uint64_t *p, uint64_t old, uint64_t val)
{
	__asm__ volatile("cmpxchgq %2, %1" : "+a" (old), "+m" (*p) : "r" (val) : "memory", "cc");
	return old;
}

static inline __attribute__((__always_inline__)) void exchange(uint64_t a, uint64_t b, int timed)
{
	struct record *rec;
	struct packet *p;
	uint64_t pos, time, end;

	for (;;) {
		p = own->packet;
		pos = p->content;
		end = p->end;
		if (pos + RECORD > PACKET) {
			next_packet(own);
			continue;
		}
		time = clock_of(timed);
		if (timed)
			exchange64(&p->end, end, time);
		rec = (struct record *)(void *)((char *)p + pos);
		if (exchange64(&rec->word, UINT64_MAX, (uint64_t)RECORD << 32) == UINT64_MAX)
			break;
	}
	exchange64(&p->content, pos, pos + RECORD);
	fill(rec, time, a, b);
	commit(p);
}

/*
 * The sequence's descriptor, and where it is told of: from 1 up to 2, and if it is interrupted 4.
 */
#define RSEQ_BEGIN(off, label)						\
	__asm__ goto volatile(						\
		".pushsection __rseq_cs, \"aw\"\n\t.balign 32\n"	\
		"3:\t.long 0, 0\n\t.quad 1f, 2f - 1f, 4f\n\t.popsection\n\t" \
		"leaq 3b(%%rip), %%rax\n\tmovq %%rax, %%fs:8(%0)\n"	\
		"1:\n" : : "r" (off) : "rax", "memory" : label)
#define RSEQ_ABORT(label)						\
		".pushsection __rseq_failure, \"ax\"\n\t"		\
		".byte 0x0f, 0xb9, 0x3d\n\t.long 0x53053053\n"		\
		"4:\tjmp %l[" #label "]\n\t.popsection\n"

static inline __attribute__((__always_inline__))
struct record *take(struct ring *r, uint64_t pos, uint64_t time)
{
	struct packet *p = r->packet;
	struct record *rec = (struct record *)(void *)((char *)p + pos);

	STORE(&p->end, time);
	STORE(&rec->word, (uint64_t)RECORD << 32);
	BARRIER();
	__asm__ goto volatile("movq %0, %1\n2:\n\t" RSEQ_ABORT(again)
			      : : "r" (pos + RECORD), "m" (p->content) : "memory" : again);
	return rec;
again:
	return NULL;
}

static inline __attribute__((__always_inline__)) void restartable(uint64_t a, uint64_t b, int timed)
{
	struct record *rec;
	struct packet *p;
	uint64_t time;

	for (;;) {
		RSEQ_BEGIN(__rseq_offset, again);
again:
		p = own->packet;
		if (p->content + RECORD > PACKET) {
			next_packet(own);
			continue;
		}
		time = clock_of(timed);
		rec = take(own, p->content, time);
		if (rec)
			break;
	}
	fill(rec, time, a, b);
	commit(p);
}

static inline __attribute__((__always_inline__)) void per_cpu(uint64_t a, uint64_t b, int timed)
{
	struct record *rec;
	struct packet *p;
	struct ring *r;
	uint64_t time;
	uint32_t cpu;

	for (;;) {
		RSEQ_BEGIN(__rseq_offset, again);
again:
		__asm__ volatile("movl %%fs:4(%1), %0" : "=r" (cpu) : "r" (__rseq_offset) : "memory");
		r = of_cpu[cpu % CPUS];
		p = r->packet;
		if (p->content + RECORD > PACKET) {
			next_packet(r);
			continue;
		}
		time = clock_of(timed);
		rec = take(r, p->content, time);
		if (rec)
			break;
	}
	fill(rec, time, a, b);
	RSEQ_BEGIN(__rseq_offset, elsewhere);
	__asm__ goto volatile("cmpl %0, %%fs:4(%1)\n\tjne %l[elsewhere]\n\taddq %2, %3\n2:\n\t" RSEQ_ABORT(elsewhere)
			      : : "r" (cpu), "r" (__rseq_offset), "i" (RECORD), "m" (p->committed)
			      : "memory", "cc" : elsewhere);
	return;
elsewhere:
	__atomic_fetch_add(&p->committed, RECORD, __ATOMIC_RELAXED);
}

#define LOOPS(name)							\
	__attribute__((__noinline__)) static void name##_timed(long n)	\
	{								\
		for (long i = 0; i < n; i++)				\
			name((uint64_t)i, (uint64_t)n, 1);		\
	}								\
	__attribute__((__noinline__)) static void name##_bare(long n)	\
	{								\
		for (long i = 0; i < n; i++)				\
			name((uint64_t)i, (uint64_t)n, 0);		\
	}

LOOPS(plain)
LOOPS(exchange)
LOOPS(restartable)
LOOPS(per_cpu)

static struct ring *make(void)
{
	struct ring *r = aligned_alloc(64, sizeof(*r));

	r->base = mmap(NULL, PACKET * PACKETS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (r->base == MAP_FAILED)
		exit(1);
	r->cur = 0;
	return r;
}

static const struct row {
	const char	*name;
	void		(*timed)(long n);
	void		(*bare)(long n);
	int		fill;
} rows[] = {
	{ "plain, per thread", plain_timed, plain_bare, 0 },
	{ "exchange, per thread", exchange_timed, exchange_bare, 1 },
	{ "restartable, per thread", restartable_timed, restartable_bare, 0 },
	{ "restartable, per CPU", per_cpu_timed, per_cpu_bare, 0 },
};

#define ROWS	(sizeof(rows) / sizeof(*rows))

static double once(void (*loop)(long n), int fills)
{
	struct timespec a, b;

	own->fill = fills;
	next_packet(own);
	clock_gettime(CLOCK_MONOTONIC, &a);
	loop(LOOP);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / LOOP;
}

int main(void)
{
	double best[ROWS][2], t;
	struct ring *cpu0;
	size_t i;
	int r, k;

	if (!__rseq_size) {
		printf("# rseq is not registered here: nothing to compare\n");
		return 0;
	}
	own = make();
	/* This process has one thread: one ring is that of whatever CPU it is on. */
	cpu0 = make();
	cpu0->fill = 0;
	next_packet(cpu0);
	for (i = 0; i < CPUS; i++)
		of_cpu[i] = cpu0;
	for (i = 0; i < ROWS; i++)
		best[i][0] = best[i][1] = 1e9;
	for (r = 0; r < 50; r++) {
		for (i = 0; i < ROWS; i++) {
			for (k = 0; k < 2; k++) {
				t = once(k ? rows[i].bare : rows[i].timed, rows[i].fill);
				if (t < best[i][k])
					best[i][k] = t;
			}
		}
	}
	printf("%-30s %10s %10s   (ns a record, min of 50)\n", "", "rdtsc", "no time");
	for (i = 0; i < ROWS; i++)
		printf("%-30s %10.2f %10.2f\n", rows[i].name, best[i][0], best[i][1]);
	return 0;
}
#else
int main(void)
{
	printf("# for x86-64 and glibc from 2.35 on\n");
	return 0;
}
#endif
