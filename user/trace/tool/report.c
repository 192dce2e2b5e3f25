// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Events as text, by babeltrace2, which knows the format; or as JSON that Perfetto (ui.perfetto.dev) and Chrome's
 * viewer of traces read, made of that text.
 *
 * babeltrace2 escapes what is within strings, so a line is an event. Where a line is not as expected it is left
 * out, and counted.
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/recover.h>

#define MORE_MAX	64

static int no_babeltrace(const char *folder)
{
	return fail("babeltrace2 is not installed, which shows events: apt install babeltrace2, dnf install babeltrace2, "
		    "or pacman -S babeltrace2. The trace is in %s", folder);
}

/* Its stdout is a pipe if @out is given. Its number, or -errno. */
static pid_t start_babeltrace(const char *folder, bool json, char **more, int *out)
{
	const char *words[MORE_MAX + 8] = { "babeltrace2" };
	int pipes[2] = { -1, -1 }, said[2], err = 0, n = 1;
	pid_t child;

	if (json) {
		words[n++] = "--clock-seconds";
		words[n++] = "--no-delta";
		words[n++] = "--names=all";
		words[n++] = "--fields=all";
	}
	for (; more && *more && n < MORE_MAX; more++)
		words[n++] = *more;
	words[n++] = folder;
	words[n] = NULL;
	if (pipe2(said, O_CLOEXEC))
		return -errno;
	if (out && pipe2(pipes, O_CLOEXEC)) {
		err = -errno;
		close(said[0]);
		close(said[1]);
		return err;
	}
	fflush(stdout);
	child = fork();
	if (!child) {
		if (out)
			dup2(pipes[1], STDOUT_FILENO);
		execvp(words[0], (char *const *)(uintptr_t)words);
		err = errno;
		_exit(write(said[1], &err, sizeof(err)) != sizeof(err));
	}
	if (child < 0)
		err = errno;
	close(said[1]);
	if (out)
		close(pipes[1]);
	/* Nothing is said if it could be executed. */
	if (child > 0 && read(said[0], &err, sizeof(err)) == sizeof(err)) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		child = -1;
	}
	close(said[0]);
	if (child < 0) {
		if (out)
			close(pipes[0]);
		return -err;
	}
	if (out)
		*out = pipes[0];
	return child;
}

static int end_babeltrace(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return fail("babeltrace2: %s", strerror(errno));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		return STATUS_OK;
	if (WIFSIGNALED(status))
		return fail("babeltrace2 was ended by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status) ? fail("babeltrace2 ended with status %d", WEXITSTATUS(status)) : STATUS_OK;
}

/* --- JSON ------------------------------------------------------------------------------- */

static void put_json(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == '"' || text[i] == '\\')
			printf("\\%c", text[i]);
		else if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] >= 127)
			printf("\\u%04x", (unsigned char)text[i]);
		else
			putchar(text[i]);
	}
}

/* After @key, up to @end; NULL: it is not there. */
static const char *part(const char *line, const char *key, const char *end, size_t *len)
{
	const char *p = strstr(line, key), *q;

	if (!p)
		return NULL;
	p += strlen(key);
	q = strstr(p, end);
	*len = q ? (size_t)(q - p) : strlen(p);
	return p;
}

/*
 * timestamp = 1.000000002, trace = ..., trace:procname = p, trace:vpid = (3), name = a:b,
 * stream.packet.context = { tid = 4 }, event.fields = { ... }
 */
static bool put_event(const char *line, bool first)
{
	const char *time, *pid, *tid, *name, *fields;
	size_t n_time, n_pid, n_tid, n_name, n_fields;
	unsigned long long s, ns;

	time = part(line, "timestamp = ", ",", &n_time);
	pid = part(line, "trace:vpid = (", ")", &n_pid);
	name = pid ? part(pid, "name = ", ", stream.packet.context = ", &n_name) : NULL;
	tid = name ? part(name, "stream.packet.context = { tid = ", " }", &n_tid) : NULL;
	fields = tid ? part(tid, "event.fields = {", "\n", &n_fields) : NULL;
	if (!tid || !time || sscanf(time, "%llu.%9llu", &s, &ns) != 2 ||
	    strspn(pid, "0123456789") != n_pid || strspn(tid, "0123456789") != n_tid)
		return false;
	printf("%s{\"name\":\"", first ? "" : ",\n");
	put_json(name, n_name);
	printf("\",\"ph\":\"i\",\"s\":\"t\",\"ts\":%llu.%03llu,\"pid\":%.*s,\"tid\":%.*s,\"args\":{\"fields\":\"",
	       s * 1000000 + ns / 1000, ns % 1000, (int)n_pid, pid, (int)n_tid, tid);
	if (fields)
		put_json(fields, n_fields && fields[n_fields - 1] == '}' ? n_fields - 1 : n_fields);
	fputs("\"}}", stdout);
	return true;
}

static int put_events(int in)
{
	FILE *f = fdopen(in, "r");
	unsigned long long left_out = 0;
	char *line = NULL;
	bool first = true;
	size_t room = 0;

	if (!f) {
		close(in);
		return fail("%s", strerror(errno));
	}
	puts("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	while (getline(&line, &room, f) > 0) {
		if (put_event(line, first))
			first = false;
		else
			left_out++;
	}
	puts("\n]}");
	free(line);
	fclose(f);
	if (left_out)
		note("%llu lines of babeltrace2 were not understood, and left out; events need time stamps", left_out);
	return ferror(stdout) || fflush(stdout) ? fail("stdout: %s", strerror(errno)) : STATUS_OK;
}

int report_folder(const char *folder, bool json, char **more)
{
	int out = -1, status = STATUS_OK, ended;
	pid_t child;

	child = start_babeltrace(folder, json, more, json ? &out : NULL);
	if (child == -ENOENT)
		return no_babeltrace(folder);
	if (child < 0)
		return fail("babeltrace2: %s", strerror(-child));
	if (json)
		status = put_events(out);
	ended = end_babeltrace(child);
	return status ? status : ended;
}

/* A process goes on recording: what is shown is a copy. */
static int report_process(pid_t pid, bool json, char **more)
{
	char folder[PATH_MAX], parent[PATH_MAX - 64], copy[PATH_MAX];
	struct jf_recovered r;
	int status, err;

	status = trace_of(pid, folder, sizeof(folder));
	if (status)
		return status;
	err = default_parent(parent, sizeof(parent));
	if (err)
		return fail("%s: %s", parent, strerror(-err));
	snprintf(copy, sizeof(copy), "%s/report-%d", parent, (int)getpid());
	status = copy_trace(folder, copy, &r);
	if (status)
		return status;
	signal(SIGINT, SIG_IGN);
	status = report_folder(copy, json, more);
	signal(SIGINT, SIG_DFL);
	remove_traces(copy);
	return status;
}

int do_report(const struct options *o, int argc, char **argv)
{
	pid_t pid;

	(void)argc;
	if (is_pid(argv[0], &pid))
		return report_process(pid, o->json, argv + 1);
	if (!each_trace(argv[0], NULL, NULL))
		return fail("%s: no trace, and no folder of traces: it has no metadata", argv[0]);
	return report_folder(argv[0], o->json, argv + 1);
}
