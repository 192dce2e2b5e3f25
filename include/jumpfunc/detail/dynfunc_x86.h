/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Dynamic functions on x86-64: the trampoline and the call site.
 * Included by dynfunc.h only.
 *
 * The trampoline, 16-byte aligned and with 16 bytes of nops in front (kernels
 * with call-depth tracking move the entry of functions into that padding; with
 * kCFI the function's type is there, too, see __JF_PREAMBLE):
 *
 *	dynfunc_name:
 *		endbr64			if the kernel has IBT: it may be called
 *					through a pointer
 *		jmp	1f		THE SITE: five bytes, jmp <target>
 *	1:	mov	func(%rip), %r11	only reached while unpatched
 *		jmp	*%r11			by retpoline where configured;
 *					with FineIBT by jf_jump_r11()
 *
 * It stands in .kprobes.text, where the kernel refuses kprobes. In addition,
 * the jump has a record of its own (see site_x86.h), because kprobes reads
 * .kprobes.text in its module notifier, and other notifiers may run before. The
 * nops in front have a symbol, because kprobes looks up the symbol at the start
 * of the section; without one it would find the function before, or none. "jmp
 * 1f" is spelled in bytes because an assembler would shrink it to two.
 *
 * A call site is "call dynfunc_name", also in bytes, with the arguments in the
 * registers of the C calling convention and everything that a call may clobber
 * declared. The compiler never makes it a tail call. If it duplicates the asm
 * statement, each copy emits a record of its own.
 */
#ifndef JUMPFUNC_DYNFUNC_X86_H
#define JUMPFUNC_DYNFUNC_X86_H

#ifndef JUMPFUNC_DYNFUNC_H
#error "include <jumpfunc/dynfunc.h>"
#endif

#include <jumpfunc/detail/dynfunc_inline.h>
#include <jumpfunc/detail/site_x86.h>

/*
 * The bytes in front of a trampoline. With kCFI a caller that has the
 * trampoline's address compares a hash of the function type, as in front of any
 * function: five bytes before it, or where functions are padded, in front of the
 * padding. objtool lists the symbol __cfi_... in a section from which the kernel
 * finds the places where it changes all hashes, or puts FineIBT's check.
 */
#ifdef __JF_KCFI
#define __JF_PREAMBLE(func)						\
	".type __cfi_" func ", @function\n"				\
	"__cfi_" func ":\n\t"						\
	__JF_KCFI_BEFORE						\
	".byte 0xb8\n\t"						\
	".long __kcfi_typeid_" func "\n\t"				\
	__JF_KCFI_AFTER							\
	".size __cfi_" func ", . - __cfi_" func "\n\t"
/* clang defines the hash for functions whose address is taken. */
#define __JF_TYPED(func)	__ADDRESSABLE(func)
#ifdef CONFIG_CALL_PADDING
#define __JF_KCFI_BEFORE
#define __JF_KCFI_AFTER							\
	".skip " __stringify(CONFIG_FUNCTION_PADDING_BYTES) ", 0x90\n\t"
#else
#define __JF_KCFI_BEFORE	".skip 11, 0x90\n\t"
#define __JF_KCFI_AFTER
#endif
#else
#define __JF_PREAMBLE(func)	".skip 16, 0x90\n\t"
#define __JF_TYPED(func)	static_assert(true)
#endif

#define __JF_DEFINE_CALL(name, func, target)				\
	__JF_TRAMPOLINE(name, ".globl dynfunc_" #name "\n\t")
#define __JF_DEFINE_CALL_LOCAL(name, func, target)			\
	__JF_TRAMPOLINE(name, "")

#define __JF_TRAMPOLINE(name, globl)					\
	asm(".pushsection .kprobes.text, \"ax\", @progbits\n\t"		\
	    ".p2align 4\n"						\
	    "__jf_pad_" #name ":\n\t"					\
	    __JF_PREAMBLE("dynfunc_" #name)				\
	    globl							\
	    ".type dynfunc_" #name ", @function\n"			\
	    "dynfunc_" #name ":\n\t"					\
	    __JF_ENDBR							\
	    "771:\n\t"							\
	    ".byte 0xe9\n\t"						\
	    ".long 1f - (. + 4)\n"					\
	    "1:\n\t"							\
	    "movq __jf_func_" #name "(%rip), %r11\n\t"			\
	    __JF_JMP_R11						\
	    ".byte 0xcc, 0xcc, 0xcc\n\t"				\
	    ".size dynfunc_" #name ", . - dynfunc_" #name "\n\t"	\
	    ".popsection\n\t"						\
	    __JF_NO_KPROBE("771b"));					\
	__JF_TYPED(dynfunc_##name);					\
	__JF_ENT_REC("__jf_func_" #name " + " __stringify(JF_FUNC_ENT),	\
		     "dynfunc_" #name, "1", "0")

#define __JF_CALL_ASM(name)						\
	"771:\n\t"							\
	__JF_NOENDBR							\
	".byte 0xe8\n\t"						\
	".long dynfunc_" #name " - (. + 4)\n\t"				\
	__JF_UD2							\
	__JF_SITE_REC("%c[jf_ent]", "%c[jf_flags]")

/*
 * One macro for each number of arguments. Arguments are evaluated before the
 * first register variable is set, since evaluating one may call functions.
 */
#define __jf_call_asm(name, type, clobbers, outputs...)			\
({									\
	unsigned long __jf_rax;						\
									\
	__jf_check_result(type);						\
	asm volatile(__JF_CALL_ASM(name)				\
		     : "=a" (__jf_rax), ASM_CALL_CONSTRAINT, ##outputs	\
		     : __JF_CALL_IN(name)				\
		     : clobbers "r10", "r11", "memory", "cc");		\
	__jf_leave(__JF_CONTRACT(name), __jf_idx);			\
	/* Never true, but gcc finds that out late: see dynfunc_inline.h. */ \
	if (__builtin_constant_p(__jf_rax))				\
		jf_nop();						\
	__jf_result(type, __jf_rax);					\
})

#define __jf_call_0(name, type, ...)					\
({									\
	__jf_begin(name);						\
									\
	__jf_call_asm(name, type,					\
		      "rdi" __JF_COMMA "rsi" __JF_COMMA "rdx" __JF_COMMA \
		      "rcx" __JF_COMMA "r8" __JF_COMMA "r9" __JF_COMMA); \
})

#define __jf_call_1(name, type, a1)					\
({									\
	unsigned long __jf_1 = __jf_reg(a1);				\
	__jf_begin(name);						\
									\
	__jf_call_asm(name, type,					\
		      "rsi" __JF_COMMA "rdx" __JF_COMMA "rcx" __JF_COMMA \
		      "r8" __JF_COMMA "r9" __JF_COMMA,			\
		      "+D" (__jf_1));					\
})

#define __jf_call_2(name, type, a1, a2)					\
({									\
	unsigned long __jf_1 = __jf_reg(a1), __jf_2 = __jf_reg(a2);	\
	__jf_begin(name);						\
									\
	__jf_call_asm(name, type,					\
		      "rdx" __JF_COMMA "rcx" __JF_COMMA "r8" __JF_COMMA	\
		      "r9" __JF_COMMA,					\
		      "+D" (__jf_1), "+S" (__jf_2));			\
})

#define __jf_call_3(name, type, a1, a2, a3)				\
({									\
	unsigned long __jf_1 = __jf_reg(a1), __jf_2 = __jf_reg(a2);	\
	unsigned long __jf_3 = __jf_reg(a3);				\
	__jf_begin(name);						\
									\
	__jf_call_asm(name, type,					\
		      "rcx" __JF_COMMA "r8" __JF_COMMA "r9" __JF_COMMA,	\
		      "+D" (__jf_1), "+S" (__jf_2), "+d" (__jf_3));	\
})

#define __jf_call_4(name, type, a1, a2, a3, a4)				\
({									\
	unsigned long __jf_1 = __jf_reg(a1), __jf_2 = __jf_reg(a2);	\
	unsigned long __jf_3 = __jf_reg(a3), __jf_4 = __jf_reg(a4);	\
	__jf_begin(name);						\
									\
	__jf_call_asm(name, type, "r8" __JF_COMMA "r9" __JF_COMMA,	\
		      "+D" (__jf_1), "+S" (__jf_2), "+d" (__jf_3),	\
		      "+c" (__jf_4));					\
})

#define __jf_call_5(name, type, a1, a2, a3, a4, a5)			\
({									\
	unsigned long __jf_1 = __jf_reg(a1), __jf_2 = __jf_reg(a2);	\
	unsigned long __jf_3 = __jf_reg(a3), __jf_4 = __jf_reg(a4);	\
	unsigned long __jf_5 = __jf_reg(a5);				\
	__jf_begin(name);						\
	register unsigned long __jf_r8 asm("r8") = __jf_5;		\
									\
	__jf_call_asm(name, type, "r9" __JF_COMMA,			\
		      "+D" (__jf_1), "+S" (__jf_2), "+d" (__jf_3),	\
		      "+c" (__jf_4), "+r" (__jf_r8));			\
})

#define __jf_call_6(name, type, a1, a2, a3, a4, a5, a6)			\
({									\
	unsigned long __jf_1 = __jf_reg(a1), __jf_2 = __jf_reg(a2);	\
	unsigned long __jf_3 = __jf_reg(a3), __jf_4 = __jf_reg(a4);	\
	unsigned long __jf_5 = __jf_reg(a5), __jf_6 = __jf_reg(a6);	\
	__jf_begin(name);						\
	register unsigned long __jf_r8 asm("r8") = __jf_5;		\
	register unsigned long __jf_r9 asm("r9") = __jf_6;		\
									\
	__jf_call_asm(name, type, ,					\
		      "+D" (__jf_1), "+S" (__jf_2), "+d" (__jf_3),	\
		      "+c" (__jf_4), "+r" (__jf_r8), "+r" (__jf_r9));	\
})

#endif /* JUMPFUNC_DYNFUNC_X86_H */
