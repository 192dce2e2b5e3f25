/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The INT3 protocol ("xmc", cross-modifying code): the steps that replace
 * instructions while other CPUs may be executing them. They stand here once,
 * for the kernel module, the engine in userspace, and the tests of both.
 *
 * API:
 *   jf_proto_verify(pokes, num, &bad)	check that every site has the old bytes
 *   jf_proto_compare(have, want)	the same for the bytes of one site
 *   jf_proto_live(pokes, num)		replace instructions that may be executing
 *   jf_proto_early(pokes, num)		write text that no CPU executes yet
 * jf_proto_plant(), jf_proto_undo(), jf_proto_publish(), jf_proto_late_guards(),
 * jf_proto_tails(), jf_proto_heads() and jf_proto_finish() are the steps of jf_proto_live().
 * The handler's use of a site's word is in common/x86/trap.h.
 *
 * Example, a whole transaction:
 *   err = jf_proto_verify(pokes, num, &bad);
 *   if (!err)
 *           err = jf_proto_live(pokes, num);
 *
 * The world. The differences between a kernel and a process are defined by the source that includes
 * this file, before it does so (common/x86/insn.h has the types):
 *   struct jf_poke			one site's part in a transaction; of its
 *					members these are used here: @old, the
 *					instruction that stands there, and @new,
 *					the next one (jf_insn_t)
 *   jf_insn_t jf_world_load(p)		the five bytes, as a CPU executes them
 *   void jf_world_store(p, i, byte)	write byte i (0 to 4), with one store
 *   bool jf_world_swap(p, from, to)	make byte 0 @to if it is @from, atomically;
 *					false: it is not, and stays what it is
 *   void jf_world_publish(p)		store p->new, with one store, in the word
 *					that the handler reads
 *   void jf_world_sync()		every CPU executes a serialising instruction
 *					after the call and before it returns
 *   jf_world_planted()			a macro that may be left out, where nothing
 *					fails: true if all guards are set and every CPU
 *					has seen them. Otherwise the next step takes
 *					the set guards back
 *   jf_world_guard(p)			a macro that may be left out: byte 0 while bytes 1 to 4
 *					change. INT3, or JF_OPCODE_TEST: see "Without INT3" below
 *   jf_world_head(p)			a macro that may be left out: the byte with the guard,
 *					else byte 0
 * Locks, the writable alias, preemption, time and statistics are the world's,
 * too. Between verify and the end of a transaction no other one may begin.
 *
 * How it works. An instruction that crosses a cache line can be fetched in two
 * parts, so it must never be possible to see a new part and an old one
 * together:
 *
 *	bytes at a site		 what a CPU may execute
 *	O0 O1 O2 O3 O4		 old					verify
 *   1	CC O1 O2 O3 O4		 old, or traps and is emulated as old	plant
 *	sync all CPUs		 no CPU holds O0 any more: all trap
 *	   word = new		 from here on emulated as new		publish
 *   2	CC N1 N2 N3 N4		 traps, emulated as new			tails
 *	sync all CPUs		 no CPU holds O1-O4 any more
 *   3	N0 N1 N2 N3 N4		 traps, emulated as new; or new		heads
 *	sync all CPUs		 no CPU holds CC any more: all run new
 *
 * Each step is done for all sites before the sync that follows, so a batch of
 * any size takes three. Step 1 compares as it writes. If a site's first byte is not the verified
 * one, the breakpoints set so far are taken back (undo), and a sync makes sure that no CPU holds
 * one. Until then the handler has only ever emulated the old instructions, so no CPU has executed
 * anything new. The same holds where a breakpoint can fail to be set, or a CPU to be synchronised,
 * and the world learns of it only when the first sync is over (jf_world_planted()). After publish
 * there is no way back. A world whose later stores fail can begin steps 2 and 3 again
 * (jf_proto_finish()): the words say new, and all CPUs trap.
 *
 * Barriers.
 *
 *   updater				trap handler
 *   sync, after all INT3s are set	(entered because of an INT3)
 *   word = new (jf_world_publish)	load word, once; jf_proto_trap()
 *   sync, before the first byte of new
 *
 * The word changes after the first sync, when every CPU traps at the site: so one
 * store switches a site for all CPUs, and none runs old after another one has run
 * new. The batch can no longer fail at that point, so a failed batch never has to wait
 * for a CPU that runs new. A handler that loads the word before the change
 * emulates old, which is right: when it decides, the commit has not returned.
 * One that is entered after the second sync loads new. The word is one aligned
 * load, so it is never a mixture. Code that a new instruction leads to is written
 * before step 1, so a sync has followed when the first CPU is sent there.
 *
 * The handler has to know a site from before step 1 until after the last sync,
 * and answers for it at any time, not only while a transaction runs. How long a
 * handler may take is a matter of the world: where it holds up the sync, as in a
 * kernel, no handler works on a breakpoint of a transaction that has returned.
 *
 * Without INT3. Where no handler can be, the guard may be the first byte of
 * "test $imm32,%eax", whose operand is bytes 1 to 4, whatever they are: it falls
 * through to the next instruction, and changes nothing but flags, none of which may
 * be live there. Three kinds of sites can have it, in one batch with each other and
 * with sites that have INT3:
 *
 *   - The code after the site loads the word, or the copy that jf_world_publish() stores beside it,
 *     and obeys it. A jump whose next instruction is a jump through a pointer is such a site. Steps
 *     1 to 3 are as above.
 *   - A branch, which is a nop or a jump. The guard falls through, as the nop does:
 *
 *	from nop to jump		from jump to nop
 *     1 A9 1F 44 00 00	 as old		E9 D1 D2 D3 D4	 old
 *	sync				   word = new
 *	   word = new		    1b	A9 D1 D2 D3 D4	 as new, or old
 *     2 A9 D1 D2 D3 D4	 as old		sync		 all as new
 *	sync			     2	A9 1F 44 00 00	 as new
 *     3 E9 D1 D2 D3 D4	 new, or as old	sync
 *	sync			     3	0F 1F 44 00 00	 new
 *					sync
 *
 *     To set this guard on a jump is to change it. So that is done after the publishing,
 *     when nothing can fail any more (jf_proto_late()), and only where other sites of
 *     the batch have another kind it takes a fourth sync.
 *   - Old and new differ in byte 0 alone. There is nothing to guard: they are a jump and
 *     jf_insn_skip(), as a change that stopped in the middle leaves it, and step 3 is all.
 *
 * Of the last two kinds one CPU may run old after another one has run new, until the
 * sync that ends the change.
 *
 * A fourth kind is a call with the same opcode and another target. Its head is its last byte.
 * Its guard is a value of that byte with which each mixture of the other bytes leads to code that
 * loads the word, and obeys it. In the steps above bytes 0 and 4 change places; byte 0 is written
 * as it was, or not at all.
 *
 * docs/model checks all this, and the failures without each part.
 *
 * Steps left out on purpose: a build that shows the purpose of a step defines
 * jf_broken(step), for the steps SYNC1, SYNC2, SYNC3, INT3, ORDER and PUBLISH.
 * Everywhere else it is constant, and nothing of it is left.
 *
 * Caveats: no kernel call and no libc call is made here, and nothing sleeps.
 */
#ifndef JF_PROTOCOL_X86_H
#define JF_PROTOCOL_X86_H

#include "common/x86/insn.h"

#ifndef jf_broken
#define jf_broken(step)	false
#endif

#ifndef jf_world_planted
#define jf_world_planted()	true
#endif

#ifndef jf_world_guard
#define jf_world_guard(poke)	JF_OPCODE_INT3
#endif

#ifndef jf_world_head
#define jf_world_head(poke)	0
#endif

/**
 * jf_proto_compare() - compare a site with the wanted bytes
 * @have: the present bytes
 * @want: the wanted bytes
 *
 * Context: any. Return: 0, -EBUSY for a breakpoint of another owner, else -EILSEQ.
 */
static inline int jf_proto_compare(jf_insn_t have, jf_insn_t want)
{
	if (have == want)
		return 0;
	return jf_insn_byte(have, 0) == JF_OPCODE_INT3 ? -EBUSY : -EILSEQ;
}

/**
 * jf_proto_verify() - compare every site with its old bytes
 * @pokes: the transaction
 * @num:   how many they are
 * @bad:   receives the index of the first that differs; untouched on success
 *
 * Before the first byte is written, since a failure further on would leave
 * tails that were not compared. Return: 0, -EBUSY or -EILSEQ.
 */
static inline int jf_proto_verify(const struct jf_poke *pokes, size_t num,
				  size_t *bad)
{
	size_t i;
	int err;

	for (i = 0; i < num; i++) {
		err = jf_proto_compare(jf_world_load(&pokes[i]), pokes[i].old);
		if (err) {
			*bad = i;
			return err;
		}
	}
	return 0;
}

/* True if a site goes from old to new by its head alone. */
static inline bool jf_proto_flips(const struct jf_poke *poke)
{
	return jf_world_guard(poke) != JF_OPCODE_INT3 &&
	       !((poke->old ^ poke->new) & ~(0xffULL << 8 * jf_world_head(poke)));
}

/*
 * True if its guard has the effect of the new instruction. @old jumps, or has the guard already,
 * which does no harm.
 */
static inline bool jf_proto_late(const struct jf_poke *poke)
{
	return jf_world_guard(poke) != JF_OPCODE_INT3 && poke->new == jf_insn_nop();
}

/* True if it is left out of step 1. */
static inline bool jf_proto_waits(const struct jf_poke *poke)
{
	return jf_proto_flips(poke) || jf_proto_late(poke);
}

/* True if step 1 has any work. */
static inline bool jf_proto_any_early(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++)
		if (!jf_proto_waits(&pokes[i]))
			return true;
	return false;
}

/* There is no guard at any of them. */
static inline bool jf_proto_all_flip(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++)
		if (!jf_proto_flips(&pokes[i]))
			return false;
	return num;
}

/* Take the first @num guards back: no CPU has executed anything new. */
static inline void jf_proto_undo(const struct jf_poke *pokes, size_t num)
{
	while (num--)
		if (!jf_proto_waits(&pokes[num]))
			jf_world_store(&pokes[num], jf_world_head(&pokes[num]),
				       jf_insn_byte(pokes[num].old, jf_world_head(&pokes[num])));
	jf_world_sync();
}

/* Step 1. On failure all sites are as before, and the result is -EBUSY. */
static inline int jf_proto_plant(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	if (jf_broken(INT3))
		return 0;
	for (i = 0; i < num; i++) {
		uint8_t old = jf_insn_byte(pokes[i].old, jf_world_head(&pokes[i]));
		uint8_t guard = jf_world_guard(&pokes[i]);

		if (jf_proto_waits(&pokes[i]))
			continue;
		if (!jf_world_swap(&pokes[i], old, guard)) {
			jf_proto_undo(pokes, i);
			return -EBUSY;
		}
	}
	return 0;
}

/* From here on the handler emulates the new instructions. */
static inline void jf_proto_publish(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++)
		jf_world_publish(&pokes[i]);
}

/* Step 1b. True: there are some. */
static inline bool jf_proto_late_guards(const struct jf_poke *pokes, size_t num)
{
	bool any = false;
	size_t i;

	for (i = 0; i < num; i++) {
		if (!jf_proto_late(&pokes[i]))
			continue;
		jf_world_store(&pokes[i], 0, jf_world_guard(&pokes[i]));
		any = true;
	}
	return any;
}

/* Step 2. */
static inline void jf_proto_tails(const struct jf_poke *pokes, size_t num)
{
	size_t i;
	int b;

	for (i = 0; i < num; i++)
		for (b = 0; b < JF_INSN_SIZE; b++)
			if (b != jf_world_head(&pokes[i]))
				jf_world_store(&pokes[i], b,
					       jf_insn_byte(pokes[i].new, b));
}

/* Step 3. */
static inline void jf_proto_heads(const struct jf_poke *pokes, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++)
		jf_world_store(&pokes[i], jf_world_head(&pokes[i]),
			       jf_insn_byte(pokes[i].new, jf_world_head(&pokes[i])));
}

/**
 * jf_proto_finish() - the remaining steps once the words say new
 * @pokes: the transaction, guarded and published
 * @num:   how many they are
 *
 * Steps 1b to 3. May be called again, any number of times, by a world that could not
 * store a byte or synchronise a CPU, if none of its stores had an effect from then
 * on: each site has its guard, or is whole.
 */
static inline void jf_proto_finish(const struct jf_poke *pokes, size_t num)
{
	if (!jf_broken(INT3) && jf_proto_late_guards(pokes, num) && !jf_broken(SYNC1))
		jf_world_sync();
	if (!jf_broken(ORDER))
		jf_proto_tails(pokes, num);	/* 2: CC N N N N */
	else
		jf_proto_heads(pokes, num);
	if (!jf_broken(SYNC2))
		jf_world_sync();
	if (!jf_broken(ORDER))
		jf_proto_heads(pokes, num);	/* 3: N  N N N N */
	else
		jf_proto_tails(pokes, num);
	if (!jf_broken(SYNC3))
		jf_world_sync();
}

/**
 * jf_proto_live() - replace instructions that may be executing
 * @pokes: the transaction, verified
 * @num:   how many they are
 *
 * Three syncs; four if only some are jf_proto_late(), one if a guard finds another
 * byte, or if all of them flip. When it returns 0, every CPU executes the new instructions.
 * Return: 0; -EBUSY: a head is not the verified one; -EIO: the world could
 * not set all guards (jf_world_planted()). On failure all sites are as before.
 */
static inline int jf_proto_live(const struct jf_poke *pokes, size_t num)
{
	bool early = jf_proto_any_early(pokes, num);
	int err;

	if (jf_proto_all_flip(pokes, num)) {
		jf_proto_publish(pokes, num);
		jf_proto_heads(pokes, num);	/* 3 alone */
		jf_world_sync();
		return 0;
	}
	err = jf_proto_plant(pokes, num);	/* 1: CC O O O O */
	if (err)
		return err;
	if (early && !jf_broken(SYNC1))
		jf_world_sync();
	if (early && !jf_world_planted()) {
		jf_proto_undo(pokes, num);
		return -EIO;
	}
	if (!jf_broken(PUBLISH))
		jf_proto_publish(pokes, num);	/* no CPU runs O now */
	jf_proto_finish(pokes, num);
	if (jf_broken(PUBLISH))
		jf_proto_publish(pokes, num);
	return 0;
}

/**
 * jf_proto_early() - write instructions that no CPU executes yet
 * @pokes: the transaction, verified
 * @num:   how many they are
 *
 * No breakpoints, and one sync before a CPU can be let in.
 */
static inline void jf_proto_early(const struct jf_poke *pokes, size_t num)
{
	size_t i;
	int b;

	for (i = 0; i < num; i++)
		for (b = 0; b < JF_INSN_SIZE; b++)
			jf_world_store(&pokes[i], b,
				       jf_insn_byte(pokes[i].new, b));
	jf_proto_publish(pokes, num);
	jf_world_sync();
}

#endif /* JF_PROTOCOL_X86_H */
