// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program that goes on recording until its stdin ends, for the tests of jf-trace. Says "ready
 * PID". usage:
 *   controlled [fork|close|exec|provider|hidden|idle]
 * fork: a child goes on, too ("child PID"). close: closes all descriptors that it does not know,
 * and opens others instead. exec: executes itself. provider: has probes that are no events. hidden:
 * no control at all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "events.h"
#include <jumpfunc/record.h>

#include "../../trace/provider.h"

static struct probe {
	const char	*name;
	bool		on;
} probes[] = { { "one", false }, { "two", false }, { "t\033[31mree\n", false } };

static int list_probes(const char *glob, jf_listed_fn *fn, void *arg, void *data)
{
	size_t i;
	int ret = 0;

	(void)data;
	for (i = 0; i < 3 && !ret; i++) {
		struct jf_listed l = { "fake", probes[i].name, probes[i].on, "jump" };

		if (__jf_glob_matches(glob, "fake", probes[i].name))
			ret = fn(&l, arg);
	}
	return ret;
}

static int switch_probes(const char *glob, bool on)
{
	int n = 0;

	for (size_t i = 0; i < 3; i++) {
		if (!__jf_glob_matches(glob, "fake", probes[i].name))
			continue;
		n += on || probes[i].on;
		probes[i].on = on;
	}
	return n;
}

static int enable_probes(const char *glob, void *data)
{
	(void)data;
	return !strcmp(glob, "*") ? -E2BIG : switch_probes(glob, true);
}

static int disable_probes(const char *glob, void *data)
{
	(void)data;
	return switch_probes(glob, false);
}

static struct jf_provider provider = {
	JF_PROVIDER_VERSION, "note", list_probes, enable_probes, disable_probes, NULL, NULL, NULL, NULL, NULL
};

/* Another thread, so that control and recording are side by side. */
static void *records(void *arg)
{
	const struct timespec rest = { 0, 1000000 };
	u64 i;

	for (i = 0; ; i++) {
		jf_trace_small(2, i);
		if (!(i & 3))
			jf_trace_counted(1, i, 3);
		/* 100,000 a second, about. */
		if (!(i % 100))
			nanosleep(&rest, NULL);
	}
	return arg;
}

static void wait_for_end(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) > 0)
		;
}

/*
 * As a daemon does it; then other files have the numbers, one of them a socket that is listened at.
 */
static void close_all(void)
{
	int fd, other = socket(AF_UNIX, SOCK_STREAM, 0);

	for (fd = 3; fd < 1024; fd++)
		if (fd != other)
			close(fd);
	bind(other, (const struct sockaddr *)&(const struct sockaddr){ AF_UNIX, "" }, sizeof(sa_family_t));
	listen(other, 5);
	for (fd = 3; fd < 300; fd++)
		dup(other);
}

static void say(const char *what)
{
	printf("%s %d\n", what, (int)getpid());
	fflush(stdout);
}

/* Both go on. The child has said so when its parent does: they are asked then. */
static void fork_and_say(void)
{
	int told[2];
	char c;

	if (pipe(told))
		exit(1);
	if (!fork()) {
		say("child");
		close(told[0]);
		close(told[1]);
		return;
	}
	close(told[1]);
	if (read(told[0], &c, 1))
		exit(1);
	close(told[0]);
	say("ready");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(how, "exec"))
		execl("/proc/self/exe", argv[0], "again", NULL);
	if (!strcmp(how, "provider") && __jf_provider_register(&provider))
		return 1;
	if (!strcmp(how, "hidden") && jf_record_control(false))
		return 1;
	if (!strcmp(how, "close"))
		close_all();
	if (!strcmp(how, "fork"))
		fork_and_say();
	else
		say("ready");
	if (strcmp(how, "idle") && pthread_create(&thread, NULL, records, NULL))
		return 1;
	wait_for_end();
	return 0;
}
