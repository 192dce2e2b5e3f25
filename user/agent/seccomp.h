/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* Filters of system calls (seccomp.c). */
#ifndef JF_AGENT_SECCOMP_H
#define JF_AGENT_SECCOMP_H

#include "agent.h"

/* A function of libc by which filters of system calls are installed, or handlers. */
enum jf_watch {
	JF_WATCH_NONE,
	JF_WATCH_PRCTL,
	JF_WATCH_SYSCALL,
	JF_WATCH_ARCH_PRCTL,
	JF_WATCH_SIGACTION,
};

/* Why no string is read: a thread has a filter; or it would not be seen. */
#define JF_FILTERED	1
#define JF_UNWATCHED	2
extern uint8_t jf_filtered JF_HIDDEN;
JF_HIDDEN void jf_filter_begin(bool trusted);
JF_HIDDEN enum jf_watch jf_filter_call(uintptr_t at);
JF_HIDDEN bool jf_filter_within(uintptr_t start, uintptr_t end);
JF_HIDDEN bool jf_filter_needed(void);
JF_HIDDEN void jf_filter_watched(bool all);
JF_HIDDEN bool jf_filter_look(void);
JF_HIDDEN bool jf_filter_own(void);
JF_HIDDEN uint64_t jf_filter_wait(uint64_t unused);

#endif /* JF_AGENT_SECCOMP_H */
