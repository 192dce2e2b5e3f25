// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Tracepoints whose probes come and go while all cores call them; prints TAP.
 *
 * What is checked:
 * - Every probe gets its own data. A cookie says for which probe and which
 *   tracepoint it was registered. It is taken for another pair as soon as the
 *   unregistration is through, and it is marked dead in between: so a late
 *   call shows as well.
 * - Every call runs the probes of one version of its tracepoint: each of them
 *   once, in the order of their priorities, and no other. Which versions it
 *   may be, follows from a counter before and after the call, as in stress.c.
 * - Every probe gets the arguments of the call.
 *
 * Version v of a tracepoint has 0, 1, 2 or up to 24 probes; which, follows
 * from (tracepoint, v) alone. Image memory is reused last in, first out.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "jf_trace.h"
#include "stress_common.h"

#define NR_PROBES	24
#define MAX_TRACES	4096
#define MISMATCHES_SHOWN 10
#define MAX_SPAN	64
#define MAX_LOG		64

struct cookie {
	_Alignas(64) _Atomic uint64_t tag;	/* 0 when dead */
};

typedef void (*stub_fn)(uint64_t unused, uint64_t a, uint64_t b, uint64_t c,
			uint64_t d, uint64_t e);

struct point {
	_Alignas(64) _Atomic uint64_t seq;
	struct jf_trace trace;
	uint32_t mask;			/* probes it has */
	struct cookie *cookies[NR_PROBES];
	uint8_t *site;
	stub_fn stub;
};

/* One call, as its probes report it. */
struct call {
	uint64_t nr;		/* of the tracepoint */
	uint64_t args[JF_TRACE_MAX_ARGS];
	unsigned int hits;
	uint8_t log[MAX_LOG];
	unsigned int wrong;
};

static struct {
	unsigned long seconds, transitions, callers, traces, max_batch, signals, seed;
} opt;

static struct point *points;
static struct cookie *cookies;
static struct cookie **free_cookies;
static size_t nr_free_cookies;
static _Atomic uint32_t *focus;
static _Atomic uint32_t focus_nr;
static _Atomic uint64_t shown;
static uint64_t changes[4][4];		/* from 0, 1, 2, more to the same */
static __thread struct stress_worker *self __attribute__((tls_model("initial-exec")));
static __thread struct call self_call __attribute__((tls_model("initial-exec")));

#define MISMATCH(...)							\
	do {								\
		self->mismatches++;					\
		if (atomic_fetch_add(&shown, 1) < MISMATCHES_SHOWN) {	\
			printf("# MISMATCH ");				\
			printf(__VA_ARGS__);				\
			putchar('\n');					\
		}							\
	} while (0)

/* --- probes -------------------------------------------------------------------- */

static uint64_t tag_of(uint64_t point, unsigned int probe)
{
	return (point + 1) << 8 | probe;
}

static uint64_t arg_of(uint64_t nr, uint64_t first, unsigned int i)
{
	return (first ^ nr) * (2 * i + 3) + i;
}

static void probe_body(unsigned int id, const struct cookie *cookie, uint64_t a,
		       uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	uint64_t args[JF_TRACE_MAX_ARGS] = { a, b, c, d, e };
	uint64_t tag = atomic_load_explicit(&cookie->tag, memory_order_relaxed);
	struct call *call = &self_call;
	const struct point *point = &points[call->nr];
	unsigned int i;

	if (tag != tag_of(call->nr, id)) {
		call->wrong++;
		if (!tag)
			MISMATCH("probe %u called late: its cookie is dead", id);
		else
			MISMATCH("probe %u of tracepoint %llu got the cookie of probe %llu of %llu",
				 id, (unsigned long long)call->nr,
				 (unsigned long long)(tag & 0xff),
				 (unsigned long long)(tag >> 8) - 1);
	}
	for (i = 0; i < point->trace.nr_args; i++)
		if (args[i] != call->args[i]) {
			call->wrong++;
			MISMATCH("probe %u got %#llx as argument %u instead of %#llx", id,
				 (unsigned long long)args[i], i,
				 (unsigned long long)call->args[i]);
		}
	if (call->hits < MAX_LOG)
		call->log[call->hits] = (uint8_t)id;
	call->hits++;
}

/* Functions of their own, so that the address tells which was called. */
#define PROBE(id)								\
	static __attribute__((noinline)) void probe_##id(void *data, uint64_t a,\
		uint64_t b, uint64_t c, uint64_t d, uint64_t e)			\
	{									\
		probe_body(id, data, a, b, c, d, e);				\
	}
PROBE(0) PROBE(1) PROBE(2) PROBE(3) PROBE(4) PROBE(5) PROBE(6) PROBE(7)
PROBE(8) PROBE(9) PROBE(10) PROBE(11) PROBE(12) PROBE(13) PROBE(14) PROBE(15)
PROBE(16) PROBE(17) PROBE(18) PROBE(19) PROBE(20) PROBE(21) PROBE(22) PROBE(23)

typedef void (*probe_fn)(void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static const probe_fn probes[NR_PROBES] = {
	probe_0, probe_1, probe_2, probe_3, probe_4, probe_5, probe_6, probe_7,
	probe_8, probe_9, probe_10, probe_11, probe_12, probe_13, probe_14, probe_15,
	probe_16, probe_17, probe_18, probe_19, probe_20, probe_21, probe_22, probe_23,
};

/* --- calls ----------------------------------------------------------------------- */

/* Which probes version @version of tracepoint @nr has, as a mask. */
static uint32_t mask_of(uint64_t nr, uint64_t version)
{
	uint64_t r = stress_seed(opt.seed + nr * 0x10001, version);
	unsigned int want, have = 0;
	uint32_t mask = 0;

	if (!version)
		return 0;
	switch (r >> 4 & 7) {
	case 0:
	case 1:
		want = 0;
		break;
	case 2:
	case 3:
		want = 1;
		break;
	case 4:
	case 5:
		want = 2;
		break;
	case 6:
		want = 3 + (r >> 16) % 6;
		break;
	default:
		/* long chains, and beyond their bound */
		want = 9 + (r >> 16) % (NR_PROBES - 8);
		break;
	}
	while (have < want) {
		unsigned int id = (unsigned int)(stress_random(&r) >> 8) % NR_PROBES;

		have += !(mask >> id & 1);
		mask |= 1U << id;
	}
	return mask;
}

/* Higher priority first: probe i has priority -i, so they come in order. */
static bool ran_exactly(const struct call *call, uint32_t mask)
{
	unsigned int i, id = 0;

	if (call->hits != (unsigned int)__builtin_popcount(mask))
		return false;
	for (i = 0; i < call->hits; i++, id++) {
		while (id < NR_PROBES && !(mask >> id & 1))
			id++;
		if (call->log[i] != id)
			return false;
	}
	return true;
}

/*
 * The loads of the counter pair with what update() adds to it: the first one says what was
 * complete before the call, the second one what had begun before it was over. x86 keeps
 * loads in order; the fence is for the compiler.
 */
static void checked_call(uint64_t nr, uint64_t first)
{
	struct point *point = &points[nr];
	struct call *call = &self_call;
	uint64_t s1, s2, v;
	unsigned int i;

	call->nr = nr;
	call->hits = 0;
	call->wrong = 0;
	for (i = 0; i < JF_TRACE_MAX_ARGS; i++)
		call->args[i] = arg_of(nr, first, i);

	s1 = atomic_load_explicit(&point->seq, memory_order_acquire);
	jf_read_lock();
	point->stub(0, call->args[0], call->args[1], call->args[2], call->args[3],
		    call->args[4]);
	jf_read_unlock();
	atomic_signal_fence(memory_order_seq_cst);
	s2 = atomic_load_explicit(&point->seq, memory_order_acquire);

	self->probe_calls += call->hits;
	if (call->wrong)
		return;
	if (s1 != s2 || s1 & 1) {
		self->moving++;
		if ((s2 + 1) / 2 - s1 / 2 > MAX_SPAN) {
			self->wide++;
			return;
		}
	}
	for (v = s1 / 2; v <= (s2 + 1) / 2; v++)
		if (ran_exactly(call, mask_of(nr, v)))
			return;
	MISMATCH("tracepoint %llu ran %u probes, which is no version from %llu to %llu",
		 (unsigned long long)nr, call->hits, (unsigned long long)(s1 / 2),
		 (unsigned long long)((s2 + 1) / 2));
}

static uint64_t pick_point(uint64_t random)
{
	uint32_t nr = atomic_load_explicit(&focus_nr, memory_order_relaxed);

	if (nr && (random & 7))
		return atomic_load_explicit(&focus[(random >> 8) % nr],
					    memory_order_relaxed);
	return (random >> 8) % opt.traces;
}

static void *caller(void *arg)
{
	self = arg;
	stress_die(jf_thread_register(), "jf_thread_register");
	while (!atomic_load_explicit(&stress_stop, memory_order_relaxed)) {
		uint64_t r = stress_random(&self->random), nr = pick_point(r);
		unsigned int times = 4;

		while (times--) {
			checked_call(nr, r += times);
			self->calls++;
		}
	}
	jf_thread_unregister();
	return NULL;
}

static void on_alarm(int sig)
{
	static __thread uint64_t random __attribute__((tls_model("initial-exec")));
	int saved = errno;
	struct call call;

	(void)sig;
	if (self && __jf_self) {
		if (!random)
			random = stress_seed(opt.seed, 1000 + self->nr);
		call = self_call;
		checked_call(pick_point(stress_random(&random)), random);
		self_call = call;
		self->signal_calls++;
	}
	errno = saved;
}

/* --- the stage ---------------------------------------------------------------------- */

static void make_points(struct jf_text *text, struct jf_image_pool *pool)
{
	struct jf_site_desc *descs = calloc(opt.traces, sizeof(*descs));
	uint8_t *buf = malloc(jf_text_size(text));
	struct jf_batch batch;
	struct jf_emit e;
	int err;
	size_t i;

	if (!descs || !buf)
		stress_die(-ENOMEM, "tracepoints");
	jf_emit_init(&e, buf, jf_text_size(text), (uintptr_t)jf_text_base(text));
	for (i = 0; i < opt.traces; i++) {
		struct point *point = &points[i];

		stress_die(jf_trace_init(&point->trace, "tracepoint",
					 (unsigned int)i % (JF_TRACE_MAX_ARGS + 1), pool),
			   "jf_trace_init");
		/* Every offset to a cache line in its turn, four bytes in front. */
		jf_emit_fill(&e, jf_emit_here(&e) +
				 ((i - 4 - jf_emit_here(&e)) & 63));
		point->stub = (stub_fn)(uintptr_t)jf_emit_here(&e);
		jf_emit(&e, 4, 0x48, 0x83, 0xec, 0x08);	/* sub $8,%rsp */
		point->site = (uint8_t *)(uintptr_t)jf_emit_here(&e);
		jf_emit_insn(&e, jf_insn_nop());
		jf_emit(&e, 5, 0x48, 0x83, 0xc4, 0x08, 0xc3);
		descs[i].addr = point->site;
		descs[i].func = &point->trace.func;
		descs[i].form = JF_SITE_CALL;
	}
	stress_die(e.err, "tracepoints");
	jf_batch_init(&batch);
	stress_die(jf_batch_code(&batch, jf_text_base(text), buf, e.used), batch.error);
	err = jf_batch_commit(&batch);
	stress_die(err, batch.error);
	stress_die(jf_sites_add(descs, opt.traces), "jf_sites_add");
	free(descs);
	free(buf);
}

/* --- the updater --------------------------------------------------------------------- */

struct dead {
	struct cookie **list;
	size_t nr;
};

static unsigned int class_of(uint32_t mask)
{
	int n = __builtin_popcount(mask);

	return n < 3 ? (unsigned int)n : 3;
}

/*
 * Puts the way from one version of a tracepoint to the next into the batch.
 * Tells whether there is one: from no probe to no probe is none.
 */
static bool plan(struct jf_trace_batch *tb, uint64_t nr, uint64_t version,
		 struct dead *dead)
{
	struct point *point = &points[nr];
	uint32_t mask = mask_of(nr, version);
	bool any = point->mask | mask;
	unsigned int id;

	changes[class_of(point->mask)][class_of(mask)]++;
	for (id = 0; id < NR_PROBES; id++) {
		void *func = (void *)(uintptr_t)probes[id];
		struct cookie *cookie = point->cookies[id];

		/* One that stays keeps its data in a new image. */
		if ((point->mask >> id & 1) && !(mask >> id & 1)) {
			stress_die(jf_trace_batch_unregister(tb, &point->trace, func, cookie),
				   "unregister");
			dead->list[dead->nr++] = cookie;
			point->cookies[id] = NULL;
		} else if (!(point->mask >> id & 1) && (mask >> id & 1)) {
			cookie = free_cookies[--nr_free_cookies];
			atomic_store(&cookie->tag, tag_of(nr, id));
			point->cookies[id] = cookie;
			stress_die(jf_trace_batch_register(tb, &point->trace, func, cookie,
							   -(int)id), "register");
		}
	}
	point->mask = mask;
	return any;
}

static uint64_t update(struct jf_trace_batch *tb, uint32_t *order, struct dead *dead,
		       bool *fine)
{
	uint64_t r = stress_random(&self->random);
	size_t i, nr = 1 + (r & 1 ? (r >> 8) % opt.max_batch : 0);
	uint64_t transitions = 0;
	int err;

	for (i = 0; i < nr; i++) {
		size_t other = i + stress_random(&self->random) % (opt.traces - i);
		uint32_t point = order[other];

		order[other] = order[i];
		order[i] = point;
		atomic_store_explicit(&focus[i], point, memory_order_relaxed);
	}
	atomic_store_explicit(&focus_nr, (uint32_t)nr, memory_order_relaxed);

	dead->nr = 0;
	for (i = 0; i < nr; i++) {
		_Atomic uint64_t *seq = &points[order[i]].seq;

		transitions += plan(tb, order[i], atomic_load(seq) / 2 + 1, dead);
		atomic_fetch_add(seq, 1);
	}
	err = jf_trace_batch_commit(tb);
	if (err) {
		printf("# commit of %zu tracepoints failed: %s (%s)\n", nr,
		       strerror(-err), tb->batch.error);
		*fine = false;
		return 0;
	}
	for (i = 0; i < nr; i++)
		atomic_fetch_add(&points[order[i]].seq, 1);
	/* Unregistered and quiesced: from here on a call is a late one. */
	for (i = 0; i < dead->nr; i++) {
		atomic_store(&dead->list[i]->tag, 0);
		free_cookies[nr_free_cookies++] = dead->list[i];
	}
	for (i = 0; i < nr && i < 8; i++) {
		checked_call(order[i], r + i);
		self->calls++;
	}
	/* Mostly one after the other, at times a rest. */
	if (!(r >> 40 & 3))
		usleep(50);
	return transitions;
}

static void usage(FILE *to)
{
	fputs("usage: stress-trace [options]\n"
	      "Calls tracepoints on all cores while their probes come and go, and checks every\n"
	      "call. Prints TAP; exit status 1 on any mismatch.\n"
	      "  --transitions N   stop after so many (default 1000000)\n"
	      "  --duration S      or after so many seconds (default 600)\n"
	      "  --threads N       callers (default: one for each core but one)\n"
	      "  --traces N        tracepoints (default 256)\n"
	      "  --max-batch N     most tracepoints in a batch (default 100)\n"
	      "  --signals HZ      timer signals a second whose handler calls one\n"
	      "                    (default 1000, 0 for none)\n"
	      "  --seed N          repeat a choice (default: the time)\n"
	      STRESS_BREAK_HELP
	      "^C ends it early and prints what was seen.\n", to);
}

static void parse_options(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ "transitions", .number = &opt.transitions, .min = 1, .max = ~0UL },
		{ "duration", .number = &opt.seconds, .min = 1, .max = 1000000 },
		{ "threads", .number = &opt.callers, .min = 1, .max = 4096 },
		{ "traces", .number = &opt.traces, .min = 1, .max = MAX_TRACES },
		{ "max-batch", .number = &opt.max_batch, .min = 1, .max = MAX_TRACES },
		{ "signals", .number = &opt.signals, .max = 100000 },
		{ "seed", .number = &opt.seed, .max = ~0UL },
		STRESS_BREAK_OPTION
	};

	opt.seconds = 600;
	opt.transitions = 1000000;
	opt.callers = stress_cores() > 1 ? (unsigned long)stress_cores() - 1 : 1;
	opt.traces = 256;
	opt.max_batch = 100;
	opt.signals = 1000;
	opt.seed = (unsigned long)time(NULL);
	options_end(argv, options_parse(argc, argv, usage, STRESS_ROWS(rows)), usage);
	if (opt.max_batch > opt.traces)
		opt.max_batch = opt.traces;
}

/* Few more than can be in use, so that they change hands all the time. */
static size_t make_cookies(void)
{
	size_t i, nr = (opt.traces + opt.max_batch) * NR_PROBES;

	cookies = stress_alloc(nr, sizeof(*cookies), 64);
	free_cookies = stress_alloc(nr, sizeof(*free_cookies), sizeof(*free_cookies));
	for (i = 0; i < nr; i++)
		free_cookies[nr_free_cookies++] = &cookies[i];
	return nr;
}

/* Commit after commit, until the time is up. Returns how many transitions. */
static uint64_t update_all_the_time(struct stress_clock *clock, size_t nr_cookies, bool *fine)
{
	struct dead dead = {
		.list = stress_alloc(nr_cookies, sizeof(*dead.list), sizeof(*dead.list)),
	};
	uint32_t *order = stress_order(opt.traces);
	struct jf_trace_batch tb;
	uint64_t transitions = 0;

	jf_trace_batch_init(&tb);
	stress_clock_start(clock, opt.seconds);
	while (*fine && !stress_time_is_up(clock) && transitions < opt.transitions) {
		transitions += update(&tb, order, &dead, fine);
		if (stress_report_is_due(clock))
			fprintf(stderr, "# %3llu s: %llu transitions\n",
				(unsigned long long)stress_seconds(clock),
				(unsigned long long)transitions);
	}
	free(order);
	free(dead.list);
	return transitions;
}

static void print_changes(void)
{
	static const char *const names[] = { "0", "1", "2", "more" };
	size_t i, j;

	printf("# transitions from and to this many probes:\n#  from\\to");
	for (i = 0; i < 4; i++)
		printf("%9s", names[i]);
	for (i = 0; i < 4; i++) {
		printf("\n# %7s", names[i]);
		for (j = 0; j < 4; j++)
			printf(" %8llu", (unsigned long long)changes[i][j]);
	}
	putchar('\n');
}

/* Prints what was seen. Tells whether it is what must be. */
static bool report(const struct stress_worker *workers, const struct stress_clock *clock,
		   uint64_t transitions, bool fine)
{
	struct stress_worker sum = stress_sum(workers, opt.callers);
	struct jf_stats stats;

	sum.calls += sum.signal_calls;
	jf_stats_get(&stats);
	printf("# %.1f s: %llu calls checked, %llu of them from signal handlers, running"
	       " %llu probes; %llu met a commit, %llu of these spanned too many versions\n",
	       (double)(clock->now - clock->start) / 1e9, (unsigned long long)sum.calls,
	       (unsigned long long)sum.signal_calls,
	       (unsigned long long)sum.probe_calls, (unsigned long long)sum.moving,
	       (unsigned long long)sum.wide);
	stress_print_engine(&stats);
	print_changes();

	fine = fine && !sum.mismatches && sum.calls && transitions;
	printf("%s 1 - stress-trace: %llu mismatches in %llu calls during %llu transitions\n",
	       fine ? "ok" : "not ok", (unsigned long long)sum.mismatches,
	       (unsigned long long)sum.calls, (unsigned long long)transitions);
	return fine;
}

int main(int argc, char **argv)
{
	struct stress_clock clock;
	struct jf_image_pool *pool;
	struct stress_worker *workers;
	struct jf_text *text;
	uint64_t transitions;
	size_t nr_cookies;
	bool fine = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse_options(argc, argv);
	stress_begin();
	points = stress_alloc(opt.traces, sizeof(*points), 64);
	focus = stress_alloc(opt.traces, sizeof(*focus), sizeof(*focus));
	nr_cookies = make_cookies();
	text = jf_text_create(opt.traces * 128 + 4096, (const void *)main);
	pool = jf_image_pool_create(opt.traces + opt.max_batch,
				    opt.traces + opt.max_batch, (const void *)main);
	if (!text || !pool)
		stress_die(-errno, "no memory for code near the program");
	make_points(text, pool);
	printf("# %lu callers and 1 updater on %d cores, %lu transitions or %lu s, seed %lu\n",
	       opt.callers, stress_cores(), opt.transitions, opt.seconds, opt.seed);

	workers = stress_workers(opt.callers, opt.seed);
	self = &workers[opt.callers];
	stress_start(workers, opt.callers, caller);
	stress_timer(opt.signals, on_alarm);
	transitions = update_all_the_time(&clock, nr_cookies, &fine);
	stress_timer(0, on_alarm);
	stress_end(workers, opt.callers);
	fine = report(workers, &clock, transitions, fine);
	return !fine ? 1 : stress_interrupted ? 130 : 0;
}
