/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The protocol without INT3, as programs use it (common/x86/protocol.h, "Without INT3"):
 * any number of batches, each changing a trampoline, a branch, or both, while CPUs
 * execute them, in ordinary code and in signal handlers.
 *
 * Both sites are a first byte and an operand. What the operand of TEST is does not
 * matter, it falls through; that of NOP has to be its own.
 *
 *   trampoline	JMP t		target t
 *		TEST ?		then the next instruction, which loads the pointer
 *   branch	JMP OTHER	on
 *		NOP NOPS	off
 *		TEST ?		off
 *		JMP RAW		as compiled, with a test, which loads the value
 *
 * The writer's steps are those of jf_proto_live():
 *
 *   1 first byte := TEST, where the operand changes	by jump, or pointer: old
 *     broadcast (SYNC1)				... no CPU jumps now
 *     it may fail: first bytes as before, broadcast
 *     pointer, value := fresh				by pointer: fresh
 *   1b first byte := TEST, where a NOP is to be
 *     broadcast (SYNC1)
 *   2 operands := fresh
 *     broadcast (SYNC2)				... no CPU holds an old one
 *   3 first bytes := fresh				by pointer or jump: fresh
 *     broadcast (SYNC3)
 *
 * Steps 1 and 1b have a broadcast only if there is such a site. A batch that fails must
 * not have been executed: so nothing fresh may run before the pointer and the value are
 * stored.
 *
 * Instruction fetch is that of text.pml: for each byte a CPU has the set of values
 * that stood there since it last serialised, and takes any.
 */
#ifndef PUBLISH
#define PUBLISH	2		/* 0: before step 1, 2: after SYNC1, 3: after step 3 */
#endif
#define CPUS	2
#define BIT(i)	(1 << (i))

#define TRAMP	0
#define BRANCH	1

#define JMP	0		/* first bytes */
#define TEST	1
#define NOP	2
#define OTHER	1		/* operands of the branch */
#define RAW	2
#define NOPS	3

bool mixed_bytes_executed;
bool disallowed_instruction_executed;
bool went_back_to_old;
bool wrong_number_of_broadcasts;
bool witness;
#define FAIL(p)	p = true; assert(!p)

byte head[2];			/* memory */
byte operand[2];
byte value[2];			/* the pointer, and the key's value */

typedef Cpu {
	byte head[2];		/* sets of what a fetch may return */
	byte operand[2];
	bool ipi
};
Cpu cpu[CPUS];

byte cur[2];			/* what the last batch made of each: 0 or 1 */
byte fresh[2];
byte allowed[2];		/* a set of what may run now */
bool advanced[2];		/* fresh ran already in this batch */

byte finished;

inline set_head(s, v)
{
	head[s] = v;
	cpu[0].head[s] = cpu[0].head[s] | BIT(v);
	cpu[1].head[s] = cpu[1].head[s] | BIT(v)
}

inline set_operand(s, v)
{
	operand[s] = v;
	cpu[0].operand[s] = cpu[0].operand[s] | BIT(v);
	cpu[1].operand[s] = cpu[1].operand[s] | BIT(v)
}

inline broadcast()
{
	d_step {
		printf("MSC: writer broadcasts\n");
		broadcasts++;
		cpu[0].ipi = true;
		cpu[1].ipi = true
	}
	d_step {
		!cpu[0].ipi && !cpu[1].ipi;
		printf("MSC: every CPU has serialised\n")
	}
}

/* What is executed is decided here: by a jump, or by a load. */
inline decide(s, i)
{
	if
	:: (allowed[s] & BIT(i)) == 0 -> FAIL(disallowed_instruction_executed)
	:: else
	fi;
#if defined(ORDERED) || defined(ORDERED_KEYS)
#ifdef ORDERED
	if
	:: s == TRAMP && i == fresh[s] && fresh[s] != cur[s] -> advanced[s] = true
	:: s == TRAMP && i == cur[s] && advanced[s] -> FAIL(went_back_to_old)
	:: else
	fi
#else
	if
	:: s == BRANCH && i == fresh[s] && fresh[s] != cur[s] -> advanced[s] = true
	:: s == BRANCH && i == cur[s] && advanced[s] -> FAIL(went_back_to_old)
	:: else
	fi
#endif
#endif
}

/*
 * A CPU in two contexts: ordinary code, and a signal handler on top of it, which may
 * come between TEST and the load after it. So may the broadcast.
 */
mtype = { RUNS, LOADS };

proctype processor(byte id)
{
	byte depth;
	mtype state[2] = RUNS;
	byte at[2];		/* whose pointer or value is to be loaded */
	byte s;
	byte h;

	do
	:: atomic {
		state[depth] == RUNS ->
		if
		:: s = TRAMP
		:: s = BRANCH
		fi;
		if
		:: cpu[id].head[s] & BIT(JMP) -> h = JMP
		:: cpu[id].head[s] & BIT(TEST) -> h = TEST
		:: cpu[id].head[s] & BIT(NOP) -> h = NOP
		fi;
		if
		:: h == TEST && s == TRAMP ->
			printf("MSC: cpu%d falls through the trampoline\n", id);
			state[depth] = LOADS;
			at[depth] = s
		:: h == TEST && s == BRANCH ->
			printf("MSC: cpu%d goes straight on\n", id);
			decide(s, 0)
		:: h == NOP ->
			printf("MSC: cpu%d runs the nop\n", id);
			if
			:: cpu[id].operand[s] != BIT(NOPS) -> FAIL(mixed_bytes_executed)
			:: else
			fi;
			decide(s, 0)
		:: h == JMP ->
			if
			:: cpu[id].operand[s] != BIT(0) && cpu[id].operand[s] != BIT(1) &&
			   cpu[id].operand[s] != BIT(2) ->
				printf("MSC: cpu%d jumps at site %d with no operand of a jump\n", id, s);
				FAIL(mixed_bytes_executed)
			:: else
			fi;
			if
			:: s == TRAMP ->
				printf("MSC: cpu%d jumps to target %d\n", id, cpu[id].operand[s] >> 1);
				/* BIT(0) is 1, BIT(1) is 2. */
				decide(s, cpu[id].operand[s] >> 1)
			:: s == BRANCH && cpu[id].operand[s] == BIT(OTHER) ->
				printf("MSC: cpu%d goes the other way\n", id);
				decide(s, 1)
			:: s == BRANCH && cpu[id].operand[s] == BIT(RAW) ->
				printf("MSC: cpu%d jumps to the test\n", id);
				state[depth] = LOADS;
				at[depth] = s
			fi
		fi;
		s = 0; h = 0
	   }
	:: atomic {
		state[depth] == LOADS ->
		printf("MSC: cpu%d loads %d for site %d\n", id, value[at[depth]], at[depth]);
#ifdef SEE_HANDLER
		if
		:: depth == 1 && state[0] == LOADS && at[0] == TRAMP && at[1] == TRAMP &&
		   allowed[TRAMP] == 3 -> FAIL(witness)
		:: else
		fi;
#endif
		decide(at[depth], value[at[depth]]);
		state[depth] = RUNS;
		at[depth] = 0
	   }
	:: atomic { depth == 0 -> printf("MSC: cpu%d signal\n", id); depth = 1 }
	:: atomic { depth == 1 && state[1] == RUNS -> depth = 0 }
	:: atomic {
		cpu[id].ipi ->
		cpu[id].head[0] = BIT(head[0]);
		cpu[id].head[1] = BIT(head[1]);
		cpu[id].operand[0] = BIT(operand[0]);
		cpu[id].operand[1] = BIT(operand[1]);
		cpu[id].ipi = false;
		printf("MSC: cpu%d serialises\n", id)
	   }
	od
}

inline publish()
{
	d_step {
		printf("MSC: writer stores pointer %d\n", fresh[TRAMP]);
		value[TRAMP] = fresh[TRAMP]
	}
	d_step {
		printf("MSC: writer stores value %d\n", fresh[BRANCH]);
		value[BRANCH] = fresh[BRANCH]
	}
}

/* From here on the batch does not fail. */
inline no_way_back()
{
	d_step {
		allowed[0] = allowed[0] | BIT(fresh[0]);
		allowed[1] = allowed[1] | BIT(fresh[1])
	}
}

/* What shall stand at the branch: as jf_site_insn() in user/lib has it. */
inline plan_branch()
{
	to_head = (fresh[BRANCH] -> JMP : NOP);
	to_operand = (fresh[BRANCH] -> OTHER : NOPS);
	is_raw = head[BRANCH] == JMP && operand[BRANCH] == RAW;
	if
#if !defined(RAW_GUARD) && !defined(RAW_JUMPS)
	/* As compiled it stays, until it is to go straight on. */
	:: is_raw && fresh[BRANCH] -> to_operand = RAW
#endif
	:: else
	fi;
	early = to_operand != operand[BRANCH];
	late = early && to_head == NOP;
#ifndef EARLY_GUARD
	early = early && to_head == JMP;
#else
	late = false;
#endif
	was_head = head[BRANCH]
}

inline write_operands()
{
	d_step {
		printf("MSC: writer writes the operands\n");
		set_operand(TRAMP, fresh[TRAMP]);
		set_operand(BRANCH, to_operand)
	}
}

inline write_heads()
{
	d_step {
		printf("MSC: writer writes the branch's first byte\n");
		set_head(BRANCH, to_head)
	}
	d_step {
		printf("MSC: writer writes the trampoline's first byte\n");
		set_head(TRAMP, JMP)
	}
}

proctype writer()
{
	byte to_head;
	byte to_operand;
	byte was_head;
	byte broadcasts;
	bool is_raw;		/* the branch is as compiled */
	bool early;		/* it changes, and its guard is what it was */
	bool late;		/* it changes, and its guard is what it becomes */
	bool tramp;		/* the trampoline changes */
	bool failed;

end:	do
	:: atomic {
		if
		:: fresh[TRAMP] = 1 - cur[TRAMP]
		:: fresh[BRANCH] = 1 - cur[BRANCH]
		:: fresh[TRAMP] = 1 - cur[TRAMP]; fresh[BRANCH] = 1 - cur[BRANCH]
		fi;
		printf("MSC: writer starts: target %d, key %d\n", fresh[TRAMP], fresh[BRANCH]);
		broadcasts = 0;
		failed = false;
		advanced[0] = false;
		advanced[1] = false;
		tramp = fresh[TRAMP] != cur[TRAMP];
		plan_branch()
	}

#if PUBLISH == 0
	no_way_back();
	publish();
#endif

	if
	:: tramp || early ->
#ifndef NO_GUARD
		atomic {
			if
			:: tramp ->
				printf("MSC: writer guards the trampoline\n");
				set_head(TRAMP, TEST)
			:: else
			fi
		}
		atomic {
			if
#ifdef RAW_JUMPS		/* variant: one jump becomes another */
			:: early && !is_raw ->
#else
			:: early ->
#endif
				printf("MSC: writer guards the branch\n");
				set_head(BRANCH, TEST)
			:: else
			fi
		}
#endif
#ifndef NO_SYNC1
		broadcast();
#endif
#if PUBLISH == 2
		if
		:: failed = true;
			d_step {
				printf("MSC: writer takes the guards back\n");
				set_head(BRANCH, was_head);
				set_head(TRAMP, JMP)
			}
			broadcast();
			printf("MSC: commit fails\n")
		:: true
		fi
#endif
	:: else
	fi;

	if
	:: failed ->
		atomic {
			fresh[0] = cur[0];
			fresh[1] = cur[1]
		}
	:: else ->
#if PUBLISH != 0
		no_way_back();
#endif
#if PUBLISH == 2
		publish();
#endif
		if
		:: late ->
#ifndef NO_LATE_GUARD
			d_step {
				printf("MSC: writer guards the branch that jumps\n");
				set_head(BRANCH, TEST)
			}
#endif
#if !defined(NO_SYNC1) && !defined(NO_LATE_SYNC)
			broadcast()
#endif
		:: else
		fi;

		if
		:: tramp || early || late ->
#ifndef HEADS_FIRST
			write_operands();
#else
			write_heads();
#endif
#ifndef NO_SYNC2
			broadcast();
#endif
#ifndef HEADS_FIRST
			write_heads();
#else
			write_operands();
#endif
#if PUBLISH == 3
			publish();
#endif
#ifndef NO_SYNC3
			broadcast()
#endif
		:: else
#if PUBLISH == 3
			publish()
#endif
		fi;
		printf("MSC: commit returns\n")
	fi;

	atomic {
#if !defined(NO_SYNC1) && !defined(NO_SYNC2) && !defined(NO_SYNC3) && !defined(NO_LATE_SYNC)
		if
		:: broadcasts != (failed -> 2 : (tramp || early -> 1 : 0) + (late -> 1 : 0) +
				  (tramp || early || late -> 2 : 0)) ->
			FAIL(wrong_number_of_broadcasts)
		:: else
		fi;
#endif
		cur[0] = fresh[0];
		cur[1] = fresh[1];
		allowed[0] = BIT(cur[0]);
		allowed[1] = BIT(cur[1]);
		advanced[0] = false;
		advanced[1] = false;
		broadcasts = 0;
		failed = false;
		finished = 1 - finished
	}
	od
}

init {
	atomic {
		/* A nop or a jump, or as compiled with a test; off or on. */
		if
		:: cur[BRANCH] = 0
		:: cur[BRANCH] = 1
		fi;
		value[BRANCH] = cur[BRANCH];
		fresh[BRANCH] = cur[BRANCH];
		if
		:: operand[BRANCH] = RAW; head[BRANCH] = JMP
		:: operand[BRANCH] = (cur[BRANCH] -> OTHER : NOPS);
		   head[BRANCH] = (cur[BRANCH] -> JMP : NOP)
		fi;
		allowed[TRAMP] = BIT(0);
		allowed[BRANCH] = BIT(cur[BRANCH]);
		cpu[0].head[0] = BIT(JMP);
		cpu[1].head[0] = BIT(JMP);
		cpu[0].head[1] = BIT(head[1]);
		cpu[1].head[1] = BIT(head[1]);
		cpu[0].operand[0] = BIT(0);
		cpu[1].operand[0] = BIT(0);
		cpu[0].operand[1] = BIT(operand[1]);
		cpu[1].operand[1] = BIT(operand[1]);
		run processor(0);
		run processor(1);
		run writer()
	}
}
