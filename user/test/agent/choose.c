// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Calls that the program counts itself, by their arguments.
 * usage: choose [ROUNDS|storm]
 *   ROUNDS: in threads and forked children, all at once; storm: threads call until the input ends;
 *   without an argument: some calls for each line of the input
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	4
#define CALL	__attribute__((__noinline__, __noclone__))

enum how { SLOW, FAST = 7, BACK = -2 };

/**
 * struct counts - of calls of all processes
 * @all:    rounds
 * @both:   level > 3 && size >= 4096
 * @either: (how == FAST || level < 0) && !(size & 1)
 * @failed: level < 0
 * @middle: level >= -1 && level <= 2 && size > 0x1000
 * @first:  @both, by the first thread
 * @named:  name begins with /etc/
 * @dear:   price > 1.5
 * @unequal: name can be read, and is not /etc/passwd
 * @one:    calls of c_called() by c_from_one()
 * @others: by c_from_two() and c_from_three(), which has the return address after a tail call
 * @opened: by an object that is opened and closed again and again
 */
static struct counts {
	unsigned long	all;
	unsigned long	both;
	unsigned long	either;
	unsigned long	failed;
	unsigned long	middle;
	unsigned long	first;
	unsigned long	named;
	unsigned long	dear;
	unsigned long	unequal;
	unsigned long	one;
	unsigned long	others;
	unsigned long	opened;
} *count;
static unsigned int main_tid;

#define COUNT(n)	__atomic_fetch_add(&count->n, 1, __ATOMIC_RELAXED)

CALL long c_work(int level, unsigned long size, enum how how, const char *name, unsigned int self)
{
	__asm__ volatile("" :: "r" (name), "r" (how), "r" (self) : "memory");
	return level < 0 ? -1 : (long)(size & 0xffff);
}

/* Half of the register of the result is not its own. */
CALL int c_half(int level)
{
	__asm__ volatile("" ::: "memory");
	return level > 3 ? -1 : level;
}

CALL double c_real(double price, int level)
{
	__asm__ volatile("" ::: "memory");
	return price * level;
}

CALL int c_deep(int n)
{
	__asm__ volatile("" ::: "memory");
	return n ? c_deep(n - 1) + 1 : 0;
}

CALL int c_called(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

CALL int c_from_one(int n)
{
	COUNT(one);
	return c_called(n) + 1;
}

CALL int c_from_two(int n)
{
	COUNT(others);
	return c_called(n) * 2;
}

/* It jumps there. */
__attribute__((__optimize__("optimize-sibling-calls")))
CALL int c_tail(int n)
{
	COUNT(others);
	return c_called(n);
}

CALL int c_from_three(int n)
{
	return c_tail(n) + 3;
}

static void callers(unsigned int i)
{
	int n = (int)i;

	if (i % 3 == 0 && c_from_one(n) != n + 2)
		abort();
	if (i % 3 == 1 && c_from_two(n) != 2 * n + 2)
		abort();
	if (i % 3 == 2 && c_from_three(n) != n + 4)
		abort();
}

/* The object is at another place each time, or another one is where it was. */
static void opened(unsigned int i)
{
	const char *path = getenv(i & 1 ? "CHOOSE_PLUGIN" : "CHOOSE_OTHER");
	void *object = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*by_object)(int (*fn)(int), int n);
	unsigned int k;

	if (!object)
		return;
	by_object = (int (*)(int (*)(int), int))(unsigned long)dlsym(object, i & 1 ? "c_by_object" : "c_by_other");
	for (k = 0; by_object && k < 5; k++) {
		if (i & 1)
			COUNT(opened);
		if (by_object(c_called, (int)k) != (int)k + 2)
			abort();
	}
	dlclose(object);
}

/* mill:grind, with its arguments in registers. */
CALL void c_note(int level, unsigned long size)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"mill\"\n.asciz \"grind\"\n.asciz \"-4@%%edi 8@%%rsi\"\n994: .balign 4\n"
			 ".popsection" :: "D" (level), "S" (size));
}

/* The last one goes on where nothing can be read, and the one before ends there. */
static const char *name_of(unsigned int i)
{
	static const char *const names[] = { "/etc/passwd", "a name", NULL, (const char *)1, "", "/etc/x, y (if \"z\")" };
	static char *edge;

	if (!edge) {
		edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (edge == MAP_FAILED || mprotect(edge + 4096, 4096, PROT_NONE))
			abort();
		memcpy(edge + 4096 - 12, "/etc/a", 7);
		memcpy(edge + 4096 - 5, "/etc/", 5);
	}
	return i % 8 == 6 ? edge + 4096 - 12 : i % 8 == 7 ? edge + 4096 - 5 : names[i % 8];
}

static void round_of(unsigned int i)
{
	double price = (i % 9) * 0.375;
	unsigned int self = (unsigned int)syscall(SYS_gettid);
	unsigned long size = (i * 2654435761U >> 7) % 8192;
	int level = (int)(i * 40503U >> 3) % 12 - 4;
	enum how how = i % 3 ? i % 3 == 1 ? FAST : BACK : SLOW;

	COUNT(all);
	if (level > 3 && size >= 4096) {
		COUNT(both);
		if (self == main_tid)
			COUNT(first);
	}
	if ((how == FAST || level < 0) && !(size & 1))
		COUNT(either);
	if (level < 0)
		COUNT(failed);
	if (level >= -1 && level <= 2 && size > 0x1000)
		COUNT(middle);
	if (i % 8 == 0 || i % 8 == 5 || i % 8 == 6)
		COUNT(named);
	if (i % 8 && i % 8 != 2 && i % 8 != 3 && i % 8 != 7)
		COUNT(unequal);
	if (price > 1.5)
		COUNT(dear);
	if (c_work(level, size, how, name_of(i), self) != (level < 0 ? -1 : (long)(size & 0xffff)) || c_half(level) != (level > 3 ? -1 : level) ||
	    c_real(price, level) != price * level || c_deep(3) != 3)
		abort();
	c_note(level, size);
	callers(i);
}

static void *thread(void *arg)
{
	unsigned int i, rounds = *(unsigned int *)arg;

	for (i = 0; i < rounds; i++)
		round_of(i);
	return NULL;
}

/* By the system call no handler of fork() hears of it. */
static void in_child(int by_call, unsigned int *rounds)
{
	long pid = by_call ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	int status = 1;

	if (!pid) {
		thread(rounds);
		_exit(0);
	}
	if (pid < 0 || waitpid((pid_t)pid, &status, 0) < 0 || status)
		abort();
}

static void all_at_once(unsigned int rounds)
{
	pthread_t t[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, &rounds))
			abort();
	thread(&rounds);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	in_child(0, &rounds);
	in_child(1, &rounds);
}

static int ended;

static void *storm(void *arg)
{
	unsigned int i;

	for (i = 0; !__atomic_load_n(&ended, __ATOMIC_RELAXED); i++)
		round_of(i);
	return arg;
}

static int until_the_end(void)
{
	pthread_t t[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, storm, NULL))
			return 1;
	while (getchar() != EOF)
		;
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 100;
	char line[16];
	unsigned int i;

	main_tid = (unsigned int)syscall(SYS_gettid);
	/* Before there are threads. */
	name_of(0);
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (count == MAP_FAILED)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "storm"))
		return until_the_end();
	for (i = 0; i < 20; i++)
		opened(i);
	if (argc > 1)
		all_at_once(rounds);
	else
		while (fgets(line, sizeof(line), stdin)) {
			thread(&rounds);
			puts("done");
			fflush(stdout);
		}
	printf("all=%lu both=%lu either=%lu failed=%lu middle=%lu first=%lu named=%lu dear=%lu unequal=%lu one=%lu others=%lu opened=%lu\n", count->all, count->both, count->either, count->failed,
	       count->middle, count->first, count->named, count->dear, count->unequal, count->one, count->others, count->opened);
	return 0;
}
