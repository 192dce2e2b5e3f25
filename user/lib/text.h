/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Changes of text that is not a site: an agent replaces instructions of code that was not built
 * with us. Exported for libjumpfunc-agent of the same version alone; not public.
 *
 * API:
 *   __jf_text_change(change)	one transaction, by the INT3 protocol where others may execute it
 *   __jf_text_forget(start, end)	this text is unmapped
 */
#ifndef JF_LIB_TEXT_H
#define JF_LIB_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define JF_TEXT_MAX	5

/**
 * struct jf_text_poke - some bytes that change, at the begin of an instruction
 * @addr:  where
 * @num:   1 to JF_TEXT_MAX; bytes that @old and @new have in common are compared and not written
 * @stops: bit i: an instruction begins at @addr + i, before the change or after it. Bit 0 is always
 *         meant. There, one of @old and @new has a breakpoint or both are equal
 * @old:   what stands there
 * @new:   what shall
 * @to:    for each of @stops, and 0: where a thread goes on that meets a breakpoint there, now or at
 *         any time later; it does there what the instruction of @old or of @new would have done
 *
 * Where @new has a breakpoint in the midst it stays, so that a thread that is there, whether it was
 * preempted or is in a signal handler, and a branch that leads there, come to @to as well.
 */
struct jf_text_poke {
	uintptr_t	addr;
	uint8_t		num;
	uint8_t		stops;
	uint8_t		old[JF_TEXT_MAX];
	uint8_t		new[JF_TEXT_MAX];
	uintptr_t	to[JF_TEXT_MAX];
};

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
 * struct jf_text_change - a transaction
 * @pokes:    ascending, none of which overlaps another
 * @nr_pokes: of them
 * @codes:    written first
 * @nr_codes: of them
 * @bad:      receives the poke that was refused, if there is one
 */
struct jf_text_change {
	struct jf_text_poke		*pokes;
	size_t				nr_pokes;
	const struct jf_text_code	*codes;
	size_t				nr_codes;
	size_t				bad;
};

/**
 * __jf_text_change() - replace instructions while others may be executing them
 * @change: what
 *
 * All or none. The caller sees to it that the text stays mapped; and also after a failure that
 * the code stays: a thread may have been led there.
 *
 * Context: may sleep; not in a signal handler.
 * Return: 0; -EBUSY: there is a breakpoint of another owner, or a site of libjumpfunc; -EILSEQ: other
 * bytes than @old; -EAGAIN: a thread blocks SIGTRAP; -EDEADLK: this thread forks; -EOPNOTSUPP: text
 * cannot be written in place, see jf_stats_get(); -ENOMEM; -EIO: some bytes could not be written, and
 * breakpoints stay there
 */
int __jf_text_change(struct jf_text_change *change) __attribute__((__visibility__("default")));

/**
 * __jf_text_forget() - no breakpoint is answered any more from @start to @end
 * @start: of text that was unmapped
 * @end:   of it
 *
 * Context: may sleep; not in a signal handler.
 */
void __jf_text_forget(uintptr_t start, uintptr_t end) __attribute__((__visibility__("default")));

#endif /* JF_LIB_TEXT_H */
