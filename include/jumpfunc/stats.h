/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Numbers of libjumpfunc's work in this process, and its writer. For programs only; the kernel
 * module has the same in debugfs.
 *
 * API:
 *   jf_stats_get(&stats, sizeof(stats))	numbers, and the writer of text
 *
 * Example:
 *   struct jf_stats stats;
 *
 *   jf_stats_get(&stats, sizeof(stats));
 *   printf("%s (%s)\n", stats.writer, stats.why);
 *
 * The environment of a program:
 *   JUMPFUNC=off		never write text: changes of keys are refused, unless all
 *				of their branches are compiled with -DJF_TESTED, or are
 *				in functions that have the key as a parameter
 *   JUMPFUNC=verbose		name on standard error each impossible thing, and why
 *   JUMPFUNC_WRITER=mem	write through /proc/self/mem or not at all
 *   JUMPFUNC_WRITER=remap	replace pages by copies or not at all
 *   JUMPFUNC_WRITER=none	the same as off
 *   JUMPFUNC_TRAP=never	no breakpoints, and no handler for SIGTRAP: the default
 *   JUMPFUNC_TRAP=always	text is changed as kernels do it, by breakpoints. Threads
 *				that run sites must not block SIGTRAP, or the kernel
 *				kills the program; nor must a debugger keep it (gdb:
 *				"handle SIGTRAP nostop noprint pass"). In exchange no
 *				thread takes a branch the old way after another one
 *				took it the new way, while the change is under way
 *   JUMPFUNC_ENABLE=NAMES	keys that start enabled: see list.h
 *
 * It is read once, before main(). Programs that gained privileges by setuid or the like
 * ignore it.
 */
#ifndef JUMPFUNC_STATS_H
#define JUMPFUNC_STATS_H

#ifdef __KERNEL__
#error "for programs only"
#endif

#include <jumpfunc/detail/macros.h>

__JF_BEGIN_DECLS

/**
 * struct jf_stats - counts of libjumpfunc's work
 * @objects:     linked objects with tables, now
 * @refused:     such objects whose tables were not accepted
 * @keys:        keys, now
 * @funcs:       dynamic functions, now
 * @sites:       sites, now; calls are sites, too
 * @commits:     batches that changed text
 * @patched:     sites that they changed
 * @syncs:       broadcasts to all cores
 * @quiesces:    completed jf_quiesce() calls
 * @traps:       breakpoints of ours that threads met
 * @foreign:     SIGTRAPs that were passed on
 * @window_ns:   longest time that a change of text took
 * @writer:      the writer of text: "mem", "remap", or "none", also if there was none to
 *               write yet
 * @form:        "flip", or "int3" for JUMPFUNC_TRAP=always; "store" on aarch64; "load" where
 *               nothing is patched
 * @why:         why no better writer, for people; "" if none was refused
 * @trampolined: uses of dynfunc_call() that go through the trampoline: the instruction was
 *               not found; or, without JUMPFUNC_TRAP=always, the target is out of reach now, or
 *               there is no memory for a change in place. Uses in an object count after the
 *               first change of one of its dynamic functions: nothing looks for them before
 */
struct jf_stats {
	uint64_t	objects;
	uint64_t	refused;
	uint64_t	keys;
	uint64_t	funcs;
	uint64_t	sites;
	uint64_t	commits;
	uint64_t	patched;
	uint64_t	syncs;
	uint64_t	quiesces;
	uint64_t	traps;
	uint64_t	foreign;
	uint64_t	window_ns;
	char		writer[16];
	char		form[8];
	char		why[160];
	uint64_t	trampolined;
};

/**
 * jf_stats_get() - read the numbers of libjumpfunc's work, and its writer
 * @stats: receives it
 * @size:  sizeof(struct jf_stats), which may grow with the library
 *
 * Context: not from a signal handler.
 */
void jf_stats_get(struct jf_stats *stats, size_t size);

__JF_END_DECLS

#endif /* JUMPFUNC_STATS_H */
