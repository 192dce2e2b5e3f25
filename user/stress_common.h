/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What the stress programs share: options, random numbers, a clean end on ^C,
 * a report when a thread crashes in patched code, progress.
 */
#ifndef JF_STRESS_COMMON_H
#define JF_STRESS_COMMON_H

#include <errno.h>
#include <getopt.h>
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

#include "libjumpfunc.h"

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

static inline unsigned long stress_number(const char *option, const char *text,
					  unsigned long min, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = text ? strtoul(text, &end, 0) : 0;
	if (!text || errno || end == text || *end || value < min || value > max) {
		fprintf(stderr, "--%s: a number from %lu to %lu is needed\n", option, min,
			max);
		exit(2);
	}
	return value;
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
	stress_write_hex((uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	stress_write(", address ");
	stress_write_hex((uint64_t)(uintptr_t)info->si_addr);
	stress_write("\nnot ok 1 - crash in patched code\n");
	_exit(1);
}

/* Before jf_init(), so that only INT3s that are nobody's come here. */
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

#ifdef JF_BREAK
static const struct {
	const char *name;
	enum jf_break step;
	const char *what;
} stress_breaks[] = {
	{ "sync1", JF_BREAK_SYNC1, "no broadcast behind the INT3s" },
	{ "sync2", JF_BREAK_SYNC2, "no broadcast behind the tails" },
	{ "sync3", JF_BREAK_SYNC3, "no broadcast behind the first bytes" },
	{ "int3", JF_BREAK_INT3, "no INT3 while the bytes change" },
	{ "order", JF_BREAK_ORDER, "first bytes before the tails" },
	{ "publish", JF_BREAK_PUBLISH, "handler told only when all is over" },
	{ "quiesce", JF_BREAK_QUIESCE, "quiesce does not wait" },
};

static inline void stress_set_break(const char *name)
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

static inline unsigned int stress_broadcasts_per_batch(void)
{
	return jf_break == JF_BREAK_SYNC1 || jf_break == JF_BREAK_SYNC2 ||
	       jf_break == JF_BREAK_SYNC3 ? 2 : 3;
}
#define STRESS_BREAK_HELP						\
	"  --break STEP      leave a step out on purpose: sync1, sync2, sync3, int3,\n" \
	"                    order, publish or quiesce\n"
#else
static inline unsigned int stress_broadcasts_per_batch(void)
{
	return 3;
}
#define STRESS_BREAK_HELP						\
	"  --break STEP      only in the build named ...-break\n"
#endif

static inline void stress_print_engine(const struct jf_stats *stats)
{
	printf("# updates %llu, sites patched %llu, batches %llu, broadcasts %llu,"
	       " quiesces %llu, INT3 hits %llu\n",
	       (unsigned long long)stats->updates,
	       (unsigned long long)stats->sites_patched,
	       (unsigned long long)stats->batches,
	       (unsigned long long)stats->sync_broadcasts,
	       (unsigned long long)stats->quiesces,
	       (unsigned long long)stats->int3_hits);
	printf("# a commit took %.1f to %.1f us; sites stood at INT3 for at most %.1f us\n",
	       (double)stats->update_ns_min / 1e3, (double)stats->update_ns_max / 1e3,
	       (double)stats->window_ns_max / 1e3);
}

/* --- options ----------------------------------------------------------- */

struct stress_option {
	const char *name;
	unsigned long *value;
	unsigned long min, max;
};

#define STRESS_MAX_OPTIONS	16

/* Each option takes a number; --help, and --break where it exists, are known. */
static inline void stress_parse(int argc, char **argv, void (*usage)(FILE *to),
				const struct stress_option *options, size_t nr)
{
	struct option longs[STRESS_MAX_OPTIONS + 3] = {
		{ "help", no_argument, NULL, 'h' },
#ifdef JF_BREAK
		{ "break", required_argument, NULL, 'b' },
#endif
	};
	size_t i, first = 0;
	int c;

	while (longs[first].name)
		first++;
	for (i = 0; i < nr && i < STRESS_MAX_OPTIONS; i++)
		longs[first + i] = (struct option){ options[i].name, required_argument, NULL,
						    256 + (int)i };
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h') {
			usage(stdout);
			exit(0);
#ifdef JF_BREAK
		} else if (c == 'b') {
			stress_set_break(optarg);
#endif
		} else if (c >= 256) {
			const struct stress_option *o = &options[c - 256];

			*o->value = stress_number(o->name, optarg, o->min, o->max);
		} else {
			exit(2);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: no such option: %s\n", argv[0], argv[optind]);
		usage(stderr);
		exit(2);
	}
}

#endif /* JF_STRESS_COMMON_H */
