/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * Test vectors of the instruction codec, for the host tests and for KUnit.
 *
 * API:
 *   jf_encode_vectors[]	(kind, ip, target) and the bytes or -ERANGE
 *   jf_plain_vectors[]		the results of jf_insn_nop() and jf_insn_ret0()
 *   jf_decode_vectors[]	eight bytes at ip, their kind, where they lead
 *   JF_VECTORS(table)		number of rows of a table
 *
 * Example:
 *   for (i = 0; i < JF_VECTORS(jf_encode_vectors); i++)
 *           check(&jf_encode_vectors[i]);
 *
 * How it works: plain tables of constants and no function, so that each side
 * brings its own way to report. The bytes were computed apart from the codec,
 * and the host test lets a disassembler confirm every row of them.
 *
 * Caveats: include common/x86/insn.h first. A rejected encode must leave the
 * caller's instruction alone, and a decode of JF_INSN_OTHER its target alone:
 * that is for the test to check, since no table can.
 */
#ifndef JF_SELFTESTS_VECTORS_H
#define JF_SELFTESTS_VECTORS_H

#ifndef JF_INSN_X86_H
#error "include common/x86/insn.h before this"
#endif

#define JF_VECTORS(table)	(sizeof(table) / sizeof((table)[0]))

/* A table that one includer does not use is no reason for a warning. */
#define JF_VECTOR_TABLE		static const __attribute__((__unused__))

/**
 * struct jf_encode_vector - one row for jf_insn_call() or jf_insn_jmp()
 * @name:   its special feature
 * @kind:   JF_INSN_CALL or JF_INSN_JMP
 * @ip:     where the instruction stands
 * @target: its target
 * @err:    0 or -ERANGE
 * @bytes:  the instruction in memory order, if @err is 0
 */
struct jf_encode_vector {
	const char *name;
	enum jf_insn_kind kind;
	uint64_t ip;
	uint64_t target;
	int err;
	uint8_t bytes[JF_INSN_SIZE];
};

/**
 * struct jf_plain_vector - one row for the instructions without operand
 * @name:  its meaning
 * @kind:  JF_INSN_NOP or JF_INSN_RET0
 * @bytes: the instruction in memory order
 */
struct jf_plain_vector {
	const char *name;
	enum jf_insn_kind kind;
	uint8_t bytes[JF_INSN_SIZE];
};

/**
 * struct jf_decode_vector - one row for jf_insn_decode()
 * @name:   its special feature
 * @ip:     where the bytes stand
 * @bytes:  the bytes; those from number 5 on make bits 40-63 of the word
 * @kind:   of instruction
 * @target: where they lead, unless @kind is JF_INSN_OTHER
 */
struct jf_decode_vector {
	const char *name;
	uint64_t ip;
	uint8_t bytes[8];
	enum jf_insn_kind kind;
	uint64_t target;
};

/* Both branches have the same displacement, so one line makes two rows. */
#define JF_REACHED(name, ip, target, b1, b2, b3, b4)			\
	{ "call " name, JF_INSN_CALL, ip, target, 0,			\
	  { 0xe8, b1, b2, b3, b4 } },					\
	{ "jmp " name, JF_INSN_JMP, ip, target, 0,			\
	  { 0xe9, b1, b2, b3, b4 } }
#define JF_BEYOND(name, ip, target)					\
	{ "call " name, JF_INSN_CALL, ip, target, -ERANGE, { 0 } },	\
	{ "jmp " name, JF_INSN_JMP, ip, target, -ERANGE, { 0 } }

JF_VECTOR_TABLE struct jf_encode_vector jf_encode_vectors[] = {
	/* A userspace address with nothing special around it. */
	JF_REACHED("next instruction",
		   0x400000000000ULL, 0x400000000005ULL, 0x00, 0x00, 0x00, 0x00),
	JF_REACHED("itself",
		   0x400000000000ULL, 0x400000000000ULL, 0xfb, 0xff, 0xff, 0xff),
	JF_REACHED("one after next",
		   0x400000000000ULL, 0x400000000006ULL, 0x01, 0x00, 0x00, 0x00),
	JF_REACHED("own last byte",
		   0x400000000000ULL, 0x400000000004ULL, 0xff, 0xff, 0xff, 0xff),
	JF_REACHED("each byte of the displacement is its own",
		   0x400000000000ULL, 0x40001234567dULL, 0x78, 0x56, 0x34, 0x12),
	JF_REACHED("each byte of a negative displacement",
		   0x400000000000ULL, 0x3fffedcba98dULL, 0x88, 0xa9, 0xcb, 0xed),
	JF_REACHED("displacement full of INT3",
		   0x400000000000ULL, 0x3fffccccccd1ULL, 0xcc, 0xcc, 0xcc, 0xcc),
	JF_REACHED("last address in reach",
		   0x400000000000ULL, 0x400080000004ULL, 0xff, 0xff, 0xff, 0x7f),
	JF_BEYOND("one too far",
		  0x400000000000ULL, 0x400080000005ULL),
	JF_REACHED("first address in reach",
		   0x400000000000ULL, 0x3fff80000005ULL, 0x00, 0x00, 0x00, 0x80),
	JF_BEYOND("one too far back",
		  0x400000000000ULL, 0x3fff80000004ULL),
	/* 32 bits hold these, but as the displacement of another place. */
	JF_BEYOND("2^32 - 1 ahead",
		  0x400000000000ULL, 0x400100000004ULL),
	JF_BEYOND("2^32 - 1 back",
		  0x400000000000ULL, 0x3fff00000006ULL),
	JF_BEYOND("2^32 ahead, truncates to next",
		  0x400000000000ULL, 0x400100000005ULL),
	JF_BEYOND("2^32 back, truncates to next",
		  0x400000000000ULL, 0x3fff00000005ULL),
	JF_BEYOND("2^32 from the start, truncates to itself",
		  0x400000000000ULL, 0x400100000000ULL),
	JF_BEYOND("2^63 away",
		  0x400000000000ULL, 0x8000400000000005ULL),
	JF_BEYOND("null pointer",
		  0x400000000000ULL, 0),

	/* Where the kernel and its modules live. */
	JF_REACHED("module to kernel text",
		   0xffffffffc0000000ULL, 0xffffffff81000000ULL, 0xfb, 0xff, 0xff, 0xc0),
	JF_REACHED("kernel text to module",
		   0xffffffff81000000ULL, 0xffffffffc0000000ULL, 0xfb, 0xff, 0xff, 0x3e),
	JF_REACHED("module to module",
		   0xffffffffc0001000ULL, 0xffffffffc0205000ULL, 0xfb, 0x3f, 0x20, 0x00),
	JF_REACHED("first address in reach of a module",
		   0xffffffffc0001000ULL, 0xffffffff40001005ULL, 0x00, 0x00, 0x00, 0x80),
	JF_BEYOND("one too far back for a module",
		  0xffffffffc0001000ULL, 0xffffffff40001004ULL),
	JF_BEYOND("module to vmalloc",
		  0xffffffffc0001000ULL, 0xffffc90000001000ULL),
	JF_BEYOND("module to direct map",
		  0xffffffffc0001000ULL, 0xffff888000001000ULL),
	JF_BEYOND("module to null pointer + 2^32",
		  0xffffffffc0001000ULL, 0x00000000c0001005ULL),

	/* The CPU counts modulo 2^64, on both ends of the address space. */
	JF_REACHED("over the top",
		   0xffffffffc0001000ULL, 0x0000000040001004ULL, 0xff, 0xff, 0xff, 0x7f),
	JF_BEYOND("over the top, one too far",
		  0xffffffffc0001000ULL, 0x0000000040001005ULL),
	JF_REACHED("below zero",
		   0x0000000000001000ULL, 0xffffffff80001005ULL, 0x00, 0x00, 0x00, 0x80),
	JF_BEYOND("below zero, one too far",
		  0x0000000000001000ULL, 0xffffffff80001004ULL),
	JF_REACHED("last bytes of memory, next wraps",
		   0xfffffffffffffffbULL, 0, 0x00, 0x00, 0x00, 0x00),
	JF_REACHED("across the top, to next",
		   0xfffffffffffffffdULL, 2, 0x00, 0x00, 0x00, 0x00),
	JF_REACHED("across the top, to itself",
		   0xfffffffffffffffdULL, 0xfffffffffffffffdULL, 0xfb, 0xff, 0xff, 0xff),
	JF_REACHED("across the top, last in reach",
		   0xfffffffffffffffdULL, 0x0000000080000001ULL, 0xff, 0xff, 0xff, 0x7f),
	JF_BEYOND("across the top, one too far",
		  0xfffffffffffffffdULL, 0x0000000080000002ULL),
	JF_REACHED("across the top, first in reach",
		   0xfffffffffffffffdULL, 0xffffffff80000002ULL, 0x00, 0x00, 0x00, 0x80),
	JF_BEYOND("across the top, one too far back",
		  0xfffffffffffffffdULL, 0xffffffff80000001ULL),
	JF_REACHED("address zero to next",
		   0, 5, 0x00, 0x00, 0x00, 0x00),
	JF_REACHED("address zero to the last byte of memory",
		   0, 0xffffffffffffffffULL, 0xfa, 0xff, 0xff, 0xff),
};

JF_VECTOR_TABLE struct jf_plain_vector jf_plain_vectors[] = {
	{ "nop", JF_INSN_NOP, { 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ "ret0", JF_INSN_RET0, { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 } },
};

#define JF_ALIEN(name, ...)						\
	{ name, 0xffffffffc0001000ULL, { __VA_ARGS__ }, JF_INSN_OTHER, 0 }

JF_VECTOR_TABLE struct jf_decode_vector jf_decode_vectors[] = {
	{ "nop", 0x400000000000ULL,
	  { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, JF_INSN_NOP, 0x400000000005ULL },
	{ "nop of old kernels on K8", 0x400000000000ULL,
	  { 0x66, 0x66, 0x66, 0x66, 0x90 }, JF_INSN_NOP, 0x400000000005ULL },
	{ "ret0", 0x400000000000ULL,
	  { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 }, JF_INSN_RET0, 0x400000000005ULL },
	{ "ret0 of kernels before 5.18", 0x400000000000ULL,
	  { 0x66, 0x66, 0x48, 0x31, 0xc0 }, JF_INSN_RET0, 0x400000000005ULL },
	{ "nop across the top", 0xfffffffffffffffdULL,
	  { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, JF_INSN_NOP, 2 },
	{ "call next, a get-pc idiom", 0x400000000000ULL,
	  { 0xe8, 0x00, 0x00, 0x00, 0x00 }, JF_INSN_CALL, 0x400000000005ULL },
	{ "jmp next, a disabled jump of the kernel", 0x400000000000ULL,
	  { 0xe9, 0x00, 0x00, 0x00, 0x00 }, JF_INSN_JMP, 0x400000000005ULL },
	{ "jmp itself", 0x400000000000ULL,
	  { 0xe9, 0xfb, 0xff, 0xff, 0xff }, JF_INSN_JMP, 0x400000000000ULL },
	{ "call farthest ahead", 0x400000000000ULL,
	  { 0xe8, 0xff, 0xff, 0xff, 0x7f }, JF_INSN_CALL, 0x400080000004ULL },
	{ "call farthest back", 0x400000000000ULL,
	  { 0xe8, 0x00, 0x00, 0x00, 0x80 }, JF_INSN_CALL, 0x3fff80000005ULL },
	{ "jmp farthest ahead", 0x400000000000ULL,
	  { 0xe9, 0xff, 0xff, 0xff, 0x7f }, JF_INSN_JMP, 0x400080000004ULL },
	{ "jmp farthest back", 0x400000000000ULL,
	  { 0xe9, 0x00, 0x00, 0x00, 0x80 }, JF_INSN_JMP, 0x3fff80000005ULL },
	{ "call from a module to kernel text", 0xffffffffc0000000ULL,
	  { 0xe8, 0xfb, 0xff, 0xff, 0xc0 }, JF_INSN_CALL, 0xffffffff81000000ULL },
	{ "jmp over the top", 0xffffffffc0001000ULL,
	  { 0xe9, 0xff, 0xff, 0xff, 0x7f }, JF_INSN_JMP, 0x0000000040001004ULL },
	{ "jmp below zero", 0x1000ULL,
	  { 0xe9, 0x00, 0x00, 0x00, 0x80 }, JF_INSN_JMP, 0xffffffff80001005ULL },
	{ "call with INT3 in its displacement", 0x400000000000ULL,
	  { 0xe8, 0xcc, 0xcc, 0xcc, 0xcc }, JF_INSN_CALL, 0x3fffccccccd1ULL },
	{ "call with nop bytes in its displacement", 0x400000000000ULL,
	  { 0xe8, 0x1f, 0x44, 0x00, 0x00 }, JF_INSN_CALL, 0x400000004424ULL },

	/* A breakpoint: a debugger's, a kprobe's, or a batch cut short. */
	JF_ALIEN("five INT3", 0xcc, 0xcc, 0xcc, 0xcc, 0xcc),
	JF_ALIEN("INT3 on a nop", 0xcc, 0x1f, 0x44, 0x00, 0x00),
	JF_ALIEN("INT3 on a call", 0xcc, 0xfb, 0xff, 0xff, 0xc0),
	JF_ALIEN("INT3 on a return-0", 0xcc, 0x2e, 0x2e, 0x31, 0xc0),
	JF_ALIEN("INT3 inside a nop", 0x0f, 0xcc, 0x44, 0x00, 0x00),
	JF_ALIEN("INT3 at the end of a nop", 0x0f, 0x1f, 0x44, 0x00, 0xcc),
	JF_ALIEN("int $3 in two bytes", 0xcd, 0x03, 0x90, 0x90, 0x90),

	/* Other branches, also ones that reach the same place. */
	JF_ALIEN("2-byte jmp", 0xeb, 0x03, 0x90, 0x90, 0x90),
	JF_ALIEN("2-byte jmp itself", 0xeb, 0xfe, 0xe9, 0x00, 0x00),
	JF_ALIEN("2-byte nop first", 0x66, 0x90, 0x66, 0x90, 0x90),
	JF_ALIEN("conditional jump, 6 bytes", 0x0f, 0x84, 0x00, 0x00, 0x00),
	JF_ALIEN("near return", 0xc3, 0xcc, 0xcc, 0xcc, 0xcc),
	JF_ALIEN("far return", 0xcb, 0xcc, 0xcc, 0xcc, 0xcc),
	JF_ALIEN("call *%rax", 0xff, 0xd0, 0x0f, 0x1f, 0x00),
	JF_ALIEN("call *mem(%rip), 6 bytes", 0xff, 0x15, 0x00, 0x00, 0x00),
	JF_ALIEN("call with a prefix", 0x66, 0xe8, 0x00, 0x00, 0x00),
	JF_ALIEN("notrack call *%rax", 0x3e, 0xff, 0xd0, 0x66, 0x90),
	JF_ALIEN("endbr64", 0xf3, 0x0f, 0x1e, 0xfa, 0x90),
	JF_ALIEN("ud2", 0x0f, 0x0b, 0x00, 0x00, 0x00),
	JF_ALIEN("ud1, the kernel's mark of a trampoline", 0x0f, 0xb9, 0xcc, 0x90, 0x90),

	/* One of ours with a byte missing, moved or changed. */
	JF_ALIEN("nop of four bytes and one more", 0x0f, 0x1f, 0x40, 0x00, 0x90),
	JF_ALIEN("nop cut after four bytes", 0x0f, 0x1f, 0x44, 0x00, 0x55),
	JF_ALIEN("nop cut after three bytes", 0x0f, 0x1f, 0x44, 0x90, 0x90),
	JF_ALIEN("nop with a displacement", 0x0f, 0x1f, 0x44, 0x00, 0x01),
	JF_ALIEN("nop with another register", 0x0f, 0x1f, 0x44, 0x08, 0x00),
	JF_ALIEN("five short nops", 0x90, 0x90, 0x90, 0x90, 0x90),
	JF_ALIEN("K8 nop cut after four bytes", 0x66, 0x66, 0x66, 0x66, 0x66),
	JF_ALIEN("K8 nop in two instructions", 0x66, 0x66, 0x90, 0x66, 0x90),
	JF_ALIEN("return-0 of another register", 0x2e, 0x2e, 0x2e, 0x31, 0xc9),
	JF_ALIEN("return-0 cut after four bytes", 0x2e, 0x2e, 0x2e, 0x31, 0x90),
	JF_ALIEN("return-0 with a prefix less", 0x2e, 0x2e, 0x31, 0xc0, 0x90),
	JF_ALIEN("bare xor %eax,%eax", 0x31, 0xc0, 0x90, 0x90, 0x90),
	JF_ALIEN("mov $0,%eax", 0xb8, 0x00, 0x00, 0x00, 0x00),
	JF_ALIEN("old return-0 cut after four bytes", 0x66, 0x66, 0x48, 0x31, 0x90),
	JF_ALIEN("a call that starts one byte late", 0x90, 0xe8, 0x00, 0x00, 0x00),
	JF_ALIEN("a call seen from its second byte", 0x00, 0x00, 0x00, 0x00, 0xe8),
	JF_ALIEN("all zero", 0x00, 0x00, 0x00, 0x00, 0x00),
	JF_ALIEN("all ones", 0xff, 0xff, 0xff, 0xff, 0xff),

	/* A word with more than five bytes in it is no instruction word. */
	JF_ALIEN("call, byte 5 set", 0xe8, 0, 0, 0, 0, 0x01),
	JF_ALIEN("jmp, byte 5 set", 0xe9, 0, 0, 0, 0, 0x01),
	JF_ALIEN("nop, byte 6 set", 0x0f, 0x1f, 0x44, 0x00, 0x00, 0, 0x80),
	JF_ALIEN("ret0, byte 7 set", 0x2e, 0x2e, 0x2e, 0x31, 0xc0, 0, 0, 0x80),
};

#endif /* JF_SELFTESTS_VECTORS_H */
