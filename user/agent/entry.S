/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Where probes' code leads (detour.c), and the parts of record.c that C has no words for.
 */
	.text

/*
 * The thread's registers, by their numbers from above the flags on, then the return address, then
 * 128 bytes of its red zone: struct jf_saved. Flags by lahf and seto, which take less time than
 * pushf and popf. The direction flag is 0 wherever compilers' code is. A signal may come at each
 * instruction, and its handler unwind: each push and pop is told.
 */
	.p2align 4
	.hidden	jf_agent_enter
	.globl	jf_agent_enter
	.type	jf_agent_enter, @function
jf_agent_enter:
	.cfi_startproc
	endbr64
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	pushq	%rsp
	.cfi_adjust_cfa_offset 8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	%rsp, %rdi
	movq	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	call	jf_agent_record
	movq	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	popq	%rax
	.cfi_adjust_cfa_offset -8
	/* Overflow again, if it was; then the others. */
	addb	$0x7f, %al
	sahf
	popq	%rax
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r10
	.cfi_adjust_cfa_offset -8
	popq	%r11
	.cfi_adjust_cfa_offset -8
	popq	%r12
	.cfi_adjust_cfa_offset -8
	popq	%r13
	.cfi_adjust_cfa_offset -8
	popq	%r14
	.cfi_adjust_cfa_offset -8
	popq	%r15
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	jf_agent_enter, . - jf_agent_enter

/*
 * uint64_t jf_agent_keep(uint64_t (*fn)(uint64_t arg), uint64_t arg)
 * x87, SSE, AVX and AVX-512: not more than 2,688 bytes, of which the head has to be 0. The function
 * is called as a program begins: a thread may trap on numbers that are rounded, or have MMX's.
 */
#define KEPT	0xe7
	.p2align 4
	.hidden	jf_agent_keep
	.globl	jf_agent_keep
	.type	jf_agent_keep, @function
jf_agent_keep:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rbx
	.cfi_offset %rbx, -24
	subq	$2760, %rsp
	andq	$-64, %rsp
	cmpb	$0, jf_have_xsave(%rip)
	je	1f
	xorl	%eax, %eax
	movq	%rax, 512(%rsp)
	movq	%rax, 520(%rsp)
	movq	%rax, 528(%rsp)
	movq	%rax, 536(%rsp)
	movq	%rax, 544(%rsp)
	movq	%rax, 552(%rsp)
	movq	%rax, 560(%rsp)
	movq	%rax, 568(%rsp)
	movl	$KEPT, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	jmp	2f
1:	fxsave64 (%rsp)
2:	fninit
	ldmxcsr	usual(%rip)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	movq	%rax, %rbx
	cmpb	$0, jf_have_xsave(%rip)
	je	1f
	movl	$KEPT, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	2f
1:	fxrstor64 (%rsp)
2:	movq	%rbx, %rax
	movq	-8(%rbp), %rbx
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	jf_agent_keep, . - jf_agent_keep

/* uint64_t jf_agent_on_stack(uint64_t (*fn)(uint64_t arg), uint64_t arg, void *top) */
	.p2align 4
	.hidden	jf_agent_on_stack
	.globl	jf_agent_on_stack
	.type	jf_agent_on_stack, @function
jf_agent_on_stack:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdx, %rsp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	jf_agent_on_stack, . - jf_agent_on_stack

	.section .rodata.cst4, "aM", @progbits, 4
	.p2align 2
usual:	.long	0x1f80

	.section .note.GNU-stack, "", @progbits
