/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The other world: the needs of the public headers in a program, where libjumpfunc
 * stands for jumpfunc.ko. Included by types.h and macros.h only.
 *
 * How it works: the macros emit records into three sections, whose names are
 * those of C identifiers. For these a linker defines __start_ and __stop_
 * symbols, once for each program or shared object, so all that is linked
 * together has one struct jf_object. Each source file has a constructor that
 * registers it; the first one does the work. The destructors take it back when
 * a shared object is closed.
 *
 * A site's record is relative to itself: a program of a million sites has not
 * one dynamic relocation for them, and no text relocation. Keys and dynamic
 * functions are relocated like any other pointer in data.
 */
#ifndef JUMPFUNC_USER_H
#define JUMPFUNC_USER_H

#ifdef __KERNEL__
#error "for programs only"
#endif
#ifndef __ELF__
#error "jumpfunc in programs finds its tables as ELF linkers lay them out"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define __JF_BEGIN_DECLS	extern "C" {
#define __JF_END_DECLS		}
#define __JF_ASSERT		static_assert
#else
#define __JF_BEGIN_DECLS
#define __JF_END_DECLS
#define __JF_ASSERT		_Static_assert
#endif

#define __JF_HIDDEN	__attribute__((__visibility__("hidden")))
/* A name without C++'s decoration. */
#define __JF_SYMBOL(name)	__asm__(name) __JF_HIDDEN

/*
 * gcc complains about the visibility of a static variable, and clang does not accept attributes
 * after a definition.
 */
#ifdef __clang__
#define __JF_HIDDEN_DEF		__JF_HIDDEN
#define __JF_HIDE(decl)
#else
#define __JF_HIDDEN_DEF
#define __JF_HIDE(decl)							\
	_Pragma("GCC diagnostic push")					\
	_Pragma("GCC diagnostic ignored \"-Wattributes\"")		\
	_Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")		\
	extern decl __JF_HIDDEN;					\
	_Pragma("GCC diagnostic pop")
#endif

/*
 * asm statements name entities by 32 bits. gcc puts large variables (-mcmodel=medium) where
 * these do not reach, unless it has a section of its own.
 */
#if defined(__code_model_medium__) && !defined(__clang__)
#define __JF_NEAR(name)							\
	__attribute__((__section__(".data.jumpfunc." __JF_STR(name))))
#else
#define __JF_NEAR(name)
#endif

/*
 * Of a symbol that nothing defines a linker says where it is used. This is one more such place,
 * whose name is the instruction for the user; it is never loaded. A file that only declares the
 * symbol does not refer to it (.weakref). In a shared object that would still leave the name in the
 * table that is searched at each start, and GNU ld ends at the first use in text there: so code for
 * shared objects has none. A name with several declarations has one.
 */
#if defined(__PIC__) && !defined(__PIE__)
#define __JF_HINT(symbol, what)
#else
#define __JF_HINT(symbol, what)						\
	__asm__(".ifndef __jf_hint_" symbol "\n\t"			\
		".weakref __jf_hint_" symbol ", " symbol "\n\t"		\
		".pushsection \".jumpfunc: " what " is missing\", \"\", %progbits\n\t" \
		".dc.a __jf_hint_" symbol "\n\t"			\
		".popsection\n\t"					\
		".endif\n\t");
#endif

/*
 * Records are kept although nothing refers to them. Compilers that know the
 * attribute come with an assembler that knows the flag.
 */
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#define __JF_RETAIN		__attribute__((__retain__))
#define __JF_RETAIN_FLAG	"R"
#endif
#endif
#ifndef __JF_RETAIN
#define __JF_RETAIN
#define __JF_RETAIN_FLAG	""
#endif

/* "?": goes with the inline function whose copies the linker drops. */
#define __JF_SECTION(sec)						\
	".pushsection " sec ", \"a" __JF_RETAIN_FLAG "?\", @progbits\n\t"

/* Not grown to a larger alignment: the linker lays them side by side. */
#define __JF_RECORD(sec)						\
	__attribute__((__section__(sec), __used__, __aligned__(8))) __JF_RETAIN

#endif /* JUMPFUNC_USER_H */
