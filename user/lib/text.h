/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Changes of text that is not a site: an agent replaces instructions of code that was not built
 * with us. Exported for libjumpfunc-agent of the same version alone; not public.
 *
 * API:
 *   __jf_text_change(change)	one transaction, by the INT3 protocol where others may execute it
 *   __jf_text_forget(start, end)	this text is unmapped
 *   __jf_trap_replace(action, old)	the program asks for another handler of SIGTRAP
 */
#ifndef JF_LIB_TEXT_H
#define JF_LIB_TEXT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JF_TEXT_MAX	5

/**
 * struct jf_text_poke - some bytes that change, at the begin of an instruction
 * @addr:  where
 * @num:   1 to JF_TEXT_MAX; bytes that @old and @new have in common are compared, and written only
 *         where no other thread is
 * @alone: it takes several instructions: it is changed while one thread runs, or none. Nothing
 *         leads to another than the first
 * @old:   the present bytes
 * @new:   the wanted bytes
 * @to:    where a thread goes on that meets a breakpoint at @addr, now or at any time later; it
 *         acts there as the instruction of @old or of @new
 */
struct jf_text_poke {
	uintptr_t	addr;
	uint8_t		num;
	bool		alone;
	uint8_t		old[JF_TEXT_MAX];
	uint8_t		new[JF_TEXT_MAX];
	uintptr_t	to;
};

static inline bool jf_text_is_on_two_pages(const struct jf_text_poke *poke)
{
	return poke->addr % 4096 + poke->num > 4096;
}

/**
 * struct jf_text_code - code that no thread executes yet
 * @addr:  where; executable memory
 * @bytes: what
 * @num:   of them
 */
struct jf_text_code {
	uintptr_t	addr;
	const void	*bytes;
	size_t		num;
};

/**
 * jf_text_outside_fn - have pokes written by another process, while it keeps all threads of this
 * one from running
 * @pokes: which
 * @num:   of them
 * @bad:   receives the poke that was refused, if there is one
 *
 * The other process writes all of them, or none, unless it is killed. It looks first whether a
 * thread is in the midst of the instructions of one that is @alone.
 *
 * Return: 0; -EINPROGRESS: a thread is there; -EACCES: the threads may not be stopped; -ETIMEDOUT:
 * one of them does not stop; or another error. The bytes of the text say whether it was done
 */
typedef int jf_text_outside_fn(const struct jf_text_poke *pokes, size_t num, size_t *bad);

/**
 * struct jf_text_change - a transaction
 * @pokes:    ascending, none of which overlaps another
 * @nr_pokes: of them
 * @codes:    written first
 * @nr_codes: of them
 * @bad:      receives the poke that was refused, if there is one
 * @outside:  how they are written where that takes a stop of all threads, or NULL: they are refused
 *            then
 * @mem:      a descriptor of this process's memory, for use if /proc/self/mem cannot be opened; 0:
 *            none. Another file is recognised, and not used
 */
struct jf_text_change {
	struct jf_text_poke		*pokes;
	size_t				nr_pokes;
	const struct jf_text_code	*codes;
	size_t				nr_codes;
	size_t				bad;
	jf_text_outside_fn		*outside;
	int				mem;
};

/**
 * __jf_text_change() - replace instructions while others may be executing them
 * @change: what
 *
 * Where byte 0 is all that changes in each poke, and no breakpoint before or after it, that is one
 * store each: no thread needs SIGTRAP then, and none that blocks it is a reason to refuse.
 *
 * All or none. The caller sees to it that the text stays mapped; and also after a failure that
 * the code stays: a thread may have been led there.
 *
 * Context: may sleep; not in a signal handler. Where several threads run, @change->outside writes,
 * if there is one. If that cannot be, breakpoints are taken, unless a thread blocks SIGTRAP or a
 * poke takes several instructions.
 *
 * Return: 0; -EBUSY: there is a breakpoint of another owner, or a site of libjumpfunc; -EILSEQ:
 * other bytes than @old; -EAGAIN: a thread blocks SIGTRAP, or that cannot be told; -EPERM: several
 * threads run, and a poke takes several instructions; -EINPROGRESS, -EACCES, -ETIMEDOUT: of
 * @change->outside; -EINTR: that was interrupted, and each poke is as it was or as it was to be;
 * -EDEADLK: this thread forks; -EOPNOTSUPP: text cannot be written in place, see jf_stats_get();
 * -EMFILE, -ENFILE: no file may be opened, by which that is done; -ENOMEM; -EIO: some bytes could
 * not be written, and breakpoints stay there
 */
int __jf_text_change(struct jf_text_change *change) __attribute__((__visibility__("default")));

/*
 * The agent sets it if a filter may end the program for a system call: from then on no thread of
 * the program makes one for a record, at its own end, or in fork().
 */
extern uint8_t __jf_quiet __attribute__((__visibility__("default")));

/**
 * __jf_text_forget() - no breakpoint is answered any more from @start to @end
 * @start: of text that was unmapped
 * @end:   of it
 *
 * Context: may sleep; not in a signal handler.
 */
void __jf_text_forget(uintptr_t start, uintptr_t end) __attribute__((__visibility__("default")));

/**
 * __jf_trap_replace() - as sigaction(SIGTRAP), but for the library's own handler, which
 * stays
 * @action: gets the signals that the library does not cause, or NULL
 * @old:    receives the action that the program takes for the present one, or NULL; may be @action
 *
 * Context: any; async-signal-safe.
 * Return: 0; -ENOENT: the library's handler is not the first one; -ENOSPC: too many actions; then
 * nothing is changed
 */
int __jf_trap_replace(const struct sigaction *action, struct sigaction *old) __attribute__((__visibility__("default")));

#endif /* JF_LIB_TEXT_H */
