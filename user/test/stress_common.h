/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The common part of the stress programs: how they begin, random numbers, a clean end
 * on ^C, a report when a thread crashes in patched code, progress.
 */
#ifndef JF_STRESS_COMMON_H
#define JF_STRESS_COMMON_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "options.h"

static _Atomic bool stress_stop;
static volatile sig_atomic_t stress_interrupted;

static inline uint64_t stress_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* xorshift64*: small and quick; a state must not be zero. */
static inline uint64_t stress_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dULL;
}

static inline uint64_t stress_seed(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	return (z ^ z >> 27) | 1;
}

static void stress_on_interrupt(int sig)
{
	(void)sig;
	if (stress_interrupted)
		_exit(130);
	stress_interrupted = 1;
	atomic_store(&stress_stop, true);
}

static inline void stress_write(const char *text)
{
	ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));

	(void)ignored;
}

static inline void stress_write_hex(uint64_t v)
{
	char buf[19] = "0x";
	int i;

	for (i = 0; i < 16; i++)
		buf[2 + i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
	buf[18] = '\0';
	stress_write(buf);
}

/*
 * A caller that executed something that was neither the old nor the new
 * instruction mostly ends here. There is no way on from that.
 */
static void stress_on_crash(int sig, siginfo_t *info, void *context)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	ucontext_t *uc = context;

	if (atomic_flag_test_and_set(&once))
		for (;;)
			pause();
	stress_write("# a thread was led astray: ");
	stress_write(sig == SIGSEGV ? "SIGSEGV" : sig == SIGILL ? "SIGILL" :
		     sig == SIGTRAP ? "SIGTRAP" : sig == SIGBUS ? "SIGBUS" : "SIGFPE");
	stress_write(" at ");
#ifdef __x86_64__
	stress_write_hex((uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
#else
	stress_write_hex((uint64_t)uc->uc_mcontext.pc);
#endif
	stress_write(", address ");
	stress_write_hex((uint64_t)(uintptr_t)info->si_addr);
	stress_write("\nnot ok 1 - crash in patched code\n");
	_exit(1);
}

/* Before the library has its handler, so that only INT3s that no site has come here. */
static inline void stress_catch_signals(void)
{
	static const int crashes[] = { SIGSEGV, SIGILL, SIGBUS, SIGFPE, SIGTRAP };
	struct sigaction crash = { .sa_flags = SA_SIGINFO };
	struct sigaction interrupt = { .sa_flags = SA_RESTART };
	size_t i;

	crash.sa_sigaction = stress_on_crash;
	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &crash, NULL);
	interrupt.sa_handler = stress_on_interrupt;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &interrupt, NULL);
}

/* Lets @handler run on SIGALRM so many times a second; 0 stops it. */
static inline void stress_timer(unsigned long hz, void (*handler)(int))
{
	struct sigaction action = { .sa_flags = SA_RESTART };
	struct itimerval timer = { 0 };

	action.sa_handler = handler;
	sigaction(SIGALRM, &action, NULL);
	if (hz) {
		timer.it_interval.tv_usec = (suseconds_t)(hz == 1 ? 999999 : 1000000 / hz);
		timer.it_value = timer.it_interval;
	}
	setitimer(ITIMER_REAL, &timer, NULL);
}

static inline void stress_print_cpu(void)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10)) {
			printf("# CPU: %s", strchr(line, ':') + 2);
			break;
		}
	if (f)
		fclose(f);
}

static inline int stress_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (int)n : 1;
}

static inline void stress_die(int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %s\n", what, strerror(-err));
	exit(1);
}

#include "../lib/break.h"

#ifdef JF_BREAK
static const struct {
	const char *name;
	enum jf_break step;
	const char *what;
} stress_breaks[] = {
	{ "sync1", JF_BREAK_SYNC1, "no broadcast after the INT3s" },
	{ "sync2", JF_BREAK_SYNC2, "no broadcast after the tails" },
	{ "sync3", JF_BREAK_SYNC3, "no broadcast after the first bytes" },
	{ "int3", JF_BREAK_INT3, "no INT3 while the bytes change" },
	{ "order", JF_BREAK_ORDER, "first bytes before the tails" },
	{ "publish", JF_BREAK_PUBLISH, "handler told only when all is over" },
	{ "quiesce", JF_BREAK_QUIESCE, "quiesce does not wait" },
};

static inline void stress_set_break(char *name)
{
	size_t i;

	for (i = 0; i < sizeof(stress_breaks) / sizeof(stress_breaks[0]); i++)
		if (!strcmp(name, stress_breaks[i].name)) {
			jf_break = stress_breaks[i].step;
			printf("# BROKEN ON PURPOSE: %s\n", stress_breaks[i].what);
			return;
		}
	fprintf(stderr, "--break: one of");
	for (i = 0; i < sizeof(stress_breaks) / sizeof(stress_breaks[0]); i++)
		fprintf(stderr, " %s", stress_breaks[i].name);
	fputc('\n', stderr);
	exit(2);
}

#define STRESS_BREAK_HELP						\
	"  --break STEP      leave a step out on purpose: sync1, sync2, sync3, int3,\n" \
	"                    order, publish or quiesce\n"
#define STRESS_BREAK_OPTION	{ "break", .take = stress_set_break },
#else
#define STRESS_BREAK_HELP						\
	"  --break STEP      only in the build named ...-break\n"
#define STRESS_BREAK_OPTION
#endif

/* --- beginning and going on ------------------------------------------------ */

#define STRESS_ROWS(rows)	rows, sizeof(rows) / sizeof(*(rows))

/* After the options; the calling thread becomes the updater. */
static inline void stress_begin(void)
{
	printf("TAP version 13\n1..1\n");
	stress_print_cpu();
	stress_catch_signals();
}

/* Memory that is zero, or no return. */
static inline void *stress_alloc(size_t nr, size_t size, size_t align)
{
	/* A multiple of the alignment, as C wants it. */
	size_t bytes = (nr * size + align - 1) / align * align;
	void *memory = aligned_alloc(align, bytes);

	if (!memory)
		stress_die(-ENOMEM, "memory to begin with");
	return memset(memory, 0, bytes);
}

/* The numbers below @nr, for the caller to shuffle. */
static inline uint32_t *stress_order(size_t nr)
{
	uint32_t *order = stress_alloc(nr, sizeof(*order), sizeof(*order));
	size_t i;

	for (i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	return order;
}

/* The data of a thread: the callers, and after them the updater. */
struct stress_worker {
	_Alignas(128) uint64_t random;
	uint64_t calls;		/* checked */
	uint64_t probe_calls;	/* by these */
	uint64_t signal_calls;	/* from signal handlers */
	uint64_t moving;	/* that met a commit under way */
	uint64_t wide;		/* that spanned too many versions to tell */
	uint64_t mismatches;
	pthread_t thread;
	unsigned int nr;
};

static inline struct stress_worker *stress_workers(unsigned long callers, unsigned long seed)
{
	struct stress_worker *workers = stress_alloc(callers + 1, sizeof(*workers), 128);
	size_t i;

	for (i = 0; i <= callers; i++) {
		workers[i].nr = (unsigned int)i;
		workers[i].random = stress_seed(seed, i);
	}
	return workers;
}

static inline void stress_start(struct stress_worker *workers, unsigned long callers,
				void *(*caller)(void *worker))
{
	size_t i;

	for (i = 0; i < callers; i++)
		stress_die(-pthread_create(&workers[i].thread, NULL, caller, &workers[i]),
			   "pthread_create");
}

static inline void stress_end(struct stress_worker *workers, unsigned long callers)
{
	size_t i;

	atomic_store(&stress_stop, true);
	for (i = 0; i < callers; i++)
		pthread_join(workers[i].thread, NULL);
}

static inline struct stress_worker stress_sum(const struct stress_worker *workers,
					      unsigned long callers)
{
	struct stress_worker sum = { 0 };
	size_t i;

	for (i = 0; i <= callers; i++) {
		sum.calls += workers[i].calls;
		sum.probe_calls += workers[i].probe_calls;
		sum.signal_calls += workers[i].signal_calls;
		sum.moving += workers[i].moving;
		sum.wide += workers[i].wide;
		sum.mismatches += workers[i].mismatches;
	}
	return sum;
}

struct stress_clock {
	uint64_t start, now, end, report;
};

static inline void stress_clock_start(struct stress_clock *clock, unsigned long seconds)
{
	clock->start = clock->now = clock->report = stress_now_ns();
	clock->end = clock->start + seconds * 1000000000ULL;
}

/* Tells whether the time is up, or ^C was pressed. */
static inline bool stress_time_is_up(struct stress_clock *clock)
{
	clock->now = stress_now_ns();
	return clock->now >= clock->end || atomic_load(&stress_stop);
}

/* Tells every ten seconds that a line about progress is due. */
static inline bool stress_report_is_due(struct stress_clock *clock)
{
	if (clock->now - clock->report < 10000000000ULL)
		return false;
	clock->report = clock->now;
	return true;
}

static inline uint64_t stress_seconds(const struct stress_clock *clock)
{
	return (clock->now - clock->start) / 1000000000ULL;
}

#endif /* JF_STRESS_COMMON_H */
