/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * What the parts of jf-trace know of each other.
 *
 *   main.c	commands, and their words
 *   run.c	start a program and record its events
 *   switch.c	record, enable, disable, stop, stats: of a process
 *   list.c	probes of a file or a process
 *   top.c	events a second
 *   copy.c	snapshot, recover
 *   report.c	events as text or JSON, by babeltrace2
 *   client.c	find a process's control socket, and talk with it
 *   hints.c	which patterns have recorded nothing, and why
 *   folder.c	traces' folders: where they are made, and their removal
 *   tally.c	count the events of a folder
 *   notes.c, elf.c	read ELF files; nothing in them is believed
 *   say.c	messages for people
 *
 * Functions that have told the user of an error return STATUS_FAILED, or one of the others.
 */
#ifndef JF_TOOL_H
#define JF_TOOL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE
#include "../control.h"
#include "../pattern.h"

/* What the program ends with; the manual page has them. */
enum {
	STATUS_OK,
	STATUS_FAILED,
	STATUS_USAGE,
	STATUS_DAMAGED,
	STATUS_NONE,
	/* Of run, whose status is that of the program else. */
	STATUS_RUN_FAILED	= 125,
	STATUS_RUN_NOT_EXECUTABLE,
	STATUS_RUN_NOT_FOUND
};

#define GLOBS_MAX	64

/**
 * struct options - of all commands
 * @globs:     -e
 * @num_globs: how many
 * @output:    -o
 * @mode:      --mode, as a request has it; NULL: not given
 * @clock:     --clock
 * @packets:   --packets
 * @size:      --packet-size
 * @interval:  -i, in seconds
 * @times:     -n; 0: until it is interrupted
 * @json:      --json
 * @quiet:     --no-report
 */
struct options {
	const char	*globs[GLOBS_MAX];
	unsigned int	num_globs;
	const char	*output;
	const char	*mode;
	const char	*clock;
	const char	*packets;
	const char	*size;
	double		interval;
	uint32_t	times;
	bool		json;
	bool		quiet;
};

/* Each gets what stands after the options; the last one is NULL. */
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
int do_top(const struct options *o, int argc, char **argv);

/* --- say.c -------------------------------------------------------------------------- */

/* To stderr, with the tool's name. Returns STATUS_FAILED. */
int fail(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
void note(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
/* Text that another process has made: what is not printable is shown as '?'. */
void put_safe(FILE *to, const char *text);
/* A line on a terminal that says how long it goes on, until progress_end(). */
void progress(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
void progress_end(void);
/* False: it is none, and why is said. */
bool is_pattern(const char *text);

/* --- client.c ----------------------------------------------------------------------- */

/* "123" */
bool is_pid(const char *text, pid_t *pid);
/* The user that a process belongs to. False: there is no such process. */
bool pid_owner(pid_t pid, uid_t *uid);

/* Is called for each message but the last one. */
typedef int answer_fn(const struct jf_words *words, void *arg);

/**
 * ask() - one request, and its answer
 * @pid:    of the process
 * @words:  the request after the version, up to a NULL
 * @fn:     is called for each part of the answer; what it returns other than 0 ends it; may be NULL
 * @arg:    its second argument
 * @number: of the answer's end; may be NULL
 *
 * Return: 0, -errno as the process said, what @fn returned, or -ECOMM: there was no answer, and the user was
 * told why
 */
int ask(pid_t pid, const char *const *words, answer_fn *fn, void *arg, int *number);
/* Does it have a control socket? Says nothing. */
bool has_control(pid_t pid);
/* Calls @fn for each process of this user that has one; removes those of ended processes. */
void each_control(void (*fn)(pid_t pid, void *arg), void *arg);
/* The folder in which it records. STATUS_OK, or it was said why not. */
int trace_of(pid_t pid, char *buf, size_t size);

/* --- folder.c ----------------------------------------------------------------------- */

/* Where traces are made if nothing says where; -errno. */
int default_parent(char *buf, size_t size);
/* Remove a folder of traces: files that are a trace's, and folders, no deeper than two; links are not followed. */
int remove_traces(const char *folder);
/* Calls @fn for each folder in @folder that has metadata; returns how many there are. */
unsigned int each_trace(const char *folder, void (*fn)(const char *path, void *arg), void *arg);

/* --- copy.c ------------------------------------------------------------------------- */

struct jf_recovered;
/* In a process of its own; ^C leaves nothing. Messages name @from and @to. */
int copy_trace(const char *from, const char *to, struct jf_recovered *result);

/* --- report.c ----------------------------------------------------------------------- */

/* By babeltrace2; @more are its options, up to a NULL, or NULL. */
int report_folder(const char *folder, bool json, char **more);

/* --- hints.c ------------------------------------------------------------------------ */

/* Says of each pattern that has recorded nothing why, and what is like it. @folder: of the traces of the run. */
void explain_run(const struct options *o, const char *program, const char *folder);

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

/* 0, -ENOMEM, or -ENOEXEC and the like, as of elf_open(). @group is that of functions. */
int found_in(struct found_list *list, struct elf *e, const char *group);
/* Those of one name become one. */
void found_sort(struct found_list *list);
void found_free(struct found_list *list);
/* Characters of a pattern before the types of arguments, "(string,...)", which only the agent reads. */
size_t glob_length(const char *glob);
bool glob_matches(const char *glob, const char *group, const char *name);

#endif /* JF_TOOL_H */
