// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Copies of instructions: each is executed at its place and as a copy elsewhere, with random
 * registers and flags, and leaves the same registers, flags, stack and memory, and goes on at the
 * same place.
 */
#include <signal.h>
#include <sys/mman.h>

#include "user/agent/displace.h"
#include "user/test/tap.h"

#define AREA		(64UL << 10)
#define HERE		0x800		/* the instruction, in its page */
#define ASIDE		0x900		/* where branches lead */
#define DATA		0x2000
#define ROUNDS		200
/* All that arithmetic changes. */
#define FLAGS		0x8d5UL

/**
 * struct state - of a thread; the assembly below knows where each is
 */
struct state {
	uint64_t	reg[16];
	uint64_t	flags;
	uint64_t	exit;
	uint64_t	own_stack;
};

static struct state *now;
extern struct state *volatile jf_now __attribute__((__visibility__("hidden")));
struct state *volatile jf_now;
void run_at(const void *code);
extern const char out_here[], out_aside[];

__asm__(".text\n.globl run_at\nrun_at:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov jf_now(%rip), %rax\nmov %rsp, 144(%rax)\npushq 128(%rax)\npopfq\n"
	"push %rdi\npopq -8(%rsp)\n"
	/* The code's address is above the stack that it gets. */
	"mov 32(%rax), %rsp\npush %rdi\nlea 8(%rsp), %rsp\n"
	"mov 8(%rax), %rcx\nmov 16(%rax), %rdx\nmov 24(%rax), %rbx\nmov 40(%rax), %rbp\nmov 48(%rax), %rsi\n"
	"mov 56(%rax), %rdi\nmov 64(%rax), %r8\nmov 72(%rax), %r9\nmov 80(%rax), %r10\nmov 88(%rax), %r11\n"
	"mov 96(%rax), %r12\nmov 104(%rax), %r13\nmov 112(%rax), %r14\nmov 120(%rax), %r15\nmov (%rax), %rax\n"
	"jmp *-8(%rsp)\n"
	".globl out_here\nout_here:\npush %rax\nmov jf_now(%rip), %rax\nmovq $1, 136(%rax)\njmp 1f\n"
	".globl out_aside\nout_aside:\npush %rax\nmov jf_now(%rip), %rax\nmovq $2, 136(%rax)\n"
	"1: popq (%rax)\nmov %rcx, 8(%rax)\nmov %rdx, 16(%rax)\nmov %rbx, 24(%rax)\nmov %rsp, 32(%rax)\n"
	"mov %rbp, 40(%rax)\nmov %rsi, 48(%rax)\nmov %rdi, 56(%rax)\nmov %r8, 64(%rax)\nmov %r9, 72(%rax)\n"
	"mov %r10, 80(%rax)\nmov %r11, 88(%rax)\nmov %r12, 96(%rax)\nmov %r13, 104(%rax)\nmov %r14, 112(%rax)\n"
	"mov %r15, 120(%rax)\npushfq\npopq 128(%rax)\nmov 144(%rax), %rsp\ncld\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n");

static uint8_t *area, *copy_area;
static uint64_t stack[512];

static uint64_t seed = 1;

static uint64_t random64(void)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed ^ seed >> 29;
}

/* jmp *(%rip) to @to */
static void put_exit(uint8_t *at, const void *to)
{
	memcpy(at, "\xff\x25\0\0\0\0", 6);
	memcpy(at + 6, &to, 8);
}

static struct state prepared(const struct state *random)
{
	struct state s = *random;
	size_t i;

	for (i = 0; i < 512; i++)
		stack[i] = 0x1111 * i;
	/* Places where there is something to be read and written. */
	s.reg[3] = (uint64_t)(uintptr_t)(area + DATA + 64);
	s.reg[4] = (uint64_t)(uintptr_t)&stack[256];
	stack[256] = (uint64_t)(uintptr_t)(area + ASIDE);
	s.reg[0] = random->reg[0] & 1 ? (uint64_t)(uintptr_t)(area + ASIDE) : random->reg[0];
	s.reg[1] = random->reg[1] & 3;
	s.flags = (random->flags & FLAGS) | 2;
	s.exit = 0;
	for (i = 0; i < 64; i++)
		((uint64_t *)(void *)(area + DATA))[i] = i == 10 ? (uint64_t)(uintptr_t)(area + ASIDE) : random->reg[i % 16] * i;
	return s;
}

static struct state run(const uint8_t *code, const struct state *random, uint64_t *memory)
{
	struct state s = prepared(random);

	now = &s;
	jf_now = now;
	run_at(code);
	memcpy(memory, area + DATA, 512);
	/* The bytes below the pointer do not count. */
	memcpy(memory + 64, (const void *)(uintptr_t)s.reg[4], (size_t)((char *)&stack[260] - (char *)s.reg[4]));
	return s;
}

/*
 * Bytes of the instruction; its relative part leads to DATA or to ASIDE, as @fix says: where a word
 * is.
 */
struct sample {
	const char	*name;
	const char	*bytes;
	unsigned int	len;
	int		data;	/* its displacement of 32 bits, or -1 */
	int		aside;	/* its distance of 8 (- 100) or 32 bits, or -1 */
	bool		masked;	/* some flags mean nothing */
};

#define S(name, bytes, data, aside)	{ name, bytes, sizeof(bytes) - 1, data, aside, false }
#define U(name, bytes, data, aside)	{ name, bytes, sizeof(bytes) - 1, data, aside, true }

static const struct sample samples[] = {
	S("mov (%rip),%rcx", "\x48\x8b\x0d\0\0\0\0", 3, -1),
	S("lea (%rip),%r9", "\x4c\x8d\x0d\0\0\0\0", 3, -1),
	S("cmpb $7,(%rip)", "\x80\x3d\0\0\0\0\x07", 2, -1),
	S("addl $0x12345678,(%rip)", "\x81\x05\0\0\0\0\x78\x56\x34\x12", 2, -1),
	S("add %rdx,(%rip)", "\x48\x01\x15\0\0\0\0", 3, -1),
	S("lock xadd %rdx,(%rip)", "\xf0\x48\x0f\xc1\x15\0\0\0\0", 5, -1),
	S("push (%rip)", "\xff\x35\0\0\0\0", 2, -1),
	S("movzbl (%rip),%esi", "\x0f\xb6\x35\0\0\0\0", 3, -1),
	S("movups (%rip),%xmm3; by its memory", "\x0f\x10\x1d\0\0\0\0", 3, -1),
	S("cmovb (%rip),%rdi", "\x48\x0f\x42\x3d\0\0\0\0", 4, -1),
	S("jmp rel8", "\xeb\0", -1, 101),
	S("jmp rel32", "\xe9\0\0\0\0", -1, 1),
	S("loop", "\xe2\0", -1, 101),
	S("loope", "\xe1\0", -1, 101),
	S("loopne", "\xe0\0", -1, 101),
	S("jrcxz", "\xe3\0", -1, 101),
	S("jecxz", "\x67\xe3\0", -1, 102),
	S("call rel32", "\xe8\0\0\0\0", -1, 1),
	S("call *80(%rbx) - 64", "\xff\x53\x10", -1, -1),
	S("jmp *16(%rbx)", "\xff\x63\x10", -1, -1),
	S("jmp *(%rsp)", "\xff\x24\x24", -1, -1),
	S("ret", "\xc3", -1, -1),
	S("ret $16", "\xc2\x10\0", -1, -1),
	S("push %rbp", "\x55", -1, -1),
	S("pop %r12", "\x41\x5c", -1, -1),
	S("mov %rsp,%rbp", "\x48\x89\xe5", -1, -1),
	S("add $24,%rsp", "\x48\x83\xc4\x18", -1, -1),
	S("endbr64", "\xf3\x0f\x1e\xfa", -1, -1),
	S("nop", "\x90", -1, -1),
	S("nopw", "\x66\x2e\x0f\x1f\x84\0\0\0\0\0", -1, -1),
	S("adc %r10,%r11", "\x4d\x11\xd3", -1, -1),
	S("sbb (%rbx),%rax", "\x48\x1b\x03", -1, -1),
	U("imul %r8,%r9", "\x4d\x0f\xaf\xc8", -1, -1),
	U("shl %cl,%r13", "\x49\xd3\xe5", -1, -1),
	S("xchg %rdx,(%rbx)", "\x48\x87\x13", -1, -1),
	S("setg %r14b", "\x41\x0f\x9f\xc6", -1, -1),
	S("bswap %rsi", "\x48\x0f\xce", -1, -1),
	S("movabs $,%r15", "\x49\xbf\1\2\3\4\5\6\7\x88", -1, -1),
	S("leave", "\xc9", -1, -1),
};

static void put_sample(const struct sample *s)
{
	uint8_t *at = area + HERE;
	int32_t rel;

	memset(area, 0xcc, DATA);
	memcpy(at, s->bytes, s->len);
	put_exit(at + s->len, out_here);
	put_exit(area + ASIDE, out_aside);
	if (s->data >= 0) {
		rel = (int32_t)(DATA + 32 - HERE - (int)s->len);
		memcpy(at + s->data, &rel, 4);
	}
	if (s->aside >= 100)
		at[s->aside - 100] = (uint8_t)0x70;
	else if (s->aside >= 0) {
		rel = (int32_t)(ASIDE - HERE - (int)s->len);
		memcpy(at + s->aside, &rel, 4);
	}
	/* Where a distance of 8 bits leads. */
	if (s->aside >= 100)
		put_exit(at + s->len + 0x70, out_aside);
}

static void one(const struct sample *s, const char *name)
{
	static uint64_t here_memory[1024], copy_memory[1024];
	struct jf_code c = { copy_area + 16, 256, 0, (uintptr_t)(copy_area + 16) };
	struct jf_moved moved;
	struct state random, here, copy;
	uint64_t flags = s->masked ? 0 : FLAGS;
	int i, k, err;

	memset(copy_area, 0xcc, 4096);
	err = jf_displace(&c, area + HERE, 15, (uintptr_t)(area + HERE), &moved);
	CHECK(!err && moved.len == s->len, "%s: %d, %u bytes", name, err, moved.len);
	if (err)
		return;
	if (!moved.ends)
		CHECK(!jf_code_jmp(&c, (uintptr_t)(area + HERE + s->len)), "%s: too far", name);
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < 16; k++)
			random.reg[k] = random64();
		random.flags = random64();
		random.exit = 0;
		memset(here_memory, 0, sizeof(here_memory));
		memset(copy_memory, 0, sizeof(copy_memory));
		/* It needs a stack that is there. */
		if (*s->bytes == '\xc9')
			random.reg[5] = (uint64_t)(uintptr_t)&stack[256];
		here = run(area + HERE, &random, here_memory);
		copy = run(copy_area + 16, &random, copy_memory);
		CHECK(here.exit && here.exit == copy.exit, "%s: goes on at %llu, its copy at %llu", name,
		      (unsigned long long)here.exit, (unsigned long long)copy.exit);
		for (k = 0; k < 16; k++)
			CHECK(here.reg[k] == copy.reg[k], "%s: register %d is %llx, of its copy %llx", name, k,
			      (unsigned long long)here.reg[k], (unsigned long long)copy.reg[k]);
		CHECK((here.flags & flags) == (copy.flags & flags), "%s: flags %llx, of its copy %llx", name,
		      (unsigned long long)here.flags, (unsigned long long)copy.flags);
		CHECK(!memcmp(here_memory, copy_memory, sizeof(here_memory)), "%s: memory", name);
	}
}

static void conditions(void)
{
	char bytes[6] = { 0 }, name[32];
	struct sample s = { name, bytes, 2, -1, 101, false };
	int cc;

	for (cc = 0; cc < 16; cc++) {
		bytes[0] = (char)(0x70 | cc);
		s.len = 2;
		s.aside = 101;
		snprintf(name, sizeof(name), "jcc rel8 %d", cc);
		put_sample(&s);
		one(&s, name);
		bytes[0] = 0x0f;
		bytes[1] = (char)(0x80 | cc);
		s.len = 6;
		s.aside = 2;
		snprintf(name, sizeof(name), "jcc rel32 %d", cc);
		put_sample(&s);
		one(&s, name);
		bytes[1] = 0;
	}
	finish("branches, by all conditions");
}

static void refused(void)
{
	static const struct {
		const char	*name, *bytes;
		unsigned int	len;
		int		err;
	} no[] = {
		{ "int3", "\xcc", 1, -EOPNOTSUPP }, { "int $0x80", "\xcd\x80", 2, -EOPNOTSUPP },
		{ "call *8(%rsp)", "\xff\x54\x24\x08", 4, -EOPNOTSUPP },
		{ "call *%rsp", "\xff\xd4", 2, -EOPNOTSUPP },
		{ "far call", "\xff\x1b", 2, -EOPNOTSUPP },
		{ "xbegin", "\xc7\xf8\0\0\0\0", 6, -EOPNOTSUPP },
		{ "mov (%eip),%eax", "\x67\x8b\x05\0\0\0\0", 7, -EOPNOTSUPP },
		{ "push %es", "\x06", 1, -EILSEQ }, { "cut off", "\x48\x8b\x0d\0\0", 5, -EILSEQ },
	};
	uint8_t bytes[64];
	struct jf_moved moved;
	size_t i;

	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		struct jf_code c = { bytes, sizeof(bytes), 0, 0x400000 };
		int err = jf_displace(&c, (const uint8_t *)no[i].bytes, no[i].len, 0x401000, &moved);

		CHECK(err == no[i].err, "%s: %d", no[i].name, err);
	}
	finish("what cannot be moved");
}

static void too_far(void)
{
	uint8_t bytes[64];
	struct jf_code c = { bytes, sizeof(bytes), 0, 0x7f0000000000 };
	struct jf_moved moved;

	CHECK(jf_displace(&c, (const uint8_t *)"\xe9\0\0\0\0", 5, 0x400000, &moved) == -ERANGE, "jmp");
	CHECK(jf_displace(&c, (const uint8_t *)"\x48\x8b\x0d\0\0\0\0", 7, 0x400000, &moved) == -ERANGE, "mov");
	CHECK(jf_displace(&c, (const uint8_t *)"\x55", 1, 0x400000, &moved) == 0, "push");
	finish("what is too far away");
}

int main(void)
{
	size_t i;
	void *p = mmap(NULL, AREA, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p == MAP_FAILED ? -errno : 0, "mmap");
	area = p;
	/* As far away as most. */
	copy_area = mmap(area - 0x30000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must((void *)copy_area == MAP_FAILED ? -errno : 0, "mmap");
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		put_sample(&samples[i]);
		one(&samples[i], samples[i].name);
	}
	finish("each kind of instruction, and its copy");
	conditions();
	refused();
	too_far();
	return tap_end();
}
