/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The facts about aarch64 for writer.c: see machine.h. */
#ifndef JF_LIB_MACHINE_ARM64_H
#define JF_LIB_MACHINE_ARM64_H

#include <sys/auxv.h>
#include <sys/syscall.h>

#define JF_PAGE_MAX	65536
#define JF_ATOM		JF_INSN_SIZE
#define JF_TRACERS_STEP	JF_INSN_SIZE
#define JF_RUNS		0

/* A breakpoint, of a debugger or of the kernel for a uprobe. */
static inline bool jf_is_tracers(const uint8_t *have, const uint8_t *file, size_t num)
{
	(void)file, (void)num;
	return jf_insn_is_break(jf_insn_load(have));
}

/*
 * The kernel does this after its own writes. Its source does so, and promises nothing.
 */
static inline void jf_text_written(uintptr_t addr, size_t num)
{
	__builtin___clear_cache((char *)addr, (char *)addr + num);
}

/*
 * True if the kernel writes a word by one store. It copies bytes written to /proc/self/mem by
 * its memcpy(), which does so with four bytes, unless it uses the CPU's instructions to copy
 * memory (FEAT_MOPS), which promise that for single bytes alone. Whether it does is not told.
 */
static inline bool jf_mem_is_atomic(void)
{
	const unsigned long mops = 1UL << 43;

	return !(getauxval(AT_HWCAP2) & mops);
}

/* bti c; mov w0, #1; ret */
#define SPECIMEN	0x5f, 0x24, 0x03, 0xd5, 0x20, 0, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6
#define SPECIMEN_NUMBER	4

static inline void jf_specimen_number(uint8_t *bytes, uint8_t number)
{
	jf_insn_store(bytes, 0x52800000U | (uint32_t)number << 5);
}

/* So many bytes, or -errno. */
static inline long jf_pwrite(int fd, const void *bytes, size_t num, uintptr_t at)
{
	register long x0 __asm__("x0") = fd;
	register const void *x1 __asm__("x1") = bytes;
	register size_t x2 __asm__("x2") = num;
	register uintptr_t x3 __asm__("x3") = at;
	register long x8 __asm__("x8") = SYS_pwrite64;

	__asm__ volatile("svc #0"
			 : "+r" (x0)
			 : "r" (x1), "r" (x2), "r" (x3), "r" (x8)
			 : "memory", "cc");
	return x0;
}

/* 0, or -errno: it has not begun. As a thread of its own with @flags it calls @runs, and ends. */
static inline long jf_helper_start(unsigned long flags, void (*runs)(void), char *stack, _Atomic int *number)
{
	void *self = __builtin_thread_pointer();
	register unsigned long x0 __asm__("x0") = flags;
	register char *x1 __asm__("x1") = stack;
	register _Atomic int *x2 __asm__("x2") = number;
	register void *x3 __asm__("x3") = self;
	register _Atomic int *x4 __asm__("x4") = number;
	register long x8 __asm__("x8") = SYS_clone;
	register void (*x9)(void) __asm__("x9") = runs;

	/*
	 * No call may stand above, not even one that a sanitizer adds: those registers would not
	 * outlive it. In this thread a system call changes x0 alone.
	 */
	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x30, xzr\n\t"
			 "blr x9\n\t"
			 "mov x8, %[exit]\n\t"
			 "mov x0, xzr\n\t"
			 "svc #0\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r" (x0)
			 : "r" (x1), "r" (x2), "r" (x3), "r" (x4), "r" (x8), "r" (x9), [exit] "i" (SYS_exit)
			 : "memory", "cc");
	return (long)x0;
}

#endif /* JF_LIB_MACHINE_ARM64_H */
