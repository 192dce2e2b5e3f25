/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a site is restored to: one nop of five bytes, or five nops of one byte. Any number
 * of times a writer makes it a jump and restores it, while tasks execute it.
 *
 * A task may be preempted between any two instructions: where five nops stand, also
 * between two of them. It then goes on at that byte, whatever stands there by now.
 *
 *   head	the first byte:		NOP, JMP, or INT3, whose handler does what `word` says
 *   tail	the four others:	NOP (of one nop, or four nops), JMP
 *
 * Two ways of writing. With all CPUs parked, which is one step to all tasks: as
 * FreeBSD's sdt(4) does it. Or with INT3, as poke.pml has it, whose broadcasts make CPUs
 * forget what they fetched, but do not move a task that waits for its CPU. A CPU executes
 * here what stands in memory: fetches that are older are poke.pml's subject, and what goes
 * wrong here goes wrong without them.
 */
#define NOP	0
#define JMP	1
#define INT3	2
#define LENGTH	5

bool half_instruction_executed;
#define FAIL(p)	p = true; assert(!p)

byte head = NOP;
byte tail = NOP;
#ifdef USE_INT3
byte word = NOP;
#endif

byte at[2];			/* the byte of the site that each task executes next */

inline passes_nop()
{
#ifdef ONE_BYTE_NOPS
	at[id] = 1;
	printf("MSC: task%d runs the first nop\n", id)
#else
	printf("MSC: task%d runs the nop\n", id)
#endif
}

proctype task(byte id)
{
end:	do
	:: atomic {
		at[id] == 0 ->
		if
		:: head == JMP -> printf("MSC: task%d jumps\n", id)
		:: head == NOP -> passes_nop()
#ifdef USE_INT3
		:: head == INT3 && word == JMP -> printf("MSC: task%d hits INT3, which jumps\n", id)
		/* The handler goes on after the whole site. */
		:: head == INT3 && word == NOP -> printf("MSC: task%d hits INT3, which skips the site\n", id)
#endif
		fi
	   }
#ifdef ONE_BYTE_NOPS
	:: atomic {
		at[id] != 0 ->
		if
		:: tail == JMP ->
			printf("MSC: task%d executes byte %d of the jump\n", id, at[id]);
			FAIL(half_instruction_executed)
		:: else -> printf("MSC: task%d runs the nop at byte %d\n", id, at[id])
		fi;
		at[id] = (at[id] + 1) % LENGTH
	   }
#endif
	od
}

/* Each task is seen outside, one after the other. */
inline quiesce()
{
	atomic { at[0] == 0 -> printf("MSC: task0 is seen outside\n") };
	atomic { at[1] == 0 -> printf("MSC: task1 is seen outside\n") }
}

inline store(insn)
{
#ifdef USE_INT3
	d_step { head = INT3; printf("MSC: writer plants INT3\n") }
	d_step { word = insn }
#ifdef QUIESCE_TASKS		/* variant: none is left inside, and none comes in */
	quiesce();
#endif
	d_step { tail = insn; printf("MSC: writer writes the tail\n") }
	d_step { head = insn; printf("MSC: writer writes the first byte\n") }
#else
	d_step { head = insn; tail = insn; printf("MSC: writer writes the site, all CPUs are parked\n") }
#endif
}

proctype writer()
{
end:	do
	:: printf("MSC: writer enables the probe\n");
#ifdef QUIESCE_FIRST		/* variant: one that was seen outside comes in again */
	   quiesce();
#endif
	   store(JMP);
	   printf("MSC: writer disables the probe\n");
	   store(NOP)
	od
}

init {
	atomic {
		run task(0);
		run task(1);
		run writer()
	}
}
