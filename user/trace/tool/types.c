// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Arguments of functions, and names of functions that are in a stripped program's debug file alone,
 * for the agent: the process that reads them. A damaged file can crash it, and it ends after some
 * seconds. types/read.h has the parts of the reader.
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef JF_HAVE_LIBDW
#include "types/read.h"
#include "types/file.h"
#include "types/wanted.h"

/* Of a CPU. */
#define SECONDS		20
/* Of a CPU, in SECONDS of time: with less it waits, and does not read. */
#define LEAST_MS	200

/* A busy machine is slow; a wait for a FIFO or a server takes no time of a CPU. */
static void on_alarm(int sig)
{
	static uint64_t last;
	struct timespec t = { 0, 0 };
	uint64_t ms;

	(void)sig;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	if (ms - last < LEAST_MS)
		_exit(1);
	last = ms;
	alarm(SECONDS);
}

/* A section that is compressed says itself how large it becomes. */
static void limit_memory(void)
{
	rlim_t half = (rlim_t)sysconf(_SC_PHYS_PAGES) / 2 * (rlim_t)sysconf(_SC_PAGESIZE);
	struct rlimit memory;

	if (getrlimit(RLIMIT_DATA, &memory) || memory.rlim_cur <= half)
		return;
	memory.rlim_cur = half;
	setrlimit(RLIMIT_DATA, &memory);
}

/* Of a process that reads. */
static void limit_reader(void)
{
	const struct rlimit seconds = { SECONDS, SECONDS }, none = { 0, 0 };
	sigset_t alarmed;

	limit_memory();
	sigemptyset(&alarmed);
	sigaddset(&alarmed, SIGALRM);
	signal(SIGALRM, on_alarm);
	sigprocmask(SIG_UNBLOCK, &alarmed, NULL);
	alarm(SECONDS);
	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_CORE, &none);
}

static void read_all(const struct options *o, const char *program, const char *path)
{
	static struct paths paths;
	struct types t = { o, fopen(path, "wxe"), &paths, false };
	char *real = realpath(program, NULL);

	find_paths(&paths, o);
	limit_reader();
	if (!t.to || !real)
		_exit(1);
	each_file_of(real, one_file, &t);
	_exit(fclose(t.to) != 0);
}

bool types_write(const struct options *o, const char *program, const char *path)
{
	pid_t child;
	int status = -1;

	if (!o->num_globs)
		return false;
	fflush(NULL);
	child = fork();
	if (!child)
		read_all(o, program, path);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		note("the debug information of %s and of what it loads could not be read: arguments are shown as registers", program);
	if (status)
		unlink(path);
	return !status;
}

static int print_name(const char *name, const GElf_Sym *s, void *arg)
{
	(void)s;
	return fprintf((FILE *)arg, "%s\n", name) < 0;
}

/* In a process of its own. */
static void print_names(const char *path, int to)
{
	FILE *out = fdopen(to, "w");
	struct file f;
	int err;

	limit_reader();
	open_file(&f, path);
	err = !out || each_name(&f, print_name, out);
	_exit(err || fclose(out));
}

int types_names(const char *path, int (*fn)(const char *name, void *arg), void *arg)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int out[2], ret = 0;
	pid_t child;
	FILE *f;

	if (pipe2(out, O_CLOEXEC))
		return 0;
	fflush(NULL);
	child = fork();
	if (!child)
		print_names(path, out[1]);
	close(out[1]);
	f = fdopen(out[0], "r");
	while (f && !ret && (n = getline(&line, &room, f)) > 1) {
		line[n - 1] = 0;
		ret = fn(line, arg);
	}
	free(line);
	if (f)
		fclose(f);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return ret;
}

const char *types_library(void)
{
	return "names and types of arguments by libdw";
}

#else

bool types_write(const struct options *o, const char *program, const char *path)
{
	(void)o, (void)program, (void)path;
	return false;
}

int types_names(const char *path, int (*fn)(const char *name, void *arg), void *arg)
{
	(void)path, (void)fn, (void)arg;
	return 0;
}

const char *types_library(void)
{
	return "built without libdw: arguments are registers";
}

#endif
