// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Callers on all cores against one updater, every call checked; prints TAP.
 *
 * Thousands of sites of all kinds lie at every offset to cache lines and page
 * borders. The updater takes the keys through their versions, in batches of
 * one to a thousand. Version v of a key leads to a target that follows from
 * (key, v) alone, and the key's counter is 2v while v stands, 2v + 1 while the
 * commit to v + 1 is under way. A caller reads the counter before and after
 * its call, and so knows which versions it may have met:
 *
 *   2v, 2v		only v: a commit that returned is seen by everybody
 *   2v, 2v + 1		v or v + 1
 *   2v + 1, 2w		v, v + 1, ... w
 *
 * The result of a call tells the target and both arguments. Timer signals
 * make calls from handlers, on top of whatever a thread is doing, the updater
 * in the middle of a batch included.
 *
 * Why the counter is a fair judge: the updater writes it behind the last sync of
 * the commit; a caller whose instruction fetch ran ahead of its load of the
 * counter was made to start anew by that broadcast. One that trapped before the
 * commit was over, and goes the old way later, had loaded the counter by then.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "emit.h"
#include "stress_common.h"

#define NR_TARGETS	16
#define NR_STATES	(NR_TARGETS + 1)	/* the last one: no target */
#define NULL_STATE	NR_TARGETS
#define TAG_SHIFT	56
#define ARG_MASK	((1ULL << TAG_SHIFT) - 1)
#define TAG_RET0	0xf0
#define TAG_OFF		0xa0
#define TAG_ON		0xa1
#define MAX_SITES	3	/* of one key */
#define TEXT_SIZE	(8UL << 20)
#define MAX_KEYS	20000
#define MISMATCHES_SHOWN 10
/* Every so many sites, one lies across a page border. */
#define PAGE_EVERY	33

enum kind {
	CALL_NOP,	/* call to call, call to nop */
	CALL_RET0,	/* call to call, call to return-0 */
	TAIL,		/* jmp to jmp */
	BRANCH,		/* nop to jmp */
	NR_KINDS,
};

static const char *const kind_names[] = { "call/nop", "call/ret0", "jmp/jmp", "nop/jmp" };

typedef uint64_t (*stub_fn)(uint64_t a, uint64_t b);

struct key {
	_Alignas(64) _Atomic uint64_t seq;
	union {
		struct jf_func func;
		struct jf_key key;
	};
	enum kind kind;
	unsigned int step;	/* state of version v: v * step modulo NR_STATES */
	unsigned int undo;	/* its inverse */
	unsigned int nr_sites;
	stub_fn stubs[MAX_SITES];
	uint8_t *sites[MAX_SITES];
	void *label[MAX_SITES];
};

static struct {
	unsigned long seconds, callers, keys, max_batch, signals, seed;
} opt;

static struct key *keys;
static size_t nr_sites, lines_crossed, pages_crossed;
static void *targets[NR_TARGETS];
static _Atomic uint32_t *focus;		/* keys of the batch that is under way */
static _Atomic uint32_t focus_nr;
static _Atomic uint64_t shown;
static __thread struct stress_worker *self __attribute__((tls_model("initial-exec")));

/* --- what to expect ---------------------------------------------------------- */

static unsigned int state_of(const struct key *key, uint64_t version)
{
	if (key->kind == BRANCH)
		return version & 1;
	return (unsigned int)(version % NR_STATES * key->step % NR_STATES);
}

/* The tag of a result, once both arguments are taken out of it. */
static int state_of_tag(const struct key *key, uint64_t tag)
{
	if (key->kind == BRANCH)
		return tag == TAG_OFF ? 0 : tag == TAG_ON ? 1 : -1;
	if (key->kind == CALL_NOP && tag == 0)
		return NULL_STATE;
	if (key->kind != CALL_NOP && tag == TAG_RET0)
		return NULL_STATE;
	return tag >= 1 && tag <= NR_TARGETS ? (int)tag - 1 : -1;
}

static void mismatch(const struct key *key, const char *what, uint64_t result,
		     uint64_t a, uint64_t b, uint64_t s1, uint64_t s2)
{
	self->mismatches++;
	if (atomic_fetch_add(&shown, 1) >= MISMATCHES_SHOWN)
		return;
	printf("# MISMATCH %s: key %ld (%s), result %#llx for %#llx ^ %#llx,"
	       " counter %llu to %llu\n", what, (long)(key - keys),
	       kind_names[key->kind], (unsigned long long)result,
	       (unsigned long long)a, (unsigned long long)b, (unsigned long long)s1,
	       (unsigned long long)s2);
}

/*
 * The loads of the counter pair with the stores in update(): the first one says what was
 * complete before the call, the second one what had begun before it was over. x86 keeps
 * loads in order; the fence is for the compiler.
 */
static void checked_call(const struct key *key, stub_fn stub, uint64_t a, uint64_t b)
{
	uint64_t s1, s2, result, tag, first, last;
	unsigned int period = key->kind == BRANCH ? 2 : NR_STATES;
	int state;

	s1 = atomic_load_explicit(&key->seq, memory_order_acquire);
	result = stub(a, b);
	atomic_signal_fence(memory_order_seq_cst);
	s2 = atomic_load_explicit(&key->seq, memory_order_acquire);

	if (key->kind != CALL_NOP && result == 0) {
		tag = TAG_RET0;
	} else {
		result ^= a ^ b;
		tag = result >> TAG_SHIFT;
		if (result & ARG_MASK) {
			mismatch(key, "in an argument", result, a, b, s1, s2);
			return;
		}
	}
	state = state_of_tag(key, tag);
	if (state < 0) {
		mismatch(key, "in the target, which is none of this key", result, a, b,
			 s1, s2);
		return;
	}

	first = s1 / 2;
	last = (s2 + 1) / 2;
	if (first != last) {
		self->moving++;
		/* Any answer is right: it was old or new, or there were too many. */
		if (last - first >= period - 1) {
			self->wide += last - first > 1;
			return;
		}
	}
	/* Which version it was, modulo the period; is that one among them? */
	if (key->kind != BRANCH)
		state = (int)((unsigned int)state * key->undo % NR_STATES);
	if (((unsigned int)state + period - first % period) % period > last - first)
		mismatch(key, first == last ? "with an old target after the commit" :
			 "in the target", result, a, b, s1, s2);
}

static const struct key *pick_key(uint64_t random)
{
	uint32_t nr = atomic_load_explicit(&focus_nr, memory_order_relaxed);

	if (nr && (random & 7))
		return &keys[atomic_load_explicit(&focus[(random >> 8) % nr],
						  memory_order_relaxed)];
	return &keys[(random >> 8) % opt.keys];
}

static void call_some(uint64_t *random, unsigned int times)
{
	uint64_t r = stress_random(random);
	const struct key *key = pick_key(r);
	stub_fn stub = key->stubs[(r >> 3 & 31) % key->nr_sites];

	while (times--) {
		/* Never equal, so that no result is zero by chance. */
		uint64_t a = stress_random(random) & ARG_MASK;

		checked_call(key, stub, a, a ^ ((r & ARG_MASK) | 1));
	}
}

static void *caller(void *arg)
{
	self = arg;
	stress_die(jf_thread_register(), "jf_thread_register");
	while (!atomic_load_explicit(&stress_stop, memory_order_relaxed)) {
		/* Mostly a few calls and on; at times stay at one hot site. */
		unsigned int times = self->random & 0xf0 ? 4 : 400;

		call_some(&self->random, times);
		self->calls += times;
	}
	jf_thread_unregister();
	return NULL;
}

static void on_alarm(int sig)
{
	static __thread uint64_t random __attribute__((tls_model("initial-exec")));
	int saved = errno;

	(void)sig;
	if (self) {
		if (!random)
			random = stress_seed(opt.seed, 1000 + self->nr);
		call_some(&random, 4);
		self->signal_calls += 4;
	}
	errno = saved;
}

/* --- the stage ------------------------------------------------------------------ */

/* Far from each other, so that a mix of two displacements leads nowhere. */
static void make_targets(const uint8_t *center)
{
	static const long megabytes[] = { -900, -610, -330, -150, 130, 310, 650, 880 };
	const size_t nr_texts = sizeof(megabytes) / sizeof(megabytes[0]);
	struct jf_text *texts[8];
	size_t t, i;

	for (t = 0; t < nr_texts; t++) {
		texts[t] = jf_text_create(8192, center + megabytes[t] * (1L << 20));
		if (!texts[t])
			stress_die(-errno, "no memory for targets near the sites");
	}
	for (i = 0; i < NR_TARGETS; i++) {
		/* Low bytes differ, too. */
		uint8_t *at = (uint8_t *)jf_text_base(texts[i % nr_texts]) + 64 * i +
			      i * 0x155 % 0x400;
		struct jf_batch batch;
		uint8_t buf[32];
		struct jf_emit e;

		jf_emit_init(&e, buf, sizeof(buf), (uintptr_t)at);
		jf_emit_mov_rax(&e, (uint64_t)(i + 1) << TAG_SHIFT);
		jf_emit(&e, 3, 0x48, 0x31, 0xf8);	/* xor %rdi,%rax */
		jf_emit(&e, 4, 0x48, 0x31, 0xf0, 0xc3);	/* xor %rsi,%rax; ret */
		jf_batch_init(&batch);
		stress_die(jf_batch_code(&batch, at, buf, e.used), batch.error);
		stress_die(jf_batch_commit(&batch), "cannot write targets");
		targets[i] = at;
	}
}

/* Code in front of the site, by kind. */
static size_t prologue_size(enum kind kind)
{
	return kind == CALL_NOP || kind == CALL_RET0 ? 10 : 0;
}

static void emit_arguments(struct jf_emit *e)
{
	jf_emit(e, 6, 0x48, 0x89, 0xf8,		/* mov %rdi,%rax */
		0x48, 0x31, 0xf0);		/* xor %rsi,%rax */
}

static void emit_tagged_return(struct jf_emit *e, uint64_t tag)
{
	jf_emit_mov_rax(e, tag << TAG_SHIFT);
	jf_emit(e, 7, 0x48, 0x31, 0xf8, 0x48, 0x31, 0xf0, 0xc3);
}

/* A function around one site, in the state of version 0. */
static void emit_stub(struct jf_emit *e, struct key *key, unsigned int s)
{
	key->stubs[s] = (stub_fn)(uintptr_t)jf_emit_here(e);
	switch (key->kind) {
	case CALL_NOP:
	case CALL_RET0:
		jf_emit(e, 4, 0x48, 0x83, 0xec, 0x08);	/* sub $8,%rsp */
		emit_arguments(e);
		key->sites[s] = (uint8_t *)(uintptr_t)jf_emit_here(e);
		jf_emit_call(e, (uintptr_t)targets[state_of(key, 0)]);
		jf_emit(e, 5, 0x48, 0x83, 0xc4, 0x08, 0xc3);
		break;
	case TAIL:
		key->sites[s] = (uint8_t *)(uintptr_t)jf_emit_here(e);
		jf_emit_jmp(e, (uintptr_t)targets[state_of(key, 0)]);
		break;
	default:
		key->sites[s] = (uint8_t *)(uintptr_t)jf_emit_here(e);
		jf_emit_insn(e, jf_insn_nop());
		emit_tagged_return(e, TAG_OFF);
		key->label[s] = (void *)(uintptr_t)jf_emit_here(e);
		emit_tagged_return(e, TAG_ON);
		break;
	}
}

static void init_key(struct key *key, size_t i)
{
	unsigned int undo = 1;

	key->kind = i % NR_KINDS;
	key->step = 1 + (unsigned int)i % (NR_STATES - 1);
	while (undo * key->step % NR_STATES != 1)
		undo++;
	key->undo = undo;
	key->nr_sites = i % 8 == (i / 8) % 8 ? MAX_SITES : 1;
	if (key->kind == BRANCH)
		key->key = (struct jf_key)JF_KEY_INIT("branch", false);
	else
		key->func = (struct jf_func)JF_FUNC_INIT(kind_names[key->kind],
			targets[state_of(key, 0)],
			key->kind == CALL_NOP ? JF_NULL_NOP : JF_NULL_RET0);
}

static void make_sites(struct jf_text *text)
{
	struct jf_site_desc *descs = calloc(opt.keys * MAX_SITES, sizeof(*descs));
	uint8_t *buf = malloc(jf_text_size(text));
	struct jf_batch batch;
	struct jf_emit e;
	unsigned int s;
	size_t i;
	int err;

	if (!descs || !buf)
		stress_die(-ENOMEM, "sites");
	jf_emit_init(&e, buf, jf_text_size(text), (uintptr_t)jf_text_base(text));
	for (i = 0; i < opt.keys; i++) {
		struct key *key = &keys[i];

		init_key(key, i);
		for (s = 0; s < key->nr_sites; s++, nr_sites++) {
			uint64_t site = jf_emit_here(&e) + prologue_size(key->kind);
			struct jf_site_desc *d = &descs[nr_sites];

			if (nr_sites % PAGE_EVERY == PAGE_EVERY - 1)
				/* one to four bytes of it before the border */
				site = ((site + 8) | 4095) - nr_sites / PAGE_EVERY / 4 % 4;
			else
				/* every kind at every offset in its turn */
				site += (nr_sites / 4 - site) & 63;
			jf_emit_fill(&e, site - prologue_size(key->kind));
			emit_stub(&e, key, s);

			d->addr = key->sites[s];
			d->label = key->label[s];
			if (key->kind == BRANCH) {
				d->form = JF_SITE_BRANCH;
				d->key = &key->key;
			} else {
				d->form = key->kind == TAIL ? JF_SITE_TAIL : JF_SITE_CALL;
				d->func = &key->func;
			}
			lines_crossed += (site & 63) > 64 - JF_INSN_SIZE;
			pages_crossed += (site & 4095) > 4096 - JF_INSN_SIZE;
		}
	}
	stress_die(e.err, "sites");
	jf_batch_init(&batch);
	stress_die(jf_batch_code(&batch, jf_text_base(text), buf, e.used), batch.error);
	err = jf_batch_commit(&batch);
	stress_die(err, batch.error);
	stress_die(jf_sites_add(descs, nr_sites), "jf_sites_add");
	free(descs);
	free(buf);
}

/* --- the updater ------------------------------------------------------------------ */

static size_t batch_size(uint64_t r)
{
	size_t most;

	switch (r & 7) {
	case 0:
		most = 1000;
		break;
	case 1:
	case 2:
		most = 100;
		break;
	case 3:
		most = 16;
		break;
	default:
		return 1;
	}
	if (most > opt.max_batch)
		most = opt.max_batch;
	return 1 + (r >> 8) % most;
}

static void batch_key(struct jf_batch *batch, struct key *key, uint64_t version)
{
	unsigned int state = state_of(key, version);
	int err;

	if (key->kind == BRANCH)
		err = jf_key_batch_set(batch, &key->key, state);
	else
		err = dynfunc_batch_set(batch, &key->func,
					state == NULL_STATE ? NULL : targets[state]);
	stress_die(err, batch->error);
}

/*
 * The counters are odd before anything of the change can be executed, and even when all
 * of it is in place. Pairs with the loads in checked_call().
 */
static bool update(struct jf_batch *batch, uint32_t *order)
{
	uint64_t r = stress_random(&self->random);
	size_t i, nr = batch_size(r);
	struct jf_stats before, after;
	int err;

	jf_stats_get(&before);
	for (i = 0; i < nr; i++) {
		size_t other = i + stress_random(&self->random) % (opt.keys - i);
		uint32_t key = order[other];

		order[other] = order[i];
		order[i] = key;
		atomic_store_explicit(&focus[i], key, memory_order_relaxed);
	}
	atomic_store_explicit(&focus_nr, (uint32_t)nr, memory_order_relaxed);

	for (i = 0; i < nr; i++) {
		struct key *key = &keys[order[i]];
		uint64_t seq = atomic_load_explicit(&key->seq, memory_order_relaxed);

		batch_key(batch, key, seq / 2 + 1);
		atomic_store_explicit(&key->seq, seq + 1, memory_order_seq_cst);
	}
	err = jf_batch_commit(batch);
	if (err) {
		printf("# commit of %zu keys failed: %s (%s)\n", nr, strerror(-err),
		       batch->error);
		return false;
	}
	for (i = 0; i < nr; i++) {
		struct key *key = &keys[order[i]];

		atomic_fetch_add_explicit(&key->seq, 1, memory_order_seq_cst);
	}

	jf_stats_get(&after);
	if (after.sync_broadcasts - before.sync_broadcasts != stress_broadcasts_per_batch()) {
		printf("# %llu broadcasts for a batch of %zu\n",
		       (unsigned long long)(after.sync_broadcasts -
					    before.sync_broadcasts), nr);
		return false;
	}

	/* The updater sees what it did, too. */
	for (i = 0; i < nr && i < 16; i++) {
		struct key *key = &keys[order[i]];

		checked_call(key, key->stubs[i % key->nr_sites], r & ARG_MASK,
			     ~r & ARG_MASK);
		self->calls++;
	}
	/* Mostly one batch after the other, at times a rest. */
	if (!(r >> 40 & 3))
		usleep(50);
	return true;
}

static void usage(FILE *to)
{
	fputs("usage: stress [options]\n"
	      "Calls patched code on all cores while it is being patched, and checks every\n"
	      "call. Prints TAP; exit status 1 on any mismatch.\n"
	      "  --duration S      seconds to run (default 60)\n"
	      "  --threads N       callers (default: one for each core but one); try twice\n"
	      "                    the cores, too, to see an updater that gets preempted\n"
	      "  --keys N          functions and branches (default 2048)\n"
	      "  --max-batch N     most keys in a batch (default 1000)\n"
	      "  --signals HZ      timer signals a second whose handler calls sites\n"
	      "                    (default 1000, 0 for none)\n"
	      "  --seed N          repeat a choice of batches (default: the time)\n"
	      STRESS_BREAK_HELP
	      "^C ends it early and prints what was seen.\n", to);
}

static void parse_options(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ "duration", .number = &opt.seconds, .min = 1, .max = 1000000 },
		{ "threads", .number = &opt.callers, .min = 1, .max = 4096 },
		{ "keys", .number = &opt.keys, .min = 1, .max = MAX_KEYS },
		{ "max-batch", .number = &opt.max_batch, .min = 1, .max = MAX_KEYS },
		{ "signals", .number = &opt.signals, .max = 100000 },
		{ "seed", .number = &opt.seed, .max = ~0UL },
		STRESS_BREAK_OPTION
	};

	opt.seconds = 60;
	opt.callers = stress_cores() > 1 ? (unsigned long)stress_cores() - 1 : 1;
	opt.keys = 2048;
	opt.max_batch = 1000;
	opt.signals = 1000;
	opt.seed = (unsigned long)time(NULL);
	options_end(argv, options_parse(argc, argv, usage, STRESS_ROWS(rows)), usage);
	if (opt.max_batch > opt.keys)
		opt.max_batch = opt.keys;
}

/* Batch after batch, until the time is up. Tells whether all were fine. */
static bool update_all_the_time(struct stress_clock *clock)
{
	uint32_t *order = stress_order(opt.keys);
	struct jf_batch batch;
	struct jf_stats stats;
	bool fine = true;

	jf_batch_init(&batch);
	stress_clock_start(clock, opt.seconds);
	while (fine && !stress_time_is_up(clock)) {
		fine = update(&batch, order);
		if (!stress_report_is_due(clock))
			continue;
		jf_stats_get(&stats);
		fprintf(stderr, "# %3llu s: %llu batches, %llu INT3 hits\n",
			(unsigned long long)stress_seconds(clock),
			(unsigned long long)stats.batches,
			(unsigned long long)stats.int3_hits);
	}
	free(order);
	return fine;
}

/* Prints what was seen. Tells whether it is what must be. */
static bool report(const struct stress_worker *workers, const struct stress_clock *clock, bool fine)
{
	struct stress_worker sum = stress_sum(workers, opt.callers);
	struct jf_stats stats;

	jf_stats_get(&stats);
	printf("# %.1f s: %llu calls checked, %llu of them from signal handlers;"
	       " %llu met a commit, %llu of these spanned too many versions to tell\n",
	       (double)(clock->now - clock->start) / 1e9,
	       (unsigned long long)(sum.calls + sum.signal_calls),
	       (unsigned long long)sum.signal_calls, (unsigned long long)sum.moving,
	       (unsigned long long)sum.wide);
	stress_print_engine(&stats);
	printf("# the updater's own signal handlers made %llu calls\n",
	       (unsigned long long)workers[opt.callers].signal_calls);

	fine = fine && !sum.mismatches && sum.calls && stats.batches;
	printf("%s 1 - stress: %llu mismatches in %llu calls during %llu batches\n",
	       fine ? "ok" : "not ok", (unsigned long long)sum.mismatches,
	       (unsigned long long)(sum.calls + sum.signal_calls),
	       (unsigned long long)stats.batches);
	return fine;
}

int main(int argc, char **argv)
{
	struct stress_clock clock;
	struct stress_worker *workers;
	struct jf_text *text;
	bool fine;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse_options(argc, argv);
	stress_begin();
	keys = stress_alloc(opt.keys, sizeof(*keys), 64);
	focus = stress_alloc(opt.keys, sizeof(*focus), sizeof(*focus));
	text = jf_text_create(TEXT_SIZE, (const void *)main);
	if (!text)
		stress_die(-errno, "no memory for sites near the program");
	make_targets(jf_text_base(text));
	make_sites(text);
	printf("# %lu callers and 1 updater on %d cores, %lu s, seed %lu\n", opt.callers,
	       stress_cores(), opt.seconds, opt.seed);
	printf("# %lu keys, %zu sites; %zu lie across a cache line, %zu of them across a page\n",
	       opt.keys, nr_sites, lines_crossed, pages_crossed);

	workers = stress_workers(opt.callers, opt.seed);
	self = &workers[opt.callers];
	stress_start(workers, opt.callers, caller);
	stress_timer(opt.signals, on_alarm);
	fine = update_all_the_time(&clock);
	stress_end(workers, opt.callers);
	stress_timer(0, on_alarm);
	fine = report(workers, &clock, fine);
	/* Texts and sites end with the process. */
	return !fine ? 1 : stress_interrupted ? 130 : 0;
}
