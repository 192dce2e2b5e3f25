/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quiescence: when can what was replaced be freed?
 *
 * Tasks go through one site, which sends them to a target by one of these ways:
 *
 *	a function pointer	loaded into a register, then jumped to
 *	a single image		loads data and jumps: it leaves no trace on the stack
 *	a chain image		loads data and calls: the stack leads back into it
 *	the iterator		code that stays, but reads an array that goes
 *
 * A writer changes way and target at any time, also while an earlier quiesce still
 * waits. Each quiesce answers for what was retired when it began: an image or an
 * array that is no longer the way, a target whose module is about to go. It
 *
 *   1 waits for what runs with preemption off, which is an interrupt here;
 *   2 lists the living tasks, those included that exit and are on no other list;
 *   3 scans tasks of its list, each holding still for it, and strikes those that
 *     are clean, until none is left.
 *
 * A scan here takes one task at a time, in any order and with anything in between.
 * A scan of several is a few of these with nothing in between. A task is clean if
 * its unwind shows no address in a retired range, and its registers hold none while
 * it is at a place of dispatch. Where the unwind is not known to be complete, no word
 * on its stack may be such an address either; words.pml has more of that. For an
 * array the range is the iterator, although that is not going to be freed.
 *
 * Tasks RCU is no part of it. What it is worth by itself, the rows with WAIT_RCU tell.
 * There is one exception: a task that exits, and
 * finds no room in the list of those, is on none any more in the end. With LOST each
 * task is such a one. Then a grace period of Tasks RCU that begins after the change is
 * waited for without limit.
 *
 * What the target was given is not freed here: that is the matter of contracts, since a
 * function that the target has tail-called may use it when the target has long left the
 * stack.
 */
#define BIT(i)	(1 << (i))

#ifndef TASKS
#define TASKS	1
#endif
#ifdef NO_IRQ
#define EXECS	TASKS
#else
#define EXECS	(TASKS + 1)
#endif
#define IRQ	TASKS		/* what executes: tasks, then one interrupt */

/* The ways. 1 and 2 are the pointers to targets 1 and 2. */
#define NONE	0
#define SINGLE	3
#define CHAIN	4
#define ARRAY	5		/* and 6 */
#define WAYS	7
#define POINTERS (BIT(1) | BIT(2))
#define IMAGES	(BIT(SINGLE) | BIT(CHAIN))
#define ARRAYS	(BIT(ARRAY) | BIT(ARRAY + 1))
#ifndef KINDS
#define KINDS	(POINTERS | IMAGES | ARRAYS)
#endif
#define FREE	0

/* Their names for what is printed, from 6 down to 1. */
mtype = { array_2, array_1, chain_image, single_image, pointer_2, pointer_1 };

/* Where a task is. */
#define OUT	0
#define AT	1		/* has a pointer to the target or the array, or is in the image */
#define ITER	2		/* in the iterator, before it reads where the array is */
#define CALLS	3		/* in the iterator, with a pointer to the target */
#define IN	4		/* in the target, at its first instruction or a later one */
#define TAIL	5		/* in what the target has tail-called */
#define BACK	6		/* has returned to the chain or the iterator */
#define GONE	7		/* dead, its stack freed */

/* What it does there. */
#define AWAKE	0		/* runs, or is preempted */
#define ASLEEP	1		/* of its own accord */
#define BLOCKED	2		/* wants a lock that another task holds, on RT */

/* What comes of the attempt to read its stack. */
#define WHOLE	0
#define ERROR	1		/* the unwinder gives up, and says so */
#define SHORT	2		/* the unwinder ends early, and does not say so */
#define HIDDEN	3		/* a kretprobe has replaced the return addresses */

bool freed_code_executed;
bool freed_image_executed;
bool freed_array_read;
bool witness;
#define FAIL(p)	p = true; assert(!p)

typedef Task {
	byte at;
	byte way;		/* the way that it has come and can be seen by */
	byte target;
	byte does;
	bool rested;		/* has slept or blocked where it is */
	bool unlisted		/* it exits: on no list of the kernel's */
#ifdef LOST
	;
	bool lost		/* it exits, and found no room in ours */
#endif
};
Task task[EXECS];

byte leads[WAYS];		/* way -> target */
byte way = NONE;		/* what the site holds */
byte array = NONE;		/* what the iterator will read */
byte loaded;			/* targets whose module is there, as a set */
byte retired;			/* ways and targets, as a set: 1 and 2 are targets */
byte waiting;			/* those of them that the present quiesce is for */
byte hold;			/* tasks not yet seen clean, as a set */
bool irq_awaited;
bool round;			/* flips with every completed quiesce */
byte wanted = EXECS;		/* the one that a scan will find outside */

#define code_lives(t)	(loaded & BIT(t))
#define texts(t)	BIT(t)
#define living(i)	(task[i].at != GONE)

#ifdef LOST
bool lost;			/* Tasks RCU has not yet waited for all that found no room, */
bool lost_since;		/* nor has it begun to for the last ones */
bool rcu_awaited;
bool listed = true;
#define may_exit(i)	task[i].lost
#else
#define may_exit(i)	true
#endif

#if defined(WAIT_RCU) || defined(SEE_ASLEEP) || defined(LOST)
#define RCU
/* Those who could run when Tasks RCU began and have not yet slept or blocked. */
byte rcu_hold;
#define rcu_quiet(i)	rcu_hold = rcu_hold & (255 - BIT(i))
#ifdef BUSY			/* one that never comes by here, and never sleeps */
#define RCU_OTHERS	BIT(7)
#else
#define RCU_OTHERS	0
#endif
#else
#define rcu_quiet(i)	skip
#endif
/* A task that exits may sleep until it is taken off the list of tasks. */
#if defined(LOST_SLEEPS)
#define may_sleep(i)	!task[i].unlisted
#elif defined(LOST)
#define may_sleep(i)	!task[i].lost
#else
#define may_sleep(i)	true
#endif

#define me	task[id]

inline executes_target()
{
	if
	:: !code_lives(me.target) ->
		printf("MSC: exec%d executes target %d\n", id, me.target);
		FAIL(freed_code_executed)
	:: else
	fi
}

/* It executes the image that it is in, or reads the array. */
inline uses_way()
{
	if
	:: leads[me.way] == FREE && me.way < ARRAY ->
		printf("MSC: exec%d is still in %e\n", id, me.way);
		FAIL(freed_image_executed)
	:: leads[me.way] == FREE && me.way >= ARRAY ->
		printf("MSC: exec%d still reads %e\n", id, me.way);
		FAIL(freed_array_read)
	:: else
	fi
}

inline leave()
{
	printf("MSC: exec%d leaves\n", id);
	me.way = NONE;
	me.target = 0;
	me.at = OUT;
	irq_awaited = irq_awaited && id != IRQ
}

/* Back from the target, or from what it tail-called, to its caller. */
inline returns()
{
	me.rested = false;
	if
#if KINDS & (POINTERS | IMAGES)
	:: me.way == NONE -> leave()
#endif
#if KINDS & (IMAGES | ARRAYS)
	:: else ->
		printf("MSC: exec%d returns to %e\n", id, me.way);
		me.target = 0;
		me.at = BACK
#endif
	fi
}

/*
 * One that executes the site: a task, or an interrupt on top of whatever runs.
 * Between any two steps it may be preempted. All interleave freely, which
 * covers every way to place them on CPUs.
 */
proctype executor(byte id)
{
end:	do
	:: atomic {
		me.at == OUT && way != NONE && wanted != id ->
		if
#if KINDS & ARRAYS
		:: way >= ARRAY ->
			me.at = ITER;
			printf("MSC: exec%d enters the iterator\n", id)
#endif
#if KINDS & (POINTERS | IMAGES)
		:: way < ARRAY ->
			me.way = way;
			me.at = AT;
			printf("MSC: exec%d goes by %e\n", id, way)
#endif
		fi
	   }
#if KINDS & POINTERS
	:: atomic {
		me.at == AT && me.way < SINGLE ->
		me.target = me.way;
		me.way = NONE;
		me.at = IN;
		printf("MSC: exec%d comes to target %d\n", id, me.target)
	   }
#endif
#if KINDS & IMAGES
	:: atomic {
		me.at == AT && (me.way == SINGLE || me.way == CHAIN) ->
		uses_way();
		me.target = leads[me.way];
		if
		:: me.way == SINGLE -> me.way = NONE
		:: else
		fi;
		me.at = IN;
		printf("MSC: exec%d comes to target %d\n", id, me.target)
	   }
#endif
#if KINDS & ARRAYS
	:: atomic {
		me.at == ITER ->
		if
		:: array == NONE ->
			printf("MSC: exec%d finds no array that is still there\n", id);
			FAIL(freed_array_read)
		:: else
		fi;
		me.way = array;
		me.at = AT;
		printf("MSC: exec%d reads that the array is %e\n", id, array)
	   }
	:: atomic {
		me.at == AT && me.way >= ARRAY ->
		uses_way();
		me.target = leads[me.way];
		me.at = CALLS;
		printf("MSC: exec%d reads target %d from %e\n", id, me.target, me.way)
	   }
	:: atomic {
		me.at == CALLS ->
		me.at = IN;
		printf("MSC: exec%d comes to target %d\n", id, me.target)
	   }
#endif
	:: atomic {
		me.at == IN && me.does == AWAKE ->
		executes_target();
		if
		:: returns()
		:: id != IRQ ->
			printf("MSC: exec%d is tail-called away\n", id);
			me.rested = false;
			me.at = TAIL
#ifndef NO_SLEEP
		:: id != IRQ && !me.rested ->
			printf("MSC: exec%d sleeps in target %d\n", id, me.target);
			me.does = ASLEEP;
			me.rested = true;
			rcu_quiet(id)
#endif
#ifndef NO_RT
		:: id != IRQ && !me.rested ->
			printf("MSC: exec%d waits for a lock in target %d\n", id, me.target);
			me.does = BLOCKED;
			me.rested = true;
			rcu_quiet(id)
#endif
		fi
	   }
	:: atomic {
		me.at == TAIL && me.does == AWAKE ->
		if
		:: returns()
#ifndef NO_RT
		:: id != IRQ && !me.rested ->
			printf("MSC: exec%d waits for a lock in the function that was tail-called\n", id);
			me.does = BLOCKED;
			me.rested = true;
			rcu_quiet(id)
#endif
		fi
	   }
#if !defined(NO_SLEEP) || !defined(NO_RT)
	:: atomic {
		me.does != AWAKE ->
		printf("MSC: exec%d goes on\n", id);
		me.does = AWAKE
	   }
#endif
#if KINDS & (IMAGES | ARRAYS)
	:: atomic {
		me.at == BACK ->
		uses_way();
		leave()
	   }
#endif
#ifdef RCU
	:: atomic {
		/* It may, but need not. */
		me.at == OUT && rcu_hold & BIT(id) && may_sleep(id) ->
		printf("MSC: exec%d sleeps outside\n", id);
		rcu_quiet(id)
	   }
#endif
#ifdef LOST
	:: atomic {
		/* In a place of its exit where it is in no target. */
		id != IRQ && me.at == OUT && !me.lost ->
		printf("MSC: exec%d exits, and finds no room in the list of those\n", id);
		me.lost = true;
		lost = true;
		lost_since = true
	   }
#endif
#ifndef NO_EXIT
	:: atomic {
		/* Reaped by itself or by its parent, whatever it still runs. */
		id != IRQ && !me.unlisted && me.at != GONE && may_exit(id) ->
		printf("MSC: exec%d is taken off the list of tasks\n", id);
		me.unlisted = true
#if defined(EXITING_FORGOTTEN)	/* variant: and with it off ours */
		;
		hold = hold & (255 - BIT(id))
#elif defined(BY_PLACE)
		;
		hold = hold | BIT(id)
#endif
	   }
	:: atomic {
		me.unlisted && me.at == OUT ->
		printf("MSC: exec%d is dead\n", id);
		me.unlisted = false;
#ifdef LOST
		me.lost = false;
#endif
		me.at = GONE;
		hold = hold & (255 - BIT(id));
		rcu_quiet(id)
	   }
	:: atomic {
		me.at == GONE ->
		printf("MSC: exec%d is a new task\n", id);
		me.at = OUT
	   }
#endif
	od
}

/*
 * What a scan can find of task i. The address that an interrupted CPU was at
 * counts as part of the stack.
 */
#define shows_target(i)	(task[i].at == IN && (waiting & texts(task[i].target)))
#if defined(NO_IMAGE_RANGES) || defined(MODULE_RANGES_ONLY)
#define shows_image(i)	false
#else
#define shows_image(i)	((waiting & IMAGES) & BIT(task[i].way))
#endif
#if defined(NO_ITERATOR_RANGE) || defined(MODULE_RANGES_ONLY)
#define shows_iterator(i) false
#else
#define shows_iterator(i) ((task[i].at == ITER || task[i].way >= ARRAY) && (waiting & ARRAYS))
#endif
#ifdef NO_REGISTERS
#define holds_target(i)	false
#else
#define holds_target(i)	(task[i].at == AT && task[i].way < SINGLE && (waiting & texts(task[i].way)) || \
			 task[i].at == CALLS && (waiting & texts(task[i].target)))
#endif

#define clean(i)	(!(shows_target(i) || shows_image(i) || shows_iterator(i) || \
			   holds_target(i)))

/* It takes no unwinder to see this one. */
#define at_ip(i)	(task[i].at == AT || task[i].at == ITER)

/* The tasks that have to be scanned: those that live. */
inline list_tasks()
{
	hold = 0;
	k = 0;
	do
	:: k < TASKS ->
		if
#if defined(EXITING_FORGOTTEN) || defined(LOST)
		:: living(k) && !task[k].unlisted -> hold = hold | BIT(k)
#else
		:: living(k) -> hold = hold | BIT(k)
#endif
		:: else
		fi;
		k++
	:: else -> k = 0; break
	od
}

/* What is in the set is freed: ways, and targets' modules. */
inline free(set)
{
	j = SINGLE;
	do
	:: j < WAYS ->
		if
		:: (set) & BIT(j) ->
			leads[j] = FREE;
			printf("MSC: %e is freed\n", j)
		:: else
		fi;
		j++
	:: else -> j = 0; break
	od;
	if
	:: (set) & BIT(1) -> printf("MSC: target 1 is freed\n")
	:: else
	fi;
	if
	:: (set) & BIT(2) -> printf("MSC: target 2 is freed\n")
	:: else
	fi;
	if
	:: leads[array] == FREE -> array = NONE
	:: else
	fi;
	loaded = loaded & (255 - (set))
}

/* A target comes from a module that is there as long as it is one. */
#define may_be(t)	(leads[way] == t || !(loaded & BIT(t)))

/* The site leads the new way now, and what that replaces is retired. */
inline publish()
{
	replaced = BIT(way) & (IMAGES | ARRAYS);
	if
	:: leads[way] != leads[new] -> replaced = replaced | BIT(leads[way]) & POINTERS
	:: else
	fi;
	if
	:: new == NONE -> printf("MSC: writer: the site leads nowhere\n")
	:: else -> printf("MSC: writer: the site leads to target %d by %e\n", leads[new], new)
	fi;
#if defined(NO_RECORD)		/* variant: no key has another value, nothing to wait for */
	if
	:: way >= ARRAY && new >= ARRAY && !retired && !waiting ->
		k = replaced & POINTERS;
		free(k);
		replaced = replaced & ARRAYS
	:: else
	fi;
#elif defined(SCAN_FIRST)
	free(replaced);
	replaced = 0;
#endif
	way = new;
	retired = retired | replaced;
	new = 0;
	replaced = 0
}

#ifdef WAIT_RCU
#define rcu_ended()	!rcu_hold
#else
#define rcu_ended()	true
#endif
#ifdef BY_PLACE
#define all_placed()	(place > TASKS)
#else
#define all_placed()	true
#endif

#ifdef LOST
#define all_listed()	listed
#else
#define all_listed()	true
#endif

proctype writer()
{
	byte new;		/* way */
	byte to;		/* its target */
	byte replaced;		/* what that replaces, as a set */
	byte had;		/* the array before */
	byte j;
	byte k;
	byte view;
#ifdef CLEAN_KEPT
	bool listed;
#endif
#ifdef BY_PLACE
	byte place;
	byte n;
#endif

end:
next:	do
	:: atomic {
		/* Another way, or another target, or both. */
#if defined(SCAN_FIRST) || defined(LISTED_EARLY)
		!retired && !waiting ->
#endif
		if
		:: way != NONE -> new = NONE
#if KINDS & POINTERS
		:: way != 1 && may_be(1) -> new = 1; to = 1
		:: way != 2 && may_be(2) -> new = 2; to = 2
#endif
#if KINDS & IMAGES
		:: leads[SINGLE] == FREE && may_be(1) -> new = SINGLE; to = 1
		:: leads[SINGLE] == FREE && may_be(2) -> new = SINGLE; to = 2
		:: leads[CHAIN] == FREE && may_be(1) -> new = CHAIN; to = 1
		:: leads[CHAIN] == FREE && may_be(2) -> new = CHAIN; to = 2
#endif
#if KINDS & ARRAYS
		:: leads[ARRAY] == FREE && may_be(1) -> new = ARRAY; to = 1
		:: leads[ARRAY] == FREE && may_be(2) -> new = ARRAY; to = 2
		:: leads[ARRAY + 1] == FREE && may_be(1) -> new = ARRAY + 1; to = 1
		:: leads[ARRAY + 1] == FREE && may_be(2) -> new = ARRAY + 1; to = 2
#endif
		fi;
#ifdef LISTED_EARLY		/* variant: the list is made before the change */
		d_step { list_tasks() };
		printf("MSC: writer lists the tasks\n")
	   };
	   atomic {
#endif
#ifdef SCAN_FIRST		/* variant: so is the scan */
		waiting = (BIT(way) | BIT(leads[way])) & (255 - BIT(NONE))
	   };
	   atomic {
		clean(0) ->
		printf("MSC: exec0 is seen clean\n");
		waiting = 0
	   };
	   atomic {
#endif
		loaded = loaded | BIT(to) & POINTERS;
		if
		:: new >= SINGLE -> leads[new] = to
		:: else
		fi;
		to = 0;
#if KINDS & ARRAYS
		if
		:: new >= ARRAY -> goto publish_array
		:: else
		fi;
#endif
		d_step { publish() };
		goto next
	   };
#if KINDS & ARRAYS
publish_array:
#ifdef ARRAY_LATE		/* variant: the site leads to the iterator before */
	   atomic { k = new; publish(); new = k; k = 0 };
	   d_step { array = new; new = 0 }
#else
	   atomic {
		had = array;
		array = new;
		printf("MSC: writer: the iterator's array is %e, with target %d\n", new, leads[new])
	   };
#ifdef FAILS
	   if
	   :: skip
	   :: atomic {
		/* Not from iterator to iterator: there is nothing to patch. */
		way < ARRAY ->
		d_step {
			printf("MSC: commit fails\n");
			array = had;
			had = NONE;
			replaced = BIT(new);
			if
			:: leads[way] != leads[new] -> replaced = replaced | BIT(leads[new])
			:: else
			fi;
			new = 0;
#ifdef FAILED_FREED		/* variant: no task was sent there */
			free(replaced);
#else
			/* But a task in the iterator may have seen it. */
			retired = retired | replaced;
#endif
			replaced = 0
		};
		goto next
	      }
	   fi;
#endif
	   d_step { had = NONE; publish() }
#endif
#endif

	:: d_step {
		/* Quiesce. */
		!waiting && retired ->
		waiting = retired;
		retired = 0;
		printf("MSC: quiesce starts\n");
#ifdef CLEAN_KEPT		/* variant: a task that was clean once is never scanned again */
		if
		:: !listed -> listed = true; list_tasks()
		:: else
		fi;
#elif defined(BY_PLACE)		/* variant: of those that exit, and then by scans */
		place = 0;
#elif !defined(LISTED_EARLY) && !defined(NO_SCAN) && !defined(LOST)
		list_tasks();
#endif
#ifdef LOST
		listed = false;
#ifndef LOST_FORGOTTEN		/* variant: a task that found no room is forgotten */
		rcu_awaited = lost;
#endif
		lost_since = false;
#endif
#ifdef RCU
		rcu_hold = RCU_OTHERS;
		k = 0;
		do
		:: k < TASKS ->
			if
			:: living(k) && task[k].does == AWAKE -> rcu_hold = rcu_hold | BIT(k)
			:: else
			fi;
			k++
		:: else -> k = 0; break
		od;
#endif
#if !defined(NO_IRQ) && !defined(NO_GP)
		irq_awaited = task[IRQ].at != OUT;
#endif
#ifdef LIVE
		wanted = 0;
#endif
		skip
	   }

#ifdef LOST
	:: d_step {
		/* The grace period is over, if one is needed. */
		waiting && !listed && !(rcu_awaited && rcu_hold) ->
		if
		:: rcu_awaited -> lost = lost_since
		:: else
		fi;
		rcu_awaited = false;
		listed = true;
		printf("MSC: writer lists the tasks\n");
		list_tasks();
		skip
	   }
#endif

#ifdef LIVE
	/*
	 * Chance is fair: of tasks that come and go, each is found outside by a
	 * scan now and then. Where the others are then is up to them: perhaps no
	 * scan ever finds two of them outside.
	 */
	:: d_step {
		waiting && hold && (task[wanted].at == OUT || task[wanted].at == GONE) ->
		k = 0;
		do
		:: k < TASKS ->
			if
			:: clean(k) -> hold = hold & (255 - BIT(k))
			:: else
			fi;
			k++
		:: else -> k = 0; break
		od;
		printf("MSC: a scan finds exec%d outside, %d is left to be seen clean\n", wanted, hold);
		wanted = (wanted + 1) % TASKS
#ifdef NO_LIST			/* variant: all must be clean in the same scan */
		;
		if
		:: hold -> list_tasks()
		:: else
		fi
#endif
	   }
#elif defined(BY_PLACE)
	:: d_step {
		/*
		 * Variant: a scan goes on at the place in the kernel's list
		 * where the last one has stopped, and lists tasks that are not clean.
		 */
		waiting && place <= TASKS ->
		k = 0;
		n = 0;
		do
		:: k < TASKS && living(k) && !task[k].unlisted && n < place -> n++; k++
		:: k < TASKS && !(living(k) && !task[k].unlisted) -> k++
		:: else -> break
		od;
		if
		:: k < TASKS && !clean(k) -> hold = hold | BIT(k); place++
		:: k < TASKS && clean(k) ->
			printf("MSC: exec%d, at place %d, is seen clean\n", k, place);
			place++
		:: else ->
			printf("MSC: no task is at place %d\n", place);
			place = TASKS + 1
		fi;
		k = 0;
		n = 0
	   }
#elif !defined(NO_SCAN)
	:: atomic {
		/* A scan. */
		waiting && hold ->
		if
		:: hold & BIT(0) -> k = 0
#if TASKS > 1
		:: hold & BIT(1) -> k = 1
#endif
		fi;
#ifdef SEE_ASLEEP
		if
		:: task[k].at == IN && task[k].does == ASLEEP && shows_target(k) && !rcu_hold -> FAIL(witness)
		:: else
		fi;
#endif
		if
		:: view = WHOLE
		:: view = ERROR
		:: view = SHORT
		:: view = HIDDEN
		fi;
		if
		:: view == WHOLE && clean(k) ->
			hold = hold & (255 - BIT(k));
			printf("MSC: exec%d is seen clean\n", k)
		:: view == HIDDEN && clean(k) ->
			/* The unwinder knows what has been replaced. */
			hold = hold & (255 - BIT(k))
		:: (view == ERROR || view == SHORT) && clean(k) ->
			/* No word on its stack says otherwise. */
			hold = hold & (255 - BIT(k))
#ifdef ERROR_IS_CLEAN
		:: view == ERROR ->
			hold = hold & (255 - BIT(k));
			printf("MSC: the unwinder gives up on exec%d, which is taken for clean\n", k)
#endif
#ifdef SHORT_IS_CLEAN
		:: view == SHORT && !at_ip(k) ->
			hold = hold & (255 - BIT(k));
			printf("MSC: the unwinder ends early with exec%d, which is taken for clean\n", k)
#endif
#ifdef SCAN_ONLY
		:: view == HIDDEN && !clean(k) && !at_ip(k) ->
			hold = hold & (255 - BIT(k));
			printf("MSC: a kretprobe hides where exec%d is, it is taken for clean\n", k)
#endif
		:: else
		fi;
		k = 0;
		view = 0
	   }
#endif

	:: d_step {
		waiting && all_listed() && !hold && !irq_awaited && all_placed() && rcu_ended() ->
		printf("MSC: quiesce is done\n");
#ifdef SEE_BACK
		if
		:: task[0].at == CALLS && (waiting & ARRAYS) -> FAIL(witness)
		:: else
		fi;
#endif
#ifdef MODULE_RANGES_ONLY	/* variant: for the modules; the rest takes its time */
		retired = retired | waiting & (IMAGES | ARRAYS);
		waiting = waiting & POINTERS;
#endif
#ifdef FREES_LATER		/* variant: what has been retired since goes too */
		waiting = waiting | retired;
		retired = 0;
#endif
		free(waiting);
		waiting = 0;
		round = !round;
#ifdef LIVE
		wanted = EXECS;
#endif
		skip
	   }
	od
}

init {
	byte k;

	atomic {
		leads[1] = 1;
		leads[2] = 2;
		do
		:: k < EXECS -> run executor(k); k++
		:: else -> k = 0; break
		od;
		run writer()
	}
}

#ifdef LIVE
/* Each quiesce ends. */
ltl quiesce_ends { []<>round && []<>!round }
#endif
