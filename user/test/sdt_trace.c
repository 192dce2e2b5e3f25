// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A tracepoint with its probe point, for sdt.sh: switched on and off all the time while
 * the probe point, too, is used and left by tools.
 * usage: sdt_trace [-]; until standard input ends, or one call off and one call on
 */
#include <jumpfunc/tracepoint.h>

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

DECLARE_JF_TRACE(request, JF_PROTO(int number, const char *path, unsigned char kind),
		 JF_ARGS(number, path, kind));
DEFINE_JF_TRACE(request);

static unsigned long hits;

static void count(void *data, int number, const char *path, unsigned char kind)
{
	(void)data, (void)path, (void)kind;
	hits += (unsigned long)number;
}

static __attribute__((noinline)) void serve(int number)
{
	jf_trace_request(number, "/index.html", (unsigned char)(number + 200));
}

static int toggle(int on)
{
	return on ? register_jf_trace_request(count, NULL) : unregister_jf_trace_request(count, NULL);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned long calls = 0;

	(void)argv;
	if (argc < 2) {
		serve(1);
		if (toggle(1))
			return 1;
		serve(2);
		printf("hits %lu\n", hits);
		return hits != 2;
	}
	do {
		int i, err = toggle(1);

		for (i = 0; i < 100; i++)
			serve(1);
		calls += 100;
		if (err || toggle(0))
			return 1;
		for (i = 0; i < 100; i++)
			serve(1000000);
	} while (!poll(&input, 1, 0));
	printf("hits %lu of %lu\n", hits, calls);
	return hits != calls;
}
