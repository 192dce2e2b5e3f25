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
 *	another jump		of a caller that was called by its name, too
 *
 * and then does not, and may stay there for ever. From the target a task may come to
 * the target once more, by any of these.
 *
 * A user changes the dynamic function at any time, also while a quiesce waits, and
 * frees what its calls used when a quiesce is over that began after it left the
 * target, unless it leads there again. (If another one leads there, the target is in use, and
 * no quiesce searches for it: the same.) A quiesce
 *
 *   1 finds out where the changed call leads now,
 *   2 lists the tasks,
 *   3 scans a task, which holds still for it. If the function leads to the target again,
 *     that is in use, and no frame of it counts. Otherwise, what a frame returns to tells
 *     how the task came there: one that was called by its name does not count. One that came by a pointer or a jump does: it may have
 *     been by the trampoline.
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
#define OTHER_JUMP 7		/* a caller that jumps there otherwise */
#define changes(w) ((w) >= SITE && (w) <= POINTER)
#define may_come_again(w) changes(w)
/* This never counts, so tasks that came by it may stay. */
#define excused(w)	((w) == DIRECT)

/* From 7 down to 1, for what is printed. */
mtype = { another_jump, a_call_by_name, a_pointer_to_the_target, a_pointer,
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
#define stays		(excused(top) && (depth == 1 || excused(frame[0])))
#else
#define may_call	(depth < DEPTH)
#define stays		excused(top)
#endif

bool leads = true;		/* to the target */
bool lives = true;		/* what belongs to the dynamic function */
bool retired;			/* it has left the target since a quiesce began */
bool waiting;			/* and before it began */
bool seen_leads;		/* where it leads as far as scans know */
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
#ifdef NOT_AGAIN		/* it does not lead to the target again while a quiesce waits */
		!quiescing && !retired ->
#else
		!again && (quiescing || !retired) ->
#endif
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

#ifdef NOT_RENEWED		/* variant: it is not noticed that the function leads there again */
#define in_use		false
#else
#define in_use		seen_leads
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
#ifdef JUMP_IS_OTHER		/* variant: a caller that was called by its name is another way */
#define by_jump(w)	false
#else
#define by_jump(w)	((w) == JUMP || (w) == OTHER_JUMP)
#endif
#ifdef EVERY_FRAME		/* variant: how the task came there is not asked */
#define counts(w)	((w) != NONE)
#else
#define counts(w)	(by_call(w) || by_pointer(w) || by_jump(w))
#endif

#ifdef ANY_OTHER		/* variant: one frame that does not count is enough */
#define inside		(!in_use && (depth == 1 && counts(frame[0]) || \
				     depth == 2 && counts(frame[0]) && counts(frame[1])))
#else
#define inside		(!in_use && (counts(frame[0]) || counts(frame[1])))
#endif

proctype quiescer()
{
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
		if
		:: !(inside) ->
			hold = false;
			printf("MSC: the task was seen clean\n")
		:: else
		fi
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
