// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A tracer like gdb attaches itself to the running program, and keeps each SIGTRAP.
 * Changes go on all the same.
 */
#include <jumpfunc/branch.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static volatile int stop;
static volatile pid_t tid;
static long sum;

static void *calls(void *arg)
{
	tid = (pid_t)syscall(SYS_gettid);
	while (!stop)
		sum += jf_branch_unlikely(&key);
	return arg;
}

/* The actions of a debugger whose user only says "continue". */
static void trace(pid_t p, int ready, int end)
{
	char c = 0;
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_SEIZE, p, 0, 0))
		_exit(77);
	MUST(write(ready, "", 1) == 1, "write");
	for (;;) {
		pid_t w = waitpid(-1, &status, __WALL | WNOHANG);

		if (w > 0 && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, w, 0, WSTOPSIG(status) == SIGTRAP ? 0 :
			       WSTOPSIG(status));
		else if (w < 0 || read(end, &c, 1) == 1)
			_exit(0);
		else
			usleep(100);
	}
}

int main(void)
{
	int ready[2], end[2], i, err;
	pthread_t t;
	pid_t child;
	char c;

	alarm(20);
	MUST(!pipe(ready) && !pipe(end), "pipe");
	pthread_create(&t, NULL, calls, NULL);
	while (!tid)
		;
	child = fork();
	if (!child) {
		/* Not to block on: waitpid() has its turn as well. */
		fcntl(end[0], F_SETFL, O_NONBLOCK);
		close(ready[0]);
		trace(getppid(), ready[1], end[0]);
	}
	prctl(PR_SET_PTRACER, child, 0, 0, 0);
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		printf("# skipped: ptrace() is not allowed\n");
		return 0;
	}
	for (i = 0; i < 2000; i++) {
		err = i & 1 ? jf_key_disable(&key) : jf_key_enable(&key);
		MUST(!err, "round %d: %s", i, strerror(-err));
		MUST(jf_key_enabled(&key) == jf_branch_unlikely(&key), "round %d", i);
	}
	MUST(write(end[1], "", 1) == 1, "write");
	waitpid(child, NULL, 0);
	MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "afterwards");
	stop = 1;
	pthread_join(t, NULL);
	return 0;
}
