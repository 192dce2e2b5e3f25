/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Telling valgrind that text has changed. It executes translations, and does not look
 * again at text that a file is mapped to.
 *
 * The program speaks to it by an instruction sequence that does nothing: %rdi is rotated
 * by 128 bits in all, behind which stands an exchange of %rbx with itself. %rax
 * then points to the request and five arguments, and %rdx has the answer. The numbers are
 * valgrind's interface (valgrind/valgrind.h, VG_USERREQ__DISCARD_TRANSLATIONS). Not
 * under valgrind this is six instructions.
 */
#ifndef JF_LIB_VALGRIND_H
#define JF_LIB_VALGRIND_H

#include <stddef.h>
#include <stdint.h>

#define JF_VALGRIND_DISCARD	0x1002

static inline void jf_valgrind_discard(uintptr_t addr, size_t size)
{
	const volatile uint64_t request[6] = { JF_VALGRIND_DISCARD, addr, size };
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi; rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d" (answer)
			 : "a" (&request)
			 : "cc", "memory");
}

#endif /* JF_LIB_VALGRIND_H */
