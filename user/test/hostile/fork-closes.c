// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A callback forks. In the child, before it has returned there, another thread waits for
 * one of its own, and closes the object that the next one leads into. When it has
 * returned, those that follow are waited for.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <sys/wait.h>

#include "plugin.h"

static _Atomic int closed, begun, ended;
static int called;
static void *plugin;
static pid_t child;

static void nothing(struct jf_quiesce_head *head)
{
	(void)head;
}

static void *closes(void *arg)
{
	static struct jf_quiesce_head head;

	jf_call_quiesced(&head, nothing);
	jf_quiesce_barrier();
	dlclose(plugin);
	closed = 1;
	while (!begun)
		usleep(100);
	jf_quiesce_barrier();
	MUST(ended, "it runs on");
	_exit(called != 1);
	return arg;
}

static void forks(struct jf_quiesce_head *head)
{
	pthread_t t;

	(void)head;
	child = fork();
	if (child)
		return;
	alarm(8);
	pthread_create(&t, NULL, closes, NULL);
	while (!closed)
		usleep(1000);
}

static void slowly(struct jf_quiesce_head *head)
{
	(void)head;
	begun = 1;
	usleep(200000);
	ended = 1;
}

static _Atomic int all_asked;

static void waits(struct jf_quiesce_head *head)
{
	(void)head;
	while (!all_asked)
		usleep(100);
}

int main(int argc, char **argv)
{
	static struct jf_quiesce_head before, first, last;
	int status;

	(void)argc;
	alarm(15);
	plugin = open_plugin(argv[0]);
	/* One round has all three: the thread that takes them is in an earlier callback. */
	jf_call_quiesced(&before, waits);
	jf_call_quiesced(&first, forks);
	ask_plugin(plugin, &called);
	jf_call_quiesced(&last, slowly);
	all_asked = 1;
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
	waitpid(child, &status, 0);
	MUST(!status, "%#x", status);
	return 0;
}
