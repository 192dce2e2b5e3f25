/* SPDX-License-Identifier: GPL-2.0 */
/* An architecture's text: sites, and its other contents (see kernel/arch/arch.h). */
#ifndef JF_ARCH_TEXT_H
#define JF_ARCH_TEXT_H

#include <linux/list.h>
#include <linux/types.h>

#include "index/site.h"
#include "index/spans.h"

struct seq_file;

/* --- sites --------------------------------------------------------------- */

/*
 * Check that a new site has the bytes that the macros emit. Fills in @insn
 * and @label. For a trampoline, @addr is the function's address and
 * becomes its jump's address. @tramp: the trampoline of a call site's function.
 * -EILSEQ if they are not.
 */
int jf_arch_adopt(struct jf_site *site, unsigned long tramp);
/*
 * Encode an operation for a site; -ERANGE. An architecture may answer with the compiled
 * instruction, if that suffices: a trampoline then goes on to jf_func.func, which the caller sets
 * to the target after the transaction, and a call site calls the trampoline.
 */
int jf_arch_encode(const struct jf_site *site, enum jf_op op,
		   unsigned long target, u64 *insn);
/*
 * Check that the old instructions of these pokes stand there. Otherwise *@bad is the index of
 * the first that does not: -EBUSY for a breakpoint, -EILSEQ for other bytes.
 */
int jf_arch_verify(const struct jf_poke *pokes, unsigned int num, size_t *bad);
/*
 * Carry out a transaction: @pokes sorted by address, all verified. When it returns, every
 * CPU executes new at all of them. Until then one may run old at a site after another
 * has run new there (on x86 none does). @live: the text may be executing. 0, or an error
 * with no byte changed (but see -EIO of jf_batch_commit()).
 */
int jf_arch_patch(struct jf_poke *pokes, unsigned int num, bool live);
/*
 * True if a CPU can execute new at some site, before jf_arch_patch() takes that back and fails.
 * Then a task can still be in the code that new leads to.
 */
bool jf_arch_runs_failed(void);
/* The same of the last transaction, which has failed. False if it failed before its first store. */
bool jf_arch_ran(void);
/*
 * True if some site could not be taken back then. It leads to the rejected target, at once or
 * as soon as another writer's breakpoint is removed, and site->insn says so.
 */
bool jf_arch_is_stuck(void);
/*
 * Have such sites lead to their entities' values, as they were before: the sites
 * in @sites, which is jf_ctl.sites of one entity, or all sites. 0, or -EBUSY if one of these is
 * stuck still. Only the second one finds that there is no such site any more. With jf_lock() held.
 */
int jf_arch_mend(const struct list_head *sites);
int jf_arch_mend_all(void);
/*
 * Each CPU executes from now on the text that was written where no CPU could come, such as an
 * image. A transaction implies it; this is for a change that needs none. One broadcast, if there
 * has been none since. With jf_lock() held.
 */
void jf_arch_settle(void);
/* The present bytes of a site and their instruction. The address that it leads to, 0: none. */
unsigned long jf_arch_show(struct seq_file *m, const struct jf_site *site);

/* --- other text ----------------------------------------------------------- */

/* True if the kernel can execute this address, or if that is not known. */
bool jf_arch_is_text(unsigned long addr);
/* True if it is in the kernel's own image, which is never freed, or if that is not known. */
bool jf_arch_is_image(unsigned long addr);
/* True if no task stays in this text: padding, traps. */
bool jf_arch_is_padding(unsigned long start, unsigned long end);
/*
 * Add code that belongs to the branches in this text and stands elsewhere, if it may
 * be executed. 0 or -ENOMEM.
 */
int jf_arch_add_tests(struct jf_spans *s, unsigned long start, unsigned long end);
/* True if a jump, or bytes that look like one, lead from this text to that. */
bool jf_arch_leads_into(unsigned long start, unsigned long end,
			unsigned long to_start, unsigned long to_end);

#endif /* JF_ARCH_TEXT_H */
