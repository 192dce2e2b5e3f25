/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quiescence of keys: when can what only one side of a branch uses be freed?
 *
 * A function has a branch in it. Its key says which of two pieces of code comes next,
 * and a third piece comes after either. A task may go round these as its main loop,
 * and sleep in any of them. The last act of the first two may be a jump to another
 * function, one for each, which returns to where the first one was called. Others call
 * these other functions, too, and may stay in them.
 *
 * A user changes the key at any time, also while a quiesce waits. What only one side
 * uses is freed when a quiesce is over that began after the key left that side, unless
 * the key leads there again.
 *
 * A changed key leaves no record. A quiesce
 *
 *   1 finds out which side the key does not lead to, and so what is searched for: the
 *     code that only this side leads to, and the function that such code jumps to;
 *   2 lists the tasks;
 *   3 scans tasks of its list and strikes those that are not in that code, nor in
 *     that function by way of the first one, until none is left. Between two scans it
 *     may find out anew which side that is.
 *
 * A task in code that either side leads to is not waited for.
 */
#define BIT(i)	(1 << (i))

#ifndef TASKS
#define TASKS	1
#endif

/* Where a task is. */
#define OUT	0
#define BEFORE	1		/* in the function, before the branch */
#define ONLY	2		/* in code that only the side it took leads to */
#define TAIL	3		/* in the function that this code has jumped to */
#define AFTER	4		/* in code that both sides lead to */
#define CALLED	5		/* in one of these functions, called by others */

bool freed_data_used;
#define FAIL(p)	p = true; assert(!p)

typedef Task {
	byte at;
	bool side;		/* the way that it took */
	bool asleep;
	bool rested		/* has slept where it is */
};
Task task[TASKS];

bool key;
byte lives = 3;			/* sides whose data is there, as a set */
byte retired;			/* sides that the key has left since a quiesce began */
byte waiting;			/* and before it began */
bool only;			/* the side that is searched for */
byte hold;			/* tasks not yet seen clean, as a set */
bool quiescing;
bool again;			/* the key has changed since the quiesce began */
bool round;			/* flips with every completed quiesce */

#ifdef KEY_RCU			/* variant: Tasks RCU instead of scans */
#define quiet(i)	hold = hold & (255 - BIT(i))
#else
#define quiet(i)	skip
#endif

#ifdef LIVE
/* Chance is fair: a task that leaves, and comes again and again, is found outside by some scan. */
#define may_come(i)	!(hold & BIT(i))
#ifdef ROUND_BY_CHANCE		/* or in code that both sides lead to */
#define may_go_round(i)	may_come(i)
#else
#define may_go_round(i)	true
#endif
/* A task may stay where the key leads. */
#define may_stay(i)	(task[i].side == key)
#else
#define may_come(i)	true
#define may_go_round(i)	true
#define may_stay(i)	false
#endif

#define me	task[id]

inline uses_data()
{
	if
	:: !(lives & BIT(me.side)) ->
		printf("MSC: task%d uses what belongs to side %d\n", id, me.side);
		FAIL(freed_data_used)
	:: else
	fi
}

inline goes(where)
{
	me.rested = false;
	me.at = where
}

inline leaves()
{
	printf("MSC: task%d leaves\n", id);
	goes(OUT);
	me.side = 0
}

inline sleeps()
{
	printf("MSC: task%d sleeps\n", id);
	me.asleep = true;
	me.rested = true;
	quiet(id)
}

proctype executor(byte id)
{
end:	do
	:: atomic {
		me.at == OUT && may_come(id) ->
		printf("MSC: task%d calls the function with the branch\n", id);
		goes(BEFORE)
	   }
	:: atomic {
		me.at == OUT && may_come(id) ->
		printf("MSC: task%d calls another function\n", id);
		goes(CALLED)
	   }
	:: atomic {
		me.at == BEFORE ->
		me.side = key;
		goes(ONLY);
		printf("MSC: task%d takes side %d\n", id, me.side)
	   }
	:: atomic {
		me.at == ONLY && !me.asleep ->
		uses_data();
		if
		:: goes(AFTER); printf("MSC: task%d is in code that both sides lead to\n", id)
		:: goes(TAIL); printf("MSC: task%d jumps to another function\n", id)
		:: may_stay(id)
#ifndef NO_SLEEP
		:: !me.rested -> sleeps()
#endif
		fi
	   }
	:: atomic {
		me.at == TAIL && !me.asleep ->
		uses_data();
		if
		:: leaves()
#ifndef NO_SLEEP
		:: !me.rested -> sleeps()
#endif
		fi
	   }
	:: atomic {
		/* It need not ever leave: this may be its main loop. */
		me.at == AFTER && !me.asleep ->
		if
		:: leaves()
		:: may_go_round(id) -> printf("MSC: task%d goes round\n", id); goes(BEFORE); me.side = 0
#ifndef NO_SLEEP
		:: sleeps()
#endif
		fi
	   }
	:: atomic {
		/* Neither here. */
		me.at == CALLED && !me.asleep ->
		if
		:: leaves()
#ifndef NO_SLEEP
		:: sleeps()
#endif
		fi
	   }
#ifndef NO_SLEEP
	:: atomic {
		me.asleep ->
		printf("MSC: task%d goes on\n", id);
		me.asleep = false
	   }
#endif
#ifdef KEY_RCU
	:: atomic {
		me.at == OUT && hold & BIT(id) ->
		printf("MSC: task%d sleeps outside\n", id);
		quiet(id)
	   }
#endif
	od
}

/* Changes the key, and makes what the new side uses before. */
proctype user()
{
	bool old;

end:	do
	:: d_step {
#ifdef LIVE
		/* Where the key changes in turn without end, it takes luck. */
		!again && (quiescing || !retired) ->
		again = quiescing;
#else
		true ->
#endif
		old = key;
		key = !key;
		lives = lives | BIT(key);
		retired = BIT(old);
		waiting = waiting & BIT(old);
		printf("MSC: user changes the key, it leads to side %d\n", key);
		old = 0
	   }
	od
}

#ifdef WRONG_SIDE		/* variant: the side that is executed now is searched for */
#define retired_side	key
#else
#define retired_side	!key
#endif

#if defined(NO_KEY_RECORD)	/* variant: nothing is known of a key */
#define shows_only(i)	false
#elif defined(WHOLE_FUNCTION)	/* variant: each task in the function counts */
#define shows_only(i)	(task[i].at == BEFORE || task[i].at == ONLY || task[i].at == AFTER)
#else
#define shows_only(i)	(task[i].at == ONLY && task[i].side == only)
#endif
#if defined(NO_KEY_RECORD) || defined(NO_TAIL)	/* variant: jumps are not followed */
#define shows_tail(i)	false
#elif defined(TAIL_OF_OTHERS)	/* variant: each task in another function counts */
#define shows_tail(i)	(task[i].at == TAIL || task[i].at == CALLED)
#else
#define shows_tail(i)	(task[i].at == TAIL && task[i].side == only)
#endif
#define clean(i)	(!(shows_only(i) || shows_tail(i)))

/* All have to be scanned. */
inline list_tasks()
{
	do
	:: k < TASKS ->
#ifdef KEY_RCU
		if
		:: !task[k].asleep -> hold = hold | BIT(k)
		:: else
		fi;
#else
		hold = hold | BIT(k);
#endif
		k++
	:: else -> k = 0; break
	od
}

proctype quiescer()
{
	byte k;

end:	do
	:: d_step {
		retired ->
		waiting = retired;
		retired = 0;
		quiescing = true;
		printf("MSC: quiesce starts\n")
	   };
	   d_step {
		only = retired_side;
		printf("MSC: side %d is searched for\n", only)
	   };
	   d_step { list_tasks(); skip };
	   do
#ifndef KEY_RCU
	   :: d_step {
		/* A scan of all that are left. */
		hold ->
#if defined(LIVE) && !defined(NOT_RENEWED)
		only = retired_side;
#endif
		do
		:: k < TASKS ->
			if
			:: hold & BIT(k) && clean(k) ->
				hold = hold & (255 - BIT(k));
				printf("MSC: task%d is seen clean\n", k)
			:: else
			fi;
			k++
		:: else -> k = 0; break
		od;
		skip
	      }
#ifndef LIVE
	   :: d_step {
		hold && only != retired_side ->
		only = retired_side;
		printf("MSC: side %d is searched for\n", only)
	      }
#endif
#endif
	   :: !hold -> break
	   od;
	   atomic {
		printf("MSC: quiesce is done\n");
		if
		:: waiting && !(waiting & BIT(key)) ->
			lives = lives & (255 - waiting);
			printf("MSC: what side %d used is freed\n", !key)
		:: else
		fi;
		waiting = 0;
		only = false;
		quiescing = false;
		again = false;
		round = !round
	   }
	od
}

init {
	byte k;

	atomic {
		do
		:: k < TASKS -> run executor(k); k++
		:: else -> k = 0; break
		od;
		run user();
		run quiescer()
	}
}

#ifdef LIVE
/* Each quiesce ends. */
ltl quiesce_ends { []<>round && []<>!round }
#endif
