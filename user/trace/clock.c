// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Time stamps: the processor's counter where the kernel itself keeps time by it, or else
 * CLOCK_MONOTONIC. Readers want its frequency, and the time at which it was 0.
 *
 * The frequency is the counter's difference between two readings of both clocks, the first one as
 * the library is loaded. If that is not long ago the second one waits until it is 20 ms: a reading
 * is good for some 30 ns, so that the frequency is good for 3 ppm then. The longer recording
 * goes on, the better it gets, and the metadata is set right now and then.
 *
 * A thread may have no right to read the counter (PR_SET_TSC), from its creator or from the program
 * before. Then the counter ends the process, and so do the kernel's own functions that read it
 * (clock_gettime() of the C library). So a thread that begins, or takes a packet, asks first.
 */
#include "trace.h"

#include "../lib/text.h"
#include "provider.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* The first reading of both, or zeros; and the last one. */
static struct reading first, last;
/* "": it could not be read. */
static char boot[UUID_LENGTH + 1];
/* The process began without the right to read the counter. */
static bool by_call;

/* The program has a filter of system calls: no thread makes one for a record. */
static bool is_quiet(void)
{
	return __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);
}

static uint64_t in_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS + (uint64_t)t->tv_nsec;
}

uint64_t jf_clock_ns(clockid_t id)
{
	struct timespec t = { 0, 0 };

	/* A filter of the program knows nothing of the call. */
	if (is_quiet())
		clock_gettime(id, &t);
	else
		syscall(SYS_clock_gettime, id, &t);
	return in_ns(&t);
}

/* A time stamp of CLOCK_MONOTONIC. Called by the code of events. */
uint64_t __jf_clock_ns(void)
{
	struct timespec t = { 0, 0 };

	if (by_call)
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	else
		clock_gettime(CLOCK_MONOTONIC, &t);
	return in_ns(&t);
}

#ifdef __x86_64__
static bool tsc_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
}

/* True if this thread can read it. One that records beneath a filter can. */
static bool tsc_allowed(void)
{
	int how = PR_TSC_ENABLE;

	return is_quiet() || prctl(PR_GET_TSC, &how) || how == PR_TSC_ENABLE;
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

	if (by_call || !tsc_invariant() || !tsc_allowed())
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
		ns = jf_clock_ns(id);
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
	if (!first.mono)
		first = read_both(CLOCK_MONOTONIC_RAW);
	passed = jf_clock_ns(CLOCK_MONOTONIC_RAW) - first.mono;
	if (passed < CALIBRATE_NS) {
		rest.tv_nsec = (long)(CALIBRATE_NS - passed);
		while (nanosleep(&rest, &rest) && errno == EINTR)
			;
	}
}

/*
 * 33 bits are more than the readings are good for. By integers alone: a thread can trap where a
 * number is rounded.
 */
static uint64_t per_second(uint64_t cycles, uint64_t ns)
{
	for (; ns >> 33; ns >>= 1)
		cycles >>= 1;
	return cycles / ns * NS + cycles % ns * NS / ns;
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
	static struct jf_clock known = { NS, 0 };
	struct reading now, wall;
	uint64_t cycles;

	if (clock != __JF_CLOCK_TSC) {
		c->freq = NS;
		c->offset = (int64_t)(jf_clock_ns(CLOCK_REALTIME) - jf_clock_ns(CLOCK_MONOTONIC));
		return;
	}
	if (!tsc_allowed()) {
		*c = known;
		return;
	}
	now = read_both(CLOCK_MONOTONIC_RAW);
	wall = read_both(CLOCK_REALTIME);
	cycles = now.tsc - first.tsc;
	c->freq = now.mono > first.mono ? per_second(cycles, now.mono - first.mono) : NS;
	if (!c->freq)
		c->freq = NS;
	/*
	 * In two parts: a counter of some days, in ns, has more than 64 bits before it is divided.
	 */
	c->offset = (int64_t)(wall.mono - wall.tsc / c->freq * NS - wall.tsc % c->freq * NS / c->freq);
	known = *c;
	last = now;
}

/**
 * jf_clock_now() - a time stamp for a packet
 * @clock: one of enum jf_record_clock
 *
 * Return: of a thread that may not read the counter the time at which the metadata was set right
 */
uint64_t jf_clock_now(uint32_t clock)
{
	if (clock == __JF_CLOCK_MONOTONIC)
		return __jf_clock_ns();
	if (clock != __JF_CLOCK_TSC)
		return 0;
	return tsc_allowed() ? __jf_rdtsc() : last.tsc;
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
	by_call = !tsc_allowed();
	if (!by_call)
		first = read_both(CLOCK_MONOTONIC_RAW);
	take_earlier(jf_env(JF_ENV_SINCE));
	read_boot();
}
