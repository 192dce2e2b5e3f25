// SPDX-License-Identifier: GPL-2.0
/*
 * The page form, with the arguments in a place that is known: of the CPU. A module has none of
 * a task's, so the result is right as long as no other task and no interrupt with a probe
 * runs on this CPU between the first store and the last load. The benchmark keeps interrupts
 * off; other users would have to do so for each probe, on or off.
 */
#include "forms.h"

#include <asm/asm.h>

struct args {
	long	a, b, c;
};
static DEFINE_PER_CPU(struct args, args);
static u8 enabled[JFF_PROBES];

static int set(unsigned int first, unsigned int num, bool on)
{
	return jff_page_set(enabled + first, num, on);
}

#define FORM		fault
#define JFF_FORM_NAME	"page fault"
#define JFF_FORM_KEPT	15
#define JFF_FORM_SET	set
#define PROBE(kind, n, i, x, y, z)					\
	do {								\
		__label__ hit;						\
									\
		this_cpu_write(args.a, x);				\
		this_cpu_write(args.b, y);				\
		this_cpu_write(args.c, z);				\
		asm goto("1:\ttestl %%eax, jff_page(%%rip)\n"		\
			 _ASM_EXTABLE(1b, %l[hit])			\
			 : : : "cc", "memory" : hit);			\
		if (0) {						\
hit:									\
			if (READ_ONCE(enabled[i]))			\
				jff_hit(this_cpu_read(args.a),		\
					this_cpu_read(args.b),		\
					this_cpu_read(args.c));		\
		}							\
	} while (0)

#include "form.h"
