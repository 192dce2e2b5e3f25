/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch images: register, unregister, retarget, quiesce, unload.
 *
 * An image is a chain of (load data, call func). It is built in a slot where
 * no task executes, published by one flip of the site, and never written while
 * a task can be inside. What a flip replaces is retired; quiesce comes at any
 * time after that, for all that is retired, and at the latest when no slot is
 * free. To show any early reuse at once, a free slot is poisoned. A slot that was
 * written is broadcast before anything may lead there.
 *
 * The flip itself is poke.pml's business. Here it is what poke.pml proves about
 * it: from the store of the word on, a CPU that meets the INT3 may be sent the
 * new way; from the last broadcasts on, a CPU may take it by itself; when the
 * commit has returned, no CPU takes the old way any more. A single site may be
 * left to the kernel's protocol, whose handler sends CPUs the new way from the
 * first INT3 on; it looks before it writes, and then cannot fail.
 *
 * A registration is a pair: 1 = (P, data 1), 2 = (Q, data 2), 3 = (P, data 3).
 * After unregister and quiesce the data is freed and, when no registration uses
 * P (or Q) any more, the module that holds it is unloaded, at once.
 */
#define BIT(i)	(1 << (i))
#define ALL	14		/* registrations 1, 2 and 3 */
#define FUNC(r)	(((r) == 3) -> 1 : (r))	/* registration -> function */

#ifndef PUBLISH
#define PUBLISH	2		/* as in poke.pml */
#endif
#ifndef SLOTS
#define SLOTS	2
#endif
#ifndef TASKS
#define TASKS	1
#endif
#define IRQ	TASKS		/* what executes: tasks, then one interrupt */
#if TASKS == 1
#define EXECS	2
#define all_have_left()	(!awaited[0] && !awaited[1])
#else
#define EXECS	3
#define all_have_left()	(!awaited[0] && !awaited[1] && !awaited[2])
#endif
#define LONGEST	2
#define NONE	3		/* the site is a nop: no image */
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
Image slot[SLOTS];

byte site = NONE;		/* the image in use */
byte reach = BIT(NONE);		/* where the site may lead a CPU right now */
byte alive;			/* registrations not yet freed, as a set */
byte unsynced;			/* slots written since the last broadcast, as a set */
#ifdef SEE_KERNEL
byte by_kernel = NONE;		/* the slot that the kernel's INT3 leads to, before any broadcast */
#endif
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
		/* The site: a nop, or the way into an image. */
		if
		:: reach & BIT(0) -> at = 0
		:: reach & BIT(1) -> at = 1
#if SLOTS > 2
		:: reach & BIT(2) -> at = 2
#endif
		:: reach & BIT(NONE) -> at = NONE
		fi;
		if
		:: at == NONE -> at = 0
		:: else ->
			printf("MSC: exec%d enters image %d\n", id, at);
			if
			:: unsynced & BIT(at) ->
				printf("MSC: exec%d may have fetched its bytes before they were written\n", id);
				FAIL(unserialised_image_executed)
			:: else
			fi;
#ifdef SEE_KERNEL
			if
			:: by_kernel == at -> FAIL(witness)
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
#ifdef SEE_TASK_STAYS
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
	 * the grace period no longer waits for it.
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
byte retired;			/* slots that wait for quiesce, as a set */

inline put(where, r)
{
	slot[where].func[slot[where].n] = FUNC(r);
	slot[where].data[slot[where].n] = r;
	slot[where].n++
}

/* Returns when each task that is inside now has left at least once. */
inline quiesce()
{
#ifndef NO_QUIESCE
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
		printf("MSC: quiesce does not wait for interrupts\n")
#endif
	}
	d_step {
		all_have_left();
		printf("MSC: quiesce is done\n")
	}
#else
	skip
#endif
}

inline free_slot(which)
{
	slot[which].n = POISON;
	slot[which].func[0] = 0;
	slot[which].func[1] = 0;
	slot[which].data[0] = 0;
	slot[which].data[1] = 0;
	printf("MSC: slot %d is free\n", which)
}

/* Quiesce; then free what was retired, and unload what is not registered. */
inline reclaim(registered)
{
#ifndef QUIESCE_FIRST
	quiesce();
#endif
	d_step {
		k = 0;
		do
		:: k < SLOTS ->
			if
			:: retired & BIT(k) -> free_slot(k)
			:: else
			fi;
			k++
		:: else -> k = 0; break
		od;
		retired = 0;
		printf("MSC: what is not registered is freed and unloaded\n");
		alive = registered
	}
}

/* SLOTS itself if none is free. */
inline find_free_slot(which)
{
	which = 0;
	do
	:: which < SLOTS && slot[which].n != POISON -> which++
	:: else -> break
	od;
	k = 0
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
			next >> 1 & 1, next >> 2 & 1, next >> 3)
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

	   /* Build the image where no task executes. */
	   if
	   :: next == 0 -> target = NONE
	   :: else ->
		d_step { find_free_slot(target) };
#ifndef EAGER			/* where each update frees the slot it needs next */
		if
		:: target == SLOTS ->
			reclaim(had | next);
			d_step { find_free_slot(target) }
		:: else
		fi;
#endif
		d_step {
			slot[target].n = 0;
			unsynced = unsynced | BIT(target);
			if
			:: next & BIT(1) -> put(target, 1)
			:: next & BIT(3) -> put(target, 3)
			:: else
			fi;
			if
			:: next & BIT(2) -> put(target, 2)
			:: else
			fi;
			printf("MSC: writer builds image %d\n", target)
		}
#ifndef NO_IMAGE_SYNC
		;
		d_step {
			printf("MSC: writer broadcasts\n");
			unsynced = 0
		}
#endif
	   fi;

	   /* The commit. */
	   if
	   :: skip;
#if PUBLISH == 0
	      reach = reach | BIT(target);
#endif
	      if
	      :: skip			/* all INT3s planted */
	      :: atomic {		/* a foreign byte: nothing has changed */
		   printf("MSC: commit fails\n");
		   reach = BIT(old)
		 };
#ifdef QUIESCE_ON_FAILURE
		 quiesce();
#endif
		 atomic {
		   if
		   :: target != NONE -> free_slot(target)
		   :: else
		   fi;
		   unsynced = 0;
		   next = had;
		   goto done
		 }
	      fi
#if PUBLISH == 1
	      ;
	      reach = reach | BIT(target)
#endif
#ifndef OWN_ONLY
	   :: atomic {			/* the kernel plants its INT3 */
		printf("MSC: the kernel's handler emulates the new way\n");
#ifdef SEE_KERNEL
		by_kernel = target;
#endif
		reach = reach | BIT(target)
	      }
#endif
	   fi;

	   /* Broadcasts, first bytes. */
	   atomic {
#ifndef NO_BROADCAST
		unsynced = 0;
#endif
#ifdef SEE_KERNEL
		by_kernel = NONE;
#endif
		reach = reach | BIT(target)
	   };

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
	   atomic {
		site = target;
		if
		:: old != NONE && old != target -> retired = retired | BIT(old)
		:: else
		fi
	   };

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

	   /* Now, or when slots are needed. */
	   if
	   :: reclaim(next)
#ifndef EAGER
	   :: skip
#endif
	   fi;
#ifdef RETURNS_EARLY
	   reach = BIT(site);
#endif
done:
	   atomic {
		target = 0;
		old = 0;
		had = 0;
		round = !round
	   }
	od
}

init {
	byte k;

	atomic {
		do
		:: k < SLOTS -> slot[k].n = POISON; k++
		:: else -> k = 0; break
		od;
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
