// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc in a storm: callers on all cores, in ordinary text, against one
 * updater, every call checked; prints TAP.
 *
 * The updater takes keys, dynamic functions and a plugin's key through their
 * versions, in batches of one to some dozens. Version v leads to a state that
 * follows from v alone. A counter is 2v while v stands, 2v + 1 while the commit
 * to v + 1 is under way. A caller reads it before and after its call, and so
 * knows which versions it may have met (see below why that is fair):
 *
 *   2v, 2v		only v: all callers see a commit that returned
 *   2v, 2v + 1		v or v + 1
 *   2v + 1, 2w		v, v + 1, ... w
 *
 * Probes come and go, too. Each one's data lives from before it is registered until jf_quiesce()
 * has returned after it was unregistered, and then is poisoned: a probe that runs too long, or with
 * another's data, sees that. Each event runs the probes of one version of its tracepoint: each of
 * these once, by priority, and no other. Sites of each kind are at every offset to cache lines, and
 * across borders of pages (but for trampolines, which are aligned). In between the updater closes
 * the plugin and opens it again, under callers that are in read sections there, at times for so
 * long that only a wait keeps them right, and forks: the child makes changes of its own, to which
 * the parent is not to be a witness. Timer signals make calls from handlers, on top of whatever a
 * thread is doing, the updater in the middle of a commit included.
 *
 * Why the counter is a fair judge: the updater writes it after the last sync of the
 * commit. A caller whose instruction fetch ran ahead of its load of the counter was
 * interrupted by that sync before it could load the new value, and fetched again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <sys/wait.h>

#include <jumpfunc/stats.h>

#include "stress_common.h"
#include "test_lib_plugin.h"

#define KEYS		64
#define FUNCS		8
#define STATES		4	/* of a function */
#define TRACES		8
#define PROBES_MAX	20	/* of a tracepoint: some more than a chain takes */
#define POISON		0xdeadULL

/* m(00) to m(77): octal. */
#define X8(m, n)	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define X64(m)		X8(m, 0) X8(m, 1) X8(m, 2) X8(m, 3) X8(m, 4) X8(m, 5) X8(m, 6) X8(m, 7)
#define NOINLINE	static __attribute__((__noinline__))

static struct {
	unsigned long seconds, callers, signals, seed, opens, forks;
	const char *plugin;
} opt = { .seconds = 60, .signals = 1500, .opens = 20, .forks = 10 };

/* One more than the versions under way; on a cache line of its own. */
struct thing {
	_Alignas(64) _Atomic uint64_t seq;
	uint64_t version;	/* the updater's */
	bool chosen;
};

static struct thing key_things[KEYS], func_things[FUNCS], plugin_thing;
static __thread struct stress_worker *self __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t shown;

/* --- targets ----------------------------------------------------------------------- */

static DEFINE_JF_KEY_ARRAY_FALSE(keys, KEYS);

/*
 * Where a site was meant to be, and its instruction as long as nothing has changed. On aarch64
 * an instruction is aligned, and is never across anything.
 */
enum kind { UNLIKELY, LIKELY, CALL, TAIL, NR_KINDS };
struct place {
	const uint8_t	*addr;
	uint64_t	kind;
};
#ifdef __x86_64__
extern const struct place __start_stress_places[], __stop_stress_places[];

/*
 * The next instruction, but for the prefix of a branch, is @skip bytes after a multiple of @align.
 */
#define PLACE(align, skip, kind)					\
	__asm__ __volatile__(".balign %c0\n\t"				\
			     ".if %c1 - %c3\n\t.skip (%c1 - %c3) & (%c0 - 1), 0x90\n\t.endif\n" \
			     "773:\n\t"					\
			     ".pushsection stress_places, \"aw\", @progbits\n\t" \
			     ".balign 8\n\t.quad 773b + %c3, %c2\n\t"	\
			     ".popsection"				\
			     : : "i" (align), "i" (skip), "i" (kind), "i" ((kind) <= LIKELY))
#else
#define PLACE(align, skip, kind)	((void)0)
#endif
#define LINE(offset, kind)	PLACE(64, offset, kind)
/* So many bytes of it are before the border. */
#define PAGE(bytes, kind)	PLACE(4096, 4096 - (bytes), kind)

#define BRANCH(n, where, place)						\
NOINLINE int unlikely_##where##n(void) { place(0##n, UNLIKELY); return jf_branch_unlikely(&keys[0##n]); } \
NOINLINE int likely_##where##n(void) { place(0##n, LIKELY); return jf_branch_likely(&keys[0##n]); }
#define BRANCHES(n)	BRANCH(n, line, LINE)
#define PAGES(m)	m(1) m(2) m(3) m(4)
#define PAGE_BRANCHES(n) BRANCH(n, page, PAGE)
X64(BRANCHES)
PAGES(PAGE_BRANCHES)

/* Those across pages are in the places of two others each. */
#define BRANCH_ROW(n)	{ unlikely_line##n, likely_line##n },
#define PAGE_ROW(n)	{ unlikely_page##n, likely_page##n },
static int (*const branches[KEYS][2])(void) = { X64(BRANCH_ROW) };
static int (*const page_branches[][2])(void) = { { NULL, NULL }, PAGES(PAGE_ROW) };
#define NR_PAGES	4

/* The last one is in another object, mostly out of a jump's reach: labs(). */
NOINLINE long target0(long x) { return x + (1L << 40); }
NOINLINE long target1(long x) { return x + (2L << 40); }
NOINLINE long target2(long x) { return x + (3L << 40); }
static long (*const targets[STATES])(long) = { target0, target1, target2, labs };

#define FUNC(n)		DEFINE_DYNFUNC(func_##n, target0);
X8(FUNC, 0)

/* Two digits: the last one is the function's. */
#define ROW8(m, a)	m(a, 0) m(a, 1) m(a, 2) m(a, 3) m(a, 4) m(a, 5) m(a, 6) m(a, 7)
#define ALL88(m)	ROW8(m, 0) ROW8(m, 1) ROW8(m, 2) ROW8(m, 3) ROW8(m, 4) ROW8(m, 5) ROW8(m, 6) ROW8(m, 7)
#ifdef __clang__
#define TAIL_CALLS
#else
#define TAIL_CALLS	__attribute__((__optimize__("O2")))
#endif
#define CALL_BOTH(a, b, where, place)					\
NOINLINE long call_##where##a##b(long x) { place(0##a##b, CALL); return dynfunc_call(func_0##b, x) + 1; } \
TAIL_CALLS NOINLINE long tail_##where##a##b(long x) { place(0##a##b, TAIL); return dynfunc_call(func_0##b, x); }
#define FUNC_CALLS(a, b)	CALL_BOTH(a, b, line, LINE)
#define PAGE_CALLS(n)	CALL_BOTH(0, n, page, PAGE)
ALL88(FUNC_CALLS)
PAGES(PAGE_CALLS)

#define CALL_ROW(a, b)	{ tail_line##a##b, call_line##a##b },
#define PAGE_CALL_ROW(n) { tail_page0##n, call_page0##n },
#define NAME_ROW(n)	dynfunc_func_##n,
static long (*const calls[8 * FUNCS][2])(long) = { ALL88(CALL_ROW) };
static long (*const page_calls[][2])(long) = { { NULL, NULL }, PAGES(PAGE_CALL_ROW) };
static long (*const names[FUNCS])(long) = { X8(NAME_ROW, 0) };
#define FUNC_POINTER(n)	&__jf_func_func_##n,
static struct jf_func *const funcs[FUNCS] = { X8(FUNC_POINTER, 0) };

#ifdef __x86_64__
/* Check that each offset has the intended site. Otherwise the storm shows less than it says. */
static bool places_are_right(void)
{
	uint64_t offsets[NR_KINDS] = { 0 };
	unsigned int lines = 0, pages = 0, wrong = 0, k;
	const struct place *p;

	for (p = __start_stress_places; p < __stop_stress_places; p++) {
		unsigned int at = (uintptr_t)p->addr & 63;

		offsets[p->kind] |= 1ULL << at;
		lines += at > 59;
		pages += ((uintptr_t)p->addr & 4095) > 4091;
		switch (*p->addr) {
		case 0x0f: case 0xa9:	/* nop, and a guard's nop */
			wrong += p->kind != UNLIKELY && p->kind != LIKELY;
			break;
		case 0xe8:
			wrong += p->kind != CALL;
			break;
		case 0xe9:
			wrong += p->kind == CALL;
			break;
		default:
			wrong++;
		}
	}
	for (k = 0; k < NR_KINDS; k++)
		wrong += offsets[k] != ~0ULL;
	printf("# %zu sites at all offsets to a cache line: %u across a line, %u of them across a page\n",
	       (size_t)(p - __start_stress_places), lines, pages);
	if (wrong || pages < NR_KINDS * NR_PAGES)
		printf("# MISMATCH: %u sites or kinds are not where they should be\n", wrong);
	return !wrong && pages >= NR_KINDS * NR_PAGES;
}
#else
static bool places_are_right(void)
{
	return true;
}
#endif

#define TRACE(n)							\
DECLARE_JF_TRACE(trace_##n, JF_PROTO(struct stress_worker *w, long a, int b), JF_ARGS(w, a, b)); \
DEFINE_JF_TRACE(trace_##n);						\
NOINLINE void fire_##n(struct stress_worker *w, long a, int b) { jf_trace_trace_##n(w, a, b); }
X8(TRACE, 0)
#define TRACE_ROW(n)	{ fire_##n, register_jf_trace_prio_trace_##n, unregister_jf_trace_trace_##n },
static const struct {
	void (*fire)(struct stress_worker *w, long a, int b);
	int (*add)(__jf_probe_trace_00 probe, void *data, int prio);
	int (*del)(__jf_probe_trace_00 probe, void *data);
} traces[TRACES] = { X8(TRACE_ROW, 0) };

static _Atomic(const struct plugin *) plugin;

/* The plugin imports these. */
static int host_target(int x) { return x; }
DEFINE_JF_KEY_FALSE(host_key);
EXPORT_JF_KEY(host_key);
DEFINE_DYNFUNC(host_op, host_target);
EXPORT_DYNFUNC(host_op);
DEFINE_JF_KEY_ARRAY_FALSE(host_keys, 3);
EXPORT_JF_KEY_ARRAY(host_keys);
DEFINE_JF_TRACE(host_event);
EXPORT_JF_TRACE(host_event);

/* --- expectations ------------------------------------------------------------------ */

static void mismatch(const char *what, size_t i, long got, uint64_t s1, uint64_t s2)
{
	self->mismatches++;
	if (atomic_fetch_add(&shown, 1) < 10)
		printf("# MISMATCH %s %zu: %#lx, counter %llu to %llu\n", what, i, got,
		       (unsigned long long)s1, (unsigned long long)s2);
}

/* True if one of the versions from s1 to s2 was in @state, one of @states. */
static bool may_be(uint64_t s1, uint64_t s2, unsigned int state, unsigned int states)
{
	uint64_t first = s1 / 2, last = (s2 + 1) / 2;

	if (first != last)
		self->moving++;
	if (last - first >= states - 1) {
		self->wide += last - first > 1;
		return true;
	}
	return (state + states - first % states) % states <= last - first;
}

/*
 * Pairs with begin_change() and end_change(): a complete change is seen in the call that follows.
 */
static uint64_t load(const struct thing *t)
{
	uint64_t seq = atomic_load_explicit(&t->seq, memory_order_acquire);

	atomic_signal_fence(memory_order_seq_cst);
	return seq;
}

static void call_branch(size_t i, int likely, bool page)
{
	uint64_t s1 = load(&key_things[i]);
	int got = (page ? page_branches : branches)[i][likely]();
	uint64_t s2;

	/* The call first. Pairs with begin_change(): a change that it met has begun. */
	atomic_signal_fence(memory_order_seq_cst);
	s2 = load(&key_things[i]);
	if ((got != 0 && got != 1) || !may_be(s1, s2, (unsigned int)got, 2))
		mismatch("key", i, got, s1, s2);
}

/* @at: which call of it; by its name else. */
static void call_func(size_t i, unsigned int at, int by, long x)
{
	uint64_t s1 = load(&func_things[i]), s2;
	long got = at < 8 ? calls[8 * at + i][by](x) - by - x :
		   at == 8 && i && i <= NR_PAGES ? page_calls[i][by](x) - by - x : names[i](x) - x;
	unsigned int state;

	/* The call first. Pairs with begin_change(): a change that it met has begun. */
	atomic_signal_fence(memory_order_seq_cst);
	s2 = load(&func_things[i]);
	state = got ? (unsigned int)(got >> 40) - 1 : STATES - 1;
	if (got & ((1L << 40) - 1) || state >= STATES || !may_be(s1, s2, state, STATES))
		mismatch("function", i, got, s1, s2);
}

/* The thread that closes the plugin waits for us: plugin_close(). At times that takes long. */
static void call_plugin(void)
{
	static const struct timespec nap = { .tv_nsec = 1000000 };
	static __thread unsigned int nr;
	const struct plugin *p;
	uint64_t s1, s2;
	int got;

	jf_read_lock();
	p = atomic_load(&plugin);
	if (p) {
		if (!(++nr % 2048))
			nanosleep(&nap, NULL);
		s1 = load(&plugin_thing);
		got = p->branch();
		s2 = load(&plugin_thing);
		if ((got != 0 && got != 1) || !may_be(s1, s2, (unsigned int)got, 2))
			mismatch("plugin", 0, got, s1, s2);
	}
	jf_read_unlock();
}

struct probe_data {
	uint64_t magic, since;	/* registered as number so and so */
	unsigned int trace, slot;
	int prio;
};

static struct probe_data *probe_data[TRACES][PROBES_MAX];

/* Which probes the latest versions of a tracepoint have, one bit for each. */
#define HISTORY		64
static struct thing trace_things[TRACES];
static _Atomic uint32_t masks[TRACES][HISTORY];

/* An event, as its probes report it. */
struct event {
	long check;
	uint32_t mask;
	bool twice, disordered;
	int prio;
	uint64_t since;
};
#define CHECK_EVENT	0x5eedL

static void probe(void *data, struct stress_worker *w, long a, int b)
{
	const struct probe_data *d = data;
	struct event *e = (struct event *)(uintptr_t)a;
	unsigned int stay;

	w->probe_calls++;
	if (d->magic != ~(uint64_t)(uintptr_t)data || d->trace != (unsigned int)b || e->check != CHECK_EVENT) {
		mismatch("probe", d->trace, a, d->magic, (uint64_t)b);
		return;
	}
	/* At times it stays, so that a quiesce that does not wait is seen. */
	for (stay = w->probe_calls & 2047 ? 0 : 1000; stay; stay--)
		__asm__ volatile("" ::: "memory");
	if (*(const volatile uint64_t *)&d->magic == POISON)
		mismatch("a probe whose data is dead, tracepoint", d->trace, a, d->magic, (uint64_t)b);
	e->twice |= e->mask >> d->slot & 1;
	e->disordered |= e->mask && (d->prio > e->prio || (d->prio == e->prio && d->since < e->since));
	e->mask |= 1U << d->slot;
	e->prio = d->prio;
	e->since = d->since;
}

/* Exactly the probes of one version, which was there during the event, and in their order. */
static void call_trace(size_t t)
{
	struct event e = { .check = CHECK_EVENT };
	uint64_t s1 = load(&trace_things[t]), s2, v;

	traces[t].fire(self, (long)(uintptr_t)&e, (int)t);
	/* The event first. Pairs with begin_change(): a change that it met has begun. */
	atomic_signal_fence(memory_order_seq_cst);
	s2 = load(&trace_things[t]);
	if (e.twice || e.disordered)
		mismatch(e.twice ? "a probe that ran twice, tracepoint" : "order of probes, tracepoint", t,
			 (long)e.mask, s1, s2);
	self->moving += s1 / 2 != (s2 + 1) / 2;
	for (v = s1 / 2; v <= (s2 + 1) / 2; v++)
		/* Pairs with probe_change(), by way of the counter: this version has begun. */
		if (atomic_load_explicit(&masks[t][v % HISTORY], memory_order_relaxed) == e.mask)
			return;
	/* So many may have come since that the history is another one. */
	if (load(&trace_things[t]) / 2 - s1 / 2 >= HISTORY - 2)
		self->wide++;
	else
		mismatch("probes that ran, tracepoint", t, (long)e.mask, s1, s2);
}

static void call_some(uint64_t *random, unsigned int times)
{
	uint64_t r = stress_random(random);
	size_t i = r >> 8;

	while (times--) {
		call_branch(i % KEYS, r >> 3 & 1, false);
		call_branch(1 + i % NR_PAGES, r >> 3 & 1, true);
		call_func(i % FUNCS, i / FUNCS % 10, r >> 4 & 1, (long)(r >> 30));
		call_trace(i % TRACES);
		if (!(r & 7))
			call_plugin();
		i++;
	}
}

static void *caller(void *arg)
{
	self = arg;
	while (!atomic_load_explicit(&stress_stop, memory_order_relaxed)) {
		/* Mostly a few calls and on; at times stay. */
		unsigned int times = self->random & 0xf0 ? 4 : 400;

		call_some(&self->random, times);
		self->calls += 4 * times;
	}
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
		self->signal_calls += 16;
	}
	errno = saved;
}

/* --- the updater ------------------------------------------------------------------- */

static uint64_t changes, commits, opened, forked;
static void *handle;

static void begin_change(struct thing *t)
{
	t->chosen = true;
	atomic_store(&t->seq, 2 * t->version + 1);
}

static void end_change(struct thing *t)
{
	if (!t->chosen)
		return;
	t->chosen = false;
	t->version++;
	atomic_store(&t->seq, 2 * t->version);
	changes++;
}

static void commit_some(uint64_t r)
{
	unsigned int n = 1 + (r >> 40) % ((r & 15) ? 4 : 40), i;
	const struct plugin *p = atomic_load(&plugin);
	struct jf_batch b;

	jf_batch_init(&b);
	for (i = 0; i < n; i++) {
		size_t k = (r >> 8) + 7 * i;
		struct thing *t = &key_things[k % KEYS];

		if (!t->chosen) {
			begin_change(t);
			jf_key_batch_set(&b, &keys[k % KEYS], (t->version + 1) & 1);
		}
		t = &func_things[k / 3 % FUNCS];
		if (!t->chosen && (r >> 5 & 1)) {
			begin_change(t);
			__jf_batch_set_func(&b, funcs[k / 3 % FUNCS],
					    (void *)(uintptr_t)targets[(t->version + 1) % STATES]);
		}
	}
	if (p && (r >> 6 & 1)) {
		begin_change(&plugin_thing);
		jf_key_batch_set(&b, p->key, (plugin_thing.version + 1) & 1);
	}
	stress_die(jf_batch_commit(&b), "jf_batch_commit");
	commits++;
	for (i = 0; i < KEYS; i++)
		end_change(&key_things[i]);
	for (i = 0; i < FUNCS; i++)
		end_change(&func_things[i]);
	end_change(&plugin_thing);
}

/* Another version begins, in which this probe is, or is no longer. */
static void probe_change(unsigned int t, unsigned int slot)
{
	uint64_t v = trace_things[t].version;
	uint32_t mask = atomic_load_explicit(&masks[t][v % HISTORY], memory_order_relaxed) ^ 1U << slot;

	/* Before the counter, whose load in call_trace() is before that of the history. */
	atomic_store_explicit(&masks[t][(v + 1) % HISTORY], mask, memory_order_relaxed);
	begin_change(&trace_things[t]);
}

/* Many come, or many go, and their data with them. */
static void probes_change(uint64_t r)
{
	unsigned int t = (r >> 8) % TRACES, n = 1 + (r >> 20) % PROBES_MAX, i, at = 0;
	static uint64_t since;
	struct probe_data *gone[PROBES_MAX];

	for (i = 0; i < PROBES_MAX && n; i++) {
		struct probe_data *d = probe_data[t][i];

		if (r & 1 ? !d : !!d)
			continue;
		n--;
		probe_change(t, i);
		if (r & 1) {
			stress_die(traces[t].del(probe, d), "unregister");
			end_change(&trace_things[t]);
			gone[at++] = d;
			probe_data[t][i] = NULL;
			continue;
		}
		d = stress_alloc(1, sizeof(*d), 16);
		d->magic = ~(uint64_t)(uintptr_t)d;
		d->trace = t;
		d->slot = i;
		d->prio = (int)(stress_random(&self->random) >> 30 & 3);
		d->since = ++since;
		stress_die(traces[t].add(probe, d, d->prio), "register");
		end_change(&trace_things[t]);
		probe_data[t][i] = d;
	}
	if (!at)
		return;
	jf_quiesce();
	while (at--) {
		*(volatile uint64_t *)&gone[at]->magic = POISON;
		free(gone[at]);
	}
}

static void plugin_open(void)
{
	const struct plugin *p;

	handle = dlopen(opt.plugin, RTLD_NOW | RTLD_LOCAL);
	p = handle ? dlsym(handle, "plugin") : NULL;
	if (!p) {
		printf("Bail out! %s\n", dlerror());
		exit(1);
	}
	plugin_thing.version = 0;
	atomic_store(&plugin_thing.seq, 0);
	atomic_store(&plugin, p);
	opened++;
}

/*
 * The pointer is this program's: the library does not know that it has changed. So sections that
 * began before are waited for here, or something is replaced after it, for which dlclose() waits.
 */
static void plugin_close(void)
{
	atomic_store(&plugin, NULL);
	if (opened & 1)
		jf_quiesce();
	else
		commit_some(stress_random(&self->random));
	if (handle)
		dlclose(handle);
	handle = NULL;
}

/* The child's changes are its own, whatever the threads were doing. */
static int child(void)
{
	int i;

	self->mismatches = 0;
	stress_timer(0, SIG_IGN);
	for (i = 0; i < 20; i++)
		commit_some(stress_random(&self->random));
	for (i = 0; i < 20; i++)
		call_some(&self->random, 8);
	return self->mismatches ? 1 : 0;
}

static void fork_one(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child());
	if (pid < 0)
		stress_die(-errno, "fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	forked++;
	if (status)
		mismatch("child", forked, status, 0, 0);
}

static void update(struct stress_clock *clock)
{
	uint64_t opens = 0, forks = 0;

	stress_clock_start(clock, opt.seconds);
	while (!stress_time_is_up(clock)) {
		uint64_t ns = clock->now - clock->start, r = stress_random(&self->random);

		commit_some(r);
		if (!(r >> 50 & 7))
			probes_change(stress_random(&self->random));
		if (opt.opens && ns * opt.opens / 1000000000ULL >= opens) {
			opens++;
			plugin_close();
			plugin_open();
		}
		if (opt.forks && ns * opt.forks / 1000000000ULL >= forks) {
			forks++;
			fork_one();
		}
		if (stress_report_is_due(clock))
			printf("# %llu s: %llu changes in %llu commits\n",
			       (unsigned long long)stress_seconds(clock),
			       (unsigned long long)changes, (unsigned long long)commits);
		fflush(stdout);
	}
}

/* --- main ----------------------------------------------------------------------- */

static void usage(FILE *out)
{
	fputs("usage: stress-lib [options] [PLUGIN]\n"
	      "Callers of sites in ordinary text on all cores against one updater.\n"
	      "  --duration SECONDS  60\n"
	      "  --callers NUMBER    one less than there are cores, but one at least\n"
	      "  --signals HZ        timer signals, whose handlers call; 1500, 0: none\n"
	      "  --opens HZ          dlclose and dlopen of PLUGIN so often; 20\n"
	      "  --forks HZ          forks; 10, 0: none\n"
	      "  --seed NUMBER       default: by the clock\n"
	      STRESS_BREAK_HELP, out);
}

static const struct option_row rows[] = {
	{ "duration", .number = &opt.seconds, .min = 1, .max = 1000000 },
	{ "callers", .number = &opt.callers, .min = 1, .max = 1000 },
	{ "signals", .number = &opt.signals, .min = 0, .max = 100000 },
	{ "opens", .number = &opt.opens, .min = 0, .max = 100000 },
	{ "forks", .number = &opt.forks, .min = 0, .max = 100000 },
	{ "seed", .number = &opt.seed, .min = 0, .max = ~0UL },
	STRESS_BREAK_OPTION
};

static int judge(const struct stress_worker *sum, const struct stress_clock *clock, bool placed)
{
	struct jf_stats s;
	bool good;

	jf_stats_get(&s, sizeof(s));
	good = !sum->mismatches && sum->calls && changes && !s.refused && placed;
	printf("# %.1f s: %llu calls checked, %llu of them from signal handlers, running %llu probes;"
	       " %llu met a commit\n",
	       (double)(clock->now - clock->start) / 1e9,
	       (unsigned long long)(sum->calls + sum->signal_calls),
	       (unsigned long long)sum->signal_calls,
	       (unsigned long long)sum->probe_calls, (unsigned long long)sum->moving);
	printf("# %llu changes in %llu commits, %llu sites patched, %llu broadcasts, %llu quiesces,"
	       " %llu INT3s met\n", (unsigned long long)changes, (unsigned long long)commits,
	       (unsigned long long)s.patched, (unsigned long long)s.syncs,
	       (unsigned long long)s.quiesces, (unsigned long long)s.traps);
	printf("# the plugin was opened %llu times, the process forked %llu times;"
	       " writer %s, form %s %s\n", (unsigned long long)opened,
	       (unsigned long long)forked, s.writer, s.form, s.why);
	printf("%sok 1 - %llu calls, %llu changes, %llu mismatches\n", good ? "" : "not ",
	       (unsigned long long)(sum->calls + sum->signal_calls),
	       (unsigned long long)changes, (unsigned long long)sum->mismatches);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct stress_worker *workers, sum;
	struct stress_clock clock;
	bool placed;
	int at = options_parse(argc, argv, usage, STRESS_ROWS(rows));

	if (at < argc)
		opt.plugin = argv[at++];
	options_end(argv, at == argc ? argc : at, usage);
	if (!opt.plugin)
		opt.opens = 0;
	if (!opt.callers)
		opt.callers = stress_cores() > 1 ? (unsigned long)stress_cores() - 1 : 1;
	if (!opt.seed)
		opt.seed = (unsigned long)time(NULL);
	stress_begin();
	placed = places_are_right();
	printf("# %lu callers and 1 updater on %d cores, %lu s, seed %lu\n", opt.callers,
	       stress_cores(), opt.seconds, opt.seed);
	workers = stress_workers(opt.callers, opt.seed);
	self = &workers[opt.callers];
	stress_start(workers, opt.callers, caller);
	stress_timer(opt.signals, on_alarm);
	update(&clock);
	stress_timer(0, SIG_IGN);
	stress_end(workers, opt.callers);
	plugin_close();
	sum = stress_sum(workers, opt.callers);
	return judge(&sum, &clock, placed);
}
