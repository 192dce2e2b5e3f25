// SPDX-License-Identifier: GPL-2.0
/*
 * The page form of today's compilers: the other side of an asm goto answers the fault, so arguments
 * stay where they are.
 */
#include "forms.h"

#include <asm/asm.h>

static u8 enabled[JFF_PROBES];

static int set(unsigned int first, unsigned int num, bool on)
{
	return jff_page_set(enabled + first, num, on);
}

#define FORM		kept
#define JFF_FORM_NAME	"page, asm goto"
#define JFF_FORM_KEPT	15
#define JFF_FORM_SET	set
#define PROBE(kind, n, i, a, b, c)					\
	do {								\
		__label__ hit;						\
									\
		asm goto("1:\ttestl %%eax, jff_page(%%rip)\n"		\
			 _ASM_EXTABLE(1b, %l[hit])			\
			 : : : "cc", "memory" : hit);			\
		if (0) {						\
hit:									\
			if (READ_ONCE(enabled[i]))			\
				jff_hit(a, b, c);			\
		}							\
	} while (0)

#include "form.h"
