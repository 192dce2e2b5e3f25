// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A plugin that becomes another one, with -DLATER, whose function and note are at the same place.
 * Both functions begin with the same instruction of one byte; the next byte is part of a jump's
 * distance. With -DRENAMED the function has another name alone. With -DLONG the first instruction
 * has ten bytes, of which the first six are the same.
 */
#ifdef LATER
#define NOTE	"later"
/* Back as far as no jump leads that was made for the other. */
#define BODY	"pushq %rbx\nleal 7(%rdi), %eax\nnop\npopq %rbx\nret\n"
#else
#define NOTE	"first"
#define BODY	"pushq %rbx\nmovl %edi, %ebx\nmovl %ebx, %eax\npopq %rbx\nret\n"
#endif
#ifdef LONG
#undef BODY
#ifdef LATER
#define BODY	"movl $8, plugged_word(%rip)\nmovl plugged_word(%rip), %eax\nret\n"
#else
#define BODY	"movl $1, plugged_word(%rip)\nmovl plugged_word(%rip), %eax\nret\n"
#endif
#endif
#ifdef RENAMED
#define NAME	"renamed"
#else
#define NAME	"plugged"
#endif

__asm__(".local plugged_word\n.comm plugged_word, 4, 4\n"
	".text\n.balign 64\n.globl " NAME "\n.type " NAME ", @function\n"
	NAME ": " BODY ".size " NAME ", . - " NAME "\n.balign 64\n"
	".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte " NAME ", _.stapsdt.base, 0\n"
	".asciz \"jfplugin\"\n.asciz \"" NOTE "\"\n.asciz \"-4@%edi\"\n994: .balign 4\n.popsection\n"
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n.weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n");
