// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * perf's file is in a folder where any user may have made it before: as a pipe without
 * a reader, as a second name of another file, as a file that another user owns.
 */
#include <fcntl.h>
#include <jumpfunc/tracepoint.h>
#include <sys/stat.h>

#include "again.h"

DECLARE_JF_TRACE(rx, JF_PROTO(int i), JF_ARGS(i));
DEFINE_JF_TRACE(rx);

static long calls;

static void probe(void *data, int i)
{
	calls += i + !data;
}

/* Each has an image. */
static void on_and_off(void)
{
	MUST(!register_jf_trace_rx(probe, NULL), "register");
	MUST(!register_jf_trace_rx(probe, &calls), "register");
	jf_trace_rx(1);
	MUST(!unregister_jf_trace_rx(probe, NULL), "unregister");
	MUST(!unregister_jf_trace_rx(probe, &calls), "unregister");
}

static off_t size_of(const char *path)
{
	struct stat st;

	MUST(!stat(path, &st), "%s: %s", path, strerror(errno));
	return st.st_size;
}

static void of_nobody(const char *path)
{
	on_and_off();
	MUST(size_of(path) > 0, "nothing was told");
}

static void of_pipe(const char *path)
{
	MUST(!mkfifo(path, 0666), "mkfifo");
	on_and_off();
}

static void of_two_names(const char *path)
{
	char other[64];
	int fd;

	snprintf(other, sizeof(other), "/tmp/perf-other-%d", getpid());
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	MUST(fd >= 0 && !close(fd) && !link(other, path), "link");
	on_and_off();
	unlink(path);
	MUST(size_of(other) == 0, "another file was written");
	unlink(other);
}

static void of_another_user(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	MUST(fd >= 0 && !close(fd), "open");
	if (geteuid() || chown(path, 1, 1))
		return;
	on_and_off();
	MUST(size_of(path) == 0, "another user was told where code is");
}

/* In a process of its own, which has told nothing yet. */
static void in_child(void (*test)(const char *path))
{
	char path[64];
	int status;
	pid_t p = fork();

	if (!p) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
		unlink(path);
		test(path);
		unlink(path);
		_exit(0);
	}
	waitpid(p, &status, 0);
	MUST(!status, "status %#x", status);
}

int main(int argc, char **argv)
{
	(void)argc;
	must_have(argv, "JUMPFUNC_PERF_MAP", "1");
	/* All signals are blocked while things change: run.sh has a limit. */
	in_child(of_nobody);
	in_child(of_pipe);
	in_child(of_two_names);
	in_child(of_another_user);
	return 0;
}
