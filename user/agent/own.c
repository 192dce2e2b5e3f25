// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Threads without the C library's variables. A program can make a thread with a block of its own
 * (clone() with CLONE_SETTLS), or give one to a thread for a while (ARCH_SET_FS). The agent's
 * variables of threads are not there: a load of one would end the program, or read other data. Such
 * a thread is not recorded, and no system call is made in it but to look.
 *
 * A thread's block is at the base of fs. The instruction that tells the base takes ten times as
 * long as all of this (rdfsbase, on Intel's processors), and the first word of the block, which
 * holds the base, can only be read if there is a block. So a table has parts of stacks, each with
 * the base that a thread had there: a thread that comes by with both is known. Else the base is
 * asked for. Bases that were found to be the C library's are in another table. At a base that is
 * not known the kernel is asked whether the agent's variables can be read, and then whether they
 * have the mark that each thread of the C library begins with. Each record looks at the mark, too:
 * the memory of an ended thread can belong to another one.
 *
 * One case is left: a thread without a block, on a part of a stack where it, or one before it, had
 * one. If the program makes such a thread by a function of the C library (watch.c), the parts are
 * given up, and the base is asked for each time.
 */
#include "own.h"
#include "aside.h"
#include "saved.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

/* AT_HWCAP2: the kernel permits rdfsbase, from Linux 5.9 on. */
#define HAS_FSGSBASE	2U
/* Places that a base may have in a table. */
#define TRIES		8U
#define BASES		4096U
#define FOREIGN		64U

__thread uint64_t jf_own_mark __attribute__((__tls_model__("initial-exec"))) = JF_OWN_MARK;
struct jf_own_part jf_own_parts[JF_OWN_PARTS];
/* Bases of the C library's threads; and of others, with the lowest bit the other way round. */
static uint64_t bases[BASES], foreign[FOREIGN];
static bool told, given_up;

/* The distance of the mark from the base: a C expression would read the thread's own block. */
static uint64_t mark_from_base(void)
{
	uint64_t from;

	__asm__("movq jf_own_mark@gottpoff(%%rip), %0" : "=r" (from));
	return from;
}

/* The kernel reads the set of signals first, and then refuses the way of changing them. */
static bool is_readable(uint64_t at)
{
	return at && call4(SYS_rt_sigprocmask, -1, (long)at, 0, sizeof(uint64_t)) != -EFAULT;
}

/* As the C library has it: the first word is the base itself. */
static bool has_mark(uint64_t base)
{
	uint64_t at = base + mark_from_base(), mark;

	if (!is_readable(base) || *(const uint64_t *)base != base || !is_readable(at))
		return false;
	mark = *(const uint64_t *)at;
	return mark == JF_OWN_MARK || mark == JF_OWN_SHARED;
}

static bool is_in(const uint64_t *table, unsigned int num, uint64_t base)
{
	unsigned int first = jf_own_hash(base), i;

	for (i = 0; i < TRIES; i++)
		if (__atomic_load_n(&table[(first + i) % num], __ATOMIC_RELAXED) == base)
			return true;
	return false;
}

/* In a free place, or in another base's place: the kernel is asked about that base again. */
static void keep(uint64_t *table, unsigned int num, uint64_t base)
{
	unsigned int first = jf_own_hash(base), i;
	uint64_t none;

	for (i = 0; i < TRIES; i++) {
		none = 0;
		if (__atomic_compare_exchange_n(&table[(first + i) % num], &none, base, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
	__atomic_store_n(&table[first % num], base, __ATOMIC_RELAXED);
}

static bool is_own(uint64_t base)
{
	if (base && is_in(bases, BASES, base))
		return true;
	/* In a quiet process, an unknown thread has no ring. */
	if (jf_is_quiet() || is_in(foreign, FOREIGN, base ^ 1))
		return false;
	if (has_mark(base)) {
		keep(bases, BASES, base);
		return true;
	}
	keep(foreign, FOREIGN, base ^ 1);
	return false;
}

static void keep_part(uint64_t part, uint64_t base)
{
	struct jf_own_part *p = &jf_own_parts[jf_own_hash(part) % JF_OWN_PARTS];

	__atomic_store_n(&p->part, part, __ATOMIC_RELAXED);
	__atomic_store_n(&p->base, base, __ATOMIC_RELAXED);
	/* Pairs with jf_own_give_up(). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&given_up, __ATOMIC_RELAXED))
		__atomic_store_n(&p->part, 0, __ATOMIC_RELAXED);
}

/* Without the instruction, beneath a filter of the program, it is taken for the C library's. */
__attribute__((__noinline__))
bool jf_own_look(uint64_t part)
{
	uint64_t base = 0;

	if (told)
		__asm__ volatile("rdfsbase %0" : "=r" (base));
	else if (jf_is_quiet() || call4(SYS_arch_prctl, ARCH_GET_FS, (long)&base, 0, 0))
		return true;
	if (!is_own(base))
		return false;
	if (!__atomic_load_n(&given_up, __ATOMIC_RELAXED))
		keep_part(part, base);
	return true;
}

void jf_own_give_up(void)
{
	unsigned int i;

	/* Pairs with keep_part(). */
	__atomic_store_n(&given_up, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < JF_OWN_PARTS; i++)
		__atomic_store_n(&jf_own_parts[i].part, 0, __ATOMIC_RELAXED);
}

/**
 * jf_own_begin() - before any probe's code is executed
 */
void jf_own_begin(void)
{
	unsigned int a, b, c, d;

	told = getauxval(AT_HWCAP2) & HAS_FSGSBASE && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_FSGSBASE;
}
