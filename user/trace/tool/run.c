// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Start a program, record its events, and show them after it has ended.
 *
 * The program is asked by its environment alone, before its first instruction: JUMPFUNC_TRACE and
 * the like are for libjumpfunc-trace, if the program is linked with it. LD_PRELOAD brings the
 * agent, if it is installed, for events that are not the program's own (JUMPFUNC_AGENT).
 *
 * The trace is in memory (/dev/shm) and removed after it was shown, unless -o says where it is to
 * stay. It is kept, too, if the program did not end by itself, or its events could not be shown.
 */
#include "tool.h"
#include "losses.h"
#include "../trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jumpfunc/detail/ring_user.h>

/* Seconds after which a signal is another request. */
#define AGAIN	1
/* ... and after which the first one is not used any more. */
#define FORGOTTEN	60
/* Which arguments functions have: agent/types.c. */
#define TYPES	"JUMPFUNC_AGENT_TYPES"
#define AGENT	"libjumpfunc-agent.so"

static volatile sig_atomic_t program;

/*
 * While the program runs ^C is for that, and signals that ask this one to end are passed on. A
 * second signal, a second later or more, ends this one without the program: all that is left is to
 * say where the trace is. Before that it is the same request, which timeout(1), say, sends to its
 * child and to its group.
 */
static struct timespec first;
static char twice[PATH_MAX + 128];
static const int kept[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
#define NR_KEPT		(sizeof(kept) / sizeof(*kept))
static struct sigaction before[NR_KEPT];

static void pass_on(int sig, siginfo_t *info, void *context)
{
	struct timespec now;
	int saved = errno;
	time_t since;

	(void)context;
	/* A terminal's reaches the program, too, which may go on. */
	if ((sig == SIGINT || sig == SIGQUIT) && info->si_code == SI_KERNEL)
		return;
	if (program > 0)
		kill((pid_t)program, sig);
	clock_gettime(CLOCK_MONOTONIC, &now);
	since = now.tv_sec - first.tv_sec - (now.tv_nsec < first.tv_nsec);
	if (!first.tv_sec || since > FORGOTTEN)
		first = now;
	else if (since >= AGAIN)
		_exit(write(STDERR_FILENO, twice, strlen(twice)) < 0 ? STATUS_RUN_FAILED : 128 + sig);
	errno = saved;
}

/* An ignored signal stays ignored, as nohup has it. */
static void keep_signals(void)
{
	struct sigaction act;
	size_t i;

	memset(&act, 0, sizeof(act));
	act.sa_flags = SA_RESTART | SA_SIGINFO;
	act.sa_sigaction = pass_on;
	for (i = 0; i < NR_KEPT; i++)
		sigaddset(&act.sa_mask, kept[i]);
	for (i = 0; i < NR_KEPT; i++) {
		sigaction(kept[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(kept[i], &act, NULL);
	}
}

static bool children_ignored;

void await_children(void)
{
	children_ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN;
}

/* In the program. */
static void give_signals_back(void)
{
	size_t i;

	if (children_ignored)
		signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < NR_KEPT; i++)
		sigaction(kept[i], &before[i], NULL);
}

/*
 * Beside this program, where it was built, or in the folder of libraries that belongs to where it
 * was installed.
 */
bool find_agent(const char *name, char *buf, size_t size)
{
	static const char *const folders[] = { "", "../lib/jumpfunc/", "../lib/x86_64-linux-gnu/jumpfunc/", "../lib64/jumpfunc/" };
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
		if ((size_t)snprintf(buf, size, "%s%s%s", exe, folders[i], name) < size && !access(buf, R_OK))
			return true;
	return false;
}

/*
 * "a,b"; those without any are all events, and no agent is needed. @bare: without the types of
 * arguments, which only the agent reads.
 */
static int join_globs(const struct options *o, bool bare, char *buf, size_t size)
{
	size_t len = 0, one;
	unsigned int i;

	for (i = 0; i < o->num_globs; i++) {
		const char *choice = jf_choice_begin(o->globs[i]);

		one = bare ? glob_length(o->globs[i]) : (size_t)(choice - o->globs[i]);
		/* No event has parameters in its name. */
		if (bare && memchr(o->globs[i], '(', one))
			continue;
		if (len + one + strlen(choice) + 2 > size)
			return fail("these are too many patterns");
		if (len)
			buf[len++] = ',';
		len += (size_t)sprintf(buf + len, "%.*s%s", (int)one, o->globs[i], choice);
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

/* Before the user's value, which counts then, or after it. */
static void add_option(const char *name, const char *option, bool in_front)
{
	const char *others = getenv(name);
	char *all;

	if (!others || !*others) {
		setenv(name, option, 1);
		return;
	}
	all = malloc(strlen(others) + strlen(option) + 2);
	if (!all)
		return;
	sprintf(all, "%s:%s", in_front ? option : others, in_front ? others : option);
	setenv(name, all, 1);
	free(all);
}

/*
 * A program whose AddressSanitizer is a shared library refuses to run if another one comes before
 * that. ThreadSanitizer takes the work of the agent's libraries on stacks of their own for races of
 * the program, unless it leaves out code that no compiler has prepared for it.
 */
static void tell_sanitizers(void)
{
	add_option("ASAN_OPTIONS", "verify_asan_link_order=0", false);
	add_option("TSAN_OPTIONS", "ignore_noninstrumented_modules=1", true);
}

/*
 * A reading of both clocks: programs that begin soon need not wait until they can tell the
 * frequency (clock.c).
 */
static void set_clock(void)
{
	struct timespec t;
	char text[64];

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	snprintf(text, sizeof(text), "%llu:%llu", (unsigned long long)__jf_rdtsc(),
		 (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec);
	setenv("JUMPFUNC_TRACE_SINCE", text, 1);
}

static void set_environment(const struct options *o, const char *globs, const char *folder, const char *agent)
{
	char events[GLOBS_MAX * JF_PATTERN_TEXT];

	/* They are patterns; and not as many as do not fit. */
	join_globs(o, true, events, sizeof(events));
	setenv("JUMPFUNC_TRACE", *events ? events : o->num_globs ? ":" : "*", 1);
	setenv("JUMPFUNC_TRACE_DIR", folder, 1);
	setenv("JUMPFUNC_TRACE_CONTROL", "1", 1);
	set_clock();
	if (o->mode)
		setenv("JUMPFUNC_TRACE_MODE", o->mode, 1);
	if (o->clock)
		setenv("JUMPFUNC_TRACE_CLOCK", o->clock, 1);
	if (o->packets)
		setenv("JUMPFUNC_TRACE_PACKETS", o->packets, 1);
	if (o->size)
		setenv("JUMPFUNC_TRACE_PACKET_SIZE", o->size, 1);
	if (*o->max_mib)
		setenv("JUMPFUNC_TRACE_MAX_MIB", o->max_mib, 1);
	if (*globs && *agent) {
		setenv("JUMPFUNC_AGENT", globs, 1);
		preload(agent);
		tell_sanitizers();
	}
}

/* Traces of a run before this one become "FOLDER.old", in place of those that were that. */
static void rotate(const char *folder)
{
	char path[PATH_MAX], old[PATH_MAX];
	size_t len;

	/* Not through a link; and no folder that has other files. */
	if (!only_traces(folder) || snprintf(path, sizeof(path), "%s", folder) >= (int)sizeof(path))
		return;
	for (len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = 0;
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old))
		return;
	if (only_traces(old))
		remove_traces(old);
	if (!rename(path, old))
		note("what was in %s is in %s", path, old);
}

/* Makes the folder in which traces will be; an absolute path. */
static int make_folder(const struct options *o, char *buf, size_t size)
{
	char parent[PATH_MAX - 64];
	int err;

	if (o->output) {
		rotate(o->output);
		if (mkdir(o->output, 0700))
			return fail("%s: %s", o->output, errno == EEXIST ?
				    "it is there already, and is no folder of traces" : strerror(errno));
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

/*
 * In @folder: a byte comes into it if a program loads libjumpfunc-trace, and an error's number if
 * that can make no trace.
 */
static int expect_loaded(const char *folder)
{
	/* Room for both, should the disk be full then. */
	static const char none[JF_LOADED_SIZE];
	char path[PATH_MAX];
	int fd, err;

	if (jf_path(path, sizeof(path), folder, JF_LOADED))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = jf_file_write(fd, none, sizeof(none), 0);
	close(fd);
	return err;
}

/* @err: why it could make no trace, or 0. */
static bool was_loaded(const char *folder, int *err)
{
	char path[PATH_MAX], text[JF_LOADED_SIZE + 1] = "";
	int fd;

	*err = 0;
	if (jf_path(path, sizeof(path), folder, JF_LOADED))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		if (pread(fd, text, JF_LOADED_SIZE, 0) > 1)
			*err = atoi(text + 1);
		close(fd);
	}
	unlink(path);
	return *text;
}

/*
 * -errno if it could not be executed. Its environment is not this program's: babeltrace2 is not to
 * record.
 */
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
		execute_program(argv);
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
		explain_not_loaded(name, agent);
	else if (*agent)
		note("for what other programs have, say which probes: -e GLOB (jf-trace list FILE)");
	else
		note("for other programs there must be the agent, " AGENT ", which is not installed");
}

/* False: it has none, which it says. @status: is that an error */
static bool has_trace(const struct options *o, const char *name, const struct run *r, int *status)
{
	struct losses none;
	bool loaded;
	int err;

	*status = STATUS_OK;
	loaded = was_loaded(r->folder, &err);

	lift_traces(r->folder);
	if (each_trace(r->folder, NULL, NULL))
		return true;
	if (err) {
		*status = fail("%s: no trace could be made: %s", name, strerror(err));
		return false;
	}
	memset(&none, 0, sizeof(none));
	if (!loaded)
		no_trace(name, r->agent, o->num_globs);
	else
		note("%s has recorded nothing: no probe of it matches", name);
	if (loaded)
		explain_run(o, name, r->folder, &none);
	return false;
}

bool show_run(const struct options *o, const char *name, const struct run *r)
{
	struct losses l;
	int status;

	if (!has_trace(o, name, r, &status))
		return false;
	losses_read(&l, r->folder);
	explain_run(o, name, r->folder, &l);
	losses_free(&l);
	return true;
}

/* STATUS_OK, STATUS_RUN_LOST or STATUS_RUN_NO_REPORT */
static int show(const struct options *o, const char *name, const struct run *r)
{
	bool keep = o->output || o->quiet || r->status > 128;
	int status, lost;
	struct losses l;

	if (!has_trace(o, name, r, &status)) {
		remove_traces(r->folder);
		return status ? STATUS_RUN_NO_REPORT : STATUS_OK;
	}
	losses_read(&l, r->folder);
	if (!o->quiet) {
		status = report_run(r->folder, &l);
		/* A child that goes on has recorded since. */
		losses_free(&l);
		losses_read(&l, r->folder);
	}
	keep |= status != STATUS_OK;
	explain_run(o, name, r->folder, &l);
	lost = losses_say(&l);
	losses_free(&l);
	if (keep)
		note("the trace is in %s", r->folder);
	else
		remove_traces(r->folder);
	return status || lost == STATUS_FAILED ? STATUS_RUN_NO_REPORT : lost ? STATUS_RUN_LOST : STATUS_OK;
}

/* The file of arguments is beside the folder of traces, as long as the program runs. */
static void tell_types(const struct options *o, const char *name, const char *folder, char *buf, size_t size)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(buf, size, "%s.types", folder) >= size || !find_program(name, path, sizeof(path)) || !types_write(o, path, buf))
		*buf = 0;
}

int run_program(const struct options *o, char **argv, struct run *r)
{
	char globs[GLOBS_MAX * (JF_PATTERN_TEXT + 1)], types[PATH_MAX] = "";
	int err;

	if (join_globs(o, false, globs, sizeof(globs)))
		return STATUS_USAGE;
	err = check_program(argv[0]);
	if (err)
		return err;
	if (make_folder(o, r->folder, sizeof(r->folder)))
		return STATUS_RUN_FAILED;
	if (!find_agent(AGENT, r->agent, sizeof(r->agent)))
		*r->agent = 0;
	err = expect_loaded(r->folder);
	if (err) {
		fail("%s: %s", r->folder, strerror(-err));
		remove_traces(r->folder);
		return STATUS_RUN_FAILED;
	}
	snprintf(twice, sizeof(twice), "jf-trace: a second signal: the program is not waited for; the trace is in %s\n", r->folder);
	if (*r->agent)
		tell_types(o, argv[0], r->folder, types, sizeof(types));
	if (*types)
		setenv(TYPES, types, 1);
	else
		unsetenv(TYPES);
	keep_signals();
	err = start_program(argv, o, globs, r->folder, r->agent);
	if (err) {
		unlink(types);
		remove_traces(r->folder);
		return explain_program(argv[0], err);
	}
	r->status = wait_for_program();
	unlink(types);
	return STATUS_OK;
}

int do_run(const struct options *o, int argc, char **argv)
{
	struct run r;
	int status;

	(void)argc;
	/* By default it is in memory. */
	if (o->mode && !strcmp(o->mode, "keep") && !o->output && !*o->max_mib)
		return fail("where to? --mode keep needs a folder on a disk (-o), or --max-size"), STATUS_USAGE;
	status = run_program(o, argv, &r);
	if (status)
		return status;
	status = show(o, argv[0], &r);
	/* The program's exit status comes first. */
	return r.status ? r.status : status;
}
