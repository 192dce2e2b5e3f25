// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * libjumpfunc in a storm: callers on all cores, in ordinary text, against one
 * updater, every call checked; prints TAP.
 *
 * The updater takes keys, dynamic functions and a plugin's key through their
 * versions, in batches of one to some dozens. Version v leads to a state that
 * follows from v alone. A counter is 2v while v stands, 2v + 1 while the commit
 * to v + 1 is under way. A caller reads it before and after its call, and so
 * knows which versions it may have met (stress.c says why that is fair):
 *
 *   2v, 2v		only v: a commit that returned is seen by everybody
 *   2v, 2v + 1		v or v + 1
 *   2v + 1, 2w		v, v + 1, ... w
 *
 * Probes come and go, too. Each one's data lives from before it is registered
 * until jf_quiesce() has returned after it was unregistered, and then is poisoned:
 * a probe that runs too long, or with another's data, sees that. In between the
 * updater closes the plugin and opens it again, under callers that are in read
 * sections there, and forks: the child makes changes of its own, to which the
 * parent is not to be a witness. Timer signals make calls from handlers, on top of
 * whatever a thread is doing, the updater in the middle of a commit included.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define JF_STRESS_LIB
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

/* --- what is called ---------------------------------------------------------------- */

static DEFINE_JF_KEY_ARRAY_FALSE(keys, KEYS);

#define BRANCHES(n)							\
NOINLINE int unlikely_##n(void) { return jf_branch_unlikely(&keys[0##n]); } \
NOINLINE int likely_##n(void) { return jf_branch_likely(&keys[0##n]); }
X64(BRANCHES)

#define BRANCH_ROW(n)	{ unlikely_##n, likely_##n },
static int (*const branches[KEYS][2])(void) = { X64(BRANCH_ROW) };

/* The last one is in another object, mostly out of a jump's reach: labs(). */
NOINLINE long target0(long x) { return x + (1L << 40); }
NOINLINE long target1(long x) { return x + (2L << 40); }
NOINLINE long target2(long x) { return x + (3L << 40); }
static long (*const targets[STATES])(long) = { target0, target1, target2, labs };

#define FUNC(n)		DEFINE_DYNFUNC(func_##n, target0);
X8(FUNC, 0)
#define FUNC_CALL(n)	NOINLINE long call_##n(long x) { return dynfunc_call(func_##n, x) + 1; }
X8(FUNC_CALL, 0)
#define FUNC_ROW(n)	{ dynfunc_func_##n, call_##n },
static long (*const calls[FUNCS][2])(long) = { X8(FUNC_ROW, 0) };
#define FUNC_POINTER(n)	&__jf_func_func_##n,
static struct jf_func *const funcs[FUNCS] = { X8(FUNC_POINTER, 0) };

#define TRACE(n)							\
DECLARE_JF_TRACE(trace_##n, PROTO(struct stress_worker *w, long a, int b), ARGS(w, a, b)); \
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

/* --- what is expected -------------------------------------------------------------- */

static void mismatch(const char *what, size_t i, long got, uint64_t s1, uint64_t s2)
{
	self->mismatches++;
	if (atomic_fetch_add(&shown, 1) < 10)
		printf("# MISMATCH %s %zu: %#lx, counter %llu to %llu\n", what, i, got,
		       (unsigned long long)s1, (unsigned long long)s2);
}

/* Was one of the versions from s1 to s2 in @state, one of @states? */
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

/* Pairs with begin_change() and end_change(): what was complete is seen in the call behind. */
static uint64_t load(const struct thing *t)
{
	uint64_t seq = atomic_load_explicit(&t->seq, memory_order_acquire);

	atomic_signal_fence(memory_order_seq_cst);
	return seq;
}

static void call_branch(size_t i, int likely)
{
	uint64_t s1 = load(&key_things[i]);
	int got = branches[i][likely]();
	uint64_t s2;

	/* The call first. Pairs with begin_change(): a change that it met has begun. */
	atomic_signal_fence(memory_order_seq_cst);
	s2 = load(&key_things[i]);
	if ((got != 0 && got != 1) || !may_be(s1, s2, (unsigned int)got, 2))
		mismatch("key", i, got, s1, s2);
}

static void call_func(size_t i, int by, long x)
{
	uint64_t s1 = load(&func_things[i]), s2;
	long got = calls[i][by](x) - by - x;
	unsigned int state;

	/* The call first. Pairs with begin_change(): a change that it met has begun. */
	atomic_signal_fence(memory_order_seq_cst);
	s2 = load(&func_things[i]);
	state = got ? (unsigned int)(got >> 40) - 1 : STATES - 1;
	if (got & ((1L << 40) - 1) || state >= STATES || !may_be(s1, s2, state, STATES))
		mismatch("function", i, got, s1, s2);
}

/* Whoever closes it waits for us. */
static void call_plugin(void)
{
	const struct plugin *p;
	uint64_t s1, s2;
	int got;

	jf_read_lock();
	p = atomic_load(&plugin);
	if (p) {
		s1 = load(&plugin_thing);
		got = p->branch();
		s2 = load(&plugin_thing);
		if ((got != 0 && got != 1) || !may_be(s1, s2, (unsigned int)got, 2))
			mismatch("plugin", 0, got, s1, s2);
	}
	jf_read_unlock();
}

struct probe_data {
	uint64_t magic;
	unsigned int trace;
	bool registered;
};

static struct probe_data *probe_data[TRACES][PROBES_MAX];

static void probe(void *data, struct stress_worker *w, long a, int b)
{
	const struct probe_data *d = data;

	w->probe_calls++;
	if (d->magic != ~(uint64_t)(uintptr_t)data || d->trace != (unsigned int)b || a != -7)
		mismatch("probe", d->trace, a, d->magic, (uint64_t)b);
}

static void call_some(uint64_t *random, unsigned int times)
{
	uint64_t r = stress_random(random);
	size_t i = r >> 8;

	while (times--) {
		call_branch(i % KEYS, r >> 3 & 1);
		call_func(i % FUNCS, r >> 4 & 1, (long)(r >> 30));
		traces[i % TRACES].fire(self, -7, (int)(i % TRACES));
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
		self->calls += 3 * times;
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
		self->signal_calls += 12;
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

/* Many come, or many go, and their data with them. */
static void probes_change(uint64_t r)
{
	unsigned int t = (r >> 8) % TRACES, n = 1 + (r >> 20) % PROBES_MAX, i, at = 0;
	struct probe_data *gone[PROBES_MAX];

	for (i = 0; i < PROBES_MAX && n; i++) {
		struct probe_data *d = probe_data[t][i];

		if (r & 1 ? !d : !!d)
			continue;
		n--;
		changes++;
		if (r & 1) {
			stress_die(traces[t].del(probe, d), "unregister");
			gone[at++] = d;
			probe_data[t][i] = NULL;
			continue;
		}
		d = stress_alloc(1, sizeof(*d), 16);
		d->magic = ~(uint64_t)(uintptr_t)d;
		d->trace = t;
		stress_die(traces[t].add(probe, d, (int)(r >> 30 & 3)), "register");
		probe_data[t][i] = d;
	}
	if (!at)
		return;
	jf_quiesce();
	while (at--) {
		gone[at]->magic = POISON;
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

static void plugin_close(void)
{
	atomic_store(&plugin, NULL);
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

static int judge(const struct stress_worker *sum, const struct stress_clock *clock)
{
	struct jf_stats s;
	bool good;

	jf_stats_get(&s, sizeof(s));
	good = !sum->mismatches && sum->calls && changes && !s.refused;
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
	return judge(&sum, &clock);
}
