// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* perf's file may not grow, as in a daemon that must write no file. No reason to die. */
#include <jumpfunc/tracepoint.h>
#include <signal.h>
#include <sys/resource.h>

#include "again.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static int calls;

static void probe(void *data, int i)
{
	(void)data;
	calls += i;
}

int main(int argc, char **argv)
{
	struct rlimit limit, none;
	sigset_t pending;
	char path[64];
	int err;

	(void)argc;
	alarm(10);
	must_have(argv, "JUMPFUNC_PERF_MAP", "1");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	MUST(!getrlimit(RLIMIT_FSIZE, &limit), "getrlimit");
	none = limit;
	none.rlim_cur = 0;
	MUST(!setrlimit(RLIMIT_FSIZE, &none), "setrlimit");
	err = register_jf_trace_rx(probe, NULL);
	sigpending(&pending);
	setrlimit(RLIMIT_FSIZE, &limit);
	unlink(path);
	MUST(!err, "register: %s", strerror(-err));
	MUST(!sigismember(&pending, SIGXFSZ), "a signal is left");
	jf_trace_rx(1);
	MUST(calls == 1, "%d calls", calls);
	return 0;
}
