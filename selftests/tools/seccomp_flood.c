// SPDX-License-Identifier: GPL-2.0
/*
 * seccomp_flood SECONDS PROCESSES [FILTERS]: processes of an unprivileged user that spend their
 * time in seccomp filters: each makes one system call after the other, and has so many filters of
 * 4,096 instructions run for each. Prints how many calls that were.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OVERFLOW_ID	65534

static struct sock_filter filter[BPF_MAXINSNS];

static int add_filter(void)
{
	struct sock_fprog prog = { .len = BPF_MAXINSNS, .filter = filter };
	int i;

	/* Arithmetic, so that the compiler of the kernel keeps all of it. */
	for (i = 0; i < BPF_MAXINSNS - 1; i++)
		filter[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, (unsigned int)i);
	filter[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void flood(pid_t parent, time_t end, int filters, long *calls)
{
	/* Nothing here needs root: that is the point. */
	if (setgroups(0, NULL) || setgid(OVERFLOW_ID) || setuid(OVERFLOW_ID) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	/*
	 * Not longer than the one that is waited for; setuid() has forgotten it if it was asked for
	 * before.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	while (filters--)
		if (add_filter())
			_exit(2);
	while (time(NULL) < end) {
		syscall(SYS_getppid);
		(*calls)++;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	int i, n, filters, status, bad = 0;
	long *calls, sum = 0;
	pid_t parent = getpid();
	time_t end;

	if (argc < 3 || argc > 4)
		return 2;
	end = time(NULL) + atoi(argv[1]);
	n = atoi(argv[2]);
	filters = argc > 3 ? atoi(argv[3]) : 7;
	calls = mmap(NULL, (size_t)n * sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calls == MAP_FAILED)
		return 1;
	for (i = 0; i < n; i++)
		if (!fork())
			flood(parent, end, filters, &calls[i]);
	while (wait(&status) > 0)
		bad += status != 0;
	for (i = 0; i < n; i++)
		sum += calls[i];
	printf("%ld calls by %d processes, %d failed\n", sum, n, bad);
	return bad != 0;
}
