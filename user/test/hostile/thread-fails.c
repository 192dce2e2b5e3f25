// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Threads for callbacks cannot be made, or after some time only. A thread waits at that time;
 * an object is closed that a callback leads into, also in the section that it waits for;
 * a waiting thread calls one while another is asked for; callbacks end their thread.
 */
#define _GNU_SOURCE
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <stdbool.h>

#include "libc-threads.h"
#include "plugin.h"

static _Atomic int failing, making, called, first_done;

/* In place of libc's. */
int pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*start)(void *),
		   void *arg)
{
	if (!failing)
		return libc_pthread_create(t, attr, start, arg);
	making = 1;
	usleep(200000);
	return EAGAIN;
}

static void count(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
}

static void *asks(void *arg)
{
	static struct jf_quiesce_head head;

	while (!failing)
		usleep(100);
	jf_call_quiesced(&head, count);
	return arg;
}

/* It is about to be made, and is not. */
static void one_waits(void)
{
	pthread_t t;

	pthread_create(&t, NULL, asks, NULL);
	failing = 1;
	while (!making)
		usleep(100);
	jf_quiesce_barrier();
	MUST(called == 1, "called %d", called);
	pthread_join(t, NULL);
	failing = 0;
}

static void one_closes(const char *program)
{
	void *plugin = open_plugin(program);
	int in_plugin = 0;

	failing = 1;
	ask_plugin(plugin, &in_plugin);
	MUST(!in_plugin, "called by the thread that asks");
	dlclose(plugin);
	MUST(in_plugin == 1, "called %d", in_plugin);
	MUST(!dlsym(RTLD_DEFAULT, "plugin_ask"), "the plugin stays");
	failing = 0;
}

static void one_closes_in_a_section(const char *program)
{
	void *plugin = open_plugin(program);
	int in_plugin = 0;

	failing = 1;
	jf_read_lock();
	ask_plugin(plugin, &in_plugin);
	dlclose(plugin);
	MUST(!in_plugin, "called in the section that it waits for");
	jf_read_unlock();
	jf_quiesce_barrier();
	MUST(in_plugin == 1, "called %d", in_plugin);
	failing = 0;
}

static void slowly(struct jf_quiesce_head *head)
{
	(void)head;
	making = 1;
	usleep(1500000);
	first_done = 1;
}

static void second(struct jf_quiesce_head *head)
{
	(void)head;
	MUST(first_done, "not in their order");
}

static void *waits(void *arg)
{
	while (!failing)
		usleep(100);
	jf_quiesce_barrier();
	return arg;
}

/* The waiting thread calls the first one; then threads can be made again, or not. */
static void they_keep_their_order(bool again)
{
	static struct jf_quiesce_head heads[2];
	pthread_t t;

	pthread_create(&t, NULL, waits, NULL);
	making = 0;
	first_done = 0;
	/* Not called before the other one waits. */
	jf_read_lock();
	failing = 1;
	jf_call_quiesced(&heads[0], slowly);
	usleep(500000);
	making = 0;
	jf_read_unlock();
	while (!making)
		usleep(100);
	failing = !again;
	jf_call_quiesced(&heads[1], second);
	jf_quiesce_barrier();
	pthread_join(t, NULL);
	failing = 0;
}

static _Atomic int begun, asked;
static __thread bool ours;

static void exits(struct jf_quiesce_head *head)
{
	(void)head;
	called++;
	if (ours)
		return;
	begun = 1;
	while (!asked)
		usleep(100);
	pthread_exit(NULL);
}

static void they_end_their_thread(void)
{
	static struct jf_quiesce_head heads[4];
	int i;

	ours = true;
	called = 0;
	jf_call_quiesced(&heads[0], exits);
	while (!begun)
		usleep(100);
	failing = 1;
	for (i = 1; i < 4; i++)
		jf_call_quiesced(&heads[i], exits);
	asked = 1;
	usleep(500000);
	jf_quiesce_barrier();
	MUST(called == 4, "called %d", called);
	failing = 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	alarm(20);
	one_waits();
	one_closes(argv[0]);
	/* The thread that is made in the second one lives on for a second. */
	they_keep_their_order(false);
	they_keep_their_order(true);
	they_end_their_thread();
	if (has_mseal())
		one_closes_in_a_section(argv[0]);
	return 0;
}
