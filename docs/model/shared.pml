/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quiescence of a function that others execute as well: when can what a dynamic
 * function's calls use be freed, if its former target has other callers?
 *
 * A dynamic function leads to the target, or elsewhere. A task comes to the target by
 *
 *	its call site		which is patched: the target returns to the site
 *	its trampoline		which is called: the target returns to that call
 *	a jump to that		of a caller that was itself called by its name
 *	a pointer		to the trampoline
 *
 * and then uses what belongs to the dynamic function. Or it comes by
 *
 *	a pointer		to the target itself: that looks the same
 *	a call of the target	by its name
 *	another site		of a dynamic function that has not changed
 *	another jump		of a caller that was called by its name, too
 *
 * and then does not, and may stay there for ever. From the target a task may come to
 * the target once more, by any of these.
 *
 * A user changes the dynamic function at any time, also while a quiesce waits, and
 * frees what its calls used when a quiesce is over that began after it left the
 * target, unless it leads there again. A quiesce
 *
 *   1 finds out where the changed call leads now,
 *   2 lists the tasks,
 *   3 scans a task, which holds still for it. For each frame of the target, what it
 *     returns to tells how the task came there. A changed call counts unless it leads
 *     to the target again; so does what may have been a pointer. Where a caller only
 *     jumped, the text of that caller is read after the scan, when all go on: it
 *     counts unless each jump in it leads to the target at that time.
 */
#define BIT(i)	(1 << (i))

/* How a frame of the target came about. */
#define NONE	0
#define SITE	1		/* by what changes: a call that is patched, */
#define TRAMP	2		/* a call of the trampoline, */
#define JUMP	3		/* a caller that jumps to the trampoline, */
#define POINTER	4		/* a pointer to the trampoline */
#define TO_TARGET 5		/* by others: a pointer to the target, */
#define DIRECT	6		/* a call by name, */
#define OTHER	7		/* another dynamic function's site, */
#define OTHER_JUMP 8		/* a caller that jumps there otherwise */
#define WRAPPED	9		/* limit: what OTHER led to, which jumped to the trampoline */
#define changes(w) ((w) >= SITE && (w) <= POINTER || (w) == WRAPPED)
#if defined(POINTER_STAYS)	/* limit */
#define may_come_again(w) changes(w)
#elif defined(OTHERS_STAY)	/* only tasks that others called there stay */
#define may_come_again(w) false
#else
#define may_come_again(w) ((w) >= SITE && (w) < POINTER)
#endif

/* From 9 down to 1, for what is printed. */
mtype = { a_function_that_jumps, another_jump, another_site, a_call_by_name, a_pointer_to_the_target, a_pointer,
	  a_jump_to_the_trampoline, the_trampoline, the_site };

#define DEPTH	2

bool freed_data_used;
#define FAIL(p)	p = true; assert(!p)

#define top	frame[depth - 1]
byte frame[DEPTH];		/* how the task came there, the outermost first */
byte depth;
#ifdef LIVE			/* a task that stays in an inner one never leaves the outer one */
bool called;
/* Chance is fair: a task that leaves, and comes again and again, is found outside by some scan. */
#define may_call	(depth == 0 && !hold || depth == 1 && !called)
#define stays		(top >= DIRECT && (depth == 1 || frame[0] >= DIRECT))
#else
#define may_call	(depth < DEPTH)
#define stays		(top >= DIRECT)
#endif

bool leads = true;		/* to the target */
bool lives = true;		/* what belongs to the dynamic function */
bool retired;			/* it has left the target since a quiesce began */
bool waiting;			/* and before it began */
bool seen_leads;		/* where it leads as far as scans know */
bool jumps;			/* the text of a caller that jumps has to be read */
bool hold;			/* the task has not yet been seen clean */
bool quiescing;
bool again;			/* the function has changed since the quiesce began */
bool round;			/* flips with every completed quiesce */

proctype executor()
{
	byte w;

end:	do
	:: atomic {
		/* By what leads there, and by the others. */
		may_call ->
#ifdef LIVE
		called = depth != 0;
#endif
		if
		:: leads -> w = SITE
		:: leads -> w = TRAMP
		:: leads -> w = JUMP
		:: leads -> w = POINTER
		:: w = TO_TARGET
		:: w = DIRECT
#ifdef WRAPPER
		/* Until the other one leads to the target itself, which it does when this one leaves it. */
		:: leads -> w = WRAPPED
		:: !leads -> w = OTHER
#else
		:: w = OTHER
#endif
		:: w = OTHER_JUMP
		fi;
		printf("MSC: task comes to the target by %e\n", w);
		depth++;
		top = w;
		w = 0
	   }
	:: atomic {
		depth ->
		if
		:: changes(top) && !lives ->
			printf("MSC: task came by %e, and uses what belongs to that\n", top);
			FAIL(freed_data_used)
		:: else
		fi;
		if
		:: printf("MSC: task returns\n");
			top = NONE;
			depth--;
#ifdef LIVE
			called = called && depth
#endif
		/* It may stay if others called it, or if it could come again. */
		:: stays || may_come_again(top) && leads && depth == 1
		fi
	   }
	od
}

/* Changes the dynamic function, and makes what its calls use before. */
proctype user()
{
end:	do
	:: d_step {
#ifdef LIVE
		/* Where it changes in turn without end, it takes luck. */
		!again && (quiescing || !retired) ->
		again = quiescing;
#else
		true ->
#endif
		leads = !leads;
		retired = !leads;
		waiting = waiting && !leads;
		lives = lives || leads;
		if
		:: leads -> printf("MSC: user: the function leads to the target\n")
		:: else -> printf("MSC: user: the function leads elsewhere\n")
		fi
	   }
	od
}

#ifdef STALE_CALLS		/* variant: a changed call counts, wherever it leads now */
#define leads_by_call	false
#else
#define leads_by_call	seen_leads
#endif
#ifdef POINTER_IS_OTHER		/* variant */
#define by_pointer(w)	false
#else
#define by_pointer(w)	((w) == POINTER || (w) == TO_TARGET)
#endif
#ifdef TRAMP_IS_OTHER		/* variant: a call of the trampoline is one by name */
#define by_call(w)	((w) == SITE)
#else
#define by_call(w)	((w) == SITE || (w) == TRAMP)
#endif
#ifdef EVERY_FRAME		/* variant: how the task came there is not asked */
#define counts(w)	((w) != NONE)
#else
#define counts(w)	(by_call(w) && !leads_by_call || by_pointer(w))
#endif
#define by_jump(w)	((w) == JUMP || (w) == OTHER_JUMP)

#ifdef ANY_OTHER		/* variant: one frame that does not count is enough */
#define inside		(depth == 1 && counts(frame[0]) || \
			 depth == 2 && counts(frame[0]) && counts(frame[1]))
#else
#define inside		(counts(frame[0]) || counts(frame[1]))
#endif
/* The other jump may lead by a trampoline, too, but by one that has not changed. */
#define one_jumps	(frame[0] == JUMP || frame[1] == JUMP)

#ifdef JUMP_IS_OTHER		/* variant: a caller that was called by its name is another way */
#define jump_counts	false
#else
#define jump_counts	(jumps && !leads)
#endif

proctype quiescer()
{
	bool seen;

end:	do
	:: d_step {
		retired ->
		waiting = true;
		retired = false;
		quiescing = true;
		printf("MSC: quiesce starts\n")
	   };
	   seen_leads = leads;
	   hold = true;
	   do
	   :: d_step {
		/* A scan. */
		hold ->
#ifdef LIVE
		seen_leads = leads;
#endif
		seen = inside;
		jumps = one_jumps
	      };
	      d_step {
		/* The task goes on, and what it showed is examined. */
		if
		:: !seen && !jump_counts ->
			hold = false;
			printf("MSC: the task was seen clean\n")
		:: else
		fi;
		seen = false;
		jumps = false
	      }
#ifndef LIVE
	   :: hold && seen_leads != leads -> seen_leads = leads
#endif
	   :: !hold -> break
	   od;
	   atomic {
		printf("MSC: quiesce is done\n");
		if
		:: waiting ->
			lives = false;
			printf("MSC: what belonged to the function is freed\n")
		:: else
		fi;
		waiting = false;
		seen_leads = false;
		quiescing = false;
		again = false;
		round = !round
	   }
	od
}

init {
	atomic {
		run executor();
		run user();
		run quiescer()
	}
}

#ifdef LIVE
/* Each quiesce ends. */
ltl quiesce_ends { []<>round && []<>!round }
#endif
