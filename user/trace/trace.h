/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The interfaces between the parts of libjumpfunc-trace. Nothing here is public.
 *
 * From top to bottom; a part uses those below it, and none above:
 *   socket.c	the control socket and its thread
 *   control.c	the requests that come by it (control.h)
 *   socket.h	answers, for the two above
 *   log.c	events that have no tracepoint, of tracef() and tracelog()
 *   recording.c	begin and end of recording, patterns of the user, forks
 *   sdt.c	SDT probes (jumpfunc-sdt/sys/sdt.h) as events
 *   events.c	events, and which of them are recorded
 *   draft.c	filters of events; choice.c parses them, choice.h evaluates them
 *   provider.c	probes that are no events (provider.h)
 *   wishes.c	patterns for objects that come later (wishes.h)
 *   glob.c	globs of names (glob.h)
 *   rings.c	begin and end of all rings, forks, sums (rings.h)
 *   ring.c	which thread has which ring, and records that find no place
 *   counts.c	mode count
 *   grow.c	a ring's files, the next packet
 *   folder.c	the trace's folder, its metadata, and records without a ring
 *   packet.c	packets in memory
 *   live.c	the state that a forked child must not have
 *   rings.h	rings, for all from rings.c to here
 *   metadata.c	the trace's description of itself
 *   clock.c	time stamps
 *   provider.h	provider.c, for the agent
 *   recover.c	reads the traces of other processes
 *   file.c	folders and files, by system calls alone
 *   own.c	calls that are no calls of the program
 *   env.c	the environment, as it was at the begin
 *   words.c	messages, taken apart
 *   remains.c	sockets of processes that have ended (control.h)
 *   control.h	the protocol of the control socket
 *
 * Locks: that of the socket (socket.c); within it that of providers; within that a provider's own,
 * and jf_events_lock (events.c) around the list of events and their state; within it
 * jf_live->lock around rings and the folder. The latter (pi_lock.h) is held with all signals
 * blocked and never while waiting, since a signal handler may be the first of its thread to record.
 *
 * The state that a forked child must not have is in jf_live, whose pages it finds empty
 * (MADV_WIPEONFORK), so that clone() and vfork(), of which no handler tells, are no exception.
 * The state that it inherits is in struct jf_conf.
 */
#ifndef JF_TRACE_H
#define JF_TRACE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE

#include <jumpfunc/record.h>

#include "kind.h"

#define JF_HIDDEN	__attribute__((__visibility__("hidden")))

/* With the 0 at its end. */
#define JF_GLOB_MAX	256

#define JF_PACKET_MAGIC	0xc1fc1fc1U
/* The ring of a file that only counts records without a ring. */
#define JF_NO_RING	UINT32_MAX
#define JF_NO_RING_SIZE	4096
/* As many as mappings allow (grow.c). */
#define JF_RINGS_MAX	16384
/* Of a thread that counts: struct jf_counts, in a file of the trace that readers do not see. */
#define JF_COUNTS_NAME	".c%u"
#define JF_COUNTS_MAGIC	0xc0c0c0c1U
#define JF_COUNTS_SIZE	528384U
/*
 * A file of the trace that readers do not see: "group:name", a tab, and why that cannot be
 * recorded; one in a line.
 */
#define JF_REFUSED	".refused"
/*
 * jf-trace makes it where traces are to be: a byte in it says that a program has loaded the
 * library.
 */
#define JF_LOADED	".loaded"
#define JF_LOADED_SIZE	8

/**
 * struct jf_counts - how often a thread has come by each event
 * @magic:   JF_COUNTS_MAGIC, as soon as the rest is there
 * @threads: how many threads have counted here, one after the other
 * @tid:     the last one; 0: it cannot be told
 * @unused:  0
 * @comm:    its name
 * @more:    0
 * @count:   by the event's number; as many as the file has room for
 */
struct jf_counts {
	uint32_t	magic;
	uint32_t	threads;
	uint32_t	tid;
	uint32_t	unused;
	char		comm[16];
	uint64_t	more[4];
	uint64_t	count[];
};

/* --- env.c ------------------------------------------------------------------------- */

enum jf_env {
	JF_ENV_FOLDER,		/* XDG_RUNTIME_DIR */
	JF_ENV_DIR,		/* JUMPFUNC_TRACE_DIR, and so on */
	JF_ENV_MODE,
	JF_ENV_CLOCK,
	JF_ENV_PACKETS,
	JF_ENV_PACKET_SIZE,
	JF_ENV_RINGS,
	JF_ENV_MAX_MIB,
	JF_ENV_SINCE,		/* of jf-trace: a reading of both clocks */
	JF_ENV_NUM
};

JF_HIDDEN const char *jf_env(enum jf_env which);
JF_HIDDEN void jf_process_name(char *name, size_t size);

/* --- own.c ------------------------------------------------------------------------- */

JF_HIDDEN void jf_own_told(void (*fn)(bool begins));
JF_HIDDEN bool jf_own(bool begins);

/* --- file.c ------------------------------------------------------------------------ */

/* Descriptors that are kept have at least this number. */
#define JF_FIRST_FD	200

/**
 * struct jf_kept - a folder or a file that is kept open; all zeros: none
 * @fd:  its descriptor, if that is still of it
 * @dev: of it
 * @ino: of it; 0: no inode
 */
struct jf_kept {
	int	fd;
	dev_t	dev;
	ino_t	ino;
};

/**
 * struct jf_used - a descriptor for a moment
 * @fd:  it, or -errno
 * @own: @fd belongs to the caller alone. The number of @fd cannot decide that: another thread can
 *       keep another descriptor in between.
 */
struct jf_used {
	int	fd;
	bool	own;
};

JF_HIDDEN struct jf_used jf_kept_take(struct jf_kept *k, int fd);
JF_HIDDEN struct jf_used jf_kept_open(struct jf_kept *k, const char *path);
JF_HIDDEN void jf_kept_done(struct jf_used used);
JF_HIDDEN void jf_kept_drop(struct jf_kept *k);
JF_HIDDEN int jf_file_make(int dir, const char *name, size_t size);
JF_HIDDEN int jf_file_extend(int fd, size_t size);
JF_HIDDEN void jf_close(int fd);
JF_HIDDEN int jf_file_write(int fd, const void *data, size_t size, uint64_t at);
JF_HIDDEN int jf_file_writev(int fd, const struct iovec *v, int num, uint64_t at);
JF_HIDDEN int jf_folder_own(const char *path);
JF_HIDDEN int jf_path(char *buf, size_t size, const char *folder, const char *name);
JF_HIDDEN bool jf_packet_file(const char *name, unsigned int *ring, unsigned int *nr);

/* --- clock.c ----------------------------------------------------------------------- */

/**
 * struct jf_clock - how a time stamp becomes a time
 * @freq:   time stamps a second
 * @offset: the time of a time stamp of 0, in ns since 1970
 */
struct jf_clock {
	uint64_t	freq;
	int64_t		offset;
};

JF_HIDDEN bool jf_tsc_usable(void);
JF_HIDDEN void jf_clock_start(uint32_t clock);
JF_HIDDEN const char *jf_clock_boot(void);
JF_HIDDEN void jf_clock_get(uint32_t clock, struct jf_clock *c);

/* For the library's own use, in any thread. */
JF_HIDDEN uint64_t jf_clock_ns(clockid_t id);
JF_HIDDEN uint64_t jf_clock_now(uint32_t clock);

/* --- metadata.c -------------------------------------------------------------------- */

/**
 * struct jf_told - the contents of the metadata of a trace
 * @size:    of the file, in bytes
 * @last:    the last class that it has, or need not have
 * @id:      the number of that, the highest one
 * @counted: it has the classes of events without records, too
 */
struct jf_told {
	uint64_t	size;
	const void	*last;
	uint16_t	id;
	bool		counted;
};

JF_HIDDEN bool jf_field_is_text(const struct jf_event_field *f);
JF_HIDDEN int jf_class_of(const struct jf_event *event, uint16_t *id);
JF_HIDDEN uint16_t jf_last_class(void);
struct jf_conf;
JF_HIDDEN int jf_metadata_write(int dir, const uint8_t *uuid, const struct jf_conf *conf, struct jf_told *told);
JF_HIDDEN int jf_metadata_append(int fd, struct jf_told *told);
JF_HIDDEN size_t jf_metadata_clock(char *buf, size_t size, uint32_t clock, uint64_t *at);
JF_HIDDEN void jf_metadata_refused(int dir, const char *group, const char *name, const char *why);

/* --- live.c ------------------------------------------------------------------------ */

/**
 * struct jf_conf - how to record, as long as it is started; a forked child inherits it
 * @started:     is it
 * @waiting:     by the environment, and no probe has matched yet: there is no folder
 * @parent:      the folder in which that of the trace is
 * @mode:        enum jf_record_mode
 * @clock:       never JF_RECORD_CLOCK_AUTO
 * @packet_size: bytes of a packet
 * @packets:     of a ring
 * @rings:       at most
 * @max_size:    of mode keep: bytes of packets at most; 0: no limit
 */
struct jf_conf {
	bool		started;
	bool		waiting;
	char		parent[PATH_MAX - 320];
	uint32_t	mode;
	uint32_t	clock;
	uint32_t	packet_size;
	uint32_t	packets;
	uint32_t	rings;
	uint64_t	max_size;
};

extern struct jf_conf jf_conf JF_HIDDEN;

/* --- rings.c, folder.c ------------------------------------------------------------- */

JF_HIDDEN int jf_rings_start(void);
JF_HIDDEN int jf_rings_begin(void);
JF_HIDDEN void jf_rings_stop(void);
JF_HIDDEN void jf_rings_prepare(void);
JF_HIDDEN void jf_rings_parent(void);
JF_HIDDEN void jf_rings_child(void);
JF_HIDDEN int jf_rings_metadata(uint16_t *told);
JF_HIDDEN void jf_rings_refused(const char *group, const char *name, const char *why);

/* --- recover.c --------------------------------------------------------------------- */

JF_HIDDEN bool jf_head_valid(const struct jf_packet *p, uint64_t size);
JF_HIDDEN bool jf_head_read(int fd, struct jf_packet *head, uint64_t at);
JF_HIDDEN bool jf_trace_uuid(const char *text, uint8_t *uuid);

/* --- provider.c -------------------------------------------------------------------- */

struct jf_provider;

JF_HIDDEN void jf_providers_lock(void);
JF_HIDDEN void jf_providers_unlock(void);
JF_HIDDEN struct jf_provider *jf_providers(void);
JF_HIDDEN int jf_providers_stop(void);
JF_HIDDEN void jf_providers_fork_begins(void);
JF_HIDDEN void jf_providers_fork_ends(bool child);

/* --- recording.c -------------------------------------------------------------------- */

JF_HIDDEN bool jf_record_started(void);
JF_HIDDEN void jf_record_stopped(struct jf_record_counts *counts, char *folder, size_t size);

/* --- events.c ---------------------------------------------------------------------- */

JF_HIDDEN void jf_events_lock(void);
JF_HIDDEN void jf_events_unlock(void);
JF_HIDDEN int jf_record_begin(void);
/* The same with the lock. */
JF_HIDDEN int jf_events_begin(void);
JF_HIDDEN int jf_events_switch(const char *glob, const char *choice, bool on);
JF_HIDDEN int jf_events_off(void);
JF_HIDDEN void jf_events_forget(void);
JF_HIDDEN bool jf_record_wished(enum jf_kind kind, const char *system, const char *name, char *choice);

/* --- draft.c ----------------------------------------------------------------------- */

struct jf_event_choice;

JF_HIDDEN bool jf_event_chooses(const struct jf_event *event);
JF_HIDDEN int jf_event_choice(struct jf_event *event, const char *text, struct jf_event_choice **choice);
JF_HIDDEN struct jf_event_choice *jf_event_choose(struct jf_event *event, struct jf_event_choice *choice);
JF_HIDDEN void jf_event_choice_drop(struct jf_event_choice *choice);
JF_HIDDEN void jf_event_choices_free(void);

/* --- sdt.c ------------------------------------------------------------------------- */

void jf_sdt_lock(void);
void jf_sdt_unlock(void);
int jf_sdt_switch(const char *glob, const char *choice, bool on);

#endif /* JF_TRACE_H */
