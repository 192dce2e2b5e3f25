// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A signal handler that forks interrupts a thread that asks for callbacks. */
#include <jumpfunc/batch.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "hostile.h"

#define HEADS	1000

static volatile sig_atomic_t forks;

static void on_alarm(int sig)
{
	int err = errno;
	pid_t p = fork();

	(void)sig;
	if (!p)
		_exit(0);
	waitpid(p, NULL, 0);
	forks++;
	errno = err;
}

static volatile int called;

static void count(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

int main(void)
{
	static struct jf_quiesce_head heads[HEADS];
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval tv = { { 0, 1000 }, { 0, 1000 } };
	int i, rounds;

	sigaction(SIGVTALRM, &sa, NULL);
	setitimer(ITIMER_VIRTUAL, &tv, NULL);
	for (rounds = 0; forks < 100; rounds++) {
		for (i = 0; i < HEADS; i++)
			jf_call_quiesced(&heads[i], count);
		jf_quiesce_barrier();
	}
	MUST(called == rounds * HEADS, "%d callbacks", called);
	return 0;
}
