/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What poke.pml and rollback.pml share: text, the CPUs that fetch it, the INT3
 * handler, and the broadcast that makes the CPUs forget what they fetched.
 *
 * An instruction is a number: 0, 1, ... A site is a first byte and a tail (its
 * four other bytes, written by one step: see below why that loses nothing).
 * Each byte carries the number of the instruction that it belongs to, so that
 * equal opcodes never hide a mixture: first byte of 1 with tail of 0 is wrong
 * even where the bytes would happen to make sense.
 *
 * Instruction fetch. For each site a CPU has a *set* of first bytes and a set
 * of tails: all values that stood there since the CPU last serialised. A fetch
 * takes any member of each, again and again, in any order, also backwards. When
 * a set of tails has two members, the CPU may take some of the four bytes from
 * one and some from the other. Only the broadcast shrinks the sets; nothing is
 * gained from IRET or from any luck with prefetch. That allows more than any
 * CPU does, so what passes here does not rest on a CPU's good manners.
 */

#ifndef SITES
#define SITES	2
#endif
#ifndef CPUS
#define CPUS	2
#endif

#define BIT(i)	(1 << (i))

#define INT3	3		/* our INT3 as a first byte */
#define ALIEN	4		/* a first byte (or tail) that the foreign writer wrote */
#define NO_SITE	7		/* the handler knows no such site */

/*
 * A failed property reads like its name in spin's output. Each flag is only
 * ever set on the way to the assertion.
 */
bool mixed_bytes_executed;
bool disallowed_instruction_executed;
bool int3_without_answer;
bool went_back_to_old;
bool wrong_number_of_broadcasts;
bool foreign_byte_overwritten;
bool failed_batch_changed_text;
bool failed_batch_was_executed;
bool good_batch_is_incomplete;
bool witness;
#define FAIL(p)	p = true; assert(!p)

typedef Site {
	byte b0;		/* memory: first byte */
	byte tail;		/* memory: the other four */
	byte word		/* what the INT3 handler emulates */
};
Site mem[SITES];

typedef Cpu {
	byte b0[SITES];		/* set of first bytes that a fetch may return */
	byte tail[SITES];	/* set of tails */
	bool ipi		/* a broadcast waits to be taken */
};
Cpu cpu[CPUS];

/* Instructions: cur is in place, fresh is what the batch brings. */
byte cur;
byte fresh;
/* What may run at this moment: a set of instructions. The writer moves it. */
byte allowed = BIT(0);
/* Sites whose new instruction ran already in this batch: it may not go back. */
byte advanced;

inline set_b0(s, v)
{
	mem[s].b0 = v;
	k = 0;
	do
	:: k < CPUS ->
		cpu[k].b0[s] = cpu[k].b0[s] | BIT(v);
		k++
	:: else -> k = 0; break
	od
}

inline set_tail(s, v)
{
	mem[s].tail = v;
	k = 0;
	do
	:: k < CPUS ->
		cpu[k].tail[s] = cpu[k].tail[s] | BIT(v);
		k++
	:: else -> k = 0; break
	od
}

#if CPUS == 1
#define all_answered()	!cpu[0].ipi
#elif CPUS == 2
#define all_answered()	(!cpu[0].ipi && !cpu[1].ipi)
#else
#error "CPUS is 1 or 2"
#endif

/* The sync, writer's side: ask every CPU, wait until each has answered. */
inline broadcast()
{
	d_step {
		printf("MSC: writer broadcasts\n");
		broadcasts++;
		k = 0;
		do
		:: k < CPUS -> cpu[k].ipi = true; k++
		:: else -> k = 0; break
		od
	}
	d_step {
		all_answered();
		printf("MSC: every CPU has serialised\n")
	}
}

/* The sync, a CPU's side: from now on it fetches what stands in memory. */
inline serialise()
{
	k = 0;
	do
	:: k < SITES ->
		cpu[id].b0[k] = BIT(mem[k].b0);
		cpu[id].tail[k] = BIT(mem[k].tail);
		k++
	:: else -> k = 0; break
	od;
	cpu[id].ipi = false;
	printf("MSC: cpu%d serialises\n", id)
}

/* An instruction takes effect: by itself, or because the handler emulated it. */
inline execute(s, i)
{
	if
	:: (allowed & BIT(i)) == 0 && i == fresh && fresh != cur ->
		FAIL(failed_batch_was_executed)
	:: (allowed & BIT(i)) == 0 && (i != fresh || fresh == cur) ->
		FAIL(disallowed_instruction_executed)
	:: else
	fi
}

/* The moment that decides which instruction will run. */
inline decide(s, i)
{
#ifdef ORDERED
	if
	:: i == fresh && fresh != cur -> advanced = advanced | BIT(s)
	:: i == cur && (advanced & BIT(s)) -> FAIL(went_back_to_old)
	:: else
	fi
#else
	skip
#endif
}

/*
 * A CPU that executes the sites, as often and in whichever order it likes, in
 * three contexts: ordinary code, a maskable interrupt on top of that, and an
 * NMI on top of anything. INT3 may be hit in each of them.
 *
 *   depth 0	ordinary code; irq: an interrupt handler runs, or irqs are off
 *   depth 1	an NMI
 *
 * The broadcast is taken between two instructions of ordinary code with
 * interrupts on: not in an interrupt, not in an NMI, not in the INT3 handler.
 * It may be late: a CPU with a broadcast under way may go on executing.
 */
mtype = { RUNS, TRAPPED, LOADED };

#ifndef NMIS			/* which CPUs get NMIs, as a set */
#define NMIS	3
#endif
#ifndef IRQS			/* which CPUs get interrupts, as a set */
#define IRQS	3
#endif

#ifdef LIVE
/* For the proof of progress: see README. An IPI that has arrived goes first. */
byte nmis_left[CPUS] = 2;
bool irq_used[CPUS];
bool arrived[CPUS];
#define may_run()	((depth == 1 && !nmi_used) || \
			 (depth == 0 && !irq && !arrived[id]) || \
			 (depth == 0 && irq && !irq_used[id]))
#define may_irq()	(irq || !arrived[id])
#define may_nmi()	(nmis_left[id] > 0)
#define takes_ipi()	(cpu[id].ipi && arrived[id])
#else
#define may_run()	true
#define may_irq()	true
#define may_nmi()	true
#define takes_ipi()	cpu[id].ipi
#endif

#ifdef HANDLER_TAKES_IPI	/* variant: the handler runs with interrupts on */
#define ipi_masked()	(depth > 0 || irq)
#else
#define ipi_masked()	(depth > 0 || irq || state[0] != RUNS)
#endif

#ifdef HANDLER_TAKES_MUTEX	/* variant: the handler waits for the writer */
#define handler_may_read()	!mutex
#else
#define handler_may_read()	true
#endif

proctype processor(byte id)
{
	byte depth;
	bool irq;
	mtype state[2] = RUNS;
	byte at[2];		/* the site whose INT3 was hit */
	byte word[2];		/* what the handler read there */
	byte s;
	byte b0;
	byte k;
#ifdef LIVE
	bool nmi_used;
#endif

	do
	:: atomic {
		/* Execute some site: fetch, decode, and trap if it is INT3. */
		state[depth] == RUNS && may_run() ->
#ifdef LIVE
		if
		:: depth == 1 -> nmi_used = true
		:: depth == 0 && irq -> irq_used[id] = true
		:: else
		fi;
#endif
		s = 0;
		do
		:: s < SITES - 1 -> s++
		:: break
		od;
		if
		:: cpu[id].b0[s] & BIT(0) -> b0 = 0
		:: cpu[id].b0[s] & BIT(1) -> b0 = 1
		:: cpu[id].b0[s] & BIT(2) -> b0 = 2
		:: cpu[id].b0[s] & BIT(INT3) -> b0 = INT3
		:: cpu[id].b0[s] & BIT(ALIEN) -> b0 = ALIEN
		fi;
		if
		:: b0 == INT3 ->
			printf("MSC: cpu%d (depth %d) hits INT3 at site %d\n", id, depth, s);
			state[depth] = TRAPPED;
			at[depth] = s
		:: b0 == ALIEN
			/* Its owner serves it; nothing of ours runs. */
		:: b0 < INT3 && cpu[id].tail[s] == BIT(ALIEN)
			/* A whole foreign instruction, as it was found. */
		:: b0 < INT3 && cpu[id].tail[s] != BIT(ALIEN) ->
			if
			:: cpu[id].tail[s] != BIT(b0) ->
				printf("MSC: cpu%d runs first byte of %d at site %d with another tail\n", id, b0, s);
				FAIL(mixed_bytes_executed)
			:: else
			fi;
			printf("MSC: cpu%d (depth %d) runs instruction %d at site %d\n", id, depth, b0, s);
			decide(s, b0);
			execute(s, b0)
		fi;
#ifdef SEE_NMI_IN_HANDLER
		if
		:: depth == 1 && state[1] == TRAPPED && state[0] == TRAPPED -> FAIL(witness)
		:: else
		fi;
#endif
		s = 0; b0 = 0
	   }
	:: atomic {
		/* INT3 handler: one lock-free load of the present instruction. */
		state[depth] == TRAPPED && handler_may_read() ->
		word[depth] = mem[at[depth]].word;
		if
		:: word[depth] == NO_SITE ->
			printf("MSC: cpu%d (depth %d) INT3 handler does not know site %d\n", id, depth, at[depth]);
			FAIL(int3_without_answer)
		:: else
		fi;
		printf("MSC: cpu%d (depth %d) INT3 handler of site %d reads instruction %d\n", id, depth, at[depth], word[depth]);
		decide(at[depth], word[depth]);
		state[depth] = LOADED
	   }
	:: atomic {
		/* The handler returns into the effect of that instruction. */
		state[depth] == LOADED ->
		printf("MSC: cpu%d (depth %d) emulates instruction %d at site %d\n", id, depth, word[depth], at[depth]);
		execute(at[depth], word[depth]);
		state[depth] = RUNS;
		at[depth] = 0;
		word[depth] = 0
	   }
	:: atomic {
		/* An NMI comes, at any time: also inside the INT3 handler. */
		depth == 0 && (NMIS & BIT(id)) && may_nmi() ->
#ifdef LIVE
		nmis_left[id]--;
		nmi_used = false;
#endif
		printf("MSC: cpu%d NMI\n", id);
		depth = 1
	   }
	:: atomic {
		depth == 1 && state[1] == RUNS ->
		printf("MSC: cpu%d NMI returns\n", id);
		depth = 0
	   }
	:: atomic {
		/* An interrupt comes or ends, or code turns irqs off or on. */
		depth == 0 && state[0] == RUNS && (IRQS & BIT(id)) && may_irq() ->
#ifdef LIVE
		irq_used[id] = false;
#endif
		irq = !irq
	   }
	:: atomic {
		takes_ipi() && !ipi_masked() ->
#ifdef LIVE
		arrived[id] = false;
#endif
		serialise()
	   }
	od
}

#ifdef LIVE
/* An interrupt that was sent arrives in the end. */
proctype apic(byte id)
{
	do
	:: atomic { cpu[id].ipi && !arrived[id] -> arrived[id] = true }
	od
}
#endif

inline power_on()
{
	k = 0;
	do
	:: k < SITES ->
		mem[k].b0 = 0;
		mem[k].tail = 0;
		mem[k].word = 0;
		cpu[0].b0[k] = BIT(0);
		cpu[0].tail[k] = BIT(0);
#if CPUS > 1
		cpu[1].b0[k] = BIT(0);
		cpu[1].tail[k] = BIT(0);
#endif
		k++
	:: else -> k = 0; break
	od;
	run processor(0);
#if CPUS > 1
	run processor(1);
#endif
#ifdef LIVE
	run apic(0);
#if CPUS > 1
	run apic(1);
#endif
#endif
	skip
}
