// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tests of the userspace tracepoints, one thread at a time; prints TAP. What
 * needs several threads is in stress_trace.c.
 *
 * jf_trace.c is included, with its allocations going through here, so that
 * each of them can fail once.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* All that jf_trace.c includes too: its words must not meet the macros. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The n-th allocation from now fails; 0 lets all succeed. */
static unsigned long fail_at;

static int fails_now(void)
{
	if (!fail_at || --fail_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

static void *test_malloc(size_t size)
{
	return fails_now() ? NULL : malloc(size);
}

static void *test_calloc(size_t nr, size_t size)
{
	return fails_now() ? NULL : calloc(nr, size);
}

#define malloc(size)		test_malloc(size)
#define calloc(nr, size)	test_calloc(nr, size)
#ifndef JF_TRACE
#define JF_TRACE "jf_trace.c"
#endif
#include JF_TRACE
#undef malloc
#undef calloc

#include "tap.h"

#define NR_PROBES 20

/* --- fixture ------------------------------------------------------------------- */

struct seen {
	unsigned int probe;
	void *data;
	uint64_t args[JF_TRACE_MAX_ARGS];
	int aligned;
};

static struct seen seen[64];
static unsigned int nr_seen;
static int cookies[NR_PROBES];

static void record(unsigned int probe, void *data, uint64_t a, uint64_t b, uint64_t c,
		   uint64_t d, uint64_t e, uintptr_t frame)
{
	struct seen *s = &seen[nr_seen++ % 64];

	s->probe = probe;
	s->data = data;
	s->args[0] = a;
	s->args[1] = b;
	s->args[2] = c;
	s->args[3] = d;
	s->args[4] = e;
	/* At the call, the stack was a multiple of 16. */
	s->aligned = frame % 16 == 0;
}

/* Spoils every register that a function may spoil. */
#define PROBE(id)								\
	static __attribute__((noinline)) void probe_##id(void *data, uint64_t a,\
		uint64_t b, uint64_t c, uint64_t d, uint64_t e)			\
	{									\
		record(id, data, a, b, c, d, e,					\
		       (uintptr_t)__builtin_frame_address(0));			\
		asm volatile("xor %%esi,%%esi; xor %%edi,%%edi; xor %%edx,%%edx;" \
			     "xor %%ecx,%%ecx; xor %%r8d,%%r8d; xor %%r9d,%%r9d;" \
			     "xor %%r10d,%%r10d; xor %%r11d,%%r11d; xor %%eax,%%eax" \
			     : : : "rsi", "rdi", "rdx", "rcx", "r8", "r9", "r10", \
			     "r11", "rax");					\
	}
PROBE(0) PROBE(1) PROBE(2) PROBE(3) PROBE(4) PROBE(5) PROBE(6) PROBE(7) PROBE(8)
PROBE(9) PROBE(10) PROBE(11) PROBE(12) PROBE(13) PROBE(14) PROBE(15) PROBE(16)
PROBE(17) PROBE(18) PROBE(19)

#define P(id) ((void *)(uintptr_t)probe_##id)

static void *const probes[NR_PROBES] = {
	P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9), P(10), P(11), P(12),
	P(13), P(14), P(15), P(16), P(17), P(18), P(19),
};

typedef void (*stub_fn)(uint64_t unused, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			uint64_t e);

static struct jf_text *text;
static struct jf_image_pool *pool;
static size_t stubs_made;

#define SITE_IN_STUB 4

static stub_fn add_site(struct jf_trace *trace)
{
	uint8_t *at = (uint8_t *)jf_text_base(text) + 64 * stubs_made++;
	struct jf_site_desc desc = { .func = &trace->func, .form = JF_SITE_CALL };
	struct jf_batch batch;
	uint8_t buf[64];
	struct jf_emit e;

	jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)at);
	jf_emit(&e, SITE_IN_STUB, 0x48, 0x83, 0xec, 0x08);	/* sub $8,%rsp */
	desc.addr = at + SITE_IN_STUB;
	jf_emit_insn(&e, jf_insn_nop());
	jf_emit(&e, 5, 0x48, 0x83, 0xc4, 0x08, 0xc3);	/* add $8,%rsp; ret */
	jf_batch_init(&batch);
	must(jf_batch_code(&batch, at, buf, e.used), "jf_batch_code");
	must(jf_batch_commit(&batch), "jf_batch_commit");
	must(jf_sites_add(&desc, 1), "jf_sites_add");
	return (stub_fn)(uintptr_t)at;
}

/* Before the tracepoint goes out of scope. */
static void remove_site(stub_fn stub)
{
	void *addr = (uint8_t *)(uintptr_t)stub + SITE_IN_STUB;

	must(jf_sites_remove(&addr, 1), "jf_sites_remove");
}

/* Calls, and checks that exactly these probes ran, in this order. */
static void expect(stub_fn stub, unsigned int nr_args, const unsigned int *want,
		   unsigned int nr, const char *when)
{
	unsigned int i, a;

	nr_seen = 0;
	jf_read_lock();
	stub(0, 11, 22, 33, 44, 55);
	jf_read_unlock();
	CHECK(nr_seen == nr, "%s: %u probes ran instead of %u", when, nr_seen, nr);
	for (i = 0; i < nr && i < nr_seen; i++) {
		CHECK(seen[i].probe == want[i], "%s: probe %u ran as number %u", when,
		      seen[i].probe, i);
		CHECK(seen[i].data == &cookies[seen[i].probe], "%s: data of probe %u", when,
		      seen[i].probe);
		CHECK(seen[i].aligned, "%s: stack of probe %u", when, seen[i].probe);
		for (a = 0; a < nr_args; a++)
			CHECK(seen[i].args[a] == 11 * (a + 1),
			      "%s: argument %u of probe %u is %llu", when, a, seen[i].probe,
			      (unsigned long long)seen[i].args[a]);
	}
}

static int add(struct jf_trace *trace, unsigned int probe, int prio)
{
	return register_jf_trace(trace, probes[probe], &cookies[probe], prio);
}

static int del(struct jf_trace *trace, unsigned int probe)
{
	return unregister_jf_trace(trace, probes[probe], &cookies[probe]);
}

/* --- tests ------------------------------------------------------------------------ */

static const unsigned int in_order[NR_PROBES] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
};

/* Up from 0 to beyond the bound of chains and down again. */
static void test_counts(unsigned int nr_args)
{
	struct jf_trace trace;
	char name[64];
	stub_fn stub;
	unsigned int n;

	must(jf_trace_init(&trace, "counts", nr_args, pool), "jf_trace_init");
	stub = add_site(&trace);
	expect(stub, nr_args, in_order, 0, "none");
	for (n = 0; n < NR_PROBES; n++) {
		CHECK(!add(&trace, n, 0), "probe %u", n);
		expect(stub, nr_args, in_order, n + 1, "up");
	}
	CHECK(trace.image_size == SINGLE_SIZE, "the iterator is one probe");
	while (n--) {
		CHECK(!del(&trace, n), "probe %u", n);
		expect(stub, nr_args, in_order, n, "down");
		if (n == 1)
			CHECK(trace.image_size == SINGLE_SIZE, "the direct path is back");
		else if (n > 1 && n <= JF_CHAIN_MAX)
			CHECK(trace.image_size == CHAIN_SIZE, "a chain of %u", n);
	}
	CHECK(!trace.image && !dynfunc_query(&trace.func), "the site is a nop again");
	remove_site(stub);
	snprintf(name, sizeof(name), "0 to %d probes and back, %u arguments", NR_PROBES,
		 nr_args);
	finish(name);
}

static void test_order(void)
{
	static const unsigned int want[] = { 3, 1, 4, 0, 2 };
	struct jf_trace trace;
	stub_fn stub;

	must(jf_trace_init(&trace, "order", 2, pool), "jf_trace_init");
	stub = add_site(&trace);
	CHECK(!add(&trace, 0, 0), "0");
	CHECK(!add(&trace, 1, 10), "1");
	CHECK(!add(&trace, 2, -5), "2");
	CHECK(!add(&trace, 3, 20), "3");
	CHECK(!add(&trace, 4, 10), "4, behind 1 of the same priority");
	expect(stub, 2, want, 5, "five");
	CHECK(!del(&trace, 3), "3");
	expect(stub, 2, want + 1, 4, "without the first");
	CHECK(!del(&trace, 2) && !del(&trace, 1) && !del(&trace, 0) && !del(&trace, 4), "all");
	expect(stub, 2, want, 0, "none");
	remove_site(stub);
	finish("priorities");
}

static void test_errors(void)
{
	struct jf_trace_batch tb, other;
	struct jf_trace trace;
	struct jf_stats before, after;
	stub_fn stub;

	CHECK(jf_trace_init(&trace, "too many", JF_TRACE_MAX_ARGS + 1, pool) == -EINVAL,
	      "arguments");
	must(jf_trace_init(&trace, "errors", 3, pool), "jf_trace_init");
	stub = add_site(&trace);
	CHECK(register_jf_trace(&trace, NULL, NULL, 0) == -EINVAL, "no function");
	CHECK(del(&trace, 0) == -ENOENT, "nothing to take away");
	CHECK(!add(&trace, 0, 0), "first");
	CHECK(add(&trace, 0, 5) == -EEXIST, "the same again");
	CHECK(del(&trace, 1) == -ENOENT, "another one");
	CHECK(unregister_jf_trace(&trace, probes[0], &cookies[1]) == -ENOENT, "other data");
	expect(stub, 3, in_order, 1, "one");

	CHECK(!register_jf_trace(&trace, probes[0], &cookies[2], 0), "same probe, other data");
	CHECK(!unregister_jf_trace(&trace, probes[0], &cookies[2]), "and away");

	/* Far away: the image cannot call it. */
	CHECK(register_jf_trace(&trace, (void *)8, NULL, 0) == -ERANGE, "out of reach");
	expect(stub, 3, in_order, 1, "after one out of reach");

	jf_trace_batch_init(&tb);
	jf_trace_batch_init(&other);
	CHECK(!jf_trace_batch_register(&tb, &trace, probes[1], &cookies[1], 0), "batch");
	CHECK(jf_trace_batch_register(&tb, &trace, probes[1], &cookies[1], 0) == -EEXIST,
	      "twice in one batch");
	CHECK(jf_trace_batch_register(&other, &trace, probes[2], &cookies[2], 0) == -EBUSY &&
	      jf_trace_batch_unregister(&other, &trace, probes[0], &cookies[0]) == -EBUSY,
	      "in two batches");
	jf_trace_batch_abort(&tb);
	expect(stub, 3, in_order, 1, "aborted");

	jf_read_lock();
	CHECK(add(&trace, 1, 0) == -EDEADLK, "inside a read section");
	jf_read_unlock();
	expect(stub, 3, in_order, 1, "after a deadlock avoided");

	jf_stats_get(&before);
	CHECK(!jf_trace_batch_commit(&tb), "an empty batch");
	jf_stats_get(&after);
	CHECK(before.sync_broadcasts == after.sync_broadcasts, "broadcasts for nothing");
	CHECK(!del(&trace, 0), "last");
	expect(stub, 3, in_order, 0, "none");
	remove_site(stub);
	finish("errors change nothing");
}

static void test_batch(void)
{
	enum { NR = 8 };
	static struct jf_trace traces[NR];
	struct jf_trace_batch tb;
	struct jf_stats before, after;
	stub_fn stubs[NR];
	unsigned int i, n;

	jf_trace_batch_init(&tb);
	for (i = 0; i < NR; i++) {
		must(jf_trace_init(&traces[i], "batch", 1, pool), "jf_trace_init");
		stubs[i] = add_site(&traces[i]);
		for (n = 0; n < i; n++)
			CHECK(!jf_trace_batch_register(&tb, &traces[i], probes[n],
						       &cookies[n], 0), "%u of %u", n, i);
	}
	jf_stats_get(&before);
	CHECK(!jf_trace_batch_commit(&tb), "%s", tb.batch.error);
	jf_stats_get(&after);
	CHECK(after.sync_broadcasts - before.sync_broadcasts == 3, "%llu broadcasts",
	      (unsigned long long)(after.sync_broadcasts - before.sync_broadcasts));
	for (i = 0; i < NR; i++)
		expect(stubs[i], 1, in_order, i, "batch");
	for (i = 1; i < NR; i++)
		for (n = 0; n < i; n++)
			CHECK(!jf_trace_batch_unregister(&tb, &traces[i], probes[n],
							 &cookies[n]), "%u of %u", n, i);
	CHECK(!jf_trace_batch_commit(&tb), "%s", tb.batch.error);
	for (i = 0; i < NR; i++)
		expect(stubs[i], 1, in_order, 0, "away");

	/* One that fails in the middle takes all with it. */
	for (i = 0; i < NR; i++)
		CHECK(!jf_trace_batch_register(&tb, &traces[i],
					       i == NR / 2 ? (void *)8 : probes[0],
					       &cookies[0], 0), "%u", i);
	CHECK(jf_trace_batch_commit(&tb) == -ERANGE, "one out of reach");
	for (i = 0; i < NR; i++) {
		expect(stubs[i], 1, in_order, 0, "all or nothing");
		remove_site(stubs[i]);
	}
	finish("batch: many tracepoints in three broadcasts");
}

/* Every allocation fails once, in every kind of transition. */
static void test_no_memory(void)
{
	struct jf_trace trace;
	unsigned int n, has = 0;
	unsigned long nth;
	stub_fn stub;
	int err;

	must(jf_trace_init(&trace, "no memory", 2, pool), "jf_trace_init");
	stub = add_site(&trace);
	for (n = 0; n < 2 * NR_PROBES; n++)
		for (nth = 1;; nth++) {
			fail_at = nth;
			err = n < NR_PROBES ? add(&trace, n, 0) :
					      del(&trace, 2 * NR_PROBES - 1 - n);
			if (!err) {
				has += n < NR_PROBES ? 1 : -1;
				expect(stub, 2, in_order, has, "it went through");
				if (fail_at) {
					fail_at = 0;
					break;
				}
				CHECK(0, "an allocation failed and nobody cared");
				break;
			}
			CHECK(err == -ENOMEM, "allocation %lu: %d", nth, err);
			fail_at = 0;
			expect(stub, 2, in_order, has, "allocation failed");
			if (nth > 100)
				break;
		}
	CHECK(!has, "%u left", has);
	remove_site(stub);
	finish("no memory changes nothing");
}

static void test_pool(void)
{
	struct jf_image_pool *small;
	struct jf_trace traces[2];
	unsigned long nth;
	stub_fn stubs[2];

	for (nth = 1; nth <= 3; nth++) {
		fail_at = nth;
		errno = 0;
		CHECK(!jf_image_pool_create(2, 1, (const void *)test_pool) && errno == ENOMEM,
		      "allocation %lu", nth);
	}
	fail_at = 0;
	errno = 0;
	CHECK(!jf_image_pool_create(0, 1UL << 30, (const void *)test_pool) &&
	      errno == EINVAL, "errno %d", errno);
	small = jf_image_pool_create(2, 1, (const void *)test_pool);

	CHECK(small, "pool");
	if (!small)
		goto out;
	must(jf_trace_init(&traces[0], "first", 0, small), "jf_trace_init");
	must(jf_trace_init(&traces[1], "second", 0, small), "jf_trace_init");
	stubs[0] = add_site(&traces[0]);
	stubs[1] = add_site(&traces[1]);
	CHECK(!add(&traces[0], 0, 0) && !add(&traces[0], 1, 0), "0 to 2");
	CHECK(!add(&traces[1], 0, 0), "another one");
	/* The only chain is taken. */
	CHECK(add(&traces[1], 1, 0) == -ENOMEM, "a second chain");
	expect(stubs[0], 0, in_order, 2, "first");
	expect(stubs[1], 0, in_order, 1, "second");
	CHECK(!del(&traces[0], 1) && !add(&traces[1], 1, 0), "given back");
	expect(stubs[0], 0, in_order, 1, "first");
	expect(stubs[1], 0, in_order, 2, "second");
	CHECK(!del(&traces[0], 0) && !del(&traces[1], 1) && !del(&traces[1], 0), "all");
	CHECK(small->single.nr == 2 && small->chain.nr == 1, "%zu and %zu slots are back",
	      small->single.nr, small->chain.nr);
	remove_site(stubs[0]);
	remove_site(stubs[1]);
	jf_image_pool_destroy(small);
out:
	finish("pool: used up, and given back");
}

static void test_leaks(void)
{
	CHECK(pool->single.nr == 100 && pool->chain.nr == 100, "%zu and %zu slots are back",
	      pool->single.nr, pool->chain.nr);
	finish("every image went back to the pool");
}

int main(void)
{
	unsigned int nr_args;

	printf("TAP version 13\n1..12\n");
	must(jf_init(), "jf_init");
	must(jf_thread_register(), "jf_thread_register");
	text = jf_text_create(65536, (const void *)main);
	pool = jf_image_pool_create(100, 100, (const void *)main);
	if (!text || !pool)
		must(-errno, "text and pool");
	for (nr_args = 0; nr_args <= JF_TRACE_MAX_ARGS; nr_args++)
		test_counts(nr_args);
	test_order();
	test_errors();
	test_batch();
	test_no_memory();
	test_pool();
	test_leaks();
	jf_image_pool_destroy(pool);
	jf_text_destroy(text);
	jf_exit();
	return tap_status();
}
