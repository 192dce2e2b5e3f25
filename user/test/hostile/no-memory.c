// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Each allocation fails in its turn, while probes come and go. */
#include <jumpfunc/tracepoint.h>

#include "hostile.h"
#include "maps.h"

#define PROBES	20

DECLARE_JF_TRACE(rx, JF_PROTO(int i, int j), JF_ARGS(i, j));
DEFINE_JF_TRACE(rx);

/* So many succeed; 0: all do. */
static int left;

FAILING_MMAP(left && !--left)

static long sum[PROBES];
static int is_on[PROBES];

static void probe(void *data, int i, int j)
{
	*(long *)data += i + j;
}

static void check(void)
{
	int i;

	memset(sum, 0, sizeof(sum));
	jf_trace_rx(1, 2);
	for (i = 0; i < PROBES; i++)
		MUST(sum[i] == (is_on[i] ? 3 : 0), "probe %d", i);
}

/* Returns how often there was no memory. */
static int change(int on)
{
	int i, err, failed = 0;

	for (i = 0; i < PROBES; i++) {
		if (is_on[i] == on)
			continue;
		err = on ? register_jf_trace_rx(probe, &sum[i]) :
			   unregister_jf_trace_rx(probe, &sum[i]);
		MUST(!err || err == -ENOMEM, "%s", strerror(-err));
		failed += err == -ENOMEM;
		if (!err)
			is_on[i] = on;
		check();
	}
	return failed;
}

int main(void)
{
	int n, all = 0;

	alarm(50);
	for (n = 1; n < 150; n++) {
		left = n;
		all += change(1);
		all += change(0);
		left = 0;
		MUST(!change(1) && !change(0), "no memory");
	}
	MUST(all > 50, "only %d failed", all);
	return 0;
}
