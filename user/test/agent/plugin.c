// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A plugin that becomes another one, with -DLATER, whose function and note are at the same place. Both functions begin with the
 * same instruction of one byte; what follows it is part of a jump's distance. With -DRENAMED the function has another name alone.
 */
#ifdef LATER
#define NOTE	"later"
/* Back as far as no jump leads that was made for the other. */
#define BODY	"leal 7(%rdi), %eax\nnop\n"
#else
#define NOTE	"first"
#define BODY	"movl %edi, %ebx\nmovl %ebx, %eax\n"
#endif
#ifdef RENAMED
#define NAME	"renamed"
#else
#define NAME	"plugged"
#endif

__asm__(".text\n.balign 64\n.globl " NAME "\n.type " NAME ", @function\n"
	NAME ": pushq %rbx\n" BODY "popq %rbx\nret\n.size " NAME ", . - " NAME "\n.balign 64\n"
	".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte " NAME ", _.stapsdt.base, 0\n"
	".asciz \"jfplugin\"\n.asciz \"" NOTE "\"\n.asciz \"-4@%edi\"\n994: .balign 4\n.popsection\n"
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n.weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n");
