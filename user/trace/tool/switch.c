// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The commands record, enable, disable, stop and stats, of a process that has a control socket. */
#include "tool.h"
#include "attach.h"
#include "losses.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *reason(uint32_t err)
{
	return err == ESTALE ? UNREAD :
	       err == EACCES ? "it may not write where its trace is to be: jf-trace record -o FOLDER names a folder that its user may write to" :
	       err == EOVERFLOW ? "the 65,535 numbers that its events can have are taken, of which time takes 75 for a function; it has new ones "
				  "when it is started again: take a narrower pattern then" :
	       err == ENOENT ? "the folder of its trace is not there, as after chroot(): jf-trace record -o FOLDER names one that it can reach" :
	       strerror((int)err);
}

/* Members of arguments, which a pattern has in brackets. */
static bool has_members(const char *glob)
{
	struct jf_pattern p;

	return !jf_pattern_parse(&p, glob) && *p.members;
}

/* Of several parts one could not. */
static int one_failed(const struct jf_words *w, void *arg)
{
	const char *glob = asked_glob((const char *)arg);
	uint32_t n;

	if (w->num == 3 && !strcmp(w->word[0], "failed") && jf_number_parse(w->word[2], &n) && n < 4096) {
		fputs("jf-trace: ", stderr);
		put_safe(stderr, w->word[1]);
		fprintf(stderr, " probes that match '%s': %s\n", glob,
			n == EINVAL && *jf_choice_begin(glob) ? "they do not have all names of the filter" :
			n == EINVAL && has_members(glob) ? "they do not have all members in its brackets" :
			n == EOPNOTSUPP && *jf_choice_begin(glob) && !strcmp(w->word[1], "event") ? "their program was compiled with headers whose events have no filter" :
			n == E2BIG ? "too many match, so that none was switched; use a narrower pattern" :
			n == EAGAIN ? "a thread blocks SIGTRAP, so text cannot be changed now" :
			n == EOPNOTSUPP ? "they cannot be recorded: jf-trace list says why" :
			reason(n));
	}
	return 0;
}

static int explain(pid_t pid, const char *what, int err)
{
	if (err == -ECOMM)
		return STATUS_FAILED;
	if (err == -ENOENT)
		return fail("process %d records nothing: jf-trace record %d", (int)pid, (int)pid);
	if (err == -EPERM)
		return fail("process %d refuses it: the same user and root alone may control it", (int)pid);
	if (err == -EPROTONOSUPPORT)
		return fail("process %d has another version of libjumpfunc-trace", (int)pid);
	if (err == -EAGAIN)
		return fail("process %d: %s: a thread blocks SIGTRAP, so text cannot be changed now; what was to be off records nothing",
			    (int)pid, what);
	if (err == -EOPNOTSUPP)
		return fail("process %d: nothing that matches '%s' can be recorded: jf-trace list %d -e PATTERN says why", (int)pid, what, (int)pid);
	return fail("process %d: %s: %s", (int)pid, what, reason((uint32_t)-err));
}

/**
 * struct without - probes that lack names of a pattern
 * @left:    so many more are shown
 * @unnamed: arguments of one are registers
 */
struct without {
	unsigned int	left;
	bool		unnamed;
};

static int one_without(const struct jf_words *w, void *arg)
{
	struct without *to = (struct without *)arg;

	if (!to->left || w->num != 6 || strcmp(w->word[0], "probe") || (strncmp(w->word[5], "column ", 7) && *w->word[5] != '\''))
		return 0;
	to->left--;
	to->unnamed |= strstr(w->word[5], "arg0") || strstr(w->word[5], "no debug information");
	fputs("jf-trace: ", stderr);
	put_safe(stderr, w->word[2]);
	fputc(':', stderr);
	put_safe(stderr, w->word[3]);
	fputs(": ", stderr);
	put_safe(stderr, w->word[5]);
	fputc('\n', stderr);
	return 0;
}

static int one_call_on(const struct jf_words *w, void *arg)
{
	*(unsigned int *)arg += w->num == 6 && !strcmp(w->word[0], "probe") && !strcmp(w->word[4], "on");
	return 0;
}

/* A pattern without a kind means no calls. The user has possibly meant those that are on. */
static void hint_calls(pid_t pid, const char *glob)
{
	const char *rest = glob, *words[] = { "list", NULL, NULL };
	char text[JF_PATTERN_TEXT + 8];
	unsigned int num = 0;

	if (jf_kind_of(&rest) != JF_KIND_ANY)
		return;
	snprintf(text, sizeof(text), "call/%s", glob);
	words[1] = text;
	if (is_pattern(text) && !ask(pid, words, one_call_on, &num, NULL) && num)
		note("calls are named by call/ alone: %u that are on match: jf-trace disable %d '%s'", num, (int)pid, text);
}

/* The first ones are shown. */
static int explain_without(pid_t pid, const char *glob)
{
	const char *const list[] = { "list", glob, NULL };
	struct without w = { 3, false };

	ask(pid, list, one_without, &w, NULL);
	if (w.unnamed)
		note("names of arguments come from debug information, which 'jf-trace run' alone reads, when it starts the program; "
		     "others are arg0 to arg5, as of their registers (jf-trace(1), ARGUMENTS)");
	return fail("process %d: nothing that matches '%s' has all its names", (int)pid, asked_glob(glob));
}

/*
 * STATUS_NONE if no probe matches. @fn is told of parts that could not, and @to of how many could.
 */
static int switch_one(pid_t pid, const char *glob, bool on, answer_fn *fn, FILE *to)
{
	const char *const words[] = { on ? "enable" : "disable", glob, JF_CONTROL_STOPS, NULL };
	int err, n;

	if (!is_pattern(glob))
		return STATUS_FAILED;
	if (!on && *jf_choice_begin(glob))
		return fail("'%s': probes are switched off for all their records: leave out its filter", glob);
	err = ask(pid, words, fn, (void *)(uintptr_t)glob, &n);
	if (err == -EINVAL && (*jf_choice_begin(glob) || has_members(glob)))
		return explain_without(pid, glob);
	if (err)
		return explain(pid, asked_glob(glob), err);
	if (!n) {
		fail(on ? "no probe of process %d matches '%s' now: jf-trace list %d" :
		     "no probe of process %d that is on matches '%s': jf-trace list %d", (int)pid, asked_glob(glob), (int)pid);
		if (!on)
			hint_calls(pid, glob);
		return STATUS_NONE;
	}
	fprintf(to, "%s %d\n", on ? "enabled" : "disabled", n);
	return STATUS_OK;
}

/* @any: a pattern is switched, or is for objects that come later. */
static int switch_all(const struct options *o, char **argv, bool on, bool *any)
{
	unsigned int i, num = o->num_globs;
	int status = STATUS_OK, one;
	const char *glob;
	pid_t pid;

	*any = false;
	if (!is_pid(*argv++, &pid))
		return fail("'%s' is no number of a process", argv[-1]), STATUS_USAGE;
	for (i = 0; i < num || *argv; i++) {
		glob = i < num ? o->globs[i] : *argv++;
		one = switch_one(pid, glob, on, one_failed, stdout);
		*any |= one != STATUS_FAILED;
		if (one && status != STATUS_FAILED)
			status = one;
	}
	return status;
}

int do_enable(const struct options *o, int argc, char **argv)
{
	bool any;

	if (argc < 2 && !o->num_globs)
		return fail("which probes? jf-trace enable PID GLOB..."), STATUS_USAGE;
	return switch_all(o, argv, true, &any);
}

int do_disable(const struct options *o, int argc, char **argv)
{
	bool any;

	if (argc < 2 && !o->num_globs)
		return fail("which probes? jf-trace disable PID GLOB..."), STATUS_USAGE;
	return switch_all(o, argv, false, &any);
}

/*
 * The folder in which the trace is to be, by a path that holds in any other one. It is made, for
 * the process's user, if it is not there. NULL: the reason was printed.
 */
static char *parent_of(const char *output, pid_t pid, bool *made)
{
	char process[32], *parent;
	struct stat st;

	snprintf(process, sizeof(process), "/proc/%d", (int)pid);
	*made = !mkdir(output, 0700);
	if (!*made && errno != EEXIST) {
		fail("%s: this folder cannot be made: %s", output, strerror(errno));
		return NULL;
	}
	if (*made && !geteuid() && !stat(process, &st) && chown(output, st.st_uid, st.st_gid))
		note("%s: process %d may have no right to write there: %s", output, (int)pid, strerror(errno));
	parent = realpath(output, NULL);
	if (!parent)
		fail("%s: %s", output, strerror(errno));
	return parent;
}

static int begin_in(const struct options *o, pid_t pid, const char *parent, char *folder, size_t size)
{
	const char *values[6] = { parent, o->mode, o->clock, o->packets, o->size, *o->max_mib ? o->max_mib : NULL };
	static const char *const keys[6] = { "parent", "mode", "clock", "packets", "packet_size", "max_mib" };
	char text[6][PATH_MAX + 32];
	const char *words[8] = { "record" };
	unsigned int i, n = 1;
	int err;

	*folder = 0;
	err = attach(pid);
	if (err)
		return err;
	for (i = 0; i < 6; i++) {
		if (!values[i])
			continue;
		snprintf(text[i], sizeof(text[i]), "%s=%s", keys[i], values[i]);
		words[n++] = text[i];
	}
	words[n] = NULL;
	err = ask(pid, words, NULL, NULL, NULL);
	if (err == -EBUSY)
		return fail("process %d is recording already: jf-trace stats %d tells where, jf-trace enable %d GLOB records more, "
			    "and jf-trace stop %d ends it", (int)pid, (int)pid, (int)pid, (int)pid);
	if (err == -EOPNOTSUPP)
		return fail("process %d cannot have this clock: try --clock monotonic", (int)pid);
	if (err)
		return explain(pid, "cannot record", err);
	return trace_of(pid, folder, size);
}

/* Begins to record. @folder: of the trace, "" without one. @made: the folder of -o is new. */
static int begin(const struct options *o, pid_t pid, char *folder, size_t size, bool *made)
{
	char *parent;
	int status;

	*made = false;
	parent = o->output ? parent_of(o->output, pid, made) : NULL;
	if (o->output && !parent)
		return STATUS_FAILED;
	status = begin_in(o, pid, parent, folder, size);
	/* As long as nothing is in it. */
	if (status && *made)
		rmdir(parent);
	free(parent);
	return status;
}

/* Of a recording that can have no record. */
static void undo_record(const struct options *o, pid_t pid, const char *folder, bool made)
{
	if (stop_process(pid))
		return;
	remove_traces(folder);
	/* If nothing else is in it. */
	if (made)
		rmdir(o->output);
	note("nothing is recorded: %s was removed", folder);
}

int do_record(const struct options *o, int argc, char **argv)
{
	char folder[PATH_MAX];
	bool made, any = true;
	int status;
	pid_t pid;

	if (!is_pid(argv[0], &pid))
		return fail("'%s' is no number of a process", argv[0]), STATUS_USAGE;
	status = begin(o, pid, folder, sizeof(folder), &made);
	if (status)
		return status;
	put_safe(stdout, folder);
	putchar('\n');
	/* All that there are; a provider may refuse to take that for all functions. */
	if (argc < 2 && !o->num_globs)
		status = switch_one(pid, "*", true, NULL, stdout);
	else
		status = switch_all(o, argv, true, &any);
	if (!any)
		undo_record(o, pid, folder, made);
	return status;
}

int record_from_now(const struct options *o, pid_t pid, const char *mode, char *folder, size_t size)
{
	const struct options how = { .mode = mode };
	bool any = false, made;
	int status = begin(&how, pid, folder, size, &made), one;
	unsigned int i;

	if (status)
		return status;
	if (!o->num_globs)
		return switch_one(pid, "*", true, NULL, stderr);
	/* One that matches nothing, of which the user is told, is no end of the others. */
	for (i = 0; i < o->num_globs; i++) {
		one = switch_one(pid, o->globs[i], true, one_failed, stderr);
		any |= !one;
		status = status ? status : one;
	}
	return any ? STATUS_OK : status;
}

/* A command of one word, to the process whose number @of is. */
static int ask_word(const char *of, const char *word, answer_fn *each, void *arg, const char *what)
{
	const char *const words[] = { word, NULL };
	pid_t pid;
	int err;

	if (!is_pid(of, &pid))
		return fail("'%s' is no number of a process", of), STATUS_USAGE;
	err = ask(pid, words, each, arg, NULL);
	return err ? explain(pid, what, err) : STATUS_OK;
}

volatile sig_atomic_t told_to_end;

static void tell_to_end(int sig)
{
	told_to_end = sig;
}

void end_on_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct sigaction act, old;
	size_t i;

	/* Without SA_RESTART: the sleep ends. */
	memset(&act, 0, sizeof(act));
	act.sa_handler = tell_to_end;
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		/* As nohup(1) wants it. In a shell's background kill -INT is meant. */
		if (signals[i] != SIGINT && !sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &act, NULL);
	}
}

int stop_process(pid_t pid)
{
	const char *const words[] = { "stop", NULL };
	int err = ask(pid, words, NULL, NULL, NULL);

	return err ? explain(pid, "cannot stop", err) : STATUS_OK;
}

int do_stop(const struct options *o, int argc, char **argv)
{
	(void)o;
	(void)argc;
	return ask_word(argv[0], "stop", NULL, NULL, "cannot stop");
}

/**
 * struct stats - a process's numbers of its recording
 * @sums:   the losses
 * @folder: of the trace; "": no trace
 */
struct stats {
	struct losses	sums;
	char		folder[PATH_MAX];
};

static int one_stat(const struct jf_words *w, void *arg)
{
	struct stats *s = (struct stats *)arg;
	const struct {
		const char	*name;
		uint64_t	*to;
	} sums[] = {
		{ "records", &s->sums.records },
		{ "overwritten", &s->sums.overwritten },
		{ "discarded", &s->sums.discarded },
		{ "no_ring", &s->sums.no_ring },
		{ "calls", &s->sums.calls },
	};
	size_t i;

	if (w->num != 3 || strcmp(w->word[0], "value"))
		return 0;
	put_safe(stdout, w->word[1]);
	putchar(' ');
	put_safe(stdout, w->word[2]);
	putchar('\n');
	for (i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		if (!strcmp(w->word[1], sums[i].name))
			sscanf(w->word[2], "%" SCNu64, sums[i].to);
	if (!strcmp(w->word[1], "folder") || !strcmp(w->word[1], "stopped"))
		snprintf(s->folder, sizeof(s->folder), "%s", w->word[2]);
	return 0;
}

int do_stats(const struct options *o, int argc, char **argv)
{
	struct stats s;
	struct losses l;
	pid_t pid;
	int status;

	(void)o;
	(void)argc;
	memset(&s, 0, sizeof(s));
	status = ask_word(argv[0], "stats", one_stat, &s, "stats");
	if (status || !*s.folder)
		return status;
	/*
	 * The sums are the process's own; those of each thread are in the folder, which may be in
	 * another name space.
	 */
	memset(&l, 0, sizeof(l));
	if (is_pid(argv[0], &pid) && seen_from_here(pid, s.folder, sizeof(s.folder)) && !access(s.folder, R_OK | X_OK))
		losses_read(&l, s.folder);
	l.records = s.sums.records;
	l.overwritten = s.sums.overwritten;
	l.discarded = s.sums.discarded;
	l.no_ring = s.sums.no_ring;
	l.calls = s.sums.calls;
	l.err = 0;
	status = losses_say(&l);
	losses_free(&l);
	return status;
}
