/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The properties of x86-64 for writer.c: see machine.h. */
#ifndef JF_LIB_MACHINE_X86_H
#define JF_LIB_MACHINE_X86_H

#include <emmintrin.h>
#include <string.h>
#include <sys/syscall.h>

#define JF_PAGE_MAX	4096
#define JF_ATOM		1
#define JF_TRACERS_STEP	1
#define JF_RUNS		1

/* A breakpoint, or the call that Linux 6.18 makes of one on five bytes of nothing. */
static inline bool jf_is_tracers(const uint8_t *have, const uint8_t *file, size_t num)
{
	static const uint8_t nop[JF_INSN_SIZE] = { 0x0f, 0x1f, 0x44, 0, 0 };

	return have[0] == JF_OPCODE_INT3 ||
	       (have[0] == JF_OPCODE_CALL && num >= sizeof(nop) &&
		!memcmp(file, nop, sizeof(nop)));
}

/*
 * Valgrind executes a translation, and does not notice that a write to a file changes its source.
 * valgrind's request number 0x1002 says so. Anywhere else the four rotations undo each other, and
 * the exchange does nothing.
 */
static inline void jf_text_written(uintptr_t addr, size_t num)
{
	volatile uint64_t request[6] = { 0x1002, addr, num, 0, 0, 0 };
	uint64_t result = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx\n\t"
			 : "+d" (result) : "a" (request) : "cc", "memory");
}

/* The protocol needs no more than single bytes. */
static inline bool jf_mem_is_atomic(void)
{
	return true;
}

/* endbr64; mov $1, %eax; ret; for either syntax. */
#define SPECIMEN	0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 1, 0, 0, 0, 0xc3
#define SPECIMEN_NUMBER	5

static inline void jf_specimen_number(uint8_t *bytes, uint8_t number)
{
	bytes[0] = number;
}

/* Copies @num bytes. How many of them are INT3: in one pass, since it is done of whole pages. */
static inline size_t jf_copy_and_count(uint8_t *to, const uint8_t *from, size_t num)
{
	const __m128i int3 = _mm_set1_epi8((char)JF_OPCODE_INT3), zero = _mm_setzero_si128();
	size_t count = 0, i = 0;

	while (num - i >= sizeof(__m128i)) {
		/* A byte counts up to 255. */
		size_t end = num - i < 255 * sizeof(__m128i) ? num : i + 255 * sizeof(__m128i);
		__m128i sum = zero;

		for (; end - i >= sizeof(__m128i); i += sizeof(__m128i)) {
			__m128i some = _mm_loadu_si128((const __m128i *)(const void *)(from + i));

			_mm_storeu_si128((__m128i *)(void *)(to + i), some);
			sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(some, int3));
		}
		sum = _mm_sad_epu8(sum, zero);
		count += (size_t)_mm_cvtsi128_si64(sum) +
			 (size_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(sum, sum));
	}
	for (; i < num; i++) {
		to[i] = *(const volatile uint8_t *)(from + i);
		count += to[i] == JF_OPCODE_INT3;
	}
	return count;
}

/* So many bytes, or -errno. */
static inline long jf_pwrite(int fd, const void *bytes, size_t num, uintptr_t at)
{
	register uintptr_t offset __asm__("r10") = at;
	long ret = SYS_pwrite64;

	__asm__ volatile("syscall"
			 : "+a" (ret)
			 : "D" ((long)fd), "S" (bytes), "d" (num), "r" (offset)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

/* Where thread-local storage is: the ABI has its address there, too. */
static inline void *thread_pointer(void)
{
	void *self;

	__asm__ volatile("movq %%fs:0, %0" : "=r" (self));
	return self;
}

/* 0, or -errno: it has not begun. As a thread of its own with @flags it calls @runs, and ends. */
static inline long jf_helper_start(unsigned long flags, void (*runs)(void), char *stack, _Atomic int *number)
{
	void *self = thread_pointer();
	register _Atomic int *tid __asm__("r10") = number;
	register void *tls __asm__("r8") = self;
	register void (*run)(void) __asm__("r9") = runs;
	long ret = SYS_clone;

	/*
	 * No call may stand above, not even one that a sanitizer adds: those registers would not
	 * outlive it.
	 */
	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "callq *%%r9\n\t"
			 "movl %[exit], %%eax\n\t"
			 "xorl %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "hlt\n"
			 "1:"
			 : "+a" (ret)
			 : "D" (flags), "S" (stack),
			   "d" (tid), "r" (tid), "r" (tls), "r" (run), [exit] "i" (SYS_exit)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

#endif /* JF_LIB_MACHINE_X86_H */
