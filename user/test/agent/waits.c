// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program whose first thread does one thing again and again, and knows its right results, also if
 * a tool attaches to it: waits NAME. It says "ready". At SIGTERM, which it looks for between two
 * rounds, it says "right"; else the wrong result.
 *
 * No wait of it may end with EINTR, or before its time: no handler interrupts it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000L
#define WAIT_MS	60

static int to_first[2], to_peer[2], pair[2];
static volatile unsigned long rounds;

static void wrong(const char *what, long result)
{
	printf("wrong: %s: result %ld, errno %d, round %lu\n", what, result, errno, rounds);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* It ends when its time is over, and not before; its clock may be coarser by a millisecond. */
static void timed(const char *what, long result, long wanted, int error, uint64_t since)
{
	if (result != wanted || (result < 0 && errno != error))
		wrong(what, result);
	if (now() - since + MS < WAIT_MS * MS)
		wrong("too early", (long)(now() - since));
}

static void do_nanosleep(void)
{
	const struct timespec t = { 0, WAIT_MS * MS };
	uint64_t since = now();

	timed("nanosleep", nanosleep(&t, NULL), 0, 0, since);
}

static void do_poll(void)
{
	struct pollfd p = { to_first[0], POLLIN, 0 };
	uint64_t since = now();

	timed("poll", poll(&p, 1, WAIT_MS), 0, 0, since);
}

static void do_ppoll(void)
{
	const struct timespec t = { 0, WAIT_MS * MS };
	struct pollfd p = { to_first[0], POLLIN, 0 };
	uint64_t since = now();
	sigset_t none;

	sigemptyset(&none);
	sigaddset(&none, SIGTERM);
	timed("ppoll", ppoll(&p, 1, &t, &none), 0, 0, since);
}

static void do_select(void)
{
	struct timeval t = { 0, WAIT_MS * 1000 };
	uint64_t since = now();
	fd_set set;

	FD_ZERO(&set);
	FD_SET(to_first[0], &set);
	timed("select", select(to_first[0] + 1, &set, NULL, NULL, &t), 0, 0, since);
}

static int epoll_of_pipe(void)
{
	static int fd = -1;
	struct epoll_event e = { .events = EPOLLIN };

	if (fd < 0) {
		fd = epoll_create1(0);
		epoll_ctl(fd, EPOLL_CTL_ADD, to_first[0], &e);
	}
	return fd;
}

static void do_epoll(void)
{
	struct epoll_event e;
	uint64_t since = now();

	timed("epoll_wait", epoll_wait(epoll_of_pipe(), &e, 1, WAIT_MS), 0, 0, since);
}

static void do_futex(void)
{
	const struct timespec t = { 0, WAIT_MS * MS };
	static uint32_t word;
	uint64_t since = now();

	timed("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &t, NULL, 0), -1, ETIMEDOUT, since);
}

static void do_sigtimedwait(void)
{
	const struct timespec t = { 0, WAIT_MS * MS };
	uint64_t since = now();
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	timed("sigtimedwait", sigtimedwait(&set, NULL, &t), -1, EAGAIN, since);
}

static void do_semtimedop(void)
{
	const struct timespec t = { 0, WAIT_MS * MS };
	struct sembuf op = { 0, -1, 0 };
	static int id = -1;
	uint64_t since = now();
	long ret;
	int err;

	if (id < 0) {
		id = semget(IPC_PRIVATE, 1, 0600);
		/* It is gone with this program. */
	}
	ret = semtimedop(id, &op, 1, &t);
	err = errno;
	if (ret >= 0 || err != EAGAIN)
		semctl(id, 0, IPC_RMID);
	errno = err;
	timed("semtimedop", ret, -1, EAGAIN, since);
}

static void do_recv(void)
{
	const struct timeval t = { 0, WAIT_MS * 1000 };
	uint64_t since;
	char c;

	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	since = now();
	timed("recv", recv(pair[0], &c, 1, 0), -1, EAGAIN, since);
}

/* Numbers go to a thread and come back: none is lost, and none comes twice. */
static void *echo(void *arg)
{
	uint64_t n;

	while (read(to_peer[0], &n, sizeof(n)) == sizeof(n)) {
		usleep(3000);
		if (write(to_first[1], &n, sizeof(n)) != sizeof(n))
			break;
	}
	return arg;
}

static void start_echo(void)
{
	static pthread_t t;

	if (!t)
		pthread_create(&t, NULL, echo, NULL);
}

static void do_read(void)
{
	uint64_t n = rounds, back = 0;

	start_echo();
	if (write(to_peer[1], &n, sizeof(n)) != sizeof(n))
		wrong("write", -1);
	if (read(to_first[0], &back, sizeof(back)) != sizeof(back) || back != n)
		wrong("read", (long)back);
}

static void do_epoll_forever(void)
{
	struct epoll_event e;
	uint64_t n = rounds, back = 0;
	long ret;

	start_echo();
	if (write(to_peer[1], &n, sizeof(n)) != sizeof(n))
		wrong("write", -1);
	ret = epoll_wait(epoll_of_pipe(), &e, 1, -1);
	if (ret != 1)
		wrong("epoll_wait without a time-out", ret);
	if (read(to_first[0], &back, sizeof(back)) != sizeof(back) || back != n)
		wrong("read after epoll_wait", (long)back);
}

static sem_t here, there;

static void *other_side(void *arg)
{
	for (;;) {
		if (sem_wait(&there))
			wrong("sem_wait there", -1);
		usleep(3000);
		sem_post(&here);
	}
	return arg;
}

static void do_sem(void)
{
	static pthread_t t;

	if (!t) {
		sem_init(&here, 0, 0);
		sem_init(&there, 0, 0);
		pthread_create(&t, NULL, other_side, NULL);
	}
	sem_post(&there);
	if (sem_wait(&here))
		wrong("sem_wait", -1);
}

static void do_wait(void)
{
	int status = 0;
	pid_t child = fork(), got;

	if (!child) {
		usleep(20000);
		_exit(7);
	}
	got = waitpid(child, &status, 0);
	if (got != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		wrong("waitpid", got);
}

/* Each signal is counted; none may be lost, and sigsuspend() returns for each. */
static volatile sig_atomic_t seen;

static void on_real(int sig)
{
	(void)sig;
	seen++;
}

static void *sends(void *to)
{
	union sigval v = { .sival_int = 1 };

	usleep(2000);
	pthread_sigqueue((pthread_t)(uintptr_t)to, SIGRTMIN + 1, v);
	return NULL;
}

static void do_sigsuspend(void)
{
	sigset_t real, was, open;
	pthread_t t;
	int before;

	signal(SIGRTMIN + 1, on_real);
	sigemptyset(&real);
	sigaddset(&real, SIGRTMIN + 1);
	pthread_sigmask(SIG_BLOCK, &real, &was);
	before = seen;
	pthread_create(&t, NULL, sends, (void *)(uintptr_t)pthread_self());
	open = was;
	sigdelset(&open, SIGRTMIN + 1);
	if (sigsuspend(&open) != -1 || errno != EINTR || seen != before + 1)
		wrong("sigsuspend", seen - before);
	pthread_join(t, NULL);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &open);
	if (sigismember(&open, SIGRTMIN + 1) || sigismember(&open, SIGUSR1))
		wrong("mask", 0);
}

/* All vector registers, x87, flags and general registers have their values, over and over. */
static void do_compute(void)
{
	static const double pi = 3.14159265358979;
	uint64_t until = now() + 20 * MS, sum, rsp_before, rsp_after;
	double out;
	int i;

	while (now() < until) {
		sum = 0;
		__asm__ volatile(
			"mov %%rsp, %[before]\n\t"
			"movq %[pi], %%xmm0\n\tmovq %%xmm0, %%xmm15\n\tmovddup %%xmm15, %%xmm7\n\t"
			"fldl %[mem]\n\tfldl %[mem]\n\t"
			"mov $0x1234567, %%r8\n\tmov $0x89abcdef, %%r9\n\tmov %%r8, -8(%%rsp)\n\tmov %%r9, -128(%%rsp)\n\t"
			"mov $200000, %%ecx\n\tstd\n\t"
			"1: dec %%ecx\n\tjnz 1b\n\t"
			"cld\n\t"
			"sub -8(%%rsp), %%r8\n\tsub -128(%%rsp), %%r9\n\tadd %%r8, %[sum]\n\tadd %%r9, %[sum]\n\t"
			"ucomisd %%xmm15, %%xmm7\n\tjz 2f\n\tinc %[sum]\n\t2: psubq %%xmm0, %%xmm15\n\tmovq %%xmm15, %%r8\n\tadd %%r8, %[sum]\n\t"
			"fsubrp\n\tfstpl %[out]\n\t"
			"mov %%rsp, %[after]\n\t"
			: [sum] "+r" (sum), [before] "=&r" (rsp_before), [after] "=&r" (rsp_after), [out] "=m" (out)
			: [pi] "r" (pi), [mem] "m" (pi)
			: "rcx", "r8", "r9", "xmm0", "xmm7", "xmm15", "st", "st(1)", "cc", "memory");
		if (sum || out != 0 || rsp_before != rsp_after)
			wrong("registers", (long)sum);
	}
	/* errno is the thread's. */
	for (i = 0; i < 2000; i++)
		if (close(-1) != -1 || errno != EBADF)
			wrong("errno", i);
}

/* The allocator's locks and the dynamic linker's are taken most of the time. */
static void do_malloc(void)
{
	static void *some[256];
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		unsigned int k = (i * 7919 + (unsigned int)rounds) % 256;

		if (some[k] && *(unsigned int *)some[k] != k)
			wrong("malloc", k);
		free(some[k]);
		some[k] = malloc(sizeof(k) + (i * 31) % 70000);
		*(unsigned int *)some[k] = k;
	}
}

static void do_dlopen(void)
{
	void *lib = dlopen("libm.so.6", RTLD_NOW);
	double (*f)(double) = lib ? (double (*)(double))(uintptr_t)dlsym(lib, "floor") : NULL;

	if (!f || f(2.5) != 2)
		wrong("dlopen", 0);
	dlclose(lib);
}

/* Threads that come and go, beside it. */
static void *nothing(void *arg)
{
	return arg;
}

static void do_threads(void)
{
	pthread_t t[4];
	void *got;
	long i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, nothing, (void *)i))
			wrong("pthread_create", i);
	for (i = 0; i < 4; i++)
		if (pthread_join(t[i], &got) || got != (void *)i)
			wrong("pthread_join", i);
}

/* Its own handlers run all the time. */
static void do_handlers(void)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction act = { .sa_handler = on_real, .sa_flags = SA_RESTART };
	static bool begun;

	if (!begun) {
		sigaction(SIGALRM, &act, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		begun = true;
	}
	do_compute();
}

static const struct kind {
	const char	*name;
	void		(*run)(void);
} kinds[] = {
	{ "nanosleep", do_nanosleep }, { "poll", do_poll }, { "ppoll", do_ppoll }, { "select", do_select }, { "epoll", do_epoll },
	{ "epoll_forever", do_epoll_forever }, { "futex", do_futex }, { "sem", do_sem }, { "sigtimedwait", do_sigtimedwait },
	{ "semtimedop", do_semtimedop }, { "recv", do_recv }, { "read", do_read }, { "wait", do_wait }, { "sigsuspend", do_sigsuspend },
	{ "compute", do_compute }, { "malloc", do_malloc }, { "dlopen", do_dlopen }, { "threads", do_threads },
	{ "handlers", do_handlers },
};

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;
	sigset_t term, pending;
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	for (i = 0; !kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		puts(kinds[i].name);
	if (!kind)
		return 2;
	if (pipe(to_first) || pipe(to_peer) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		wrong("pipe", -1);
	/* It stays pending: no handler interrupts anything. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	puts("ready");
	fflush(stdout);
	do {
		kind->run();
		rounds++;
		sigpending(&pending);
	} while (!sigismember(&pending, SIGTERM));
	puts("right");
	fflush(stdout);
	_exit(0);
}
