// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The subject of the agent's tests: functions whose first instructions are of all shapes, most of
 * them in assembly so that no compiler changes them, and notes. Each function returns the value of
 * subject.h.
 */
#include "subject.h"

#include <sys/sdt.h>

#include <jumpfunc/branch.h>

#define FUNCTION(name, body)						\
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n"	\
		#name ":\n" body "\n.size " #name ", . - " #name "\n")

uint64_t subject_data = 1000;
static uint64_t subject_word __attribute__((__used__)) = 17;

/* 3 and 1 bytes, then padding. */
FUNCTION(subject_same, "mov %rdi, %rax\nret\n");
/* A single byte, and the next function right after it. */
FUNCTION(subject_nothing, "ret\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n");
FUNCTION(subject_twice, "lea (%rdi,%rdi), %rax\nret\n");
FUNCTION(subject_landing, "endbr64\npush %rbx\nmov %rdi, %rbx\nlea 3(%rbx), %rax\npop %rbx\nret\n");
/* A branch leads to the second instruction. */
FUNCTION(subject_loop, "xor %eax, %eax\n1: add %rdi, %rax\ndec %rsi\njnz 1b\nret\n");
FUNCTION(subject_pushes, "push %rbp\nmov %rsp, %rbp\npush %r12\npush %r13\nmov %rdi, %r12\nmov %rsi, %r13\n"
	 "lea (%r12,%r13), %rax\npop %r13\npop %r12\npop %rbp\nret\n");
FUNCTION(subject_load, "mov subject_word(%rip), %rax\nadd %rdi, %rax\nret\n");
FUNCTION(subject_short_load, "push %rbx\nmov subject_word(%rip), %rbx\nlea (%rbx,%rdi), %rax\npop %rbx\nret\n");
FUNCTION(subject_branch, "test %rdi, %rdi\nje 1f\nmov $1, %eax\nret\n1: mov $2, %eax\nret\n");
FUNCTION(subject_branch_first, "jrcxz 1f\nlea 5(%rdi), %rax\nret\n1: lea 6(%rdi), %rax\nret\n");
FUNCTION(subject_calls, "push %rbx\ncall subject_same\nmov %rax, %rbx\ncall subject_twice\nadd %rbx, %rax\npop %rbx\nret\n");
FUNCTION(subject_jumps, "jmp subject_twice\n");
/* All vectors' arguments, from a caller that may rely on the others to stay. */
FUNCTION(subject_vectors, "sub $8, %rsp\naddsd %xmm1, %xmm0\naddsd %xmm2, %xmm0\naddsd %xmm3, %xmm0\naddsd %xmm4, %xmm0\n"
	 "addsd %xmm5, %xmm0\naddsd %xmm6, %xmm0\naddsd %xmm7, %xmm0\nadd $8, %rsp\nret\n");
/* The second one begins where flags are live and something is in the red zone. */
FUNCTION(subject_flags, "mov %rdi, -8(%rsp)\nmov %rsi, -120(%rsp)\ncmp %rsi, %rdi\n.globl subject_midst\n"
	 ".type subject_midst, @function\nsubject_midst: nop\n.size subject_midst, 1\njo 1f\nja 2f\nje 3f\njl 4f\n"
	 "mov $5, %eax\njmp 5f\n1: mov $1, %eax\njmp 5f\n2: mov $2, %eax\njmp 5f\n3: mov $3, %eax\njmp 5f\n"
	 "4: mov $4, %eax\n5: add -8(%rsp), %rax\nadd -120(%rsp), %rax\nret\n");

/* As gcc -pg -mfentry -mnop-mcount begins a function, without and with a landing pad. */
FUNCTION(subject_fentry, ".byte 0x0f, 0x1f, 0x44, 0, 0\npush %rbx\nlea 30(%rdi), %rax\npop %rbx\nret\n");
FUNCTION(subject_fentry_landing, "endbr64\n.byte 0x0f, 0x1f, 0x44, 0, 0\nlea 31(%rdi), %rax\nret\n");

/* Newer notes: a long nop after the short one. */
#define NOTE_AT(label, provider, name, args)							\
	".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"	\
	"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte " label ", _.stapsdt.base, 0\n"		\
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
FUNCTION(subject_nop10, "lea 10(%rdi), %rax\n.globl note_nop10\n.type note_nop10, @function\nnote_nop10: nop\n"
	 ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\nret\n" ".size note_nop10, 1\n" NOTE_AT("note_nop10", "jflong", "nop10", "8@%rdi"));
FUNCTION(subject_nop5, "lea 5(%rdi), %rax\n.globl note_nop5\n.type note_nop5, @function\nnote_nop5: nop\n"
	 ".byte 0x0f, 0x1f, 0x44, 0, 0\nret\n" ".size note_nop5, 1\n" NOTE_AT("note_nop5", "jflong", "nop5", "8@%rdi"));

/*
 * The bytes after the first are a distance below the objects that a process has side by side: one
 * instruction of five bytes, or one of a single byte and one more.
 */
FUNCTION(byte_1, "mov $0xa0000000, %eax\nmov %rdi, %rax\nret\n");
FUNCTION(byte_2, "mov $0xb1000000, %eax\nmov %rdi, %rax\nret\n");
FUNCTION(byte_3, "mov $0xc2000000, %eax\nmov %rdi, %rax\nret\n");
FUNCTION(byte_4, "nop\ntest $0xa40000, %eax\nmov %rdi, %rax\nret\n");
FUNCTION(byte_5, "nop\ntest $0xb50000, %eax\nmov %rdi, %rax\nret\n");
FUNCTION(byte_6, "nop\ntest $0xc60000, %eax\nmov %rdi, %rax\nret\n");

/* A note whose argument is in memory. */
FUNCTION(subject_pointer, ".byte 0x0f, 0x1f, 0x44, 0, 0\nnote_pointer: nop\nmov (%rdi), %rax\nret\n"
	 NOTE_AT("note_pointer", "jfmemory", "pointer", "8@(%rdi)"));

__attribute__((__patchable_function_entry__(5), __noinline__))
uint64_t subject_patchable(uint64_t a, uint64_t b)
{
	return a * 3 + b;
}

__attribute__((__noinline__))
uint64_t subject_table(uint64_t a, uint64_t b)
{
	switch (a % 8) {
	case 0: return b + 11;
	case 1: return b * 3;
	case 2: return b ^ 5;
	case 3: return b - 7;
	case 4: return b << 2;
	case 5: return ~b;
	case 6: return b + a;
	}
	return b;
}

/* Notes: arguments of all sizes, in registers, memory, and as numbers. */
__attribute__((__noinline__))
uint64_t subject_notes(uint64_t a, int b, unsigned char c)
{
	volatile uint64_t here[4] = { a, a + 1, a + 2, a + 3 };

	DTRACE_PROBE5(jfagent, args, a, b, c, (short)-3, 1234567);
	DTRACE_PROBE2(jfagent, memory, here[2], subject_data);
	here[3] = 0;
	DTRACE_PROBE(jfagent, none);
	return here[1] + (uint64_t)b + c;
}

/* A note of one byte, and a site of libjumpfunc right after it: its bytes change later. */
#ifndef BESIDE
#define BESIDE jfbeside
#endif
static DEFINE_JF_KEY_FALSE(beside_key);

__attribute__((__noinline__))
uint64_t beside_site(uint64_t a)
{
	DTRACE_PROBE(BESIDE, site);
	if (jf_branch_unlikely(&beside_key))
		return a + 2;
	return a + 1;
}

int beside_set(int on)
{
	return on ? jf_key_enable(&beside_key) : jf_key_disable(&beside_key);
}

/* Does not come back where it was called from. */
__attribute__((__noinline__))
void subject_leave(jmp_buf env)
{
	longjmp(env, 7);
}
