// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * All threads of a process stand: each thread in /proc/PID/task is seized and interrupted, until no
 * new one is found, and each thread of other processes with the same memory, which clone() makes by
 * CLONE_VM alone. No signal is sent. A system call that goes on after SIGSTOP and SIGCONT goes on;
 * others end with EINTR (signal(7)). The stops are not read, so no signal is lost that a thread was
 * about to get.
 */
#include "tool.h"
#include "stand.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of kcmp(). musl-gcc has no headers of the kernel. */
#define KCMP_VM		1
#define THREADS_MAX	65536U
/* How long threads may take to stop, and one that cannot be interrupted. */
#define STAND_MS	100
#define SLEEPS_MS	3

static int add_thread(struct standing *s, pid_t pid, pid_t tid)
{
	struct seized *more;

	if (s->num == THREADS_MAX)
		return -E2BIG;
	if (s->num == s->room) {
		more = realloc(s->thread, (s->room * 2 + 64) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->thread = more;
		s->room = s->room * 2 + 64;
	}
	s->thread[s->num] = (struct seized){ .pid = pid, .tid = tid, .gone = thread_is_none(pid, tid) };
	s->num++;
	return 0;
}

/**
 * struct search - for threads that are not known yet
 * @all:   whose they will be
 * @pid:   their process
 * @found: how many there are
 */
struct search {
	struct standing	*all;
	pid_t		pid;
	int		found;
};

static int find_thread(pid_t tid, void *arg)
{
	struct search *f = (struct search *)arg;
	struct standing *s = f->all;

	if (tid >= (pid_t)TIDS_MAX || s->known[tid / 8] >> tid % 8 & 1)
		return 0;
	s->known[tid / 8] |= (uint8_t)(1U << tid % 8);
	f->found++;
	return add_thread(s, f->pid, tid);
}

/* Threads of a process that are not known yet: how many there are, or -errno. */
static int find_new(struct standing *s, pid_t pid)
{
	struct search f = { s, pid, 0 };
	int err = thread_each(pid, find_thread, &f);

	/* Another one with the same memory may have ended. */
	if (err == -ENOENT)
		return pid == s->pid[0] ? -ESRCH : 0;
	return err ? err : f.found;
}

/* A thread that has the memory. */
static pid_t any_alive(const struct standing *s)
{
	size_t i;

	for (i = 0; i < s->num; i++)
		if (!s->thread[i].gone)
			return s->thread[i].tid;
	return s->pid[0];
}

static long have_same_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
}

static bool is_listed(const struct standing *s, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < s->pids; i++)
		if (s->pid[i] == pid)
			return true;
	return false;
}

static int find_sharer(pid_t pid, void *arg)
{
	struct standing *s = (struct standing *)arg;

	if (is_listed(s, pid) || have_same_memory(s->one, pid))
		return 0;
	if (s->pids == SHARERS_MAX)
		return -EINPROGRESS;
	s->pid[s->pids++] = pid;
	return 0;
}

/* Processes that are not known yet; one that this user may not ask about is another user's. */
static int find_sharers(struct standing *s)
{
	pid_t one = any_alive(s);
	int err;

	s->one = one;
	err = number_each("/proc", find_sharer, s);
	if (err && err != -EINPROGRESS)
		return -EIO;
	/* One that ends has no memory any more. */
	if (thread_is_none(s->pid[0], one))
		return -EINPROGRESS;
	s->untold = have_same_memory(one, one);
	return s->untold ? -EACCES : err;
}

/* Of all processes that are known. */
static int find_all(struct standing *s)
{
	int found = 0, ret = 0;
	unsigned int i;

	for (i = 0; i < s->pids && ret >= 0; i++) {
		ret = find_new(s, s->pid[i]);
		found += ret;
	}
	return ret < 0 ? ret : found;
}

/* The number that was given to a process last. Unknown: another one each time. */
static long last_process(void)
{
	static long unknown;
	char text[128];
	ssize_t n;
	long last;
	int fd;

	fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%*s %*s %*s %*s %ld", &last) == 1 ? last : --unknown;
}

bool is_past(const struct standing *s, unsigned int ms)
{
	return now_ns() > s->since + ms * UINT64_C(1000000);
}

static int all_stand(struct standing *s)
{
	size_t i = 0;

	while (i < s->num) {
		struct seized *t = &s->thread[i];

		if (!t->stands && !t->gone)
			thread_look(t);
		if (t->stands || t->gone) {
			i++;
			continue;
		}
		/* One that only waits for a processor has more time. */
		if (is_past(s, STAND_MS) || (is_past(s, SLEEPS_MS) && thread_sleeps(t->pid, t->tid))) {
			s->asleep = t->tid;
			return -EAGAIN;
		}
		/* The first thread, before the others have ended. */
		t->gone = is_past(s, SLEEPS_MS) && thread_is_none(t->pid, t->tid);
		rest(20000);
	}
	return 0;
}

/* Those that are there, then those that they have made before they stood. */
int stand_all(struct standing *s)
{
	long last = last_process(), now;
	size_t from = 0;
	int err, found = find_all(s);

	err = found < 0 ? found : find_sharers(s);
	if (!err)
		found = find_all(s);
	err = err ? err : found < 0 ? found : 0;
	s->since = now_ns();
	while (!err && from < s->num) {
		for (; from < s->num && !err; from++)
			if (!s->thread[from].gone)
				err = thread_seize(&s->thread[from]);
		if (!err)
			err = all_stand(s);
		now = last_process();
		if (!err && now != last)
			err = find_sharers(s);
		last = now;
		found = err ? err : find_all(s);
		err = found < 0 ? found : is_past(s, STAND_MS) ? -ETIMEDOUT : 0;
	}
	return err;
}

/* One that does not stand yet goes on when this process ends, which is soon, or late. */
void let_go(struct standing *s)
{
	size_t i;

	for (i = 0; i < s->num; i++)
		if (s->thread[i].stands && !s->thread[i].gone)
			thread_let_go(&s->thread[i]);
}

/* Those that were seized, and did not stand. */
void let_late_go(struct standing *s)
{
	size_t i;

	for (i = 0; i < s->num; i++)
		if (!s->thread[i].stands && !s->thread[i].gone)
			thread_let_go_late(&s->thread[i]);
}
