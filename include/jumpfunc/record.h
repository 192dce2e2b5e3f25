/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Recording a program's events into a folder.
 *
 * The events are those of JF_TRACE_EVENT() (trace_event.h). babeltrace2, Trace Compass and other
 * readers of the Common Trace Format read the folder, while the program runs and after it has
 * ended, however it ended.
 *
 * API:
 *   jf_record_start(options)		make the folder
 *   jf_record_enable(glob)		record events whose names match, from now on
 *   jf_record_disable(glob)		record them no longer
 *   jf_record_stop()			no event is recorded any more
 *   jf_record_folder(buf, size)	where
 *   jf_record_stats(stats)		how many events were recorded
 *   jf_record_control(on)		let jf-trace do all of this from outside
 *   jf_events(fn, data)		what events there are
 *
 * Environment:
 *   JUMPFUNC_TRACE=glob,glob...	record these events, from before main() on
 *   JUMPFUNC_TRACE_DIR		in which folder that of the trace is made
 *   JUMPFUNC_TRACE_MODE	overwrite, discard, keep or count
 *   JUMPFUNC_TRACE_CLOCK	tsc, monotonic or none
 *   JUMPFUNC_TRACE_PACKETS	how many packets a ring has
 *   JUMPFUNC_TRACE_PACKET_SIZE	how many bytes each of them has
 *   JUMPFUNC_TRACE_RINGS	how many rings there may be
 *   JUMPFUNC_TRACE_MAX_MIB	of mode keep: how many MiB at most
 *   JUMPFUNC_TRACE_CONTROL=1	let jf-trace control the process
 *
 * All of it, and XDG_RUNTIME_DIR, is read as the library is loaded: before main(), or by the
 * thread that calls dlopen(). Later changes of the program's environment have no effect, and do no
 * harm.
 *
 * Programs that run with more rights than their user has ignore the environment.
 *
 * Example:
 *   jf_record_start(NULL);
 *   jf_record_enable("my_net:*");
 *   ...
 *   // in a shell:
 *   babeltrace2 /dev/shm/jumpfunc-$UID/my_program-1234-1
 *
 * How it works: detail/ring_user.h. Link with -ljumpfunc-trace -ljumpfunc.
 *
 * Caveats:
 *   A forked child that records has a folder of its own.
 *
 *   Some descriptors, from 200 on, are kept open, so that recording goes on after chroot(), and,
 *   where the folder is root's and closed to others, after setuid(). A program that closes them,
 *   as daemons do, loses no more than that.
 *
 *   A thread's ring is made with its first record, and given to another thread after it has
 *   ended, which goes on where that has ended. Where there can be none (a full disk, too many
 *   threads) its records are counted as discarded; the program goes on.
 */
#ifndef JUMPFUNC_RECORD_H
#define JUMPFUNC_RECORD_H

#ifdef __KERNEL__
#error "for programs only"
#endif

#include <jumpfunc/trace_event.h>

/**
 * enum jf_record_mode - the fate of an event if the ring is full
 * @JF_RECORD_OVERWRITE: the oldest packet is overwritten: a flight recorder
 * @JF_RECORD_DISCARD:   the record is not written, and counted, until a consumer has read a packet
 * @JF_RECORD_KEEP:      the packet stays, and another one is made, up to @max_mib of struct
 *                       jf_record_options, or until the disk is full; from then on records
 *                       are not written, and counted
 * @JF_RECORD_COUNT:     nothing is recorded: each thread counts its calls of each event, for
 *                       jf-trace(1), which shows how many there were, whatever ended the process
 */
enum jf_record_mode {
	JF_RECORD_OVERWRITE,
	JF_RECORD_DISCARD,
	JF_RECORD_KEEP,
	JF_RECORD_COUNT
};

/**
 * enum jf_record_clock - which clock the time stamps of events are of
 * @JF_RECORD_CLOCK_AUTO:      the counter of the processor if the kernel trusts it, or else
 *                             CLOCK_MONOTONIC
 * @JF_RECORD_CLOCK_TSC:       the counter; refused where it is not constant (-EOPNOTSUPP)
 * @JF_RECORD_CLOCK_MONOTONIC: CLOCK_MONOTONIC
 * @JF_RECORD_CLOCK_NONE:      records have no time stamps
 */
enum jf_record_clock {
	JF_RECORD_CLOCK_AUTO,
	JF_RECORD_CLOCK_TSC	= __JF_CLOCK_TSC,
	JF_RECORD_CLOCK_MONOTONIC = __JF_CLOCK_MONOTONIC,
	JF_RECORD_CLOCK_NONE	= __JF_CLOCK_NONE
};

/**
 * struct jf_record_options - how to record events; 0 in each member is the default
 * @parent:      folder in which that of the trace is made; NULL: $XDG_RUNTIME_DIR/jumpfunc, or
 *               /dev/shm/jumpfunc-UID, which are made with mode 0700 if they are not there
 * @mode:        the fate of events if a ring is full
 * @clock:       the source of time stamps
 * @packet_size: bytes of a packet: 4096 to 64 MiB, a multiple of 4096; default 65536
 * @packets:     packets of a ring, 2 to 64; default 8. Of JF_RECORD_KEEP so many are in use at most
 * @rings:       at most so many rings, 1 to 16384, which is the default. Rings and packets take at
 *               most 32768 mappings of the process
 * @max_mib:     of JF_RECORD_KEEP: packets of this process take at most so many MiB; 0: as many as
 *               there is room for
 */
struct jf_record_options {
	const char		*parent;
	enum jf_record_mode	mode;
	enum jf_record_clock	clock;
	uint32_t		packet_size;
	uint32_t		packets;
	uint32_t		rings;
	uint32_t		max_mib;
};

/**
 * struct jf_record_counts - how many events were recorded, overwritten and discarded
 * @rings:       that were made
 * @packets:     that were made, files
 * @records:     that were committed or abandoned, and not overwritten
 * @overwritten: records that later ones have overwritten
 * @discarded:   records that found no room
 * @no_ring:     lost records for which there was no ring at all
 * @calls:       lost records of calls of functions, for which the agent had no room
 * @error:       0, or why the last ring or packet could not be made, -errno
 */
struct jf_record_counts {
	uint64_t	rings;
	uint64_t	packets;
	uint64_t	records;
	uint64_t	overwritten;
	uint64_t	discarded;
	uint64_t	no_ring;
	uint64_t	calls;
	int		error;
};

__JF_BEGIN_DECLS

/**
 * jf_record_start() - make a trace's folder, and be ready to record events
 * @options: how; NULL: all defaults
 *
 * Nothing is recorded until jf_record_enable(). May be called again after
 * jf_record_stop(); that makes another folder.
 *
 * Context: may sleep; not in a signal handler.
 * Return: 0, -EBUSY if it was started already, -EINVAL if an option is not known, -EOPNOTSUPP if
 * the clock cannot be had or the machine is big-endian, -EPERM if the default folder is not the
 * user's own, -ENOMEM, or the error of a system call, as -ENOSPC, -EROFS,
 * -EACCES, -EFBIG (RLIMIT_FSIZE)
 */
int __JF_MUST_CHECK jf_record_start(const struct jf_record_options *options);

/**
 * jf_record_enable() - record events from now on
 * @glob: of events' names, as of files: "system:name", or without a colon "name"; after it can
 *        follow which records are made, as jf-trace(1), FILTERS, has it: "my_net:rx if len > 1500"
 *
 * Holds for events of objects that are loaded later, too.
 *
 * Context: may sleep; not in a signal handler.
 * Return: how many events there are now that match, -EINVAL, also if none of them has all names of
 * the filter, -EOPNOTSUPP if none can have one, -ENOENT if recording was not started, -ENOMEM, an
 * error of writing the trace's metadata if that lacks one of them, or an error of registering a
 * probe (tracepoint.h); then none was enabled
 */
int __JF_MUST_CHECK jf_record_enable(const char *glob);

/**
 * jf_record_disable() - do not record events any more
 * @glob: as for jf_record_enable(), all that it matches are off then
 *
 * Context: as jf_record_enable(). Calls that have begun may still record.
 * Return: how many events were on and match, or an error as of jf_record_enable()
 */
int __JF_MUST_CHECK jf_record_disable(const char *glob);

/**
 * jf_record_stop() - end the recording of events
 *
 * Disables all events and waits for those that are being recorded. The folder stays.
 *
 * Context: as jf_quiesce().
 * Return: 0, -ENOENT if recording was not started, or an error of unregistering probes;
 * then it goes on
 */
int __JF_MUST_CHECK jf_record_stop(void);

/**
 * jf_record_folder() - the folder in which this process records its events
 * @buf:  is filled in
 * @size: of @buf
 *
 * In a forked child that has not recorded yet this is -ENOENT.
 *
 * Context: any.
 * Return: the length of the path, -ENOENT if recording was not started, -ENAMETOOLONG
 * if it does not fit
 */
int jf_record_folder(char *buf, size_t size);

/**
 * jf_record_stats() - ask how many events were recorded, overwritten and discarded
 * @stats: is filled in
 *
 * Context: any but a signal handler. Other threads go on during the call; numbers are of about now.
 */
void jf_record_stats(struct jf_record_counts *stats);

/**
 * jf_events() - list the events that this process has
 * @fn:   is called for each; if it returns other than 0 that ends it
 * @data: its second argument
 *
 * @fn must not load or unload objects, nor enable or disable events.
 *
 * Context: may sleep; not in a signal handler.
 * Return: 0, or what @fn has returned
 */
int jf_events(int (*fn)(const struct jf_event *event, void *data), void *data);

/**
 * jf_record_control() - let jf-trace control which events are recorded here, or not any longer
 * @on: which
 *
 * Starts a thread, with all signals blocked that other threads or processes send, and makes a
 * socket for it: $XDG_RUNTIME_DIR/jumpfunc/control-PID, or in /run/user/UID/jumpfunc or
 * /tmp/jumpfunc-UID, folders that only this user may enter. Processes of the same user, and root,
 * can then do the same as the functions above. A forked child has a thread and a socket of its own,
 * which it gets in fork().
 *
 * Context: may sleep; not in a signal handler, nor in a function that jf_events() calls.
 * Return: 0, -EBUSY if it is on already, -ENOENT if it is off already, -EPERM if no folder is the
 * user's own, -EAGAIN if there can be no thread, or the error of a system call
 */
int __JF_MUST_CHECK jf_record_control(bool on);

__JF_END_DECLS

#endif /* JUMPFUNC_RECORD_H */
