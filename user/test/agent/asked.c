// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program under the agent that is asked by its control socket, again and again, to switch probes
 * on and off, while threads call the functions that are switched, and others load and unload an
 * object of which some is. Two threads call a function that is recorded all the time: so many
 * records there must be.
 *
 * usage: asked PLUGIN SECONDS		prints the number of these calls
 * JUMPFUNC_AGENT has subject.so:subject_nothing; JUMPFUNC_TRACE_CONTROL is 1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "subject.h"
#include "user/trace/control.h"

#define CALLERS		4
#define COUNTERS	2
#define OPENERS		2
/* A ring keeps more than so many records of each counter. */
#define COUNTED		20000

static volatile bool over;
static const char *plugin;
static unsigned long rounds, counted, opened, wrong, asked, again;

static void rest(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static void add(unsigned long *to, unsigned long n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static unsigned long read_of(const unsigned long *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static void *calls(void *arg)
{
	uint64_t a = (uint64_t)(uintptr_t)arg, n = 0, bad = 0;

	for (; !over; a = a * 6364136223846793005 + 1442695040888963407, n++)
		bad += subject_same(a) != a || subject_twice(a) != 2 * a || subject_landing(a) != a + 3 ||
		       subject_load(a) != a + 17 || subject_pushes(a, n) != a + n || subject_calls(a) != 3 * a ||
		       subject_notes(a, 5, (unsigned char)n) != a + 6 + (unsigned char)n || subject_nop5(a) != a + 5;
	add(&rounds, n);
	add(&wrong, bad);
	return NULL;
}

static void *counts(void *arg)
{
	unsigned long n = 0;

	while (!over && n < COUNTED) {
		subject_nothing();
		if (!(++n % 4))
			rest(1000000);
	}
	add(&counted, n);
	return arg;
}

static void *opens(void *arg)
{
	uint64_t (*twice)(uint64_t a);
	unsigned long n = 0;
	void *h;
	int i;

	for (; !over; n++) {
		h = dlopen(plugin, RTLD_NOW);
		if (!h) {
			fprintf(stderr, "%s\n", dlerror());
			exit(3);
		}
		twice = (uint64_t (*)(uint64_t))(uintptr_t)dlsym(h, "subject_twice");
		for (i = 0; i < 10; i++)
			add(&wrong, twice(n) != 2 * n);
		dlclose(h);
	}
	add(&opened, n);
	return arg;
}

/* The error that the answer ends with, or -ETIME: it has no end. */
static int ask(const char *command, const char *glob)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct jf_message m = { .size = 0 };
	char answer[JF_CONTROL_MAX];
	struct jf_words w;
	int fd, err = -ETIME;
	ssize_t n;

	jf_words_add(&m, JF_CONTROL_VERSION);
	jf_words_add(&m, command);
	jf_words_add(&m, glob);
	err = snprintf(at.sun_path, sizeof(at.sun_path), "%s/" JF_CONTROL_FOLDER "/", getenv("XDG_RUNTIME_DIR"));
	jf_control_name(at.sun_path + err, sizeof(at.sun_path) - (size_t)err, (int)getpid(), "/proc/self/ns/pid");
	err = -ETIME;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof(at)) || send(fd, m.data, m.size, MSG_NOSIGNAL) < 0)
		err = -errno;
	while (err == -ETIME && (n = recv(fd, answer, sizeof(answer), 0)) > 0)
		if (!jf_words_split(&w, answer, (size_t)n) && w.num == 3 && !strcmp(w.word[0], "end"))
			err = -atoi(w.word[1]);
	close(fd);
	return err;
}

static void *asks(void *arg)
{
	static const char *const globs[] = {
		"subject2.so:*", "subject.so:subject_[a-m]*", "jf*:*", "subject_[p-t]*(string)", "subject2.so:subject_twice",
	};
	unsigned long n = (uintptr_t)arg;
	int err;

	while (!over) {
		err = ask(n & 1 ? "disable" : "enable", globs[n / 2 % 5]);
		/* A thread that is being made blocks all signals for a while. */
		if (err == -EAGAIN || err == -EOPNOTSUPP) {
			add(&again, 1);
		} else if (err) {
			fprintf(stderr, "%s: %s\n", globs[n / 2 % 5], strerror(-err));
			add(&wrong, 1);
		}
		add(&asked, 1);
		n++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[CALLERS + COUNTERS + OPENERS + 2];
	unsigned int i, n = 0;
	int seconds;

	if (argc != 3)
		return 2;
	plugin = argv[1];
	seconds = atoi(argv[2]);
	/* A deadlock ends by SIGALRM. */
	alarm((unsigned int)seconds + 60);
	for (i = 0; i < CALLERS; i++)
		pthread_create(&threads[n++], NULL, calls, (void *)(uintptr_t)(i + 1));
	for (i = 0; i < COUNTERS; i++)
		pthread_create(&threads[n++], NULL, counts, NULL);
	for (i = 0; i < OPENERS; i++)
		pthread_create(&threads[n++], NULL, opens, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[n++], NULL, asks, (void *)(uintptr_t)(2 * i));
	sleep((unsigned int)seconds);
	/*
	 * A busy machine may need longer for some that are not refused; the alarm is later than
	 * this.
	 */
	for (i = 0; i < 50 && (read_of(&asked) < 4 || read_of(&again) == read_of(&asked)); i++)
		sleep(1);
	over = true;
	while (n)
		pthread_join(threads[--n], NULL);
	fprintf(stderr, "%lu rounds, %lu objects, %lu requests (%lu again), %lu wrong\n", rounds, opened, asked, again, wrong);
	printf("%lu\n", counted);
	return wrong || !rounds || !opened || asked < 4 || again == asked;
}
