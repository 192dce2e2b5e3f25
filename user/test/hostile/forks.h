/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A signal handler that forks, each millisecond that the program runs. */
#ifndef HOSTILE_FORKS_H
#define HOSTILE_FORKS_H

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "hostile.h"

static volatile sig_atomic_t forks;

static void on_alarm(int sig)
{
	int err = errno;
	pid_t p = fork();
	int status;

	(void)sig;
	if (!p)
		_exit(0);
	waitpid(p, &status, 0);
	MUST(!status, "%#x", status);
	forks++;
	errno = err;
}

static inline void begin_forks(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	struct itimerval tv = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGVTALRM, &sa, NULL);
	setitimer(ITIMER_VIRTUAL, &tv, NULL);
}

#endif /* HOSTILE_FORKS_H */
