/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Calls of functions that do not exist, as probes of a kernel module.
 *
 * The header that declares the probe functions includes this one:
 *
 *	#include <jumpfunc/calls.h>
 *
 *	void __dtrace_srv___request(int id, const char *what);
 *
 * and the module's Kbuild has, after jumpfunc.mk and the list of the module's files,
 *
 *	srv-y := main.o work.o
 *	$(eval $(call jumpfunc-calls,srv))
 *
 * Each call of such a function is then a site of a dynamic function (dynfunc.h) that starts as
 * a nop and has the probe function's name. In debugfs it is MODULE:PROVIDER:NAME. All that
 * updates dynamic functions takes it, with the type that the declaration gives it:
 *
 *	DECLARE_DYNFUNC(__dtrace_srv___request, __dtrace_srv___request);
 *	DYNFUNC_TARGETS(__dtrace_srv___request, print_request);
 *	err = dynfunc_update(__dtrace_srv___request, print_request);
 *
 * How it works: below is a macro of the assembler with the name of the instruction "call". So
 * it sees each call that the compiler has written. One of a function with a probe's prefix
 * becomes the same bytes and records as dynfunc_call() has; any other is not changed. The
 * compiler knows nothing of it: to it this is a call of a function, with as many arguments and of
 * such types as C has. jumpfunc.mk finds which probes the objects name, and defines these.
 *
 * The call of a function __dtraceenabled_srv___request(), which returns int or bool, is a test
 * whether the probe has a subscriber: a load and a comparison, in place of the call.
 *
 * The macro does not see some references to functions that nothing defines, and modpost ends the
 * build at these: the address of a probe function, a jump there, and a call in a source that lacks
 * this header.
 */
#ifndef JUMPFUNC_CALLS_H
#define JUMPFUNC_CALLS_H

#ifndef __KERNEL__
#error "<jumpfunc/calls.h> is for modules; in programs jf-sdt does this"
#endif

#include <jumpfunc/dynfunc.h>

#if !defined(CONFIG_X86_64) || !JF_HAVE_PATCHING
#error "<jumpfunc/calls.h> knows the calls of x86-64 alone"
#endif
/*
 * GNU as has to read all that the compiler writes. The assembler in clang reads the asm statements,
 * and no other text; the line in the Kbuild has clang write text for GNU as.
 */
#ifdef __clang__
#if defined(CONFIG_LTO_CLANG)
#error "<jumpfunc/calls.h> cannot see the calls of a kernel with link-time optimisation (CONFIG_LTO_CLANG)"
#endif
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#error "<jumpfunc/calls.h> has not been tried with a kernel that checks calls by their types (CONFIG_CFI)"
#endif
#ifndef JF_CALLS_TEXT
#error "<jumpfunc/calls.h> needs GNU as, for which clang takes -no-integrated-as: the Kbuild lacks $(eval $(call jumpfunc-calls,...))"
#endif
#endif

/* The characters of a name come one by one; .Ljf_at counts those that were the prefix's. */
#define __JF_CALLS_AT(n, letter)					\
	".if .Ljf_at == " #n "\n\t"					\
	".ifeqs \"\\letter\", \"" letter "\"\n\t"			\
	".set .Ljf_at, " #n " + 1\n\t"					\
	".else\n\t"							\
	".set .Ljf_at, -1\n\t"						\
	".endif\n\t"							\
	".endif\n\t"

/*
 * True if the name is one of a probe. "__dtrace_" ends at 9. After "__dtrace", "e" leads to 20,
 * and from there "enabled_" ends at 27. Backwards: of one character only one test may be true.
 */
#define __JF_CALLS_FIND							\
	".set .Ljf_at, 0\n\t"						\
	".irpc letter, \"\\target\"\n\t"				\
	".if .Ljf_at >= 0\n\t"						\
	__JF_CALLS_AT(26, "_")						\
	__JF_CALLS_AT(25, "d")						\
	__JF_CALLS_AT(24, "e")						\
	__JF_CALLS_AT(23, "l")						\
	__JF_CALLS_AT(22, "b")						\
	__JF_CALLS_AT(21, "a")						\
	__JF_CALLS_AT(20, "n")						\
	".if .Ljf_at == 8\n\t"						\
	".ifeqs \"\\letter\", \"e\"\n\t"				\
	".set .Ljf_at, 20\n\t"						\
	".endif\n\t"							\
	".endif\n\t"							\
	__JF_CALLS_AT(8, "_")						\
	__JF_CALLS_AT(7, "e")						\
	__JF_CALLS_AT(6, "c")						\
	__JF_CALLS_AT(5, "a")						\
	__JF_CALLS_AT(4, "r")						\
	__JF_CALLS_AT(3, "t")						\
	__JF_CALLS_AT(2, "d")						\
	__JF_CALLS_AT(1, "_")						\
	__JF_CALLS_AT(0, "_")						\
	".endif\n\t"							\
	".endr\n\t"

/* How the compiler writes the instruction, which is the macro's name; and another way. */
#ifdef __clang__
#define __JF_CALLS_CALL		"callq"
#define __JF_CALLS_OTHER	"call"
#else
#define __JF_CALLS_CALL		"call"
#define __JF_CALLS_OTHER	"callq"
#endif

asm(".macro " __JF_CALLS_CALL " target:vararg\n\t"
	__JF_CALLS_FIND
	".if .Ljf_at == 9\n"
	"771:\n\t"
	__JF_NOENDBR
	".byte 0xe8\n\t"
	".long dynfunc_\\target - (. + 4)\n\t"
	__JF_UD2
	__JF_SITE_REC("__jf_func_\\target + " __stringify(JF_FUNC_ENT),
		      __stringify(JF_SITE_CALL))
	".elseif .Ljf_at == 27\n\t"
	/* True if its present target is not its first one, which is a nop. */
	"movq __jf_test_\\target(%rip), %rax\n\t"
	"cmpq __jf_test_\\target + 8(%rip), %rax\n\t"
	"setne %al\n\t"
	"movzbl %al, %eax\n\t"
	".else\n\t"
	__JF_CALLS_OTHER " \\target\n\t"
	".endif\n\t"
	".endm");

/* For the file that jumpfunc.mk writes, which does not know the probe function's type. */
#define __JF_DEFINE_CALLED(symbol, name)				\
	__DECLARE_DYNFUNC(extern, symbol, jf_nop);			\
	__JF_DEFINE_CALL(symbol, jf_nop, jf_nop);			\
	struct jf_func __jf_func_##symbol __JF_USED = {			\
		jf_nop, jf_nop, __JF_ENT_INIT(name, JF_ENT_FUNC, JF_ENT_NULL_OK) }

/* A test loads the address of its function. */
#define __JF_DEFINE_TESTED(test, symbol)				\
	asm(".globl __jf_test_" #test "\n\t"				\
	    ".set __jf_test_" #test ", __jf_func_" #symbol)

#endif /* JUMPFUNC_CALLS_H */
