// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Probes come and go all day, in images at places that are used again and again. perf's
 * file has each place once; that of a child has those that the child uses.
 */
#include <jumpfunc/tracepoint.h>

#include "again.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static void probe(void *data, int i)
{
	(void)data;
	(void)i;
}

/* An image of one probe is not as long as another one of one probe. */
static void on_and_off(void)
{
	static int data;

	MUST(!register_jf_trace_rx(probe, NULL), "register");
	MUST(!register_jf_trace_rx(probe, &data), "register");
	MUST(!unregister_jf_trace_rx(probe, NULL), "unregister");
	MUST(!unregister_jf_trace_rx(probe, &data), "unregister");
}

static void check(const char *process)
{
	static struct {
		unsigned long at, size;
	} seen[1000];
	char path[64];
	size_t nr = 0, i;
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "r");
	MUST(f, "%s: nothing was told", process);
	unlink(path);
	while (nr < 1000 && fscanf(f, "%lx %lx %*s", &seen[nr].at, &seen[nr].size) == 2)
		for (i = nr++; i-- > 0;)
			MUST(seen[i].at + seen[i].size <= seen[nr - 1].at ||
			     seen[nr - 1].at + seen[nr - 1].size <= seen[i].at,
			     "%s: line %zu is of the place of line %zu", process, nr, i + 1);
	fclose(f);
	MUST(nr >= 2, "%s: %zu lines", process, nr);
}

int main(int argc, char **argv)
{
	int i, status;
	pid_t p;

	(void)argc;
	alarm(10);
	must_have(argv, "JUMPFUNC_PERF_MAP", "1");
	for (i = 0; i < 200; i++)
		on_and_off();
	p = fork();
	if (!p) {
		on_and_off();
		check("the child");
		_exit(0);
	}
	waitpid(p, &status, 0);
	check("the parent");
	MUST(!status, "the child: status %#x", status);
	return 0;
}
