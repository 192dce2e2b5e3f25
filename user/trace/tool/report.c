// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Events as text, by babeltrace2, which knows the format; or as JSON, made of that text (json.c).
 */
#include "tool.h"
#include "fewer.h"
#include "count.h"
#include "losses.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/recover.h>

#define MORE_MAX	64

static int no_babeltrace(const char *folder)
{
	return fail("babeltrace2 is not installed, which shows events: apt install babeltrace2, dnf install babeltrace2, "
		    "or pacman -S babeltrace2. The trace is in %s", folder);
}

/* babeltrace2 opens all files of all traces at once. */
static rlim_t open_files(bool raise)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return RLIM_INFINITY;
	limit.rlim_cur = limit.rlim_max;
	if (raise)
		setrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_max;
}

/* The command line, or NULL: no memory. */
static const char **make_words(const char *const *folders, size_t num, bool json, char **more)
{
	const char **words = calloc(num + MORE_MAX + 8, sizeof(*words));
	size_t n = 0;

	if (!words)
		return NULL;
	words[n++] = "babeltrace2";
	if (json) {
		words[n++] = "--clock-seconds";
		words[n++] = "--no-delta";
		words[n++] = "--names=all";
		words[n++] = "--fields=all";
	}
	for (; more && *more && n < MORE_MAX; more++)
		words[n++] = *more;
	memcpy(&words[n], folders, num * sizeof(*words));
	return words;
}

/* Where a program's own output is not, or is no more. */
static int events_to = STDOUT_FILENO;

/* Its stdout is a pipe if @out is given. Its number, or -errno. */
static pid_t start_babeltrace(const char **words, int *out)
{
	int pipes[2] = { -1, -1 }, said[2], err = 0;
	pid_t child;

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
		dup2(out ? pipes[1] : events_to, STDOUT_FILENO);
		open_files(true);
		/* It does not see that the other end of the pipe writes to a terminal. */
		if (out && isatty(events_to) && !getenv("NO_COLOR"))
			setenv("BABELTRACE_TERM_COLOR", "ALWAYS", 0);
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

/* --- which traces at once ------------------------------------------------------------------ */

/* Files that babeltrace2 opens besides. */
#define OTHER_FILES	24

/**
 * struct parts - traces of a folder
 * @path:  of each
 * @files: that it has
 * @num:   how many
 * @all:   files of all of them
 * @apart: some are elsewhere, or in others, where babeltrace2 does not look
 */
struct parts {
	char		**path;
	size_t		*files;
	size_t		num;
	size_t		all;
	bool		apart;
};

static size_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	size_t num = 0;

	while (dir && (e = readdir(dir)))
		num += *e->d_name != '.';
	if (dir)
		closedir(dir);
	return num;
}

static void add_part(const char *path, void *arg)
{
	struct parts *p = (struct parts *)arg;
	char **paths = realloc(p->path, (p->num + 1) * sizeof(*paths));
	size_t *files;

	if (paths)
		p->path = paths;
	files = paths ? realloc(p->files, (p->num + 1) * sizeof(*files)) : NULL;
	if (!files)
		return;
	p->files = files;
	paths[p->num] = strdup(path);
	if (!paths[p->num])
		return;
	files[p->num] = count_files(path);
	p->apart |= p->num && !strncmp(path, paths[p->num - 1], strlen(paths[p->num - 1])) && path[strlen(paths[p->num - 1])] == '/';
	p->all += files[p->num++];
}

/* Replaces traces of many names. */
static void take_fewer(struct parts *p, struct fewer *f)
{
	char *path;
	size_t i;

	for (i = 0; i < p->num; i++) {
		path = fewer_of(f, p->path[i]);
		if (!path)
			continue;
		free(p->path[i]);
		p->path[i] = path;
		p->apart = true;
	}
}

static void free_parts(struct parts *p)
{
	size_t i;

	for (i = 0; i < p->num; i++)
		free(p->path[i]);
	free(p->path);
	free(p->files);
}

/* How many traces from @first on may be shown at once: one at least. */
static size_t at_once(const struct parts *p, size_t first, rlim_t limit)
{
	size_t i, files = OTHER_FILES;

	for (i = first; i < p->num; i++) {
		files += p->files[i];
		if (files > limit && i > first)
			break;
	}
	return i - first;
}

static int show_some(const char *const *folders, size_t num, bool json, char **more)
{
	const char **words = make_words(folders, num, json, more);
	int out = -1, status = STATUS_OK, ended;
	pid_t child;

	bool piped = json || (demangler() && !mangled_names);

	child = words ? start_babeltrace(words, piped ? &out : NULL) : -ENOMEM;
	free(words);
	if (child == -ENOENT)
		return no_babeltrace(folders[0]);
	if (child < 0)
		return fail("babeltrace2: %s", strerror(-child));
	if (json)
		status = json_events(out);
	else if (piped)
		status = copy_readable(out, events_to == STDERR_FILENO ? stderr : stdout);
	ended = end_babeltrace(child);
	return status ? status : ended;
}

/* Where there may not be so many open files: some traces, then the next ones. */
static int show_events(const char *folder, const struct losses *losses, bool json, char **more)
{
	struct parts p = { NULL, NULL, 0, 0, false };
	void (*was)(int) = signal(SIGINT, SIG_IGN);
	struct fewer f = { "", 0 };
	rlim_t limit = open_files(false);
	int status = STATUS_OK, one;
	size_t i, num;

	each_trace(folder, add_part, &p);
	take_fewer(&p, &f);
	if (json)
		json_begin(losses);
	if (p.all + OTHER_FILES <= limit && p.apart) {
		status = show_some((const char *const *)p.path, p.num, json, more);
	} else if (p.all + OTHER_FILES <= limit) {
		status = show_some(&folder, 1, json, more);
	} else {
		note("%s: %zu files of %zu traces are more than may be open (ulimit -n): they are shown in parts, each in order of "
		     "time", folder, p.all, p.num);
		for (i = 0; i < p.num; i += num) {
			num = at_once(&p, i, limit);
			one = show_some((const char *const *)(p.path + i), num, json, more);
			status = status ? status : one;
		}
	}
	if (json)
		json_end(losses);
	free_parts(&p);
	fewer_end(&f);
	signal(SIGINT, was);
	return status;
}

static int report_events(const char *folder, const struct losses *losses, bool json, char **more)
{
	losses_say_begins(losses);
	return show_events(folder, losses, json, more);
}

int report_run(const char *folder, const struct losses *losses)
{
	events_to = STDERR_FILENO;
	return report_events(folder, losses, false, NULL);
}

/* Events, or how many there are. */
static int report_folder(const struct options *o, const char *folder, char **more)
{
	struct losses l;
	int status, lost;

	losses_read(&l, folder);
	if (o->view) {
		losses_say_begins(&l);
		status = report_calls(folder, (enum view)o->view);
	} else if (o->events || o->json) {
		status = report_events(folder, &l, o->json, more);
	} else {
		losses_say_begins(&l);
		status = put_records(stdout, folder);
	}
	lost = losses_say(&l);
	losses_free(&l);
	return status ? status : lost;
}

/* Shows a copy, and is not to leave it: so it waits for another process that does this. */
static volatile sig_atomic_t reporter;

static void end_reporter(int sig)
{
	if (reporter > 0)
		kill((pid_t)reporter, sig);
}

/* An ignored signal stays that. */
static void pass_on(void (*act)(int sig))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signal(signals[i], act) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

static void report_here(const struct options *o, const char *folder, char **more, const sigset_t *mask)
{
	int status;

	pass_on(SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	status = report_folder(o, folder, more);
	if (status != STATUS_FAILED && written(stdout))
		status = STATUS_FAILED;
	_exit(status);
}

/* The status of the other process, as a shell has it. */
static int report_apart(const struct options *o, const char *folder, char **more)
{
	int status = 0, err;
	sigset_t all, mask;
	siginfo_t ended;
	pid_t child;

	fflush(stdout);
	/* A signal waits until it is known to which process it is to be passed on. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	pass_on(end_reporter);
	reporter = fork();
	err = errno;
	if (!reporter)
		report_here(o, folder, more, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (reporter < 0)
		return fail("%s", strerror(err));
	/* Its number is kept until no signal is passed on any more. */
	while (waitid(P_PID, (id_t)reporter, &ended, WEXITED | WNOWAIT) && errno == EINTR)
		;
	child = (pid_t)reporter;
	reporter = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A process goes on recording: the output is of a copy. */
static int report_process(const struct options *o, pid_t pid, char **more)
{
	char folder[PATH_MAX], parent[PATH_MAX - 64], copy[PATH_MAX];
	struct jf_recovered r;
	int status, err, damage;

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
	status = report_apart(o, copy, more);
	remove_traces(copy);
	/* Of the copy itself, which has neither. */
	damage = say_damage(&r);
	return damage == STATUS_DAMAGED || !status ? damage : status;
}

int do_report(const struct options *o, int argc, char **argv)
{
	pid_t pid;

	/* The others are babeltrace2's. */
	if (argc > 1 && !o->events)
		return fail("report takes one folder or process; options of babeltrace2 are for script"), STATUS_USAGE;
	if (is_pid(argv[0], &pid))
		return report_process(o, pid, argv + 1);
	return any_trace(argv[0]) ? STATUS_FAILED : report_folder(o, argv[0], argv + 1);
}

int do_script(const struct options *o, int argc, char **argv)
{
	struct options with_events = *o;

	with_events.events = true;
	return do_report(&with_events, argc, argv);
}
