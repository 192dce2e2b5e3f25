/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A batch is all or nothing, even if another party writes text.
 *
 * A foreign writer (a kprobe, a debugger) puts a breakpoint of its own on the
 * first byte of any site and takes it away again, at any time and without our
 * mutex; and one site may hold another tail than we believe from the start.
 * The batch must then fail with every byte as it was, and no CPU may have
 * executed what it would have brought.
 *
 *   1 check all bytes of all sites	differs: -EILSEQ, nothing was written
 *   2 first bytes: cmpxchg old, INT3	differs: put back those planted, broadcast, -EBUSY
 *   3 ... as in poke.pml
 *
 * In common/x86/protocol.h these are jf_proto_verify(), jf_proto_plant() with
 * jf_proto_undo(), and the rest of jf_proto_live().
 *
 * The foreign writer reads before it writes and leaves an INT3 alone: README.md
 * says what that assumption covers and what not.
 */
#ifndef PUBLISH
#define PUBLISH	2
#endif

bool mutex;

#include "text.pml"

byte armed = NO_SITE;		/* the site with a foreign breakpoint */
byte replaced;			/* the first byte that stood there */
byte odd = NO_SITE;		/* the site with a foreign tail */

proctype foreigner()
{
	byte s;
	byte k;

end:	do
	:: atomic {
		armed == NO_SITE ->
		s = 0;
		do
		:: s < SITES - 1 -> s++
		:: break
		od;
		if
		:: mem[s].b0 < INT3 ->
			replaced = mem[s].b0;
			armed = s;
			set_b0(s, ALIEN);
			printf("MSC: foreign breakpoint at site %d\n", s)
		:: else
		fi;
		s = 0
	   }
	:: atomic {
		armed != NO_SITE ->
		if
		:: mem[armed].b0 != ALIEN -> FAIL(foreign_byte_overwritten)
		:: else
		fi;
		set_b0(armed, replaced);
		printf("MSC: foreign breakpoint at site %d goes\n", armed);
		armed = NO_SITE;
		replaced = 0
	   }
	od
}

/* What the writer finds at a site is what it believes to stand there. */
#define as_believed(s)	(mem[s].b0 == cur && mem[s].tail == cur)

/* Nothing of a site changed, except by the foreigner's hand. */
#define b0_is(s, i)	(mem[s].b0 == i || (armed == s && replaced == i))
#define tail_is(s, i)	(mem[s].tail == i || (odd == s && mem[s].tail == ALIEN))
#define untouched(s)	(b0_is(s, cur) && tail_is(s, cur) && mem[s].word == cur)
#define complete(s)	(b0_is(s, fresh) && mem[s].tail == fresh && mem[s].word == fresh)

inline set_words(from, to, i)
{
	s = from;
	do
	:: s < to ->
		d_step {
			mem[s].word = i;
			printf("MSC: writer lets the handler emulate %d at site %d\n", i, s);
			s++
		}
	:: else -> break
	od
}
#define tell_handler(from, to)	set_words(from, to, fresh)

/* All after the first step of the protocol, for sites from..to-1: cannot fail. */
inline finish(from, to)
{
#if PUBLISH == 1
	tell_handler(from, to);
#endif
	broadcast();
#if PUBLISH == 2
	tell_handler(from, to);
#endif
	s = from;
	do
	:: s < to ->
		atomic {
			if
			:: mem[s].tail != cur -> FAIL(foreign_byte_overwritten)
			:: else
			fi;
			d_step {
				set_tail(s, fresh);
				printf("MSC: writer writes the tail of %d at site %d\n", fresh, s);
				s++
			}
		}
	:: else -> break
	od;
	broadcast();
	s = from;
	do
	:: s < to ->
		d_step {
			set_b0(s, fresh);
			printf("MSC: writer writes the first byte of %d at site %d\n", fresh, s);
			s++
		}
	:: else -> s = 0; break
	od;
	broadcast()
}

proctype writer()
{
	byte s;
	byte k;
	byte broadcasts;
	bool failed;
#ifdef ONE_BY_ONE
	byte n;
#endif

	/* Two batches back to back, 0 -> 1 -> 2, then the handler may forget. */
	do
	:: cur < 2 ->
		atomic {
			mutex = true;
			fresh = cur + 1;
			broadcasts = 0;
			advanced = 0;
			failed = false;
			printf("MSC: writer starts: %d -> %d\n", cur, fresh)
#ifdef MAY_RUN_FAILED
			;
			allowed = BIT(cur) | BIT(fresh)
#endif
		}

#ifdef ONE_BY_ONE		/* variant: each site is checked and poked by itself */
		n = 0;
		do
		:: n < SITES && !failed ->
			if
			:: atomic { !as_believed(n) -> failed = true }
			:: atomic { as_believed(n) ->
				set_b0(n, INT3);
				allowed = BIT(cur) | BIT(fresh);
				printf("MSC: writer plants INT3 at site %d\n", n)
			   };
			   finish(n, n + 1);
			   n++
			fi
		:: else -> break
		od;
		goto returns;
#endif

		/* 1: check everything before the first byte is written. */
#ifndef NO_CHECK
		do
		:: s < SITES && !failed ->
			atomic {
				if
				:: !as_believed(s) -> failed = true
				:: else
				fi;
				s++
			}
		:: else -> s = 0; break
		od;
		if
		:: failed -> goto returns
		:: else
		fi;
#endif

#if PUBLISH == 0
		set_words(0, SITES, fresh);
		s = 0;
#endif

		/* 2: plant, and look again while doing so. */
		do
		:: s < SITES ->
			atomic {
				if
#ifdef NO_CMPXCHG		/* variant: a plain store */
				:: false
				:: true ->
#else
				:: mem[s].b0 != cur -> break
				:: mem[s].b0 == cur ->
#endif
					set_b0(s, INT3);
					printf("MSC: writer plants INT3 at site %d\n", s);
					s++
				fi
			}
		:: else -> break
		od;

		if
		:: s < SITES ->
			failed = true;
			printf("MSC: writer finds a foreign byte at site %d\n", s);
#ifdef SEE_ROLLBACK
			if
			:: atomic { s == SITES - 1 -> FAIL(witness) }
			:: else
			fi;
#endif
#ifdef ROLLBACK_ONE		/* variant: only the last INT3 is put back */
			if
			:: s > 1 -> s = s - 1
			:: else
			fi;
			if
			:: s > 0 -> d_step { s--; set_b0(s, cur); s = 0 }
			:: else
			fi;
#endif
#ifndef NO_ROLLBACK
			do
			:: s > 0 ->
				d_step {
					s--;
					set_b0(s, cur);
					printf("MSC: writer puts the first byte of %d back at site %d\n", cur, s)
				}
			:: else -> break
			od;
#endif
			s = 0;
#if PUBLISH == 0 && !defined(WORDS_KEPT)
			set_words(0, SITES, cur);
			s = 0;
#endif
#ifndef ROLLBACK_NO_SYNC
			broadcast();
#endif
			skip
		:: else ->
			s = 0;
			/*
			 * From here on the batch succeeds. Before, no CPU may
			 * execute what it brings.
			 */
			allowed = BIT(cur) | BIT(fresh);
#ifdef LAST_SITE_LEFT		/* variant: one short */
			finish(0, SITES - 1)
#else
			finish(0, SITES)
#endif
		fi;

returns:
		atomic {
			s = 0;
			if
			:: failed ->
				printf("MSC: commit fails\n");
				do
				:: s < SITES ->
					if
					:: !untouched(s) -> FAIL(failed_batch_changed_text)
					:: else
					fi;
					s++
				:: else -> s = 0; break
				od;
				allowed = BIT(cur)
			:: else ->
				printf("MSC: commit returns\n");
				do
				:: s < SITES ->
					if
					:: !complete(s) -> FAIL(good_batch_is_incomplete)
					:: else
					fi;
					s++
				:: else -> s = 0; break
				od;
				if
				:: broadcasts != 3 -> FAIL(wrong_number_of_broadcasts)
				:: else
				fi;
				cur = fresh;
				allowed = BIT(cur)
			fi;
			fresh = cur;
			broadcasts = 0;
			failed = false;
			mutex = false
		}
	:: atomic {
		/* No CPU is left in the handler: its entries may be dropped. */
		printf("MSC: the handler forgets the sites\n");
		k = 0;
		do
		:: k < SITES -> mem[k].word = NO_SITE; k++
		:: else -> k = 0; break
		od;
		break
	   }
	od
}

init {
	byte k;

	atomic {
		power_on();
		/* One site may hold a tail that the engine does not know of. */
		if
		:: skip
		:: odd = 0
#if SITES > 1
		:: odd = 1
#endif
#if SITES > 2
		:: odd = 2
#endif
		fi;
		if
		:: odd != NO_SITE ->
			mem[odd].tail = ALIEN;
			cpu[0].tail[odd] = BIT(ALIEN)
#if CPUS > 1
			;
			cpu[1].tail[odd] = BIT(ALIEN)
#endif
		:: else
		fi;
		run foreigner();
		run writer()
	}
}

#ifdef LIVE
/* Every commit ends, one way or the other. */
ltl commit_ends { []<>!mutex }
#endif
