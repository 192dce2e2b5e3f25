/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The parts of libjumpfunc-agent. Each has a header with its structures and functions, and includes
 * the headers of the parts that it uses, in this order. Nothing here is public.
 *
 * The agent is loaded into a program that was not built with us (LD_PRELOAD) and records its USDT
 * notes and the entries of its functions into the rings of libjumpfunc-trace.
 *
 * From top to bottom; a part uses those below it, and none above (harness/lint/parts):
 *   agent.c	the begin, and the environment
 *   request.c	requests: on, off, list; the providers (trace/provider.h)
 *   come.c	the lock, and objects that come
 *   match.c	notes and functions of an object that a pattern means
 *   batch.c	probes that are switched on together
 *   wish.c	patterns: which probes they mean
 *   say.c	messages
 *   object.c	the list of loaded objects: notes and functions of each
 *   choose.c	which records of a probe are made
 *   shown.c	members that arguments lead to, in records
 *   callers.c	functions that filters name as callers
 *   calls.c	functions whose calls are recorded, by an entry and all exits
 *   probe.c	probes: their records, on and off
 *   lead.c	the order in which points get their jumps, beside each other
 *   change.c	points get a way and code, and their text is written
 *   around.c	the bytes at a point, and the points beside it
 *   point.c	places of probes, several of which may be at one
 *   detour.c	how a place can be changed so that it leads to a probe's code
 *   exit.c	where a function is left
 *   whole.c	may several instructions be replaced
 *   frame.c	the table of frames: bounds of functions, and their stack
 *   pads.c	landing pads of exceptions
 *   place.c	memory for that code
 *   displace.c	copies of instructions, with the same effect at another place
 *   operand.c	the arguments of a note
 *   types.c	arguments of functions
 *   note.c	notes, as they stand in a file
 *   module.c	one object: its names, its file, and the places of its text and data
 *   elf.c	a file's sections and symbols
 *   lack.c	that there was no memory
 *   bytes.h	numbers in the sections of frames
 *   event.h	a probe, for the parts above
 *   share.c	children that share a thread's variables
 *   record.c	the records of a thread that comes by; entry.S calls it
 *   pair.c	calls: which exit belongs to which entry
 *   members.c	records with members of structures
 *   memory.c	strings and members, in the program's memory
 *   chosen.h	filters, as threads execute them
 *   watch.c	calls of the program by which it installs filters and handlers
 *   spot.h	the part of a probe that threads read
 *   value.c	operands of instructions
 *   own.c	threads without the C library's variables
 *   aside.c	the rare work of a thread that comes by, on a stack of its own
 *   ring.h	the inline functions of the ring, which call aside.c
 *   saved.h	registers of a thread at a probe, and system calls
 *   follow.c	rights that change for one thread
 *   seccomp.c	filters of system calls: is there one
 *   busy.c	threads whose calls are no calls of the program
 *   retire.c	objects that others replace, until no thread uses them
 *   ../lib/call.c	where a call of a dynamic function is
 *   ../trace/pattern.c	patterns, as users write them
 *
 * Locks: agent_lock (come.c) around all but the parts from record.c to aside.c, which take none,
 * within libjumpfunc-trace's lock of providers. With it the dynamic linker's
 * list of objects is walked, and within that libjumpfunc's and libjumpfunc-trace's own locks are
 * taken. The hook in the dynamic linker (come.c) only tries to take agent_lock.
 *
 * dlclose() has the lock of dlopen() and waits for that of the list. So between the ends of such a
 * walk nothing may call dlopen(), dlsym() or dladdr(), nor a function that looks at the locale,
 * which can open a converter.
 */
#ifndef JF_AGENT_H
#define JF_AGENT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* In here nothing is defined that belongs into a table. */
#define JF_NO_TABLE

#define JF_HIDDEN	__attribute__((__visibility__("hidden")))

#endif /* JF_AGENT_H */
