/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The rare work of a thread that comes by, on a stack of its own (aside.c). */
#ifndef JF_AGENT_ASIDE_H
#define JF_AGENT_ASIDE_H

#include "busy.h"

#include "user/lib/text.h"

/* A thread of the process cannot read the processor's counter, or could not. */
extern bool jf_without_counter JF_HIDDEN;
/* This thread's number. */
JF_HIDDEN uint64_t jf_tid(void);
/* By a constructor: it takes the lock of dlopen(). */
JF_HIDDEN void jf_clock_begin(void);
/* From now on the program's threads make no system call for the agent. @others: get the filter. */
JF_HIDDEN void jf_aside_quiet(bool others);
/* Calls @fn on a stack that is large enough for a hook, with signals blocked. */
JF_HIDDEN void jf_agent_aside(void (*fn)(void));

/* Bytes of a stack: for a packet, and for a hook, which reads files and looks at text. */
#define JF_ASIDE_STACK	(64L << 10)
#define JF_HOOK_STACK	(256L << 10)

/* Another thread with this one's variables is in the agent. */
enum jf_other {
	JF_OTHER_NONE,		/* no: it is this thread */
	JF_OTHER_RUNS,
	JF_OTHER_GONE,		/* it has ended there */
};

/* No thread of the program makes a system call here any more. */
static inline bool jf_is_quiet(void)
{
	return __atomic_load_n(&__jf_quiet, __ATOMIC_RELAXED);
}

/* In place of the ring's own: with registers of vectors kept. */
JF_HIDDEN bool jf_agent_next(uint32_t len, uint16_t id);
JF_HIDDEN uint64_t jf_agent_clock(void);
/* A record is lost without a ring. */
JF_HIDDEN void jf_lose(void);
JF_HIDDEN enum jf_other jf_aside_other(uintptr_t stack);
/* Calls @fn on another stack of @size bytes, with all signals blocked. */
JF_HIDDEN uint64_t jf_aside(uint64_t (*fn)(uint64_t arg), uint64_t arg, long size);
/* The same without a system call. False: another thread is there. */
JF_HIDDEN bool jf_aside_quietly(uint64_t (*fn)(uint64_t arg), uint64_t arg, uint64_t *ret);
/* A packet for a record: its length, and its id << 32; or 0: the thread becomes a reader. */
JF_HIDDEN bool jf_aside_packet(uint64_t what);
/* Of those that share their variables one records at a time. False: this thread does already. */
JF_HIDDEN bool jf_turn_take(void);
JF_HIDDEN void jf_turn_end(void);
JF_HIDDEN void jf_tid_begin(void);

#endif /* JF_AGENT_ASIDE_H */
