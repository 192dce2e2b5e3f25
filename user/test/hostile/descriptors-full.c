// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A process has no descriptor left when it changes a key: the change needs none of its. If
 * it may have none at all, the change fails; when it may again, it succeeds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "hostile.h"

#define UNPRIVILEGED	65534

DEFINE_JF_KEY_FALSE(key);

static __attribute__((__noinline__)) int is_on(void)
{
	return jf_branch_unlikely(&key);
}

static void child(void)
{
	struct rlimit none = { 0, 64 }, few = { 64, 64 };
	struct jf_stats s;
	int err;

	while (open("/dev/null", O_RDONLY) >= 0)
		;
	MUST(errno == EMFILE, "%m");
	err = jf_key_disable(&key);
	MUST(!err && !is_on(), "%s", strerror(-err));
	MUST(!setrlimit(RLIMIT_NOFILE, &none), "%m");
	err = jf_key_enable(&key);
	MUST(err == -EMFILE && !is_on() && !jf_key_enabled(&key), "%s", strerror(-err));
	MUST(!setrlimit(RLIMIT_NOFILE, &few), "%m");
	err = jf_key_enable(&key);
	MUST(!err && is_on(), "%s", strerror(-err));
	err = jf_key_disable(&key);
	jf_stats_get(&s, sizeof(s));
	MUST(!err && !is_on(), "%s, %s", strerror(-err), s.why);
	MUST(!strcmp(s.writer, "mem"), "%s: %s", s.writer, s.why);
}

/* And no thread that could have a table of its own. Root has no such limit. */
static void threadless(void)
{
	struct rlimit none = { 0, 64 };
	int err;

	if ((!getuid() && (setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) || setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED))) ||
	    setrlimit(RLIMIT_NPROC, &none) || setrlimit(RLIMIT_NOFILE, &none))
		return;
	err = jf_key_disable(&key);
	MUST(err == -EMFILE && is_on() && jf_key_enabled(&key), "%s", strerror(-err));
}

static void must_run(void (*run)(void))
{
	int status;
	pid_t p = fork();

	if (!p) {
		run();
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "status %#x", status);
}

int main(void)
{
	struct rlimit few = { 64, 64 };
	struct jf_stats s;

	MUST(!jf_key_enable(&key) && is_on(), "enable");
	jf_stats_get(&s, sizeof(s));
	if (strcmp(s.writer, "mem")) {
		printf("# not here\n");
		return 0;
	}
	MUST(!setrlimit(RLIMIT_NOFILE, &few), "%m");
	must_run(child);
	must_run(threadless);
	return 0;
}
