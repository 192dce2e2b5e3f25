// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A call that is recorded, and a signal at each of its instructions: the program executes them one
 * by one. usage: stepped leaves | calls
 *
 *   leaves	the handler leaves the call by siglongjmp(), and another function is called then
 *   calls	the handler calls another function, and returns
 *
 * It prints how many instructions there are.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define KEEP __attribute__((__noinline__, __noclone__))
#define WARM	999999UL
#define TRAP_FLAG 0x100

KEEP unsigned long k_stepped(unsigned long nr)
{
	__asm__ volatile("" : : "r" (nr));
	return 2 * nr + 1;
}

/* In the handler, or after the call. */
KEEP unsigned long k_other(unsigned long nr)
{
	__asm__ volatile("" : : "r" (nr));
	return 2 * nr + 1;
}

KEEP unsigned long k_after(unsigned long nr)
{
	unsigned long ret = k_other(nr);

	__asm__ volatile("" : "+r" (ret));
	return ret;
}

/* In the place of k_stepped(): its return address is there. k_after() is below it. */
KEEP static unsigned long instead(unsigned long nr)
{
	unsigned long ret = k_after(nr);

	__asm__ volatile("" : "+r" (ret));
	return ret;
}

static sigjmp_buf out;
static bool leaves;
static volatile unsigned long now, steps, at;

static void step(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = (const ucontext_t *)context;

	(void)sig;
	(void)info;
	/* The agent does rare work with signals blocked. No other signal can come there. */
	if (steps++ < at || sigismember(&c->uc_sigmask, SIGUSR1))
		return;
	at = -1UL;
	if (leaves)
		siglongjmp(out, 1);
	k_other(now);
}

static void flags_set(unsigned long set, unsigned long clear)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tandq %1, (%%rsp)\n\tpopfq" : : "r" (set), "r" (~clear) : "memory", "cc");
}

KEEP static bool one(unsigned long nr)
{
	unsigned long ret;

	now = nr;
	steps = 0;
	at = nr;
	if (sigsetjmp(out, 1)) {
		instead(nr);
		return true;
	}
	flags_set(TRAP_FLAG, 0);
	ret = k_stepped(nr);
	flags_set(0, TRAP_FLAG);
	return ret == 2 * nr + 1 && at == -1UL;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned long nr;

	leaves = argc > 1 && !strcmp(argv[1], "leaves");
	/* The first records of a thread are other work. */
	for (nr = 0; nr < 3; nr++)
		if (k_stepped(WARM) + k_other(WARM) != 4 * WARM + 2)
			return 1;
	if (sigaction(SIGTRAP, &action, NULL))
		return 2;
	for (nr = 0; one(nr); nr++)
		;
	printf("%lu\n", nr);
	return 0;
}
