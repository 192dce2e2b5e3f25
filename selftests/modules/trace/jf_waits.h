/* SPDX-License-Identifier: GPL-2.0 */
/* A tracepoint whose probes sleep, for tests of the waits for them. */
#ifndef JF_WAITS_H
#define JF_WAITS_H

#include <jumpfunc/tracepoint.h>

DECLARE_JF_TRACE(waits, JF_PROTO(int x), JF_ARGS(x), JF_SLEEPABLE);

/* Sleeps while the parameter hold of jf_waits is set. @data: an int, counted up then. */
void jf_waits_sleeper(void *data, int x);
/* The same at once. */
void jf_waits_counter(void *data, int x);
/* A thread hits the tracepoint, and is in the probe that sleeps. 0 or -errno. */
int jf_waits_enter(void);
/* Add or remove a probe. 0 or -errno. */
int jf_waits_change(void (*probe)(void *data, int x), void *data, bool add);

#endif /* JF_WAITS_H */
