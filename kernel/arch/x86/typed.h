/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sizes of the stubs of kernel/arch/x86/typed.c; for assembly and C.
 */
#ifndef JF_TYPED_X86_H
#define JF_TYPED_X86_H

/* In front of a function, where its type is: as the compiler lays it out. */
#ifdef CONFIG_CALL_PADDING
#define JF_TYPE_LEN	(CONFIG_FUNCTION_PADDING_BYTES + 5)
#else
#define JF_TYPE_LEN	16
#endif

/* One for each function and each type that it is called with. */
#define JF_TYPED_STUBS	512

#endif /* JF_TYPED_X86_H */
