/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions on arm64: the trampoline and the call site.
 * Included by dynfunc.h only.
 *
 * The trampoline, 32-byte aligned:
 *
 *	dynfunc_name:
 *		bti	c		if the kernel has BTI: it may be called
 *					through a pointer
 *		nop			THE SITE: nop, or b <target>
 *		adrp	x16, func
 *		ldr	x16, [x16, #:lo12:func]
 *		br	x16
 *
 * While a nop stands there it leads to where struct jf_func says. So it does while it has
 * not been patched, and where the target is out of reach of a branch: modules lie up to
 * 2 GiB from each other, and from the kernel. BR with x16 may lead to a "bti c", as BLR may.
 * The alignment keeps the adrp from the two places of a page where the loader would have
 * to make something else of it, for an erratum of Cortex-A53.
 *
 * It stands in .kprobes.text, where the kernel refuses kprobes. In addition, the site has
 * a record of its own (see site_arm64.h), because kprobes reads .kprobes.text in its module
 * notifier, and other notifiers may run before.
 *
 * A call site is "bl dynfunc_name", with the arguments in the registers of the C calling
 * convention and everything that a call may clobber declared: x0 to x18 and the link
 * register. (Where a kernel has shadow call stacks, x18 is theirs, and no compiler
 * touches it.) Its function has a frame record, as any function with a call has, because
 * the record's address is an operand.
 * The compiler never makes it a tail call. If it duplicates the asm statement, each
 * copy emits a record of its own. Where the trampoline is out of reach, since it is another
 * module's, the loader has the call lead there by a veneer; the core knows these.
 */
#ifndef JUMPFUNC_DYNFUNC_ARM64_H
#define JUMPFUNC_DYNFUNC_ARM64_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

#include <jumpfunc/detail/dynfunc_inline.h>
#include <jumpfunc/detail/site_arm64.h>

#define __JF_DEFINE_CALL(name, func, target)				\
	__JF_TRAMPOLINE(name, ".globl dynfunc_" #name "\n\t")
#define __JF_DEFINE_CALL_LOCAL(name, func, target)			\
	__JF_TRAMPOLINE(name, "")

#define __JF_TRAMPOLINE(name, globl)					\
	asm(".pushsection .kprobes.text, \"ax\", @progbits\n\t"		\
	    ".p2align 5\n\t"						\
	    globl							\
	    ".type dynfunc_" #name ", @function\n"			\
	    "dynfunc_" #name ":\n\t"					\
	    __JF_BTI							\
	    "771:\n\t"							\
	    "nop\n\t"							\
	    "adrp x16, __jf_func_" #name "\n\t"			\
	    "ldr x16, [x16, #:lo12:__jf_func_" #name "]\n\t"		\
	    "br x16\n\t"						\
	    ".size dynfunc_" #name ", . - dynfunc_" #name "\n\t"	\
	    ".popsection\n\t"						\
	    __JF_NO_KPROBE("771b"));					\
	__JF_ENT_REC("__jf_func_" #name " + " __stringify(JF_FUNC_ENT),	\
		     "dynfunc_" #name, "1", "0")

#define __JF_CALL_ASM(name)						\
	"771:\n\t"							\
	"bl dynfunc_" #name "\n\t"					\
	__JF_SITE_REC("%c[jf_ent]", "%c[jf_flags]")

#ifdef CONFIG_SHADOW_CALL_STACK
#define __JF_CLOBBER_X18
#else
#define __JF_CLOBBER_X18	"x18",
#endif

/* See __jf_call_N() below. @outputs begins with x0. */
#define __jf_call_asm(name, type, clobbers, outputs...)			\
({									\
	unsigned long __jf_res;						\
									\
	__jf_check_result(type);					\
	asm volatile(__JF_CALL_ASM(name)				\
		     : outputs						\
		     : __JF_CALL_IN(name),				\
		       [jf_frame] "r" (__builtin_frame_address(0))	\
		     : clobbers __JF_CLOBBER_X18 "x6", "x7", "x8", "x9", "x10", "x11", "x12", \
		       "x13", "x14", "x15", "x16", "x17", "x30", "memory", \
		       "cc");						\
	/* The next call takes the register. */				\
	__jf_res = __jf_x0;						\
	__jf_leave(__JF_CONTRACT(name), __jf_idx);			\
	/* Never true, but gcc finds that out late: see dynfunc_inline.h. */ \
	if (__builtin_constant_p(__jf_res))				\
		jf_nop();						\
	__jf_result(type, __jf_res);					\
})

#define __JF_REG(n, value)						\
	register unsigned long __jf_x##n asm("x" #n) = value

#define __jf_call_0(name, type, ...)					\
({									\
	__jf_begin(name);						\
	register unsigned long __jf_x0 asm("x0");			\
									\
	__jf_call_asm(name, type,					\
		      "x1" __JF_COMMA "x2" __JF_COMMA "x3" __JF_COMMA	\
		      "x4" __JF_COMMA "x5" __JF_COMMA, "=r" (__jf_x0));	\
})

#define __jf_call_1(name, type, a1)					\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	__jf_begin(name);						\
	__JF_REG(0, __jf_1);						\
									\
	__jf_call_asm(name, type,					\
		      "x1" __JF_COMMA "x2" __JF_COMMA "x3" __JF_COMMA	\
		      "x4" __JF_COMMA "x5" __JF_COMMA,			\
		      "+r" (__jf_x0));					\
})

#define __jf_call_2(name, type, a1, a2)					\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	unsigned long __jf_2 = __jf_reg(a2);				\
	__jf_begin(name);						\
	__JF_REG(0, __jf_1);						\
	__JF_REG(1, __jf_2);						\
									\
	__jf_call_asm(name, type,					\
		      "x2" __JF_COMMA "x3" __JF_COMMA "x4" __JF_COMMA	\
		      "x5" __JF_COMMA,					\
		      "+r" (__jf_x0), "+r" (__jf_x1));			\
})

#define __jf_call_3(name, type, a1, a2, a3)				\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	unsigned long __jf_2 = __jf_reg(a2);				\
	unsigned long __jf_3 = __jf_reg(a3);				\
	__jf_begin(name);						\
	__JF_REG(0, __jf_1);						\
	__JF_REG(1, __jf_2);						\
	__JF_REG(2, __jf_3);						\
									\
	__jf_call_asm(name, type,					\
		      "x3" __JF_COMMA "x4" __JF_COMMA "x5" __JF_COMMA,	\
		      "+r" (__jf_x0), "+r" (__jf_x1), "+r" (__jf_x2));	\
})

#define __jf_call_4(name, type, a1, a2, a3, a4)				\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	unsigned long __jf_2 = __jf_reg(a2);				\
	unsigned long __jf_3 = __jf_reg(a3);				\
	unsigned long __jf_4 = __jf_reg(a4);				\
	__jf_begin(name);						\
	__JF_REG(0, __jf_1);						\
	__JF_REG(1, __jf_2);						\
	__JF_REG(2, __jf_3);						\
	__JF_REG(3, __jf_4);						\
									\
	__jf_call_asm(name, type,					\
		      "x4" __JF_COMMA "x5" __JF_COMMA,			\
		      "+r" (__jf_x0), "+r" (__jf_x1), "+r" (__jf_x2),	\
		      "+r" (__jf_x3));					\
})

#define __jf_call_5(name, type, a1, a2, a3, a4, a5)			\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	unsigned long __jf_2 = __jf_reg(a2);				\
	unsigned long __jf_3 = __jf_reg(a3);				\
	unsigned long __jf_4 = __jf_reg(a4);				\
	unsigned long __jf_5 = __jf_reg(a5);				\
	__jf_begin(name);						\
	__JF_REG(0, __jf_1);						\
	__JF_REG(1, __jf_2);						\
	__JF_REG(2, __jf_3);						\
	__JF_REG(3, __jf_4);						\
	__JF_REG(4, __jf_5);						\
									\
	__jf_call_asm(name, type,					\
		      "x5" __JF_COMMA,					\
		      "+r" (__jf_x0), "+r" (__jf_x1), "+r" (__jf_x2),	\
		      "+r" (__jf_x3), "+r" (__jf_x4));			\
})

#define __jf_call_6(name, type, a1, a2, a3, a4, a5, a6)			\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	unsigned long __jf_2 = __jf_reg(a2);				\
	unsigned long __jf_3 = __jf_reg(a3);				\
	unsigned long __jf_4 = __jf_reg(a4);				\
	unsigned long __jf_5 = __jf_reg(a5);				\
	unsigned long __jf_6 = __jf_reg(a6);				\
	__jf_begin(name);						\
	__JF_REG(0, __jf_1);						\
	__JF_REG(1, __jf_2);						\
	__JF_REG(2, __jf_3);						\
	__JF_REG(3, __jf_4);						\
	__JF_REG(4, __jf_5);						\
	__JF_REG(5, __jf_6);						\
									\
	__jf_call_asm(name, type, ,					\
		      "+r" (__jf_x0), "+r" (__jf_x1), "+r" (__jf_x2),	\
		      "+r" (__jf_x3), "+r" (__jf_x4), "+r" (__jf_x5));	\
})

#endif /* JUMPFUNC_DYNFUNC_ARM64_H */
