/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stubs of kernel/arch/x86/typed.c, as the assembler leaves them: no type in front, and
 * the jump leads to jf_nop. Like images they stand in .kprobes.text, and the bytes that are filled
 * in have records against kprobes; see kernel/arch/x86/images.S.
 */
#include <linux/linkage.h>

#include "arch/x86/macros.h"
#include "arch/x86/typed.h"

.macro jf_stub
	.p2align 4
	.skip	JF_TYPE_LEN, 0x90
	.type	jf_stub_\@, @function
jf_stub_\@:
771:
#ifdef CONFIG_X86_KERNEL_IBT
	/* Room for an endbr. The module loader would remove a real one. */
	.byte	0x0f, 0x1f, 0x40, 0x00
#endif
772:
	.byte	0xe9
	.long	jf_nop - (. + 4)
	jf_no_kprobe 771b
	jf_no_kprobe 772b
	jf_no_optprobe 771b
	.size	jf_stub_\@, . - jf_stub_\@
.endm

	.section .kprobes.text, "ax", @progbits

	.p2align 4
	.globl	jf_stubs
jf_stubs:
	jf_noendbr
	.rept	JF_TYPED_STUBS
	jf_stub
	.endr
	.p2align 4
	.globl	jf_stubs_end
jf_stubs_end:
	jf_noendbr
	int3
