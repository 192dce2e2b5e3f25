// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Time stamps: the processor's counter where the kernel itself keeps time by it, or else
 * CLOCK_MONOTONIC. Readers want its frequency, and the time at which it was 0.
 *
 * The frequency is the counter's difference between two readings of both clocks, the first one as
 * the library is loaded. If that is not long ago the second one waits until it is 20 ms: a reading
 * is good for some 30 ns, so that the frequency is good for 3 ppm then. The longer recording
 * goes on, the better it gets, and the metadata is set right now and then.
 */
#include "trace.h"

#include "provider.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define CALIBRATE_NS	20000000
#define UUID_LENGTH	36
#define NS		1000000000ULL

/**
 * struct reading - of both clocks at once
 * @tsc:  the counter
 * @mono: CLOCK_MONOTONIC_RAW, which is never adjusted, in ns
 */
struct reading {
	uint64_t	tsc;
	uint64_t	mono;
};

static struct reading first;
/* "": it could not be read. */
static char boot[UUID_LENGTH + 1];

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* A time stamp of CLOCK_MONOTONIC. Called by the code of events. */
uint64_t __jf_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#ifdef __x86_64__
static bool tsc_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
}

/* True if this process can read it. */
static bool tsc_allowed(void)
{
	int how;

	return prctl(PR_GET_TSC, &how) || how == PR_TSC_ENABLE;
}
#else
static bool tsc_invariant(void)
{
	return false;
}

static bool tsc_allowed(void)
{
	return false;
}
#endif

/*
 * The counter is constant, and the kernel has found the counters of all processors equal: it keeps
 * time by it only then.
 */
bool jf_tsc_usable(void)
{
	char name[16];
	ssize_t n;
	int fd;

	if (!tsc_invariant() || !tsc_allowed())
		return false;
	fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		  O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, name, sizeof(name));
	close(fd);
	return n >= 4 && !memcmp(name, "tsc\n", 4);
}

/* Of some tries the one in which the least time passed in between. */
static struct reading read_both(clockid_t id)
{
	struct reading best = { 0, 0 };
	uint64_t least = UINT64_MAX, a, b, ns;
	int i;

	for (i = 0; i < 16; i++) {
		a = __jf_rdtsc();
		ns = clock_ns(id);
		b = __jf_rdtsc();
		if (b - a < least) {
			least = b - a;
			best.tsc = a + (b - a) / 2;
			best.mono = ns;
		}
	}
	return best;
}

/**
 * jf_clock_start() - see to it that jf_clock_get() knows the frequency
 * @clock: one of enum jf_record_clock
 *
 * Waits if the library was not loaded long enough ago.
 */
void jf_clock_start(uint32_t clock)
{
	struct timespec rest = { 0, 0 };
	uint64_t passed;

	if (clock != __JF_CLOCK_TSC)
		return;
	passed = clock_ns(CLOCK_MONOTONIC_RAW) - first.mono;
	if (passed < CALIBRATE_NS) {
		rest.tv_nsec = (long)(CALIBRATE_NS - passed);
		while (nanosleep(&rest, &rest) && errno == EINTR)
			;
	}
}

/**
 * jf_clock_get() - the frequency and the offset of a clock, as they are known now
 * @clock: __JF_CLOCK_TSC or __JF_CLOCK_MONOTONIC
 * @c:     is filled in
 *
 * The offset is such that now is right.
 */
void jf_clock_get(uint32_t clock, struct jf_clock *c)
{
	struct reading now, wall;
	uint64_t cycles;

	if (clock != __JF_CLOCK_TSC) {
		c->freq = NS;
		c->offset = (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
		return;
	}
	now = read_both(CLOCK_MONOTONIC_RAW);
	wall = read_both(CLOCK_REALTIME);
	cycles = now.tsc - first.tsc;
	/* 53 bits are more than the readings are good for. */
	c->freq = now.mono > first.mono ?
		  (uint64_t)((double)cycles * NS / (double)(now.mono - first.mono)) : NS;
	if (!c->freq)
		c->freq = NS;
	/*
	 * In two parts: a counter of some days, in ns, has more than 64 bits before it is divided.
	 */
	c->offset = (int64_t)(wall.mono - wall.tsc / c->freq * NS - wall.tsc % c->freq * NS / c->freq);
}

/**
 * __jf_clock_hz() - how often a second the processor's counter counts
 *
 * Waits as jf_clock_start().
 *
 * Return: 0: it is no clock
 */
uint64_t __jf_clock_hz(void)
{
	struct jf_clock c;

	if (!jf_tsc_usable())
		return 0;
	jf_clock_start(__JF_CLOCK_TSC);
	jf_clock_get(__JF_CLOCK_TSC, &c);
	return c.freq;
}

/**
 * jf_clock_boot() - which boot of the machine the clocks are of
 *
 * Clocks of one boot are one clock: readers merge traces only if their clocks have the same UUID.
 *
 * Return: a UUID as text, or ""
 */
const char *jf_clock_boot(void)
{
	return boot;
}

/* Now: the program may change its root, and have no /proc then. */
static void read_boot(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, boot, UUID_LENGTH);

	if (fd >= 0)
		close(fd);
	if (n != UUID_LENGTH || strspn(boot, "0123456789abcdef-") != UUID_LENGTH)
		*boot = 0;
}

/* jf-trace has read both before it started the program: then there is nothing to wait for. */
static void take_earlier(const char *text)
{
	unsigned long long tsc, mono;

	if (text && sscanf(text, "%llu:%llu", &tsc, &mono) == 2 && tsc < first.tsc && mono < first.mono) {
		first.tsc = tsc;
		first.mono = mono;
	}
}

__attribute__((__constructor__(101)))
static void begins(void)
{
	first = read_both(CLOCK_MONOTONIC_RAW);
	take_earlier(jf_env(JF_ENV_SINCE));
	read_boot();
}
