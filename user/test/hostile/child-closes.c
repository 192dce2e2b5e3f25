// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A child of a fork() has a callback in a plugin that waits, and no thread yet that calls
 * it. It closes the plugin, or ends, while a section is not over: its own; one that waits
 * for the dynamic linker's lock; one that never ends. Or a callback in front of that one
 * waits for a lock whose holder waits for the linker's.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "asks-linker.h"
#include "plugin.h"

static int called;
static void *plugin;

static void nothing(struct jf_quiesce_head *head)
{
	(void)head;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void takes_lock(struct jf_quiesce_head *head)
{
	(void)head;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void in_own_section(void)
{
	jf_read_lock();
	dlclose(plugin);
	MUST(!called, "called in the section that it waits for");
	jf_read_unlock();
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
}

static void *asks_linker_locked(void *arg)
{
	pthread_mutex_lock(&lock);
	ask_linker();
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *stays(void *arg)
{
	jf_read_lock();
	inside = 1;
	pause();
	return arg;
}

static pthread_t begin(void *(*func)(void *))
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, func, NULL), "thread");
	while (!inside)
		usleep(100);
	return t;
}

static void close_beside(void *(*func)(void *))
{
	pthread_t t = begin(func);

	closing = 1;
	dlclose(plugin);
	pthread_join(t, NULL);
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
}

static void beside_one_for_the_linker(void)
{
	close_beside(asks_linker);
}

static void behind_one_for_a_lock(void)
{
	close_beside(asks_linker_locked);
}

static void at_exit_beside_one_for_ever(void)
{
	begin(stays);
	exit(0);
}

static void in_child(void (*func)(void))
{
	static struct jf_quiesce_head first, second;
	int status;
	pid_t p;

	called = 0;
	jf_read_lock();
	jf_call_quiesced(&first, nothing);
	/* The parent's thread has taken that one, and waits. */
	usleep(100000);
	jf_call_quiesced(&second, takes_lock);
	ask_plugin(plugin, &called);
	p = fork();
	jf_read_unlock();
	if (!p) {
		alarm(10);
		func();
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "%#x", status);
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(40);
	plugin = open_plugin(argv[0]);
	in_child(at_exit_beside_one_for_ever);
	if (!has_mseal()) {
		printf("# no mseal(), so dlclose() waits\n");
		return 0;
	}
	in_child(in_own_section);
	in_child(beside_one_for_the_linker);
	in_child(behind_one_for_a_lock);
	return 0;
}
