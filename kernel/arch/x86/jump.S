/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An indirect jump that the CPU does not take for an indirect branch.
 *
 * On a kernel with FineIBT every indirect branch goes through the check in front
 * of a function, and the functions themselves have no endbr. A trampoline that
 * was not patched leads to functions without such a check as well: jf_nop() has
 * no type that fits, and an image no type at all. A return may lead anywhere.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

	.section .kprobes.text, "ax", @progbits

/* Goes to where %r11 leads; all else stays as it is. */
SYM_FUNC_START(jf_jump_r11)
	/* It is exported for direct jumps only. */
	ANNOTATE_NOENDBR
	ANNOTATE_INTRA_FUNCTION_CALL
	call	1f
	int3
1:
	movq	%r11, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(jf_jump_r11)
