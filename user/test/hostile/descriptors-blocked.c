// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * An agent sets a breakpoint for good in the code of a thread that blocks SIGTRAP, with few
 * descriptors left, or none: the thread is found, and the change refused. When it does not block
 * the signal any more, the change succeeds. Where no file may be opened at all, no thread is taken
 * for harmless.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "hostile.h"
#include "lib/text.h"

/* The second one is where a thread goes on that meets the breakpoint at the first. */
void work(void);
void as_work(void);
__asm__(".text\n"
	".p2align 4\n"
	".globl work, as_work\n"
	"work:	leaq 8(%rdi), %rax\n"
	"	ret\n"
	".p2align 4\n"
	"as_work: leaq 8(%rdi), %rax\n"
	"	ret\n");

static _Atomic int stop, lets_in;
static _Atomic long turns;

static void *runs(void *arg)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (; !stop; turns++) {
		work();
		if (lets_in)
			pthread_sigmask(SIG_SETMASK, &none, NULL);
	}
	return arg;
}

static void must_run(void)
{
	long until = turns + 1000;

	while (turns < until)
		usleep(100);
}

/* All but @num are taken. */
static void leave(int num)
{
	int fds[64], n = 0;

	while (n < 64 && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	while (num-- && n)
		close(fds[--n]);
}

static int breakpoint(int on)
{
	struct jf_text_poke poke = { .addr = (uintptr_t)work, .num = 1 };
	struct jf_text_change change = { .pokes = &poke, .nr_pokes = 1 };

	poke.old[0] = on ? 0x48 : 0xcc;
	poke.new[0] = on ? 0xcc : 0x48;
	poke.to = (uintptr_t)as_work;
	return __jf_text_change(&change);
}

int main(void)
{
	struct rlimit few = { 64, 64 }, none = { 1, 64 };
	pthread_t t;
	int err, n;

	alarm(60);
	MUST(!pthread_create(&t, NULL, runs, NULL), "thread");
	must_run();
	MUST(!setrlimit(RLIMIT_NOFILE, &few), "%m");
	leave(0);
	for (n = 0; n < 4; n++) {
		err = breakpoint(1);
		MUST(err == -EAGAIN, "with %d left: %s", n, strerror(-err));
		must_run();
		close(63 - n);
	}
	leave(0);
	lets_in = 1;
	must_run();
	MUST(!setrlimit(RLIMIT_NOFILE, &none), "%m");
	err = breakpoint(1);
	MUST(err == -EMFILE, "with no file: %s", strerror(-err));
	MUST(!setrlimit(RLIMIT_NOFILE, &few), "%m");
	err = breakpoint(1);
	MUST(!err, "when the thread lets signals in: %s", strerror(-err));
	must_run();
	err = breakpoint(0);
	MUST(!err, "back: %s", strerror(-err));
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
