/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The INT3 protocol: any number of batches, one after the other, each taking
 * every site from instruction cur to instruction fresh, while CPUs execute the
 * sites in ordinary code, interrupts and NMIs.
 *
 * The writer's steps are those of jf_proto_live() in common/x86/protocol.h.
 *
 *   writer				a CPU that executes a site
 *   1 first bytes := INT3 (plant)	old, or INT3 -> handler runs old
 *     broadcast (SYNC1)		... from here on always INT3
 *     words := fresh (publish)		INT3 -> handler runs old or fresh
 *   2 tails := fresh (tails)		INT3 -> fresh
 *     broadcast (SYNC2)		... and no CPU holds an old tail
 *   3 first bytes := fresh (heads)	INT3 -> fresh, or fresh
 *     broadcast (SYNC3)		... from here on always fresh
 *
 * "word" is site->insn, what the handler emulates. Where it is stored is a
 * question of its own; PUBLISH picks the place: 0 before step 1, 1 before the
 * first broadcast, 2 after it as above (jf_proto_live()), 3 after step 3, 4
 * after the last broadcast. README.md says what each is good for.
 */
#ifndef PUBLISH
#define PUBLISH	2
#endif
#ifndef WRITERS
#define WRITERS	1
#endif

bool mutex;

#include "text.pml"

byte finished;			/* how many batches have returned, modulo 2 */

inline lock()
{
#ifdef NO_MUTEX
	skip
#else
	atomic { !mutex -> mutex = true }
#endif
}

inline publish()
{
	s = 0;
	do
	:: s < SITES ->
		d_step {
			mem[s].word = fresh;
			printf("MSC: writer lets the handler emulate %d at site %d\n", fresh, s);
			s++
		}
	:: else -> s = 0; break
	od
}

proctype writer()
{
	byte s;
	byte k;
	byte broadcasts;

end:	do
	:: lock();
	atomic {
		/* Any other instruction. */
		if
		:: cur != 0 -> fresh = 0
		:: cur != 1 -> fresh = 1
#ifdef THREE
		:: cur != 2 -> fresh = 2
#endif
		fi;
		printf("MSC: writer starts: %d -> %d\n", cur, fresh);
		broadcasts = 0;
		advanced = 0;
		allowed = BIT(cur) | BIT(fresh)
	}

#if PUBLISH == 0
	publish();
#endif

	do
	:: s < SITES ->
		d_step {
#if defined(NO_INT3)
			skip;
#elif defined(INT3_ONE_SITE)
			if
			:: s == 0 -> set_b0(s, INT3)
			:: else
			fi;
#else
			set_b0(s, INT3);
			printf("MSC: writer plants INT3 at site %d\n", s);
#endif
			s++
		}
#ifdef SYNC_PER_SITE		/* variant: right, but not three broadcasts */
		;
		broadcast()
#endif
	:: else -> s = 0; break
	od;

#if PUBLISH == 1
	publish();
#endif

#ifndef NO_SYNC1
	broadcast();
#endif

#if PUBLISH == 2
	publish();
#endif

	do
	:: s < SITES ->
		d_step {
			set_tail(s, fresh);
			printf("MSC: writer writes the tail of %d at site %d\n", fresh, s);
			s++
		}
	:: else -> s = 0; break
	od;

#ifndef NO_SYNC2
	broadcast();
#endif

	/* Before the first new byte can run, the last old one has. */
	allowed = BIT(fresh);

	do
	:: s < SITES ->
		d_step {
			set_b0(s, fresh);
			printf("MSC: writer writes the first byte of %d at site %d\n", fresh, s);
			s++
		}
	:: else -> s = 0; break
	od;

#if PUBLISH == 3		/* variant: too late, fresh runs already */
	publish();
#endif

#ifndef NO_SYNC3
	broadcast();
#endif

#if PUBLISH == 4		/* variant: later still */
	publish();
#endif

	atomic {
		printf("MSC: commit returns\n");
#if !defined(NO_SYNC1) && !defined(NO_SYNC2) && !defined(NO_SYNC3)
		if
		:: broadcasts != 3 -> FAIL(wrong_number_of_broadcasts)
		:: else
		fi;
#endif
		cur = fresh;
		allowed = BIT(cur);
		broadcasts = 0;
		advanced = 0;
		finished = 1 - finished
	}

#ifndef NEVER_FORGET
	/*
	 * Commit has returned: no CPU traps here any more, so the handler may
	 * lose its entries (a module's table is dropped, the notifier is
	 * unregistered), even if the code at the sites still runs.
	 */
	if
	:: skip
	:: atomic {
		printf("MSC: the handler forgets the sites\n");
		k = 0;
		do
		:: k < SITES -> mem[k].word = NO_SITE; k++
		:: else -> k = 0; break
		od
	   }
#ifndef HANDLER_LATE		/* variant: known again only when INT3 stands */
	   ;
	   atomic {
		printf("MSC: the handler knows the sites again\n");
		do
		:: k < SITES -> mem[k].word = cur; k++
		:: else -> k = 0; break
		od
	   }
#endif
	fi;
#endif
	mutex = false
	od
}

init {
	byte k;

	atomic {
		power_on();
		run writer();
#if WRITERS > 1
		run writer()
#endif
	}
}

#ifdef LIVE
/* Batches come back for ever: none hangs. */
ltl commit_returns { []<>(finished == 0) && []<>(finished == 1) }
#endif
