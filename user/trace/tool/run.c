// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Start a program, record its events, and show them after it has ended.
 *
 * The program is asked by its environment alone, before its first instruction: JUMPFUNC_TRACE and the like are for
 * libjumpfunc-trace, if the program is linked with it. LD_PRELOAD brings the agent, if it is installed, for
 * events that are not the program's own (JUMPFUNC_AGENT).
 *
 * The trace is in memory (/dev/shm) and removed after it was shown, unless -o says where it is to stay. It is
 * kept, too, if the program did not end by itself, or its events could not be shown.
 */
#include "tool.h"
#include "../trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGENT	"libjumpfunc-agent.so"

static volatile sig_atomic_t program;

/* While the program runs ^C is for that, and what asks this one to end is passed on. */
static const int kept[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
#define NR_KEPT		(sizeof(kept) / sizeof(*kept))
static struct sigaction before[NR_KEPT];

static void pass_on(int sig)
{
	int saved = errno;

	if (program > 0)
		kill((pid_t)program, sig);
	errno = saved;
}

/* What is ignored stays so, as nohup has it. */
static void keep_signals(void)
{
	struct sigaction act;
	size_t i;

	memset(&act, 0, sizeof(act));
	act.sa_flags = SA_RESTART;
	for (i = 0; i < NR_KEPT; i++) {
		sigaction(kept[i], NULL, &before[i]);
		/* A terminal's ^C reaches the program, too. */
		act.sa_handler = kept[i] == SIGINT || kept[i] == SIGQUIT ? SIG_IGN : pass_on;
		if (before[i].sa_handler != SIG_IGN)
			sigaction(kept[i], &act, NULL);
	}
}

/* In the program. */
static void give_signals_back(void)
{
	size_t i;

	for (i = 0; i < NR_KEPT; i++)
		sigaction(kept[i], &before[i], NULL);
}

/* Beside this program, where it was built, or in the folder of libraries that belongs to where it was installed. */
static bool find_agent(char *buf, size_t size)
{
	static const char *const folders[] = { "", "../lib/", "../lib/x86_64-linux-gnu/", "../lib64/" };
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *end;
	size_t i;

	if (n <= 0)
		return false;
	exe[n] = 0;
	end = strrchr(exe, '/');
	if (!end)
		return false;
	end[1] = 0;
	for (i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if ((size_t)snprintf(buf, size, "%s%s" AGENT, exe, folders[i]) < size && !access(buf, R_OK))
			return true;
	return false;
}

/*
 * "a,b"; those without any are all events, and no agent is needed. @bare: without what only the agent reads, the types
 * of arguments.
 */
static int join_globs(const struct options *o, bool bare, char *buf, size_t size)
{
	size_t len = 0, one;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++) {
		one = bare ? glob_length(o->globs[i]) : strlen(o->globs[i]);
		if (len + one + 2 > size)
			return fail("these are too many patterns");
		if (len)
			buf[len++] = ',';
		memcpy(buf + len, o->globs[i], one);
		len += one;
	}
	buf[len] = 0;
	return STATUS_OK;
}

static void preload(const char *agent)
{
	const char *others = getenv("LD_PRELOAD");
	char *all;

	if (!others || !*others) {
		setenv("LD_PRELOAD", agent, 1);
		return;
	}
	all = malloc(strlen(agent) + strlen(others) + 2);
	if (!all)
		return;
	sprintf(all, "%s:%s", agent, others);
	setenv("LD_PRELOAD", all, 1);
	free(all);
}

static void set_environment(const struct options *o, const char *globs, const char *folder, const char *agent)
{
	char events[GLOBS_MAX * 256];

	/* They are patterns; and not as many as do not fit. */
	join_globs(o, true, events, sizeof(events));
	setenv("JUMPFUNC_TRACE", *events ? events : "*", 1);
	setenv("JUMPFUNC_TRACE_DIR", folder, 1);
	setenv("JUMPFUNC_TRACE_CONTROL", "1", 1);
	if (o->mode)
		setenv("JUMPFUNC_TRACE_MODE", o->mode, 1);
	if (o->clock)
		setenv("JUMPFUNC_TRACE_CLOCK", o->clock, 1);
	if (o->packets)
		setenv("JUMPFUNC_TRACE_PACKETS", o->packets, 1);
	if (o->size)
		setenv("JUMPFUNC_TRACE_PACKET_SIZE", o->size, 1);
	if (*globs && *agent) {
		setenv("JUMPFUNC_AGENT", globs, 1);
		preload(agent);
	}
}

/* Makes the folder in which traces will be; an absolute path. */
static int make_folder(const struct options *o, char *buf, size_t size)
{
	char parent[PATH_MAX - 64];
	int err;

	if (o->output) {
		if (mkdir(o->output, 0700))
			return fail("%s: %s", o->output, errno == EEXIST ?
				    "it is there already; give a folder that is to be made" : strerror(errno));
		if (realpath(o->output, buf))
			return STATUS_OK;
		err = errno;
		rmdir(o->output);
		return fail("%s: %s", o->output, strerror(err));
	}
	err = default_parent(parent, sizeof(parent));
	if (err)
		return fail("%s: %s", parent, err == -EPERM ? "it is another user's, or others may enter it" :
			    strerror(-err));
	if ((size_t)snprintf(buf, size, "%s/run-XXXXXX", parent) >= size || !mkdtemp(buf))
		return fail("%s: %s", parent, strerror(errno));
	return STATUS_OK;
}

/* -errno if it could not be executed. Its environment is not this program's: babeltrace2 is not to record. */
static int start_program(char **argv, const struct options *o, const char *globs, const char *folder, const char *agent)
{
	int said[2], err = 0;
	sigset_t all, mask;
	pid_t child;

	if (pipe2(said, O_CLOEXEC))
		return -errno;
	/* A signal is for the program, or waits until it is known which one that is. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	child = fork();
	if (!child) {
		give_signals_back();
		sigprocmask(SIG_SETMASK, &mask, NULL);
		set_environment(o, globs, folder, agent);
		execvp(argv[0], argv);
		err = errno;
		_exit(write(said[1], &err, sizeof(err)) != sizeof(err));
	}
	if (child < 0)
		err = errno;
	else
		program = child;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(said[1]);
	if (child > 0 && read(said[0], &err, sizeof(err)) == sizeof(err)) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		program = 0;
	}
	close(said[0]);
	return -err;
}

static int wait_for_program(void)
{
	int status = 0;

	while (waitpid((pid_t)program, &status, 0) < 0)
		if (errno != EINTR)
			return STATUS_RUN_FAILED;
	program = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void no_trace(const char *name, const char *agent, bool asked)
{
	note("%s has recorded nothing: it has not loaded libjumpfunc-trace, which programs with events of "
	     "JF_TRACE_EVENT() are linked with", name);
	if (*agent && asked)
		note("the agent %s was not loaded either: is the program linked statically, or set-user-ID?", agent);
	else if (*agent)
		note("for what other programs have, say which probes: -e GLOB (jf-trace list FILE)");
	else
		note("for other programs there must be the agent, " AGENT ", which is not installed");
}

/* What it ends with is the program's affair. */
static void show(const struct options *o, const char *name, const char *folder, const char *agent, bool by_itself)
{
	bool keep = o->output || o->quiet || !by_itself;

	if (!each_trace(folder, NULL, NULL)) {
		no_trace(name, agent, o->num_globs);
		rmdir(folder);
		return;
	}
	if (!o->quiet && report_folder(folder, false, NULL))
		keep = true;
	explain_run(o, name, folder);
	if (keep)
		note("the trace is in %s", folder);
	else
		remove_traces(folder);
}

int do_run(const struct options *o, int argc, char **argv)
{
	char globs[GLOBS_MAX * 256], folder[PATH_MAX], agent[PATH_MAX] = "";
	int status, err;

	(void)argc;
	if (join_globs(o, false, globs, sizeof(globs)))
		return STATUS_USAGE;
	if (make_folder(o, folder, sizeof(folder)))
		return STATUS_RUN_FAILED;
	if (!find_agent(agent, sizeof(agent)))
		*agent = 0;
	keep_signals();
	err = start_program(argv, o, globs, folder, agent);
	if (err) {
		rmdir(folder);
		fail("%s: %s", argv[0], err == -ENOENT ? "there is no such program" : strerror(-err));
		return err == -ENOENT ? STATUS_RUN_NOT_FOUND : STATUS_RUN_NOT_EXECUTABLE;
	}
	status = wait_for_program();
	show(o, argv[0], folder, agent, status <= 128);
	return status;
}
