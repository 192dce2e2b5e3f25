// SPDX-License-Identifier: GPL-2.0
/*
 * fork_storm SECONDS FILE: processes that begin, write to FILE, become another program that does so
 * too, start a thread that ends before or after them, and end. Prints how many.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *file;

static void enter(void)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		_exit(3);
	close(fd);
}

static void *other(void *unused)
{
	(void)unused;
	enter();
	return NULL;
}

/* The whole process ends while its other threads are on their way. */
static int child(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&t, NULL, other, NULL))
			return 2;
	if (getpid() & 1)
		pthread_join(t, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	long n = 0, bad = 0;
	time_t end;
	int status;

	if (argc != 3)
		return 2;
	file = argv[2];
	if (!strcmp(argv[1], "child"))
		return child();
	end = time(NULL) + atol(argv[1]);
	while (time(NULL) < end) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (!pid) {
			enter();
			/* By exec or not, from the child of a child or not. */
			if (n & 1 && fork() > 0)
				_exit(0);
			if (n & 2)
				execl("/proc/self/exe", "fork_storm", "child", file, NULL);
			_exit(child());
		}
		while (waitpid(-1, &status, WNOHANG) > 0)
			bad += !WIFEXITED(status) || WEXITSTATUS(status);
		n++;
		usleep(2000);
	}
	while (wait(&status) > 0)
		bad += !WIFEXITED(status) || WEXITSTATUS(status);
	printf("%ld processes, %ld ended badly\n", n, bad);
	return bad != 0;
}
