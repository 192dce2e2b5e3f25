// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A process ends with the last thread that it knows of, also if there were callbacks.
 * Others are asked for about when the thread that calls them has had enough of waiting.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "hostile.h"

static struct jf_quiesce_head heads[6];
static _Atomic int called;

static void callback(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

/* In whichever thread was the last one. */
static void at_exit(void)
{
	jf_call_quiesced(&heads[1], callback);
	jf_quiesce_barrier();
	MUST(called == 2, "called %d", called);
}

static void must_end(pid_t pid)
{
	int status, i;

	for (i = 0; i < 50; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			MUST(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
			return;
		}
		usleep(100000);
	}
	kill(pid, SIGKILL);
	MUST(0, "the process has not ended");
}

int main(void)
{
	pid_t pid = fork();
	int i;

	alarm(20);
	MUST(pid >= 0, "fork");
	jf_call_quiesced(&heads[0], callback);
	jf_quiesce_barrier();
	if (!pid) {
		atexit(at_exit);
		pthread_exit(NULL);
	}
	must_end(pid);
	for (i = 1; i < 5; i++) {
		jf_call_quiesced(&heads[i], callback);
		jf_quiesce_barrier();
		MUST(called == i + 1, "called %d", called);
		usleep((unsigned int)(999800 + 100 * i));
	}
	jf_call_quiesced(&heads[i], callback);
	/* No thread waits for this one. */
	for (i = 0; i < 2000 && called < 6; i++)
		usleep(1000);
	MUST(called == 6, "called %d", called);
	return 0;
}
