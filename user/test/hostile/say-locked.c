// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Standard error is a pipe that is full. Its reader first wants something of the
 * library, or is a signal handler of the thread that has something to say. Both come to
 * read: when the library writes it holds no lock, and signals are let in.
 */
#include <fcntl.h>
#include <jumpfunc/batch.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <pthread.h>
#include <signal.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static int fds[2], by_signal;
static volatile sig_atomic_t reads;

static void drain(void)
{
	static char bytes[65536];

	while (read(fds[0], bytes, sizeof(bytes)) > 0)
		;
	reads++;
}

static void on_alarm(int sig)
{
	(void)sig;
	drain();
}

static void *waits(void *arg)
{
	struct jf_stats s;

	usleep(100000);
	jf_stats_get(&s, sizeof(s));
	drain();
	return arg;
}

static void fill(void)
{
	static const char bytes[4096];

	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	while (write(fds[1], bytes, sizeof(bytes)) > 0)
		;
	while (write(fds[1], bytes, 1) > 0)
		;
	fcntl(fds[1], F_SETFL, 0);
}

/* It says that the same key is wanted on and off. */
static void complain(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &key, true);
	jf_key_batch_set(&b, &key, false);
	MUST(jf_batch_commit(&b) == -EINVAL, "a batch with two values");
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc < 2) {
		setenv("JUMPFUNC", "verbose", 1);
		execl("/proc/self/exe", argv[0], "again", NULL);
	}
	/* While signals are blocked its handler would not run: then it ends the program. */
	signal(SIGALRM, on_alarm);
	MUST(!pipe(fds), "%m");
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	MUST(dup2(fds[1], STDERR_FILENO) == STDERR_FILENO, "%m");
	for (by_signal = 0; by_signal < 2; by_signal++) {
		fill();
		reads = 0;
		if (by_signal)
			ualarm(100000, 0);
		else
			pthread_create(&t, NULL, waits, NULL);
		complain();
		if (!by_signal)
			pthread_join(t, NULL);
		MUST(reads, "the reader has not run");
	}
	return 0;
}
