/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes without a breakpoint, as on arm64 (kernel/arch/arm64/write.c): one store to each
 * site, caches cleaned, one broadcast.
 *
 * A site leads to one of two targets. A writer leads all sites to the other one,
 * without end, and frees the old target when the commit has returned and no CPU is in
 * that target any more. (How this is found out is quiesce.pml's business.) A foreign
 * breakpoint may turn up at the last site; then the commit fails, and its new target is
 * freed in the same way, since a CPU may have come there in between. With STUCK a debugger
 * may set a second one, on the first site, while that is taken back. It removes it at
 * any time, and then the new target's branch stands there again, until it is mended.
 *
 * A CPU executes what it has fetched, and may have fetched it long ago, until it takes
 * part in a broadcast. It fetches from memory, or from a cache that still holds what
 * was there before the site was cleaned.
 */
#ifndef SITES
#define SITES	2
#endif
#define CPUS	2
#define NOTHING	3		/* nothing is held of this site */
#define TORN	2		/* half of one instruction, half of another */
#define OUTSIDE	2		/* in no target */
#define TRAP	4		/* a debugger's breakpoint */

bool freed_code_executed;
bool mixed_bytes_executed;
bool went_back_to_old;
bool witness;
#define FAIL(p)	p = true; assert(!p)

typedef Words {
	byte w[SITES]
};
byte memory[SITES];
byte cache[SITES];
Words held[CPUS];
byte inside[CPUS] = OUTSIDE;	/* the target that a CPU is in */
bool freed[2];
bool old_is_over;		/* a CPU has run new in the commit that is under way */
byte now;			/* the target that was set last */

inline execute(t)
{
	if
	:: t == TORN -> FAIL(mixed_bytes_executed)
#ifdef STUCK
	:: t == TRAP
#endif
	:: t < TORN && freed[t] -> FAIL(freed_code_executed)
	:: t < TORN && !freed[t] -> inside[_pid] = t
	fi;
#ifdef ORDERED
	if
	:: t != TORN && t != now -> old_is_over = true
	:: t == now && old_is_over -> FAIL(went_back_to_old)
	:: else
	fi;
#endif
	skip
}

active [CPUS] proctype Cpu()
{
	byte s, t;

	do
	:: atomic {
		inside[_pid] != OUTSIDE ->
		if
		:: freed[inside[_pid]] -> FAIL(freed_code_executed)
		:: else
		fi;
		inside[_pid] = OUTSIDE
	}
	:: atomic {
		inside[_pid] == OUTSIDE ->
		select(s : 0 .. SITES - 1);
		if
		:: held[_pid].w[s] == NOTHING -> held[_pid].w[s] = memory[s]
		:: held[_pid].w[s] == NOTHING -> held[_pid].w[s] = cache[s]
		:: held[_pid].w[s] != NOTHING ->
			t = held[_pid].w[s];
			execute(t)
		:: held[_pid].w[s] != NOTHING ->
			held[_pid].w[s] = NOTHING
		fi;
		s = 0;
		t = 0
	}
	od
}

#ifdef STUCK
byte under;			/* what the debugger has saved */

active proctype Debugger()
{
	do
	:: atomic {
		memory[0] == TRAP ->
		memory[0] = under;
		cache[0] = under
	}
	od
}

/* The first site could not be taken back: see to it once the breakpoint is removed. */
inline mend(t)
{
	if
	:: memory[0] == t
	:: memory[0] == 1 - t ->
		store(0, t);
		clean();
		broadcast()
	fi
}
#endif

inline broadcast()
{
	for (c : 0 .. CPUS - 1) {
		atomic {
			for (j : 0 .. SITES - 1) {
				held[c].w[j] = NOTHING
			}
			j = 0
		}
	}
	c = 0
}

inline clean()
{
#ifndef NO_CLEAN
	for (i : 0 .. SITES - 1) {
		cache[i] = memory[i]
	}
	i = 0
#endif
	skip
}

inline store(s, t)
{
#ifdef HALVES
	memory[s] = TORN;
#endif
	memory[s] = t
}

/* No CPU is sent to @t any more. */
inline quiesce(t)
{
	for (c : 0 .. CPUS - 1) {
		inside[c] != t
	}
	c = 0
}

active proctype Writer()
{
	byte i, c, j, old;
	bool fails;

	do
	:: old = now;
		atomic { freed[1 - old] = false; old_is_over = false };
		if
		:: fails = false
#ifndef NO_FAILURE
		:: fails = true
#endif
		fi;
		for (i : 0 .. SITES - 1) {
			if
			:: fails && i == SITES - 1
			:: else -> store(i, 1 - old)
			fi
		}
		if
		:: fails ->
			/* What was stored before is taken back. */
			for (i : 0 .. SITES - 2) {
#ifdef STUCK
				if
				:: store(i, old)
				:: i == 0 -> atomic { under = memory[0]; memory[0] = TRAP }
				fi
#elif !defined(NO_ROLLBACK)
				store(i, old)
#else
				skip
#endif
			}
		:: else
		fi;
		i = 0;
#ifdef SYNC_FIRST
		broadcast();
		clean();
#else
		clean();
#ifdef NO_SYNC_ON_FAILURE
		if
		:: !fails -> broadcast()
		:: else
		fi;
#else
#ifndef NO_SYNC
		broadcast();
#endif
#endif
#endif
		if
		:: fails ->
#ifdef SEE_FAILURE
			if
			:: inside[0] == 1 - old -> FAIL(witness)
			:: else
			fi;
#endif
#if defined(STUCK) && !defined(NO_MEND)
			mend(old);
#endif
#ifndef FREE_FAILED		/* variant: no CPU was sent there, or so it seems */
			quiesce(1 - old);
#endif
			freed[1 - old] = true
		:: else ->
			atomic { now = 1 - old; old_is_over = false };
#ifndef FREE_REPLACED
			quiesce(old);
#endif
			freed[old] = true
		fi;
		atomic {
			old_is_over = false;
			old = 0;
			fails = false
		}
	od
}
