// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A signal handler that forks interrupts a thread that changes keys. */
#include <jumpfunc/branch.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
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

int main(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval tv = { { 0, 1000 }, { 0, 1000 } };
	int i;

	alarm(20);
	sigaction(SIGVTALRM, &sa, NULL);
	setitimer(ITIMER_VIRTUAL, &tv, NULL);
	for (i = 0; forks < 10; i++)
		MUST(!(i & 1 ? jf_key_disable(&key) : jf_key_enable(&key)), "round %d", i);
	MUST(jf_branch_unlikely(&key) == jf_key_enabled(&key), "the branch");
	return 0;
}
