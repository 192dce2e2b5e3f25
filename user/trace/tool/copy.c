// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * snapshot and recover: a copy of a trace, whether its process records or has ended.
 *
 * It is made by a process of its own. So an interruption may end it anywhere, and its files are
 * removed after that; and an input that it does not survive would be reported.
 */
#include "tool.h"
#include "links.h"
#include "losses.h"
#include "../trace.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jumpfunc/recover.h>

/**
 * struct report - the result of the process that copies
 * @err:    of jf_recover()
 * @result: of it
 */
struct report {
	int			err;
	struct jf_recovered	result;
};

static void copy_here(const char *from, const char *to, int out, const sigset_t *mask)
{
	struct report r;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	/* Its progress is its parent's to show. */
	signal(SIGALRM, SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
	memset(&r, 0, sizeof(r));
	r.err = jf_recover(from, to, &r.result);
	_exit(write(out, &r, sizeof(r)) != sizeof(r));
}

static volatile sig_atomic_t copier;

static void pass_on(int sig)
{
	if (copier > 0)
		kill((pid_t)copier, sig == SIGINT ? SIGTERM : sig);
}

/* 0, or the signal that ended it. */
static int wait_for_copy(const char *from, const char *to, struct report *r)
{
	struct sigaction act, was_int, was_term;
	int pipes[2], status = 0;
	sigset_t both, mask;
	ssize_t n;

	r->err = pipe(pipes) ? -errno : 0;
	if (r->err)
		return 0;
	memset(&act, 0, sizeof(act));
	act.sa_handler = pass_on;
	sigaction(SIGINT, &act, &was_int);
	sigaction(SIGTERM, &act, &was_term);
	/* One that comes early waits until it is known to which process it is to be passed on. */
	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, &mask);
	copier = fork();
	if (!copier)
		copy_here(from, to, pipes[1], &mask);
	if (copier < 0)
		r->err = -errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(pipes[1]);
	if (copier > 0) {
		while (waitpid((pid_t)copier, &status, 0) < 0 && errno == EINTR)
			;
		do
			n = read(pipes[0], r, sizeof(*r));
		while (n < 0 && errno == EINTR);
		if (n != sizeof(*r))
			r->err = -EIO;
	}
	copier = 0;
	sigaction(SIGINT, &was_int, NULL);
	sigaction(SIGTERM, &was_term, NULL);
	close(pipes[0]);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int explain(const char *from, const char *to, int err)
{
	if (err == -ENODATA || err == -ENOTDIR)
		return fail("%s: no trace of jumpfunc: it has no metadata of one", from);
	if (err == -EEXIST)
		return fail("%s: it is there already; give a folder that is to be made", to);
	if (err == -ENOSPC)
		return fail("%s: the disk is full; what was copied was removed", to);
	if (err == -EROFS)
		return fail("%s: it is on a file system that is read-only", to);
	if (err == -EFBIG)
		return fail("%s: a file would be larger than allowed (ulimit -f), or the metadata is too large", to ? to : from);
	return fail("%s: %s", err == -ENOENT && !access(from, F_OK) && to ? to : from, strerror(-err));
}

int copy_trace(const char *from, const char *to, struct jf_recovered *result)
{
	bool there = to && !access(to, F_OK);
	struct report r;
	int sig;

	memset(&r, 0, sizeof(r));
	progress(to ? "copying %s" : "reading %s", from);
	sig = there ? 0 : wait_for_copy(from, to, &r);
	progress_end();
	if (there)
		r.err = -EEXIST;
	else if ((sig || r.err) && to && r.err != -EEXIST)
		remove_traces(to);
	if (sig == SIGTERM || sig == SIGINT)
		return fail("interrupted; nothing was kept");
	if (sig)
		return fail("%s: the recovery was ended by signal %d: please report this", from, sig);
	if (r.err)
		return explain(from, to, r.err);
	*result = r.result;
	return STATUS_OK;
}

int say_damage(const struct jf_recovered *r)
{
	if (r->vanished)
		note("%" PRIu64 " packets were overwritten while they were read; their records are not there", r->vanished);
	if (r->damaged)
		note("%" PRIu64 " packets are damaged; what is whole before the damage is there", r->damaged);
	return r->damaged ? STATUS_DAMAGED : r->vanished ? STATUS_LOST : STATUS_OK;
}

/* The sums are those of the recovery; @folder has those of each thread. */
static int say_losses_of(const struct jf_recovered *r, const char *folder)
{
	struct losses l;
	int status;

	losses_read(&l, folder);
	l.records = r->records;
	l.overwritten = r->overwritten;
	l.discarded = r->discarded;
	status = losses_say(&l);
	losses_free(&l);
	return status;
}

static int say_result(const struct jf_recovered *r, const char *folder)
{
	int status, damage;

	printf("rings %" PRIu64 "\npackets %" PRIu64 "\nrecords %" PRIu64 "\nuncommitted %" PRIu64 "\n",
	       r->rings, r->packets, r->records, r->uncommitted);
	printf("discarded %" PRIu64 "\noverwritten %" PRIu64 "\ndamaged %" PRIu64 "\nvanished %" PRIu64 "\n",
	       r->discarded, r->overwritten, r->damaged, r->vanished);
	status = say_losses_of(r, folder);
	damage = say_damage(r);
	return damage == STATUS_DAMAGED || !status ? damage : status;
}

/**
 * struct several - traces of a folder that are recovered
 * @to:     the folder of their copies, or NULL
 * @sum:    of all
 * @status: the worst of them
 */
struct several {
	const char		*to;
	struct jf_recovered	sum;
	int			status;
};

static void recover_one(const char *path, void *arg)
{
	struct several *s = (struct several *)arg;
	struct jf_recovered r;
	char to[PATH_MAX];
	int status;

	if (s->to && jf_path(to, sizeof(to), s->to, last_part(path))) {
		s->status = fail("%s: %s", path, strerror(ENAMETOOLONG));
		return;
	}
	status = copy_trace(path, s->to ? to : NULL, &r);
	if (status) {
		s->status = status;
		return;
	}
	s->sum.rings += r.rings;
	s->sum.packets += r.packets;
	s->sum.records += r.records;
	s->sum.uncommitted += r.uncommitted;
	s->sum.discarded += r.discarded;
	s->sum.overwritten += r.overwritten;
	s->sum.damaged += r.damaged;
	s->sum.vanished += r.vanished;
}

/* A folder that run -o has named: one for each process. */
static int recover_all(const char *from, const char *to)
{
	struct several s;
	int status;

	memset(&s, 0, sizeof(s));
	s.to = to;
	if (to && mkdir(to, 0700))
		return explain(from, to, -errno);
	each_trace(from, recover_one, &s);
	status = say_result(&s.sum, to ? to : from);
	return s.status ? s.status : status;
}

/* A trace, or the folder that has some. */
static int copy_folder(const char *from, const char *to)
{
	char metadata[PATH_MAX];
	struct jf_recovered r;
	int status;

	if (!jf_path(metadata, sizeof(metadata), from, "metadata") && access(metadata, F_OK) && each_trace(from, NULL, NULL) > 0)
		return recover_all(from, to);
	status = copy_trace(from, to, &r);
	return status ? status : say_result(&r, to ? to : from);
}

int do_recover(const struct options *o, int argc, char **argv)
{
	return copy_folder(argv[0], argc > 1 ? argv[1] : o->output);
}

int do_snapshot(const struct options *o, int argc, char **argv)
{
	const char *to = argc > 1 ? argv[1] : o->output, *from = argv[0];
	char folder[PATH_MAX];
	int status;
	pid_t pid;

	if (!to)
		return fail("where to? jf-trace snapshot PID FOLDER"), STATUS_USAGE;
	if (is_pid(from, &pid)) {
		status = trace_of(pid, folder, sizeof(folder));
		if (status)
			return status;
		from = folder;
	}
	return copy_folder(from, to);
}
