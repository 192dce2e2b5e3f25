/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of jf_hide.ko for the targets of jf_hide_m.ko and its like: dynamic
 * functions to be put into, and ways to stay.
 */
#ifndef JF_HIDE_H
#define JF_HIDE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include <jumpfunc/batch.h>
#include <jumpfunc/dynfunc.h>

u64 hide_pass(u64 x);
DECLARE_DYNFUNC(hide_op, hide_pass);
DECLARE_DYNFUNC(hide_other, hide_pass);

/* Sleeps until the gate opens. */
void hide_wait(void);

/* The end of a thread that jf_hide.ko has started, but for its last call. */
void hide_leaves(void);

/* Asks for a callback of jf_hide.ko that takes a second. Once at a time. */
void hide_ask_slow(void);

/* How many use text of a module that is about to be unloaded. */
extern atomic_t hide_inside;

/* Something to be written to for a long time. */
extern void *hide_room;
#define HIDE_ROOM	(192UL << 20)

#endif /* JF_HIDE_H */
