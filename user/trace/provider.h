/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Probes of a process that are not events of JF_TRACE_EVENT(): an agent finds them in code that was
 * not built with us. A provider tells libjumpfunc-trace of them, which then lists and switches them
 * along with the events, for jf-trace by way of the control socket (control.h).
 *
 * API:
 *   __jf_provider_register(provider)	from now on; there is no way back
 *   __jf_event_number(event)		a number, and metadata, for the records of a probe
 *   __jf_record_refused(group, name, why)	a probe that was asked for and cannot be recorded
 *   __jf_glob_matches(glob, group, name)	as all globs of probes are understood
 *   __jf_control_mem(), __jf_control_files(fd)	descriptors that the peer has handed over
 *   __jf_control_outside()	how the peer that asks for a change writes it, while no thread runs
 *
 * Example:
 *   static struct jf_provider notes = { JF_PROVIDER_VERSION, "note", list, on, off };
 *   __jf_provider_register(&notes);		// in a constructor
 *
 * A glob is one of files', of bytes (glob.h). With a colon it is matched with "group:name", without
 * one with "name". Groups: a USDT note's provider; a function's object, as "libc.so.6".
 *
 * Not public: a library of the same version alone may use it.
 */
#ifndef JF_PROVIDER_H
#define JF_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jumpfunc/trace_event.h>

#define JF_PROVIDER_VERSION	3

/**
 * struct jf_listed - one probe, for list()
 * @group:  "python", "libc.so.6"
 * @name:   "line", "malloc"
 * @on:     is it on
 * @detail: one line for people: how it is done ("jump", "breakpoint"), or why it cannot be; or NULL
 *
 * Valid until the function that is called with it returns. A probe may be at several places; they
 * are one. Characters that are not printable are not shown as they are.
 */
struct jf_listed {
	const char	*group;
	const char	*name;
	bool		on;
	const char	*detail;
};

/* Called for each; if it returns other than 0 that ends the list. It allocates. */
typedef int jf_listed_fn(const struct jf_listed *probe, void *arg);

/**
 * struct jf_provider - a kind of probes, and how to switch them
 * @version: JF_PROVIDER_VERSION
 * @kind:    one word: "note", "function"
 * @list:    calls @fn for each probe that @glob matches (NULL: for all); returns 0, what @fn
 *           returned, or -errno
 * @enable:  those that match are on when it returns; returns how many there are that match and are
 *           on, whether by this call or before, 0 if none matches, or -errno if none of those that
 *           match could be switched on. @list tells of those that are off
 * @disable: those that match (NULL: all) are off when it returns, and no thread is recording for
 *           one of them any more, nor ever will; returns how many it switched off, or -errno, and
 *           then those that are still on are told by @list
 * @data:    last argument of each
 * @fork_begins: before fork(), by the thread that calls it; or NULL. Here the provider takes locks
 *           of its own, which it takes in the functions above as well: a handler of its own would
 *           take them before the lock of all providers
 * @fork_ends: after it, in the parent and in the child, if @fork_begins is not NULL
 * @own:     the thread's calls are not recorded from now on, until it is told the end: they are no
 *           calls of the program; or NULL. It takes no lock, and these calls can be nested
 * @next:    in libjumpfunc-trace's list
 *
 * Calls are made one at a time, by the control thread, which has all signals blocked, or by a
 * thread of the program that is in jf_record_stop(); with a lock held that is held around fork(),
 * too, so no call goes on in a child. They may allocate, wait, and call anything but record.h and
 * this. While recording has not been started enable() is not called, and jf_record_stop() calls
 * disable(NULL) before rings are unmapped.
 *
 * Where a glob matches so many probes that the user cannot have meant it, as "*" for functions,
 * enable() may refuse it: -E2BIG.
 *
 * Objects that are loaded later are the provider's affair: it keeps the globs.
 */
struct jf_provider {
	uint32_t		version;
	const char		*kind;
	int			(*list)(const char *glob, jf_listed_fn *fn, void *arg, void *data);
	int			(*enable)(const char *glob, void *data);
	int			(*disable)(const char *glob, void *data);
	void			*data;
	void			(*fork_begins)(void);
	void			(*fork_ends)(bool child);
	void			(*own)(bool begins);
	struct jf_provider	*next;
};

__JF_BEGIN_DECLS

/**
 * __jf_provider_register() - tell of a provider's probes
 * @provider: stays where it is as long as the process lives
 *
 * Context: a constructor, or any thread that is not in a provider's function; not in a signal
 * handler.
 * Return: 0, -EINVAL for another version, or if a member that must be there is NULL
 */
int __jf_provider_register(struct jf_provider *provider);

/**
 * __jf_event_number() - give a probe's records a number, and the trace the description of their
 * fields
 * @event: as JF_TRACE_EVENT() makes it, but for tp, probe and next, which are not used; all else
 *         stays as it is
 *
 * Sets event->id. May be called whether recording was started or not, and before or after
 * __jf_provider_register(). Events of the same description share a number. In the trace it is named
 * "system:name".
 *
 * Context: may sleep, and allocates; not in a signal handler. Any of a provider's
 * functions may call it.
 * Return: 0, -EINVAL if a field has a type that CTF does not know, or for another version,
 * -EOVERFLOW if all 65,535 numbers are taken, -ENOMEM, or the error of writing the metadata; then
 * the number is as before, and it can be tried again
 */
int __jf_event_number(struct jf_event *event);

/**
 * __jf_events_number() - the same for many, of which the trace is told at once
 * @event: which
 * @num:   of them
 *
 * Context: as __jf_event_number().
 * Return: 0, or an error as of __jf_event_number(); then those that could have one, of which the
 * trace was told, have their number all the same, and others' is as before
 */
int __jf_events_number(struct jf_event **event, size_t num);

/**
 * __jf_events_left() - how many numbers are left
 *
 * Context: as __jf_event_number().
 */
unsigned int __jf_events_left(void);

/**
 * __jf_record_by_environment() - start to record as the environment says how
 *
 * Context: as jf_record_start().
 * Return: 0 also if it was started already, else as jf_record_start(), -EINVAL for a variable that
 * has another value than it may
 */
int __jf_record_by_environment(void);

/**
 * __jf_record_refused() - tell the trace of a probe that was to be recorded, and cannot be
 * @group: of it
 * @name:  of it
 * @why:   one line
 *
 * Context: as __jf_event_number(). Where there is no trace it does nothing.
 */
void __jf_record_refused(const char *group, const char *name, const char *why);

/**
 * __jf_agent - is the agent loaded
 *
 * Then it calls __jf_control_by_environment(), and nothing else does: its changes at its
 * begin are made while there is one thread. Its address alone is looked at.
 */
extern const char __jf_agent __attribute__((__weak__, __visibility__("default")));

/**
 * __jf_control_by_environment() - have a control socket if the environment says so
 *
 * Context: a constructor.
 */
void __jf_control_by_environment(void);

struct jf_text_poke;

/**
 * __jf_control_outside() - how text is changed by the process whose request this thread serves
 *
 * Context: any; what it returns, in the same call of a provider's function: it waits for the other
 * process, some seconds at most.
 * Return: see jf_text_outside_fn; NULL: no process has asked, or it cannot
 */
int (*__jf_control_outside(void))(const struct jf_text_poke *pokes, size_t num, size_t *bad);

/**
 * __jf_control_mem() - this process's memory, opened by the process that has asked for the change
 *
 * Context: as __jf_control_outside().
 * Return: its descriptor; 0: none was handed over
 */
int __jf_control_mem(void);

/**
 * __jf_control_files() - files of objects, which that process has opened
 * @fd: is set to their descriptors
 *
 * Context: as __jf_control_outside().
 * Return: how many
 */
unsigned int __jf_control_files(const int **fd);

/**
 * __jf_glob_matches() - does a glob match a probe
 * @glob:  as above; NULL matches all
 * @group: of the probe
 * @name:  of the probe
 *
 * Context: any.
 */
bool __jf_glob_matches(const char *glob, const char *group, const char *name);

/* How often a second the processor's counter counts; 0: it is no clock. May wait, some ms. */
uint64_t __jf_clock_hz(void);

/* True: a recording goes on that counts, and writes no records (JF_RECORD_COUNT). */
bool __jf_counts(void);

/* For the agent: each record that it cannot make is counted here, by an atomic addition. */
extern uint64_t *__jf_lost __attribute__((__visibility__("default")));
/* And then here, if it is one of a call. */
extern uint64_t *__jf_lost_calls __attribute__((__visibility__("default")));

/* For the agent, before it sets __jf_quiet: the calling thread's ring gets all of its packets. */
void __jf_writer_prepare(void);

__JF_END_DECLS

#endif /* JF_PROVIDER_H */
