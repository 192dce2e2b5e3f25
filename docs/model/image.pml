/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch images: register, unregister, retarget, quiesce, unload.
 *
 * An image is a chain of (load data, call func). It is built in a slot where
 * nobody executes, published by one flip of the site, never written while
 * somebody can be inside, and its slot is used again after quiesce. Two slots
 * are enough: quiesce ends before the next image is built. To show any early
 * reuse at once, a free slot is poisoned.
 *
 * The flip itself is poke.pml's business. Here it is what poke.pml proves about
 * it: while the commit is under way a CPU may take the old or the new way, after
 * its return the new one only.
 *
 * A registration is a pair: 1 = (P, data 1), 2 = (Q, data 2), 3 = (P, data 3).
 * After unregister and quiesce the data is freed and, when nobody uses P (or Q)
 * any more, the module that holds it is unloaded, at once.
 */
#define BIT(i)	(1 << (i))
#define ALL	14		/* registrations 1, 2 and 3 */
#define FUNC(r)	(((r) == 3) -> 1 : (r))	/* registration -> function */

#ifndef PUBLISH
#define PUBLISH	2		/* as in poke.pml; 0 or 2 */
#endif
#define EXECS	3		/* two tasks and ... */
#define IRQ	2		/* ... an interrupt */
#define LONGEST	2
#define NONE	2		/* the site is a nop: no image */
#define POISON	7

bool func_got_foreign_data;
bool freed_image_executed;
bool unloaded_func_executed;
bool freed_data_used;
bool unserialised_image_executed;
bool witness;
#define FAIL(p)	p = true; assert(!p)

typedef Image {
	byte n;
	byte func[LONGEST];
	byte data[LONGEST]
};
Image slot[2];

byte site = NONE;		/* the image in use */
byte reach = BIT(NONE);		/* where the site may lead a CPU right now */
byte alive;			/* registrations not yet freed, as a set */
bool unserialised[2];		/* written, and no broadcast since */
bool inside[EXECS];
bool awaited[EXECS];		/* quiesce waits for this one to leave */
bool round;			/* flips with every completed update */

#define module_lives(f)	((f) == 1 && (alive & (BIT(1) | BIT(3))) || \
			 (f) == 2 && (alive & BIT(2)))

/*
 * One that executes the site: a task that can be preempted anywhere, on any
 * CPU, or an interrupt on top of whatever runs. All interleave freely, which
 * covers every way to place them on CPUs.
 */
proctype executor(byte id)
{
	byte at;		/* the image */
	byte i;			/* the place in its chain */
	byte data;
	byte func;

outside:
	do
	:: atomic {
		/* The site: a nop, or the jump into an image. */
		if
		:: reach & BIT(0) -> at = 0
		:: reach & BIT(1) -> at = 1
		:: reach & BIT(NONE) -> at = NONE
		fi;
		if
		:: at == NONE -> at = 0
		:: else ->
			printf("MSC: exec%d enters image %d\n", id, at);
#ifndef IRET_SERIALISES	/* no help from the INT3 handler's return */
			if
			:: unserialised[at] ->
				printf("MSC: exec%d may have fetched its bytes before they were written\n", id);
				FAIL(unserialised_image_executed)
			:: else
			fi;
#endif
			inside[id] = true;
			goto chain
		fi
	   }
	od;

chain:	do
	:: atomic {
		slot[at].n == POISON ->
		printf("MSC: exec%d runs on in slot %d\n", id, at);
		FAIL(freed_image_executed)
	   }
	:: atomic {
		i < slot[at].n && slot[at].n != POISON ->
		data = slot[at].data[i];
		printf("MSC: exec%d in image %d loads data %d\n", id, at, data)
	   };
	   atomic {
		if
		:: slot[at].n == POISON ->
			printf("MSC: exec%d runs on in slot %d\n", id, at);
			FAIL(freed_image_executed)
		:: else
		fi;
		func = slot[at].func[i];
		printf("MSC: exec%d in image %d calls func %d with data %d\n", id, at, func, data);
		if
		:: !module_lives(func) -> FAIL(unloaded_func_executed)
		:: else
		fi;
		if
		:: FUNC(data) != func -> FAIL(func_got_foreign_data)
		:: else
		fi
	   };
	   atomic {
		/* In the function, to its last instruction. */
		if
		:: !module_lives(func) ->
			printf("MSC: exec%d is still in func %d\n", id, func);
			FAIL(unloaded_func_executed)
		:: else
		fi;
		if
		:: !(alive & BIT(data)) ->
			printf("MSC: exec%d still uses data %d\n", id, data);
			FAIL(freed_data_used)
		:: else
		fi;
#ifdef SEE_TASK_LEFT_BEHIND
		if
		:: id < IRQ && !(reach & BIT(at)) && inside[IRQ] -> FAIL(witness)
		:: else
		fi;
#endif
		printf("MSC: exec%d returns from func %d\n", id, func);
		func = 0;
		data = 0;
		i++
	   }
	:: atomic {
		i >= slot[at].n && slot[at].n != POISON ->
		printf("MSC: exec%d leaves image %d\n", id, at);
		i = 0;
		at = 0;
		inside[id] = false;
		awaited[id] = false;
		break
	   }
#ifdef QUIESCE_CPUS_ONLY
	/*
	 * Variant: what synchronize_rcu() would do for a preemptible task that
	 * holds no rcu_read_lock(): when its CPU has switched away from it,
	 * nobody waits for it any longer.
	 */
	:: atomic {
		id < IRQ && awaited[id] ->
		printf("MSC: exec%d is preempted, its CPU switches to another task\n", id);
		awaited[id] = false
	   }
#endif
	od;
	goto outside
}

byte next;			/* registrations of the coming image, as a set */
byte target;			/* its slot, or NONE */

inline put(where, r)
{
	slot[where].func[slot[where].n] = FUNC(r);
	slot[where].data[slot[where].n] = r;
	slot[where].n++
}

/* Returns when everybody who is inside now has left at least once. */
inline quiesce()
{
	d_step {
		printf("MSC: quiesce starts\n");
		k = 0;
		do
		:: k < EXECS ->
			awaited[k] = inside[k];
			k++
		:: else -> k = 0; break
		od
#ifdef QUIESCE_TASKS_ONLY	/* variant: forgets interrupts */
		;
		awaited[IRQ] = false;
		printf("MSC: quiesce does not look at interrupts\n")
#endif
	}
	d_step {
		!awaited[0] && !awaited[1] && !awaited[IRQ];
		printf("MSC: quiesce is done\n")
	}
}

inline free_slot(which)
{
	if
	:: which != NONE ->
		d_step {
			slot[which].n = POISON;
			slot[which].func[0] = 0;
			slot[which].func[1] = 0;
			slot[which].data[0] = 0;
			slot[which].data[1] = 0;
			unserialised[which] = false;
			printf("MSC: slot %d is free\n", which)
		}
	:: else
	fi
}

proctype writer()
{
	byte old;
	byte k;
	byte had;

end:	do
	:: atomic {
		/* Any other set of registrations: 0 -> 1 -> 2 -> 1 -> 0 probes, ... */
		old = site;
		had = next;
		if
		:: next != 0 -> next = 0
		:: next != BIT(1) -> next = BIT(1)
		:: next != BIT(2) -> next = BIT(2)
		:: next != BIT(3) -> next = BIT(3)
		:: next != (BIT(1) | BIT(2)) -> next = BIT(1) | BIT(2)
		:: next != (BIT(3) | BIT(2)) -> next = BIT(3) | BIT(2)
		fi;
		alive = alive | next;
		printf("MSC: writer wants registrations 1: %d, 2: %d, 3: %d\n",
			next >> 1 & 1, next >> 2 & 1, next >> 3);
		if
		:: next == 0 -> target = NONE
		:: next != 0 && old == 0 -> target = 1
		:: next != 0 && old != 0 -> target = 0
		fi
	   };

#ifdef UNLOAD_FIRST		/* variant: module goes while still the target */
	   alive = next;
#endif

#ifdef IN_PLACE			/* variant: the live image is changed, func then data */
	   if
	   :: old != NONE && (next == BIT(1) || next == BIT(2)) ->
		target = old;
		slot[old].n = 1;
		slot[old].func[0] = (next == BIT(1) -> 1 : 2);
		slot[old].data[0] = slot[old].func[0];
		goto flipped
	   :: else
	   fi;
#endif

	   /* Build the image where nobody executes. */
	   if
	   :: target != NONE ->
		d_step {
			slot[target].n = 0;
			unserialised[target] = true
		};
		if
		:: next & BIT(1) -> d_step { put(target, 1) }
		:: next & BIT(3) -> d_step { put(target, 3) }
		:: else
		fi;
		if
		:: next & BIT(2) -> d_step { put(target, 2) }
		:: else
		fi
	   :: else
	   fi;

	   /* The commit. */
#if PUBLISH == 0
	   reach = reach | BIT(target);
#endif
	   if
	   :: skip			/* all INT3s planted */
	   :: atomic {			/* a foreign byte: nothing has changed */
		printf("MSC: commit fails\n");
		reach = BIT(old)
	      };
#ifdef QUIESCE_ON_FAILURE
	      quiesce();
#endif
	      free_slot(target);
	      atomic { next = had; alive = next; target = 0; had = 0; old = 0 };
	      goto done
	   fi;

	   /* First broadcast; the others change nothing here. */
	   d_step {
#ifndef NO_BROADCAST
		if
		:: target != NONE -> unserialised[target] = false
		:: else
		fi;
#endif
		skip
	   };
#if PUBLISH == 2
	   reach = reach | BIT(target);
#endif

#ifdef QUIESCE_FIRST		/* variant: the right things in the wrong order */
	   quiesce();
#endif

#ifndef RETURNS_EARLY		/* variant: a CPU still sees the old site */
	   atomic {
		printf("MSC: commit returns\n");
		reach = BIT(target)
	   };
#endif

flipped:
	   site = target;
#ifdef UNLOAD_EARLY		/* variant: module goes before quiesce is done */
	   alive = next;
#endif

#ifdef FREE_DATA_EARLY		/* variant: same func, other data; old data freed at once */
	   if
	   :: (had & BIT(1)) && (next & BIT(3)) -> alive = alive & (ALL - BIT(1))
	   :: (had & BIT(3)) && (next & BIT(1)) -> alive = alive & (ALL - BIT(3))
	   :: else
	   fi;
#endif

#if !defined(NO_QUIESCE) && !defined(QUIESCE_FIRST)
	   quiesce();
#endif
	   if
	   :: old != target -> free_slot(old)
	   :: else
	   fi;
	   atomic {
		printf("MSC: what is not registered is unloaded and freed\n");
		alive = next;
		target = 0;
		old = 0;
		had = 0
	   };
#ifdef RETURNS_EARLY
	   reach = BIT(site);
#endif
done:
	   round = !round
	od
}

init {
	byte k;

	atomic {
		slot[0].n = POISON;
		slot[1].n = POISON;
		do
		:: k < EXECS -> run executor(k); k++
		:: else -> k = 0; break
		od;
		run writer()
	}
}

#ifdef LIVE
/* Updates come back for ever: neither commit nor quiesce hangs. */
ltl quiesce_returns { []<>round && []<>!round }
#endif
