/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quiescence where stacks cannot be unwound: what do words tell?
 *
 * A task calls a target, and other functions. Anywhere it may be met in code that the
 * unwinder knows nothing of, such as a filter (BPF), or that a tracer has put there:
 * an unwind then gives up. It may do so in each scan. When it has left the target, a
 * word of that may be left over on its stack, among the frames of others. Or it is
 * interrupted in a copy that an optimised kprobe has made of an instruction of the
 * target, which jumps back into it: no word on the stack says so, and the unwinder
 * does not know that code either.
 *
 * A writer retires the target, waits for a quiesce, frees it, and loads the next one
 * in its place. A quiesce scans the task until it is seen clean:
 *
 *   1 No word on its stack leads into the target, and it sleeps: clean.
 *   2 Else it is unwound. Unwound to its end, its frames decide.
 *   3 If not, the code at which the unwind gave up is searched for a jump into the
 *     target: one is enough. Else the words decide.
 *
 * A word that is left over is taken to be written over at some time if no scan ever
 * meets the task where it can be unwound.
 */

/* Where the task is. */
#define OUT	0
#define IN	1		/* in the target, or in what that called */
#define COPY	2		/* in the copy of an instruction of the target */

bool freed_code_executed;
bool witness;
#define FAIL(p)	p = true; assert(!p)

byte at;
bool opaque;			/* on top of that: what cannot be unwound */
bool asleep;
bool rested;			/* has slept where it is, */
bool filtered;			/* and has been in such code there */
bool left;			/* a word of the target that is not in use */

bool leads = true;		/* something leads to the target */
bool loaded = true;		/* the target is there */
bool hold;			/* the task has not yet been seen clean */
bool round;			/* flips with every completed quiesce */

inline executes_target()
{
	if
	:: !loaded ->
		printf("MSC: task executes the target\n");
		FAIL(freed_code_executed)
	:: else
	fi
}

#ifdef LIVE
/* Chance is fair: a task that leaves, and comes again and again, is found outside by some scan. */
#define may_come	(at == IN || !hold || left)
#else
#define may_come	true
#endif
#ifdef LEFT_STAYS		/* limit: nothing writes over such a word */
#define may_stay	true
#else
#define may_stay	!(left && opaque)
#endif

inline goes(where)
{
	rested = false;
	filtered = false;
	at = where
}

proctype executor()
{
end:	do
	:: atomic {
		at == OUT && leads && !opaque && !asleep ->
		printf("MSC: task calls the target\n");
		left = false;
		goes(IN)
	   }
	:: atomic {
		at == IN && !opaque && !asleep ->
		executes_target();
		if
		:: goes(OUT); printf("MSC: task leaves the target\n")
		:: goes(OUT); left = true; printf("MSC: task leaves the target, a word of it stays on its stack\n")
		:: !filtered ->
			at = COPY;
			filtered = true;
			printf("MSC: task is in a copy of an instruction of the target\n")
		fi
	   }
	:: atomic {
		at == COPY ->
		printf("MSC: task jumps back into the target\n");
		executes_target();
		at = IN
	   }
	:: atomic {
		!opaque && !asleep && may_come && at != COPY && !(at == IN && filtered) ->
		printf("MSC: task comes to a filter\n");
		filtered = true;
		opaque = true
	   }
	:: atomic {
		/* Outside it may come to the next one before any scan. */
		opaque && !asleep ->
		if
		:: printf("MSC: task leaves the filter\n");
			opaque = false;
			if
			:: at == OUT -> rested = false; left = false
#ifndef LIVE
			:: skip
#else
			:: at == IN
#endif
			fi
		/* Or stays. */
		:: at == OUT && !left
		fi
	   }
	:: atomic {
		!asleep && !rested && at != COPY ->
		printf("MSC: task sleeps\n");
		rested = true;
		asleep = true
	   }
	:: atomic {
		asleep ->
		if
		:: printf("MSC: task goes on\n"); asleep = false
		/* It may sleep for ever. */
		:: at == OUT && may_stay
		fi
	   }
	od
}

/* A word on the stack leads into the target. */
#define word	(at == IN || left)
/* The unwinder comes to the end of the stack. */
#define whole	(!opaque && at != COPY)

#ifdef NO_UNWIND		/* variant: words alone */
#define by_frames word
#else
#define by_frames (at == IN)
#endif
#if defined(UNKNOWN_IS_INSIDE)	/* variants: what an unwind that gives up says */
#define by_words true
#elif defined(UNKNOWN_IS_OUTSIDE)
#define by_words false
#else
#define by_words word
#endif
#ifdef NO_COPIES		/* variant: code that is not known is not searched */
#define by_copy	false
#else
#define by_copy	(at == COPY)
#endif
#ifdef SEARCHED_BY_WORDS	/* variant: a task that can run is not unwound either */
#define unwound	word
#else
#define unwound	(word || !asleep)
#endif

#define inside	(unwound && (whole && by_frames || !whole && (by_copy || by_words)))

proctype writer()
{
end:	do
	:: d_step {
		leads = false;
		hold = true;
		printf("MSC: writer retires the target, quiesce starts\n")
	   };
	   do
	   :: d_step {
		hold ->
		if
		:: !inside ->
			hold = false;
			printf("MSC: task is seen clean\n")
#ifdef SEE_UNKNOWN
		:: inside && at == IN && opaque -> FAIL(witness)
#endif
		:: else
		fi
	      }
	   :: !hold -> break
	   od;
	   atomic {
		loaded = false;
		round = !round;
		printf("MSC: quiesce is done, the target is freed\n")
	   };
	   d_step {
		/* Whatever is left of the old one now leads into this. */
		loaded = true;
		leads = true;
		printf("MSC: writer loads the target again\n")
	   }
	od
}

init {
	atomic {
		run executor();
		run writer()
	}
}

#ifdef LIVE
/* Each quiesce ends. */
ltl quiesce_ends { []<>round && []<>!round }
#endif
