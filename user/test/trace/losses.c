// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program for losses.sh: records in one of the ways in which records can be lost, and counts
 * each call itself, in a file that outlives it. usage: losses WAY FILE
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "events.h"

/* Calls of the event, of all threads and processes. */
static uint64_t *made;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(99);
}

static void record(int num)
{
	int i;

	for (i = 0; i < num; i++) {
		jf_trace_small(0, (u64)i);
		__atomic_fetch_add(made, 1, __ATOMIC_SEQ_CST);
	}
}

static pthread_barrier_t all_there;

static void *at_once(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&all_there);
	record(500);
	pthread_barrier_wait(&all_there);
	return NULL;
}

static void *few(void *arg)
{
	(void)arg;
	record(10);
	return NULL;
}

static void many(void)
{
	record(2000);
}

static void rings(void)
{
	pthread_t t[4];
	int i;

	pthread_barrier_init(&all_there, NULL, 4);
	for (i = 0; i < 4; i++)
		must(!pthread_create(&t[i], NULL, at_once, NULL), "pthread_create");
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* New packets, and the ring of a new thread, are made by the other user. */
static void as_other(void)
{
	pthread_t t;

	record(2000);
	must(!pthread_create(&t, NULL, few, NULL), "pthread_create");
	pthread_join(t, NULL);
}

static void other_user(void)
{
	record(100);
	must(!setgid(65534) && !setuid(65534), "setuid");
	as_other();
}

static void other_root(void)
{
	record(100);
	must(!chroot("/proc/self/fdinfo") || !chroot("/var/empty") || !chroot("/tmp"), "chroot");
	must(!chdir("/"), "chdir");
	as_other();
}

static void killed(void)
{
	record(1234);
	raise(SIGKILL);
}

static void wait_for(pid_t pid)
{
	int status = 0;

	must(waitpid(pid, &status, __WALL) == pid && !status, "the child");
}

static void forks(void)
{
	pid_t pid;

	record(1000);
	pid = fork();
	if (!pid) {
		record(1000);
		_exit(0);
	}
	wait_for(pid);
	record(1000);
}

static void in_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		as_other();
		_exit(0);
	}
	wait_for(pid);
}

static void leave(int space)
{
	record(100);
	must(!unshare(space), "unshare");
}

/* The folder of traces is not to be seen there. */
static void other_mounts(void)
{
	leave(CLONE_NEWNS);
	must(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
	must(!mount("none", "/tmp", "tmpfs", 0, NULL) && !mount("none", "/dev/shm", "tmpfs", 0, NULL), "mount");
	as_other();
	in_child();
}

/* A new name space of processes is for children: the caller can have no thread more. */
static void other_pids(void)
{
	leave(CLONE_NEWPID);
	record(2000);
	in_child();
	record(100);
}

/* In which this user has no number. */
static void other_users(void)
{
	leave(CLONE_NEWUSER);
	as_other();
	in_child();
}

/* The child can open no file, so it has no trace. */
static void no_trace(void)
{
	struct rlimit none = { 0, 0 };
	pid_t pid;

	record(1000);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_NOFILE, &none);
		record(1000);
		_exit(0);
	}
	wait_for(pid);
	record(1000);
}

/* No ring can be made. */
static void limited(int which, rlim_t to)
{
	const struct rlimit limit = { to, to };

	must(!setrlimit(which, &limit), "setrlimit");
	record(1000);
}

static void descriptors(void)
{
	limited(RLIMIT_NOFILE, 3);
}

static void file_size(void)
{
	limited(RLIMIT_FSIZE, 4096);
}

static void vforks(void)
{
	pid_t pid;

	record(1000);
	pid = vfork();
	if (!pid) {
		record(1000);
		_exit(0);
	}
	wait_for(pid);
	record(1000);
}

static int cloned(void *arg)
{
	(void)arg;
	record(1000);
	return 0;
}

/* In its parent's memory, with its parent's variables of threads. */
static void clones(void)
{
	static char stack[65536] __attribute__((__aligned__(16)));
	pid_t pid;

	record(1000);
	pid = clone(cloned, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES, NULL);
	must(pid > 0, "clone");
	wait_for(pid);
	record(1000);
}

static void threads(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 300; i++) {
		must(!pthread_create(&t, NULL, few, NULL), "pthread_create");
		pthread_join(t, NULL);
	}
}

/* --- calls, which the agent records: each is counted as it returns ---------------------- */

__attribute__((__noinline__, __noclone__))
void l_deep(int depth);
__attribute__((__noinline__, __noclone__))
void l_waits(ucontext_t *own);

void l_deep(int depth)
{
	if (depth > 1)
		l_deep(depth - 1);
	__atomic_fetch_add(made, 1, __ATOMIC_SEQ_CST);
}

static void deep(void)
{
	l_deep(4000);
	l_deep(6000);
	l_deep(1);
	l_deep(5000);
}

static ucontext_t back;

void l_waits(ucontext_t *own)
{
	swapcontext(own, &back);
	__atomic_fetch_add(made, 1, __ATOMIC_SEQ_CST);
}

static ucontext_t *coroutine;

static void one_waits(int nr)
{
	l_waits(&coroutine[nr]);
}

/* More coroutines than the agent has room for, each in a call. */
static void stacks(void)
{
	const int num = 9000;
	const size_t size = 16384;
	char *stack = (char *)mmap(NULL, (size_t)num * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int i;

	coroutine = (ucontext_t *)calloc((size_t)num, sizeof(*coroutine));
	must(coroutine && stack != MAP_FAILED, "memory");
	for (i = 0; i < num; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = stack + (size_t)i * size;
		coroutine[i].uc_stack.ss_size = size;
		coroutine[i].uc_link = &back;
		makecontext(&coroutine[i], (void (*)(void))one_waits, 1, i);
		swapcontext(&back, &coroutine[i]);
	}
	for (i = 0; i < num; i++)
		swapcontext(&back, &coroutine[i]);
}

static void some_deep(void)
{
	int i;

	for (i = 0; i < 600; i++)
		l_deep(3);
}

static void *waits_and_calls(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_there);
	some_deep();
	pthread_barrier_wait(&all_there);
	return NULL;
}

/* Two threads; in the second one's time there is no memory. */
static void no_memory(void)
{
	struct rlimit limit, was;
	pthread_t t;

	some_deep();
	pthread_barrier_init(&all_there, NULL, 2);
	must(!pthread_create(&t, NULL, waits_and_calls, NULL), "pthread_create");
	pthread_barrier_wait(&all_there);
	must(!getrlimit(RLIMIT_AS, &was), "getrlimit");
	limit = was;
	limit.rlim_cur = 4096;
	must(!setrlimit(RLIMIT_AS, &limit), "setrlimit");
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_there);
	must(!setrlimit(RLIMIT_AS, &was), "setrlimit");
	pthread_join(t, NULL);
}

static void *calls(void *arg)
{
	some_deep();
	return arg;
}

/* The second one has no ring, and no counters. */
static void one_ring(void)
{
	pthread_t t;

	some_deep();
	must(!pthread_create(&t, NULL, calls, NULL), "pthread_create");
	pthread_join(t, NULL);
	some_deep();
}

static const struct way {
	const char	*name;
	void		(*fn)(void);
} ways[] = {
	{ "overwrite", many }, { "discard", many }, { "disk", many }, { "rings", rings }, { "setuid", other_user },
	{ "chroot", other_root }, { "killed", killed }, { "fork", forks }, { "no-trace", no_trace }, { "vfork", vforks },
	{ "clone", clones }, { "threads", threads }, { "deep", deep }, { "stacks", stacks }, { "no-memory", no_memory },
	{ "calls-rings", one_ring }, { "descriptors", descriptors }, { "file-size", file_size }, { "mounts", other_mounts },
	{ "pids", other_pids }, { "users", other_users },
};

int main(int argc, char **argv)
{
	size_t i;
	int fd;

	fd = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
	must(fd >= 0 && !ftruncate(fd, 4096), "usage: losses WAY FILE");
	made = (uint64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(made != MAP_FAILED, "mmap");
	close(fd);
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].name, argv[1]))
			continue;
		ways[i].fn();
		return 0;
	}
	fprintf(stderr, "no such way\n");
	return 2;
}
