/* SPDX-License-Identifier: GPL-2.0 */
/* The interface of jf_leave for jf_leave_m. */
#ifndef JF_LEAVE_H
#define JF_LEAVE_H

#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

/* The findings of jf_leave_m's target, once it went on. */
struct leave_found {
	int	theirs;		/* the target of another module's dynamic function */
	int	own;		/* the target of its module's own one */
	bool	branch;		/* another module's key */
};

int leave_plain(int x);
int leave_other(int x);
int leave_enter_plain(struct leave_found *found);
void leave_own_probe(void *data, unsigned long a, unsigned long b);

DECLARE_DYNFUNC(leave_enter, leave_enter_plain);
DECLARE_DYNFUNC(leave_op, leave_plain);
DECLARE_JF_KEY(leave_key);
DECLARE_JF_TRACE(leave_trace, JF_PROTO(unsigned long a, unsigned long b), JF_ARGS(a, b));

/* To be called in the middle of a target: sleeps until jf_leave lets it go on. */
void leave_wait(void);

/* A function that another module offers, on which no module depends. */
extern int (*leave_offer)(int x);
extern unsigned long leave_marks[2];
/* Callbacks that jf_leave_m's target asked for. */
extern unsigned int leave_called;

#endif /* JF_LEAVE_H */
