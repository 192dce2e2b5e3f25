// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Rows of growth.sh: growing data in a traced program, and the waits of others during this.
 *
 * usage: growth objects FOLDER N	opens N objects of a folder, and closes the last quarter:
 *					the processor time of each of these
 *        growth start			the processor time until main(), with all wanted probes on
 *        growth forks SECONDS		forks over and over: the longest fork()
 *        growth later OBJECT		opens it after a line of standard input: its processor time
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int objects(const char *folder, int num)
{
	void **opened = calloc((size_t)num, sizeof(*opened));
	int i, last = num - num / 4;
	double start = 0;
	char name[4096];

	if (!opened)
		return 1;
	for (i = 0; i < num; i++) {
		if (i == last)
			start = now_us(CLOCK_PROCESS_CPUTIME_ID);
		snprintf(name, sizeof(name), "%s/%d.so", folder, i);
		opened[i] = dlopen(name, RTLD_NOW);
		if (!opened[i]) {
			fprintf(stderr, "growth: %s\n", dlerror());
			return 1;
		}
	}
	for (i = last; i < num; i++)
		dlclose(opened[i]);
	printf("%.1f\n", (now_us(CLOCK_PROCESS_CPUTIME_ID) - start) / (num / 4));
	free(opened);
	return 0;
}

static int forks(int seconds)
{
	double end = now_us(CLOCK_MONOTONIC) + seconds * 1e6, longest = 0, took;

	puts("begins");
	fflush(stdout);
	while (now_us(CLOCK_MONOTONIC) < end) {
		double start = now_us(CLOCK_MONOTONIC);
		pid_t child = fork();

		if (!child)
			_exit(0);
		took = now_us(CLOCK_MONOTONIC) - start;
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
		longest = took > longest ? took : longest;
		usleep(1000);
	}
	printf("%.0f\n", longest);
	return 0;
}

static int later(const char *object)
{
	double start;
	char line[8];

	puts("begins");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	start = now_us(CLOCK_THREAD_CPUTIME_ID);
	if (!dlopen(object, RTLD_NOW)) {
		fprintf(stderr, "growth: %s\n", dlerror());
		return 1;
	}
	printf("%.0f\n", now_us(CLOCK_THREAD_CPUTIME_ID) - start);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "objects") && atoi(argv[3]) >= 4)
		return objects(argv[2], atoi(argv[3]));
	if (argc == 3 && !strcmp(argv[1], "forks"))
		return forks(atoi(argv[2]));
	if (argc == 3 && !strcmp(argv[1], "later"))
		return later(argv[2]);
	if (argc != 2 || strcmp(argv[1], "start"))
		return 2;
	printf("%.0f\n", now_us(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
