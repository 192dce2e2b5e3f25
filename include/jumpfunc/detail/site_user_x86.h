/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The code of sites and trampolines in programs on x86-64. Included by site_user.h only.
 *
 * A trampoline:
 *
 *	dynfunc_name:
 *		endbr64			with -fcf-protection
 *		jmp	1f		THE SITE: five bytes, jmp <target>
 *	1:	jmp	*func(%rip)
 *
 * A branch:
 *
 *	.byte 0x2e		cs, a prefix of the next instruction
 *	site:	nopl 0(%rax,%rax)	THE SITE: five bytes, or jmp other; while it
 *					changes "test $imm32,%eax"
 *
 * The prefix costs nothing but its byte, and is there for uprobes. Of an instruction that has
 * one the kernel writes the first byte alone, and gives it back as the file has it: so the bytes
 * after it can change while the uprobe is there, and are whole again. The kernel also executes the
 * file's instruction while the uprobe is there, which may be another one by now: so it had better
 * refuse, and it does for an instruction with a segment's prefix.
 */
#ifndef JUMPFUNC_SITE_USER_X86_H
#define JUMPFUNC_SITE_USER_X86_H

#ifndef JUMPFUNC_SITE_USER_H
#error "include <jumpfunc/dynfunc.h> or <jumpfunc/branch.h>"
#endif

/* A landing pad of indirect branches. */
#if defined(__CET__) && (__CET__ & 1)
#define __JF_LANDING	".byte 0xf3, 0x0f, 0x1e, 0xfa\n\t"	/* endbr64 */
#else
#define __JF_LANDING
#endif

/* 771, the site, and 772, after it. jmp *func(%rip), for assemblers of either syntax. */
#define __JF_TRAMPOLINE_CODE(func)					\
	"771:\n\t"							\
	".byte 0xe9\n\t"						\
	".long 772f - (. + 4)\n"					\
	"772:\n\t"							\
	".byte 0xff, 0x25\n\t"						\
	".long " func " - (. + 4)\n\t"

/* mov from(%rip), %r11; mov (%r11), %r11; jmp *func(%r11) */
#define __JF_FIRST_CODE(from)						\
	".byte 0x4c, 0x8b, 0x1d\n\t"					\
	".long " from " - (. + 4)\n\t"					\
	".byte 0x4d, 0x8b, 0x1b\n\t"					\
	".byte 0x41, 0xff, 0x63, -" __JF_STR(JF_FUNC_ENT) "\n\t"

/* cs, which means nothing here, neither to a nop nor to a jump of this kind */
#define __JF_SITE_PREFIX	".byte 0x2e\n"
#define __JF_SITE_PREFIX_FLAG	JF_SITE_PREFIX
#define __JF_SITE_NOP		".byte 0x0f, 0x1f, 0x44, 0, 0\n\t"
#define __JF_SITE_JUMP(label)						\
	".byte 0xe9\n\t"						\
	".long " label " - (. + 4)\n\t"
/* The constraint for the address of a variable. */
#define __JF_SITE_SYMBOL	"i"
#define __JF_SITE_NONE		"R_X86_64_NONE"
/* Later loads stay later ones here. */
#define __JF_SITE_LOAD(x)	__JF_LOAD(x)

#endif /* JUMPFUNC_SITE_USER_X86_H */
