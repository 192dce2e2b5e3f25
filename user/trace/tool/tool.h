/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The interfaces between the parts of jf-trace.
 *
 *   main.c	commands, and their words
 *   run.c	start a program and record its events
 *   switch.c	record, enable, disable, stop, stats: of a process
 *   list.c	probes of a file or a process
 *   top.c	events a second
 *   count.c	how many calls there were
 *   time.c	how long they took
 *   copy.c	snapshot, recover
 *   report.c	report, script: a table of what there is; events as text, by babeltrace2
 *   json.c	events as JSON
 *   client.c	requests to a process, and its answers
 *   connect.c	find processes and their control sockets
 *   stop.c	write its text while none of its threads runs
 *   stand.c	stop all its threads
 *   attach.c	load the agent into a process
 *   fit.c	the thread that it is loaded by
 *   borrow.c	a thread of that calls functions, and goes on
 *   objects.c	a process's objects, and their functions
 *   threads.c	a thread of another process: how it stops, what its stack has
 *   filter.c	whether a thread's filters (seccomp) allow a system call
 *   losses.c	what was lost of a trace
 *   hints.c	which patterns have recorded nothing, and why
 *   near.c	probes with names like a pattern
 *   program.c	why a program cannot be executed
 *   files.c	the files of a program
 *   summary.c	calls of functions: a table, a tree, folded stacks
 *   types.c	functions' arguments, by debug information (parts: types/read.h)
 *   folder.c	traces' folders: where they are made, and their removal
 *   tally.c	count the events of a folder
 *   notes.c, elf.c	read ELF files; nothing in them is believed
 *   demangle.c	names of C++ and Rust functions
 *   conditions.c	options that say which records are made
 *   say.c	messages for people
 *
 * Functions that have told the user of an error return STATUS_FAILED, or one of the others.
 */
#ifndef JF_TOOL_H
#define JF_TOOL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE
#include "../control.h"
#include "../demangle.h"
#include "../pattern.h"

/* Exit statuses; the manual page has them. */
enum {
	STATUS_OK,
	STATUS_FAILED,
	STATUS_USAGE,
	STATUS_DAMAGED,
	STATUS_NONE,
	STATUS_LOST,
	/* Of run, whose status is that of the program else; the first two only if that is 0. */
	STATUS_RUN_LOST		= 123,
	STATUS_RUN_NO_REPORT,
	STATUS_RUN_FAILED,
	STATUS_RUN_NOT_EXECUTABLE,
	STATUS_RUN_NOT_FOUND
};

#define GLOBS_MAX	64

/* A form of report's. */
enum view {
	VIEW_EVENTS,
	VIEW_SUMMARY,
	VIEW_GRAPH,
	VIEW_FOLDED,
};

/**
 * struct options - of all commands
 * @globs:     -e
 * @num_globs: how many
 * @pid:       -p; NULL: not given
 * @output:    -o
 * @mode:      --mode, as a request has it; NULL: not given
 * @clock:     --clock
 * @packets:   --packets
 * @size:      --packet-size
 * @max_mib:   --max-size, in MiB; "": not given
 * @min:       --min; NULL: not given
 * @condition: --if
 * @caller:    --caller
 * @every:     --every
 * @most:      --max
 * @tid:       --tid
 * @depth:     --max-depth
 * @interval:  -i, in seconds
 * @times:     -n; 0: until it is interrupted
 * @events:    --events
 * @json:      --json
 * @quiet:     --no-report
 * @registers: --registers
 * @csv:       --csv
 * @sums:      count is time
 * @view:      enum view, of report
 */
struct options {
	const char	*globs[GLOBS_MAX];
	unsigned int	num_globs;
	const char	*pid;
	const char	*output;
	const char	*mode;
	const char	*clock;
	const char	*packets;
	const char	*size;
	char		max_mib[16];
	const char	*min;
	const char	*condition;
	const char	*caller;
	const char	*every;
	const char	*most;
	const char	*tid;
	const char	*depth;
	double		interval;
	uint32_t	times;
	bool		events;
	bool		json;
	bool		quiet;
	bool		registers;
	bool		csv;
	bool		sums;
	int		view;
};

/* Each gets the words after the options; the last one is NULL. */
int do_run(const struct options *o, int argc, char **argv);
int do_list(const struct options *o, int argc, char **argv);
int do_record(const struct options *o, int argc, char **argv);
int do_enable(const struct options *o, int argc, char **argv);
int do_disable(const struct options *o, int argc, char **argv);
int do_stop(const struct options *o, int argc, char **argv);
int do_stats(const struct options *o, int argc, char **argv);
int do_snapshot(const struct options *o, int argc, char **argv);
int do_recover(const struct options *o, int argc, char **argv);
int do_report(const struct options *o, int argc, char **argv);
int do_script(const struct options *o, int argc, char **argv);
int do_top(const struct options *o, int argc, char **argv);
int do_count(const struct options *o, int argc, char **argv);
int do_time(const struct options *o, int argc, char **argv);

/* --- time.c ------------------------------------------------------------------------- */

/*
 * STATUS_OK, STATUS_LOST: functions have no sums, or STATUS_FAILED, which was said. @any: there
 * are some.
 */
int put_sums(FILE *to, const struct options *o, const char *folder, bool *any);
/* The first rows on the terminal, in place of those before, while the process runs. */
int show_sums(const struct options *o, const char *folder, unsigned int seconds);

/* --- count.c ------------------------------------------------------------------------ */

/* The words after the options are a folder: no program is. */
bool is_folder(int argc, char **argv);

/* --- run.c -------------------------------------------------------------------------- */

/**
 * struct run - of a program that has ended
 * @folder: its traces are in
 * @agent:  which was there for it; "": none
 * @status: as it ended; 128 and more: by a signal
 */
struct run {
	char	folder[PATH_MAX];
	char	agent[PATH_MAX];
	int	status;
};

/* A file of the agent, where it is installed or was built. */
bool find_agent(const char *name, char *buf, size_t size);
/* STATUS_OK: it has ended; or another one, of which the user was told, and there is no folder. */
int run_program(const struct options *o, char **argv, struct run *r);
/* Some daemons have their children ignore SIGCHLD: the kernel then forgets how these ended. */
void await_children(void);
/* Says which patterns have matched nothing, and why. False: there is no trace. */
bool show_run(const struct options *o, const char *name, const struct run *r);

/* --- program.c ---------------------------------------------------------------------- */

/* Before anything else is done with it. STATUS_OK, or another one, of which the user was told. */
int check_program(const char *name);
/* As execvp(): returns if it cannot. No shell reads an ELF file. */
void execute_program(char **argv);
/* The user is told why it could not, by the error of execve(): the status. */
int explain_program(const char *name, int err);

/* --- switch.c ----------------------------------------------------------------------- */

/*
 * In @mode, NULL: by default, the probes that o->globs match. @folder: of the trace, "" without
 * one.
 */
int record_from_now(const struct options *o, pid_t pid, const char *mode, char *folder, size_t size);
int stop_process(pid_t pid);
/* The signal that asks count, time or top to end: what it has switched on is to be off then. */
extern volatile sig_atomic_t told_to_end;
void end_on_signals(void);

/* --- say.c -------------------------------------------------------------------------- */

/* To stderr, with the tool's name. Returns STATUS_FAILED. */
int fail(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
void note(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
/* STATUS_FAILED, with a message, if not all could be. The reader of a pipe may go. */
int written(FILE *to);
/* Bytes of the character that begins at @s; 0: it is no UTF-8. */
size_t utf8_length(const unsigned char *s, size_t len);
/* Text that another process has made: other than printable characters are shown as '?'. */
void put_safe(FILE *to, const char *text);
/* A line on a terminal that says how long it goes on, until progress_end(). */
void progress(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
void progress_end(void);
/* Returns false, with a message, if @text is not a valid pattern. */
bool is_pattern(const char *text);
/* A pattern as its user has written it: without the kind that do_time() puts before it. */
const char *asked_glob(const char *glob);

/* --- conditions.c ------------------------------------------------------------------- */

/* True: a pattern says which records are made of it. */
bool any_choice(const struct options *o);
/* True if a pattern is of calls. */
bool is_of_calls(const char *pattern);
/* Returns false, with a message: it is no expression of --if. */
bool is_condition(const char *text);
/* The same of --caller. */
bool is_caller(const char *glob);
/* Adds the options to each pattern. @of_pid: patterns follow a process. @times: of sums. */
int choose(struct options *o, bool of_pid, bool times, int argc, char **argv);
/* STATUS_OK, or STATUS_USAGE: a pattern counts some calls alone, or takes a part of them. */
int all_are_counted(const struct options *o);

/* --- demangle.c -------------------------------------------------------------------- */

/* --mangled: functions have the names of their symbols. */
extern bool mangled_names;
/* __cxa_demangle() of libstdc++, or NULL: it is not installed. */
jf_cxa_fn *demangler(void);
/* "group:symbol", or a symbol, as its source has it; for free(), NULL: no memory. */
char *readable(const char *name);
/* The same, safe for a terminal. */
void put_name(FILE *to, const char *name);
/* Copies text with events' names; functions get their names from readable(). @in is closed. */
int copy_readable(int in, FILE *to);

/* --- client.c ----------------------------------------------------------------------- */

/* Is called for each message but the last one. */
typedef int answer_fn(const struct jf_words *words, void *arg);

/**
 * ask() - one request, and its answer
 * @pid:    of the process
 * @words:  the request after the version, up to a NULL
 * @fn:     is called for each part of the answer; a result other than 0 ends it; may be NULL
 * @arg:    its second argument
 * @number: of the answer's end; may be NULL
 *
 * Return: 0, -errno as the process said, what @fn returned, or -ECOMM: there was no answer, and the
 * user was told why
 */
int ask(pid_t pid, const char *const *words, answer_fn *fn, void *arg, int *number);
/* The folder in which it records. STATUS_OK, or it was said why not. */
int trace_of(pid_t pid, char *buf, size_t size);

/* Of -ESTALE: nothing matches, but that says nothing. */
#define UNREAD "the process cannot read the files of all its objects, after chroot() or setuid(): ask as root"

/* --- connect.c ---------------------------------------------------------------------- */

/* "123" */
bool is_pid(const char *text, pid_t *pid);
/*
 * Calls @fn with each number in a folder of /proc until it returns another value than 0: that, or
 * -errno.
 */
typedef int number_fn(pid_t number, void *arg);
int number_each(const char *folder, number_fn *fn, void *arg);
/* The user that a process belongs to. False: there is no such process. */
bool pid_owner(pid_t pid, uid_t *uid);
/* True if it has a control socket. Prints nothing. */
bool has_control(pid_t pid);
/* Makes a path of the process one of the tool, which may see other files. False: it is too long. */
bool seen_from_here(pid_t pid, char *path, size_t size);
/* Calls @fn for each process of this user that has one; removes those of ended processes. */
void each_control(void (*fn)(pid_t pid, void *arg), void *arg);

/* --- hand.c -------------------------------------------------------------------------- */

/*
 * Sends a request to a process of user @uid. @hand_over: with files that the process
 * possibly cannot open by itself. False: not all was sent.
 */
bool send_request(int fd, pid_t pid, uid_t uid, const struct jf_message *message, bool hand_over);

/* --- stop.c ------------------------------------------------------------------------- */

struct poke;

/**
 * struct stops - pokes to write while no thread of a process runs, and the time that it took
 * @uid:   of the user that it belongs to
 * @poke:  the next poke
 * @num:   of these
 * @room:  for how many there is room
 * @times: how often all threads were stopped
 * @worst: the longest time for which they were, in nanoseconds
 * @told:  why they could not be was said
 */
struct stops {
	uid_t		uid;
	struct poke	*poke;
	size_t		num;
	size_t		room;
	unsigned int	times;
	uint64_t	worst;
	bool		told;
};

/* Of a message "poke". 0, -ENOMEM, -EPROTO */
int stops_add(struct stops *s, const struct jf_words *w);
/*
 * Of "stop": does it, and forgets the pokes. 0, or -errno as jf_text_outside_fn of the agent; @bad:
 * which one
 */
int stops_write(struct stops *s, pid_t pid, const struct jf_words *w, size_t *bad);
/* Says how long the process stood. */
void stops_end(struct stops *s, pid_t pid);

/* --- folder.c ----------------------------------------------------------------------- */

/* Where traces are made if nothing says where; -errno. */
int default_parent(char *buf, size_t size);
/*
 * Remove a folder of traces: files that are a trace's, and folders, no deeper than three; links are
 * not followed.
 */
int remove_traces(const char *folder);
/* True for a folder that has traces, and nothing else. */
bool only_traces(const char *folder);
/*
 * Calls @fn for @folder, or each folder in it, that has metadata, or may not be looked into: how
 * many, or -errno.
 */
int each_trace(const char *folder, void (*fn)(const char *path, void *arg), void *arg);
/* STATUS_OK, or STATUS_FAILED: it has none, of which the user was told. */
int any_trace(const char *folder);
/* Calls @fn for each refused probe of a trace: "group:name", and why. */
void each_refused(int dir, void (*fn)(const char *name, const char *why, void *arg), void *arg);

/*
 * Traces that are in others, where a child that was another user had to make them, come beside
 * these.
 */
void lift_traces(const char *folder);

/* --- copy.c ------------------------------------------------------------------------- */

struct jf_recovered;
/* In a process of its own; ^C leaves nothing. Messages name @from and @to. */
int copy_trace(const char *from, const char *to, struct jf_recovered *result);
/* Packets that the copy lacks: STATUS_OK, STATUS_DAMAGED or STATUS_LOST. */
int say_damage(const struct jf_recovered *r);

struct losses;

/* --- report.c ----------------------------------------------------------------------- */

/* Events on standard error: standard output is the program's. @losses: of the folder. */
int report_run(const char *folder, const struct losses *losses);

/* --- summary.c ---------------------------------------------------------------------- */

/* Calls of functions on stdout. STATUS_NONE: no call has a record. */
int report_calls(const char *folder, enum view view);

/* --- json.c ------------------------------------------------------------------------- */

/* JSON on stdout. @losses: of the shown traces. */
void json_begin(const struct losses *losses);
/* The output of babeltrace2 on @in, which it closes. Any number of times. */
int json_events(int in);
void json_end(const struct losses *losses);

/* --- hints.c ------------------------------------------------------------------------ */

/*
 * Prints, for each pattern that has recorded nothing, the reason and similar names. @folder: of the
 * traces of the run.
 */
void explain_not_loaded(const char *program, const char *agent);
void explain_run(const struct options *o, const char *program, const char *folder, const struct losses *l);

/* --- files.c ------------------------------------------------------------------------ */

/* A program in the folders of PATH. */
bool find_program(const char *name, char *buf, size_t size);
/* Calls @fn for the file of a program, and for each that its dynamic linker says that it loads. */
void each_file_of(const char *program, void (*fn)(const char *path, void *arg), void *arg);

/* --- types.c ------------------------------------------------------------------------ */

/*
 * The agent's file of arguments and names: for functions of @program and of objects that it loads.
 * False: no file is needed, or it cannot be written.
 */
bool types_write(const struct options *o, const char *program, const char *path);
/* Calls @fn for each function of a stripped file that its debug file names, until that is not 0. */
int types_names(const char *path, int (*fn)(const char *name, void *arg), void *arg);
/* For --version. */
const char *types_library(void);

/* --- notes.c ------------------------------------------------------------------------ */

/**
 * struct found - a probe of a file
 * @kind:   "event", "note", "function"
 * @group:  as in provider.h
 * @name:   of the probe
 * @detail: of one of its places
 * @places: how many
 */
struct found {
	const char	*kind;
	char		*group;
	char		*name;
	char		*detail;
	unsigned int	places;
};

/**
 * struct found_list - of a file, or of several
 * @found: sorted by kind and name, after found_sort()
 * @num:   how many
 * @room:  for how many
 * @bytes: of their names, as they were added
 */
struct found_list {
	struct found	*found;
	size_t		num;
	size_t		room;
	size_t		bytes;
};

struct elf;

/* A function. 0 or -ENOMEM */
int found_function(struct found_list *list, const char *group, const char *name);
/* 0, -ENOMEM, or -ENOEXEC and the like, as of elf_open(). @group is that of functions. */
int found_in(struct found_list *list, struct elf *e, const char *group);
/* Functions of a stripped file that its debug file names. 0 or -ENOMEM */
int found_apart(struct found_list *list, const char *path);
/* Those of one name become one. */
void found_sort(struct found_list *list);
void found_free(struct found_list *list);
/*
 * Characters of a pattern before the types of arguments, "(string,...)", which only the agent
 * reads.
 */
size_t glob_length(const char *glob);
/* @kind NULL: it is not known. */
bool glob_matches(const char *glob, const char *kind, const char *group, const char *name);

#endif /* JF_TOOL_H */
