/* SPDX-License-Identifier: GPL-2.0 */
/*
 * jumpfunc_forms.ko: three forms that an SDT probe may have in a module, compared. The
 * same in programs is user/bench/forms.
 *
 *   none.c	no probe: this is subtracted
 *   site.c	an asm goto site: jf_branch_unlikely(), and a call on its other side
 *   call.c	a call of a function that does not exist: <jumpfunc/calls.h>
 *   fault.c	a read of a page that is not mapped while probes are on, and arguments in a
 *		place of the CPU's: the read has an entry in __ex_table, and the code there calls
 *		the subscriber
 *   kept.c	the same, with the other side of an asm goto there: the
 *		compiler brings the arguments
 *   page.c	the page of these two
 *   measure.c	their costs
 *   step.c	instructions and bytes, by single steps
 *   main.c	the file in debugfs
 */
#ifndef JFF_FORMS_H
#define JFF_FORMS_H

#include "index/state.h"

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#include <linux/percpu.h>

/* Probes are numbered: of plain() 0 to 63, of busy() the next 64, and then all others. */
#define JFF_HOT		64
#define JFF_BUSY	JFF_HOT
#define JFF_MANY	(2 * JFF_HOT)
#define JFF_PARTS	50
#define JFF_IN_PART	100
#define JFF_PROBES	(JFF_MANY + JFF_PARTS * JFF_IN_PART)

/**
 * struct jff_form - one form, with its probes
 * @name:  in the table
 * @kept:  registers in which a value may stay from before a probe to after it
 * @plain: @turns times JFF_HOT probes, among instructions that wait for nothing
 * @busy:  the same, with twelve values in use before and after each
 * @many:  functions of JFF_IN_PART probes each
 * @set:   enables or disables @num probes from @first on; 0 or -errno; NULL: there are none
 */
struct jff_form {
	const char	*name;
	unsigned int	kept;
	long		(*plain)(unsigned long turns, long a, long b, long c);
	long		(*busy)(unsigned long turns, long a, long b, long c);
	void		(*const *many)(long a, long b, long c);
	int		(*set)(unsigned int first, unsigned int num, bool on);
};

extern const struct jff_form jff_none, jff_site, jff_call, jff_fault, jff_kept;
#define JFF_FORMS	5
extern const struct jff_form * const jff_forms[JFF_FORMS];

/* The subscriber, of all forms. */
void jff_hit(long a, long b, long c);
extern long jff_seen;

/* --- page.c -------------------------------------------------------------- */

extern u8 jff_page[PAGE_SIZE];

/*
 * Sets @num flags and takes the page away, or the other way round. Process context. 0 or
 * -errno; then nothing has changed.
 */
int jff_page_set(u8 *enabled, unsigned int num, bool on);
/* How often all CPUs were told of that. */
extern u64 jff_page_broadcasts;

/* --- step.c -------------------------------------------------------------- */

struct jff_count {
	unsigned int	instructions, bytes;
};

/* Of one turn of @run. */
int jff_count(long (*run)(unsigned long turns, long a, long b, long c), struct jff_count *count);

/* --- measure.c ----------------------------------------------------------- */

enum jff_kind { JFF_PLAIN_RUN, JFF_BUSY_RUN, JFF_KINDS };

/**
 * struct jff_result - the result of a form; times in ps, of one probe, code around it included
 * @off:	of a probe that is off
 * @count:	instructions and bytes of all JFF_HOT
 * @on:		of a probe that is on
 * @other:	of a probe that is off, while another one is on
 * @enable:	ns, to enable 1 and 5,000 probes
 * @broadcasts:	to all CPUs that it took
 */
struct jff_result {
	u64			off[JFF_KINDS], on, other;
	struct jff_count	count[JFF_KINDS];
	u64			enable[2], broadcasts[2];
};

int jff_measure(struct jff_result *res, unsigned int rounds);

#endif /* JFF_FORMS_H */
