// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A forbidden case: with JUMPFUNC_TRAP=always a thread that blocks SIGTRAP runs a site while its
 * key changes. The kernel kills the process for the breakpoint. Without that variable there is
 * none. The same holds for a handler that came late, between two changes, and passes nothing on: it
 * gets signals that are the library's.
 */
#include <jumpfunc/branch.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);
static _Atomic int stop;
static volatile long on;

static void *runs(void *arg)
{
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &trap, NULL);
	while (!stop)
		if (jf_branch_unlikely(&key))
			on++;
	return arg;
}

static void run_blocked(void)
{
	pthread_t t;
	int i;

	MUST(!pthread_create(&t, NULL, runs, NULL), "thread");
	for (i = 0; i < 20000; i++)
		MUST(!(i % 2 ? jf_key_disable : jf_key_enable)(&key), "change %d", i);
	stop = 1;
	pthread_join(t, NULL);
	_exit(0);
}

static void keeps(int sig)
{
	(void)sig;
	_exit(5);
}

static void *runs_open(void *arg)
{
	while (!stop)
		if (jf_branch_unlikely(&key))
			on++;
	return arg;
}

/* Not for longer than to the next change, in front of which the library comes first again. */
static void run_kept(void)
{
	struct sigaction a = { .sa_handler = keeps }, now;
	pthread_t t;
	int i;

	MUST(!jf_key_enable(&key), "enable");
	MUST(!sigaction(SIGTRAP, &a, NULL), "sigaction");
	MUST(!pthread_create(&t, NULL, runs_open, NULL), "thread");
	for (i = 0; i < 20000; i++)
		MUST(!(i % 2 ? jf_key_disable : jf_key_enable)(&key), "change %d", i);
	stop = 1;
	pthread_join(t, NULL);
	sigaction(SIGTRAP, NULL, &now);
	_exit(now.sa_handler == keeps ? 0 : 6);
}

static int status_of(void (*run)(void))
{
	int status;
	pid_t p;

	fflush(stdout);
	p = fork();
	if (!p) {
		alarm(100);
		run();
	}
	waitpid(p, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *trap = getenv("JUMPFUNC_TRAP");
	int status;

	(void)argc;
	if (!trap || !*trap) {
		status = status_of(run_blocked);
		MUST(!status, "without breakpoints: %#x", status);
		status = status_of(run_kept);
		MUST(!status, "without breakpoints, with a handler: %#x", status);
		setenv("JUMPFUNC_TRAP", "always", 1);
		execv(argv[0], argv);
		MUST(0, "%m");
	}
	status = status_of(run_blocked);
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP, "%#x", status);
	status = status_of(run_kept);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 6, "%#x", status);
	return 0;
}
