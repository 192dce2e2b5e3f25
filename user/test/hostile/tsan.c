// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * ThreadSanitizer sees that no thread reads memory that is freed after jf_quiesce(); and
 * it still sees a race where the program does not wait. run.sh builds this with it.
 */
#include <jumpfunc/batch.h>
#include <pthread.h>
#include <sys/wait.h>

#include "hostile.h"

static int *data;
static int stop;
static unsigned long passes;
static long sum;

static void *reads(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		jf_read_lock();
		*(volatile long *)arg += *__atomic_load_n(&data, __ATOMIC_ACQUIRE);
		jf_read_unlock();
		__atomic_fetch_add(&passes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void replace(int waits)
{
	int *old = data, *new = malloc(sizeof(*new));

	*new = 1;
	__atomic_store_n(&data, new, __ATOMIC_RELEASE);
	if (waits)
		jf_quiesce();
	*old = 0;
	/* In the other case it may be in use. */
	if (waits)
		free(old);
}

/* The reader has been there since, however busy the machine is. This orders nothing. */
static void let_pass(void)
{
	unsigned long until = __atomic_load_n(&passes, __ATOMIC_RELAXED) + 2;

	while (__atomic_load_n(&passes, __ATOMIC_RELAXED) < until)
		usleep(100);
}

static int run(int waits)
{
	pthread_t t;
	int i;

	data = calloc(1, sizeof(*data));
	pthread_create(&t, NULL, reads, &sum);
	for (i = 0; i < 300; i++) {
		let_pass();
		replace(waits);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	char command[4096];
	int status;

	if (argc > 1)
		return run(!strcmp(argv[1], "waits"));
	alarm(100);
	snprintf(command, sizeof(command), "%s waits", argv[0]);
	status = system(command);
	MUST(!status, "a race where there is none: %x", status);
	snprintf(command, sizeof(command), "%s races 2> /dev/null", argv[0]);
	status = system(command);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 66, "no race was seen: %x", status);
	return 0;
}
