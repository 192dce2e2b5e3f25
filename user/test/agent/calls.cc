// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program that counts its own calls, in memory that its children share: how often each function
 * was entered, and how often it returned. Its functions get how many of them are around them as
 * their first argument, and a number as the second, of which they return the double and one more.
 *
 * It prints a line for each: name, entered, returned; then for how many nanoseconds c_sleeps() has
 * slept, and whether c_tailed() is left by a jump.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS		16
#define COROUTINES	8

enum { PLAIN, NESTED, TAILED, RECURSES, THROWS, PASSES, JUMPS, YIELDS, MIGRATES, WAITS, HANDLES, HANDLES_ASIDE, IN_CHILD, BORROWED,
       SLEEPS, CHOOSES, LAST, NUM };
static const char *const names[NUM] = {
	"c_plain", "c_nested", "c_tailed", "c_recurses", "c_throws", "c_passes", "c_jumps", "c_yields", "c_migrates", "c_waits",
	"c_handles", "c_handles_aside", "c_in_child", "c_borrowed", "c_sleeps", "c_chooses", "c_last",
};

static struct counts {
	uint64_t entered[NUM], returned[NUM];
} *counts;

static void in(int what)
{
	__atomic_fetch_add(&counts->entered[what], 1, __ATOMIC_RELAXED);
}

/* No compiler may leave it out. */
static void uses(long level)
{
	__asm__ volatile("" : : "r" (level));
}

static long out(int what, long x)
{
	__atomic_fetch_add(&counts->returned[what], 1, __ATOMIC_RELAXED);
	return 2 * x + 1;
}

#define CALL extern "C" __attribute__((__noinline__, __noclone__, __noipa__)) long

CALL c_plain(long level, long x)
{
	in(PLAIN);
	uses(level);
	return out(PLAIN, x);
}

CALL c_nested(long level, long x)
{
	in(NESTED);
	c_plain(level + 1, x + 1);
	c_plain(level + 1, x + 2);
	return out(NESTED, x);
}

/* Without optimization it is left by a return. */
#ifdef __OPTIMIZE__
#define TAIL	1
#else
#define TAIL	0
#endif

/* It is left by a jump, and has the value of c_plain(). */
CALL c_tailed(long level, long x)
{
	in(TAILED);
	out(TAILED, x);
	return c_plain(level + !TAIL, x);
}

CALL c_recurses(long level, long x)
{
	in(RECURSES);
	if (x)
		c_recurses(level + 1, x - 1);
	return out(RECURSES, x);
}

/* A switch, and several exits. */
CALL c_chooses(long level, long x)
{
	in(CHOOSES);
	switch (x) {
	case 0: return out(CHOOSES, x);
	case 1: c_plain(level + 1, 7); return out(CHOOSES, x);
	case 2: c_nested(level + 1, 7); return out(CHOOSES, x);
	case 3: sched_yield(); break;
	case 4: c_recurses(level + 1, 2); return out(CHOOSES, x);
	case 5: getppid(); return out(CHOOSES, x);
	case 6: c_plain(level + 1, 1); break;
	}
	return out(CHOOSES, x);
}

CALL c_throws(long level, long x)
{
	in(THROWS);
	c_plain(level + 1, x);
	if (x & 1)
		throw x;
	return out(THROWS, x);
}

CALL c_passes(long level, long x)
{
	in(PASSES);
	if (c_throws(level + 1, x) < 0)
		abort();
	return out(PASSES, x);
}

static __thread sigjmp_buf away;

CALL c_jumps(long level, long x)
{
	in(JUMPS);
	if (x) {
		c_jumps(level + 1, x - 1);
		return out(JUMPS, x);
	}
	siglongjmp(away, 1);
}

/* --- other stacks --------------------------------------------------------------------- */

static char stacks[COROUTINES][32768] __attribute__((__aligned__(16)));
static ucontext_t back, contexts[COROUTINES];
static int running;

CALL c_yields(long level, long x)
{
	in(YIELDS);
	swapcontext(&contexts[running], &back);
	if (level < 3)
		c_yields(level + 1, x + 1);
	swapcontext(&contexts[running], &back);
	return out(YIELDS, x);
}

static void coroutine(void)
{
	c_yields(0, running);
	for (;;)
		swapcontext(&contexts[running], &back);
}

static void coroutines(void)
{
	int i, round;

	for (i = 0; i < COROUTINES; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[i];
		contexts[i].uc_stack.ss_size = sizeof(stacks[i]);
		makecontext(&contexts[i], coroutine, 0);
	}
	for (round = 0; round < 12; round++)
		for (i = 0; i < COROUTINES; i++) {
			running = i;
			swapcontext(&back, &contexts[i]);
			c_nested(0, i);
		}
}

static ucontext_t here, there;

CALL c_migrates(long level, long x)
{
	in(MIGRATES);
	uses(level);
	swapcontext(&there, &here);
	return out(MIGRATES, x);
}

static void migrating(void)
{
	int i;

	for (i = 0; i < 20; i++)
		c_migrates(0, i);
	for (;;)
		swapcontext(&there, &here);
}

static void *resume(void *)
{
	swapcontext(&here, &there);
	return NULL;
}

static void migrate(void)
{
	pthread_t t;
	int i;

	getcontext(&there);
	there.uc_stack.ss_sp = stacks[0];
	there.uc_stack.ss_size = sizeof(stacks[0]);
	makecontext(&there, migrating, 0);
	for (i = 0; i < 21; i++) {
		if (i % 2) {
			resume(NULL);
			continue;
		}
		pthread_create(&t, NULL, resume, NULL);
		pthread_join(t, NULL);
	}
}

/* --- signals -------------------------------------------------------------------------- */

CALL c_handles(long level, long x)
{
	in(HANDLES);
	c_recurses(level + 1, 1);
	return out(HANDLES, x);
}

CALL c_handles_aside(long level, long x)
{
	in(HANDLES_ASIDE);
	uses(level);
	return out(HANDLES_ASIDE, x);
}

static volatile sig_atomic_t ticks;

/* It does not know how deep it is. */
static void tick(int)
{
	ticks++;
	c_handles(-1000, 4);
}

static void aside(int)
{
	c_handles_aside(0, 4);
}

static void leaves(int)
{
	siglongjmp(away, 1);
}

static void by_signals(void)
{
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	static char stack[65536];
	stack_t s = {};
	struct sigaction sa = {};
	volatile int i;

	sa.sa_handler = tick;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 2000 || ticks < 20; i++)
		c_nested(0, i);
	setitimer(ITIMER_REAL, &never, NULL);
	s.ss_sp = stack;
	s.ss_size = sizeof(stack);
	sigaltstack(&s, NULL);
	sa.sa_handler = aside;
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < 50; i++)
		raise(SIGUSR1);
	sa.sa_handler = leaves;
	sa.sa_flags = SA_NODEFER;
	sigaction(SIGUSR2, &sa, NULL);
	for (i = 0; i < 50; i++) {
		if (!sigsetjmp(away, 1))
			raise(SIGUSR2);
		c_plain(0, i);
	}
}

/* --- children ------------------------------------------------------------------------- */

static int child;

CALL c_in_child(long level, long x)
{
	in(IN_CHILD);
	child = fork();
	/* Both return from here. */
	if (!child)
		in(IN_CHILD);
	c_plain(level + 1, x);
	return out(IN_CHILD, x);
}

CALL c_borrowed(long level, long x)
{
	in(BORROWED);
	c_plain(level + 1, x);
	if (x)
		_exit(0);
	return out(BORROWED, x);
}

static void children(void)
{
	pid_t pid;

	c_in_child(0, 3);
	if (!child) {
		c_nested(0, 9);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	pid = vfork();
	if (!pid) {
		c_borrowed(0, 0);
		c_borrowed(0, 1);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	c_borrowed(0, 0);
}

/* --- threads -------------------------------------------------------------------------- */

struct flushes {
	long level;
	~flushes() { c_plain(level, 5); }
};

CALL c_waits(long level, long x)
{
	in(WAITS);
	if (x) {
		flushes f = { level + 1 };

		return c_waits(level + 1, x - 1) + out(WAITS, x);
	}
	for (;;)
		pause();
}

static void *waits(void *)
{
	c_waits(0, 5);
	return NULL;
}

static void *works(void *arg)
{
	volatile long n = (long)(intptr_t)arg;
	int i;

	for (i = 0; i < 300; i++) {
		c_nested(0, i);
		c_tailed(0, i);
		c_recurses(0, (i + n) % 20);
		c_chooses(0, i % 8);
		try {
			c_passes(0, i);
		} catch (long) {
			c_plain(0, i);
		}
		if (!sigsetjmp(away, 0))
			c_jumps(0, i % 5);
		c_plain(0, i);
	}
	return NULL;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t slept;

CALL c_sleeps(long level, long x)
{
	uint64_t begin = clock_ns();

	in(SLEEPS);
	uses(level);
	usleep(2000);
	slept += clock_ns() - begin;
	return out(SLEEPS, x);
}

CALL c_last(long level, long x)
{
	in(LAST);
	uses(level);
	return out(LAST, x);
}

static void threads(void)
{
	pthread_t t[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, works, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 4; i++) {
		pthread_create(&t[i], NULL, waits, NULL);
		while (__atomic_load_n(&counts->entered[WAITS], __ATOMIC_RELAXED) < 6 * ((uint64_t)i + 1))
			sched_yield();
		pthread_cancel(t[i]);
		pthread_join(t[i], NULL);
	}
}

int main(void)
{
	int i;

	counts = (struct counts *)mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	works(NULL);
	coroutines();
	migrate();
	by_signals();
	children();
	threads();
	for (i = 0; i < 5; i++)
		c_sleeps(0, i);
	c_last(0, 0);
	for (i = 0; i < NUM; i++)
		printf("%s %lu %lu\n", names[i], counts->entered[i], counts->returned[i]);
	printf("slept %lu\ntail %d\n", slept, TAIL);
	return 0;
}
