/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch images for arm64, as the assembler leaves them: every call leads to its veneer,
 * every address and all data are 0. kernel/arch/arm64/image.c fills them in.
 *
 * They stand here as code, rather than being generated into memory at run time, since
 * modules can get no executable memory but their own text.
 *
 * An image for one probe passes on whatever arguments there are:
 *
 *	bti	c
 *	ldr	x0, data
 *	b	probe			or the veneer, where that is out of reach
 *
 * One for 2 to 16 probes makes a frame record, so that stack traces go through it, saves the
 * argument registers that its tracepoints use, and has 16 slots like this:
 *
 *	ldr	x0, data
 *	ldp	x1, x2, saved ...	registers
 *	ldp, stp ...			arguments on the stack
 *	bl	probe			or the slot's veneer
 *
 * After the last probe, the first word of the next slot is made a branch to the end. The
 * stack is the same at the start of every slot. The return address is signed where
 * the compiler does so, too.
 *
 * Veneers and literals stand after the code of the image:
 *
 *	ldr	x16, probe
 *	br	x16			may lead to "bti c"
 *
 * No CPU executes literals, and no branch is predicted to go on there: each code in
 * front of them ends with a branch or a return.
 *
 * They stand in .kprobes.text, where the kernel refuses kprobes once their module notifier
 * has run. A notifier that runs before could still set one, so all words that are filled in
 * have records in __bug_table, as jumpfunc/detail/site_bug.h explains: the calls, and
 * the literals, of which a breakpoint would be a part. (One on a load that is not filled in
 * does the same as the load.)
 */
#include <linux/linkage.h>

#include "arch/layout.h"
#include "arch/macros.h"
#include "arch/arm64/image.h"

/* Kbuild says so. */
#ifdef JF_SIGNS
#define JF_SIGN		hint #25	/* paciasp */
#define JF_UNSIGN	hint #29	/* autiasp */
#else
#define JF_SIGN
#define JF_UNSIGN
#endif

/* The frame: its record, x1 to x7. The arguments on the stack come after it. */
#define JF_FRAME	80
/* Those of a call. */
#define JF_STACK_ARGS	48

/* An image has the labels of arch/layout.h, and 766 at its veneers, 767 at its literals. */

/* 0 in both words, neither of which is an instruction. */
.macro jf_literal
774:
	.quad	0
	jf_no_kprobe 774b
	jf_no_kprobe 774b+4
.endm

.macro jf_single
	.p2align 4
	.type	jf_single_\@, %function
jf_single_\@:
760:
	hint	#34				/* bti c */
761:
771:
	ldr	x0, .Ljf_data_\@
772:
	b	766f
763:
764:
766:
	ldr	x16, .Ljf_probe_\@
	br	x16
	.balign	8
767:
.Ljf_data_\@:
	jf_literal
.Ljf_probe_\@:
	jf_literal
	jf_no_kprobe 771b
	jf_no_kprobe 772b
	.size	jf_single_\@, . - jf_single_\@
.endm

.macro jf_chain name, regs, stack
	.p2align 4
	.type	jf_chain_\name\()_\@, %function
jf_chain_\name\()_\@:
760:
	hint	#34				/* bti c */
	JF_SIGN
	stp	x29, x30, [sp, #-JF_FRAME]!
	mov	x29, sp
	stp	x1, x2, [x29, #16]
	.if	\regs > 3
	stp	x3, x4, [x29, #32]
	stp	x5, x6, [x29, #48]
	str	x7, [x29, #64]
	.else
	str	x3, [x29, #32]
	.endif
	.if	\stack
	sub	sp, sp, #JF_STACK_ARGS
	.endif
761:
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
771:
	ldr	x0, .Ljf_data_\@_\i
	ldp	x1, x2, [x29, #16]
	.if	\regs > 3
	ldp	x3, x4, [x29, #32]
	ldp	x5, x6, [x29, #48]
	ldr	x7, [x29, #64]
	.else
	ldr	x3, [x29, #32]
	.endif
	.if	\stack
	ldp	x16, x17, [x29, #JF_FRAME]
	stp	x16, x17, [sp]
	ldp	x16, x17, [x29, #JF_FRAME + 16]
	stp	x16, x17, [sp, #16]
	ldr	x16, [x29, #JF_FRAME + 32]
	str	x16, [sp, #32]
	.endif
772:
	bl	.Ljf_veneer_\@_\i
763:
	jf_no_kprobe 771b
	jf_no_kprobe 772b
	.endr
764:
	.if	\stack
	mov	sp, x29
	.endif
	ldp	x29, x30, [sp], #JF_FRAME
	JF_UNSIGN
	ret
766:
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
.Ljf_veneer_\@_\i:
	ldr	x16, .Ljf_probe_\@_\i
	br	x16
	.endr
	.balign	8
767:
	.irp	i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
.Ljf_data_\@_\i:
	jf_literal
.Ljf_probe_\@_\i:
	jf_literal
	.endr
	.size	jf_chain_\name\()_\@, . - jf_chain_\name\()_\@
.endm

	.section .kprobes.text, "ax", @progbits

	.p2align 4
.Ljf_images_single:
	.rept	JF_IMAGES_SINGLE
	jf_single
	.endr
	.p2align 4
765:
	jf_layout single, .Ljf_images_single, JF_IMAGES_SINGLE, 766b, 767b

.Ljf_images_small:
	.rept	JF_IMAGES_SMALL
	jf_chain small, 3, 0
	.endr
	.p2align 4
765:
	jf_layout small, .Ljf_images_small, JF_IMAGES_SMALL, 766b, 767b

.Ljf_images_regs:
	.rept	JF_IMAGES_REGS
	jf_chain regs, 7, 0
	.endr
	.p2align 4
765:
	jf_layout regs, .Ljf_images_regs, JF_IMAGES_REGS, 766b, 767b

.Ljf_images_stack:
	.rept	JF_IMAGES_STACK
	jf_chain stack, 7, 5
	.endr
	.p2align 4
765:
	jf_layout stack, .Ljf_images_stack, JF_IMAGES_STACK, 766b, 767b
