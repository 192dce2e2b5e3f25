/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dispatch images for x86-64, as the assembler leaves them: every call leads to
 * jf_nop, every data is 0. kernel/arch/x86/image.c fills them in.
 *
 * They stand here as code, rather than being generated into memory at run time,
 * so that objtool checks them and makes unwind information for them: a stack
 * trace from inside a probe goes through the image like through any function.
 *
 * An image for one probe passes on whatever arguments there are:
 *
 *	mov	$data, %rdi
 *	jmp	probe
 *
 * One for 2 to 16 probes saves the argument registers that its tracepoints use
 * (below a frame, on kernels whose unwinder goes by the frame pointer), and has
 * 16 slots like this:
 *
 *	mov	$data, %rdi
 *	mov	saved, %rsi ...		registers
 *	push	saved ...		arguments on the stack
 *	call	probe
 *	add	$8 * n, %rsp
 *
 * After the last probe, the first five bytes of the next slot are made a jump
 * to the end. The stack is the same at the start of every slot, so objtool's results stay true.
 *
 * Each image is a function of its own, 16-byte aligned, with 16 bytes of nops in
 * front, into which kernels with call-depth tracking move entries.
 *
 * They stand in .kprobes.text, where the kernel refuses kprobes: one would keep a
 * copy of an instruction, with an earlier probe's data or address in it, and run
 * that for the probes that the image is filled in for later. The kernel refuses
 * kprobes there once kprobes' module notifier has run. A notifier that runs
 * before could still set one, so the instructions that are filled in have
 * records in __bug_table, and each image has an entry in __ex_table, as
 * jumpfunc/detail/site_x86.h explains.
 */
#include <linux/linkage.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>

#include "arch/layout.h"
#include "arch/x86/image.h"
#include "arch/x86/macros.h"

/* Words between the saved registers and the return address: FRAME_BEGIN's. */
#define JF_FRAME	(FRAME_OFFSET / 8)

/* An image has the labels of kernel/arch/layout.h. */

.macro jf_single
	.p2align 4
	.skip	16, 0x90
	.type	jf_single_\@, @function
jf_single_\@:
760:
761:
771:
	movabs	$0, %rdi
772:
	.byte	0xe9
	.long	jf_nop - (. + 4)
	.byte	0xcc
	jf_no_kprobe 771b
	jf_no_kprobe 772b
	jf_no_optprobe 771b
763:
764:
	.size	jf_single_\@, . - jf_single_\@
.endm

/*
 * A slot. \regs argument registers have been pushed; a word on the stack is
 * pushed again from its place above them and the return address, the last
 * argument first, and each push brings the one before it to the same offset.
 */
.macro jf_chain_slot regs, stack
771:
	movabs	$0, %rdi
	movq	8 * (\regs - 1)(%rsp), %rsi
	movq	8 * (\regs - 2)(%rsp), %rdx
	movq	8 * (\regs - 3)(%rsp), %rcx
	.if	\regs > 3
	movq	8 * (\regs - 4)(%rsp), %r8
	movq	8 * (\regs - 5)(%rsp), %r9
	.endif
	.rept	\stack
	pushq	8 * (\regs + \stack + JF_FRAME)(%rsp)
	.endr
772:
	.byte	0xe8
	.long	jf_nop - (. + 4)
	jf_no_kprobe 771b
	jf_no_kprobe 772b
	.if	\stack
	addq	$8 * \stack, %rsp
	.endif
763:
.endm

.macro jf_chain name, regs, stack
	.p2align 4
	.skip	16, 0x90
	.type	jf_chain_\name\()_\@, @function
jf_chain_\name\()_\@:
760:
	FRAME_BEGIN
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	.if	\regs > 3
	pushq	%r8
	pushq	%r9
	.endif
761:
	.rept	JF_CHAIN_SLOTS
	jf_chain_slot \regs, \stack
	.endr
764:
	addq	$8 * \regs, %rsp
	FRAME_END
	RET
	jf_no_optprobe 760b
	.size	jf_chain_\name\()_\@, . - jf_chain_\name\()_\@
.endm

	.section .kprobes.text, "ax", @progbits

	.p2align 4
jf_images_single:
	jf_noendbr
	.rept	JF_IMAGES_SINGLE
	jf_single
	.endr
	.p2align 4
765:
	jf_layout single, jf_images_single, JF_IMAGES_SINGLE

jf_images_small:
	jf_noendbr
	.rept	JF_IMAGES_SMALL
	jf_chain small, 3, 0
	.endr
	.p2align 4
765:
	jf_layout small, jf_images_small, JF_IMAGES_SMALL

jf_images_regs:
	jf_noendbr
	.rept	JF_IMAGES_REGS
	jf_chain regs, 5, 0
	.endr
	.p2align 4
765:
	jf_layout regs, jf_images_regs, JF_IMAGES_REGS

jf_images_stack:
	jf_noendbr
	.rept	JF_IMAGES_STACK
	jf_chain stack, 5, 7
	.endr
	.p2align 4
765:
	jf_layout stack, jf_images_stack, JF_IMAGES_STACK
