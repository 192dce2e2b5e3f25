/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The facts about the machine for writer.c.
 *
 *   JF_PAGE_MAX		bytes of the largest page
 *   JF_ATOM			so many bytes are written to find out whether text can be
 *   JF_TRACERS_STEP		where an instruction may begin
 *   jf_is_tracers()		true if that can be a breakpoint that is not in the file
 *   jf_mem_is_atomic()		true if a write to /proc/self/mem stores a whole instruction at once
 *   jf_text_written()		text is another one, for caches and translators
 *   SPECIMEN			a function for tries, at multiples of JF_ATOM; its bytes from
 *				SPECIMEN_NUMBER on, JF_ATOM of them, have the number that it returns
 *   jf_specimen_number()	these bytes for another number
 *   jf_pwrite()		the system call itself: a function of libc, or the program's own
 *				in its place, may be the text that is written
 *   jf_helper_start()		makes a thread that calls a function, and ends
 *   JF_RUNS, jf_copy_and_count()	changes of many sites write the bytes between them, too
 */
#ifndef JF_LIB_MACHINE_H
#define JF_LIB_MACHINE_H

#ifdef __x86_64__
#include "machine_x86.h"
#else
#include "machine_arm64.h"
#endif

/* In one page. */
#define SPECIMEN_STR(...)	#__VA_ARGS__
#define SPECIMEN_TEXT(...)	SPECIMEN_STR(__VA_ARGS__)
extern int jf_specimen(void) __attribute__((__visibility__("hidden")));
__asm__(".pushsection .text\n\t"
	".p2align 4\n\t"
	".hidden jf_specimen\n\t"
	".globl jf_specimen\n\t"
	".type jf_specimen, @function\n"
	"jf_specimen:\n\t"
	".cfi_startproc\n\t"
	".byte " SPECIMEN_TEXT(SPECIMEN) "\n\t"
	".cfi_endproc\n\t"
	".size jf_specimen, . - jf_specimen\n\t"
	".popsection");

#endif /* JF_LIB_MACHINE_H */
