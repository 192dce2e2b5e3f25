// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A USDT note, written out, so that its nop can be longer than SystemTap's: the macro NOP is the
 * instruction.
 */
#include "ust.h"

#ifndef NOP
#define NOP	"nop"
#endif

__attribute__((__noinline__))
void loop(long n)
{
	long i;

	for (i = 0; i < n; i++) {
		__asm__ volatile("990:	" NOP "\n"
				 "	.pushsection .note.stapsdt, \"?\", \"note\"\n"
				 "	.balign 4\n"
				 "	.4byte 992f-991f, 994f-993f, 3\n"
				 "991:	.asciz \"stapsdt\"\n"
				 "992:	.balign 4\n"
				 "993:	.8byte 990b\n"
				 "	.8byte _.stapsdt.base\n"
				 "	.8byte 0\n"
				 "	.asciz \"jfbench\"\n"
				 "	.asciz \"two\"\n"
				 "	.asciz \"4@%k0 -8@%1\"\n"
				 "994:	.balign 4\n"
				 "	.popsection\n"
				 "	.ifndef _.stapsdt.base\n"
				 "	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
				 "	.weak _.stapsdt.base\n"
				 "	.hidden _.stapsdt.base\n"
				 "_.stapsdt.base: .space 1\n"
				 "	.size _.stapsdt.base, 1\n"
				 "	.popsection\n"
				 "	.endif\n"
				 : : "r" ((unsigned int)i), "r" (n) : "memory");
	}
}
