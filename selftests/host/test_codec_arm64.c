// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Host tests of the arm64 codec and of the successors of instructions; prints TAP.
 *
 * Two witnesses: words that an assembler made, and arithmetic in 128 bits, where
 * nothing can wrap.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifndef JF_CODEC
#define JF_CODEC "../../common/arm64/insn.h"
#endif
#include JF_CODEC
#include "../../common/arm64/flow.h"

#define MIB	(1ULL << 20)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static unsigned int test_nr, failures, shown;
static unsigned long checks;

static void check(int ok, const char *what, uint64_t a, uint64_t b)
{
	checks++;
	if (ok || shown++ >= 5)
		return;
	printf("# %s: %" PRIx64 ", %" PRIx64 "\n", what, a, b);
}

static void finish(const char *name)
{
	test_nr++;
	if (shown || !checks)
		failures++;
	printf("%sok %u - %s # %lu checks\n", shown || !checks ? "not " : "",
	       test_nr, name, checks);
	shown = 0;
	checks = 0;
}

static uint64_t random_state = 1;

/* splitmix64 */
static uint64_t random64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* aarch64-linux-gnu-as, at the address 0x1000 */
static const struct {
	uint32_t		insn;
	enum jf_insn_kind	kind;
	enum jf_insn_flow	flow;
	uint64_t		target;
} vectors[] = {
	{ 0xd503201f, JF_INSN_NOP, JF_FLOW_NEXT, 0x1004 },	/* nop */
	{ 0x14000000, JF_INSN_JMP, JF_FLOW_JUMP, 0x1000 },	/* b . */
	{ 0x14000001, JF_INSN_JMP, JF_FLOW_JUMP, 0x1004 },	/* b .+4 */
	{ 0x17ffffff, JF_INSN_JMP, JF_FLOW_JUMP, 0xffc },	/* b .-4 */
	{ 0x15ffffff, JF_INSN_JMP, JF_FLOW_JUMP, 0x1000 + 128 * MIB - 4 },
	{ 0x16000000, JF_INSN_JMP, JF_FLOW_JUMP, 0x1000 - 128 * MIB },
	{ 0x94000040, JF_INSN_CALL, JF_FLOW_CALL, 0x1100 },	/* bl .+0x100 */
	{ 0x97fffc00, JF_INSN_CALL, JF_FLOW_CALL, 0 },		/* bl .-0x1000 */
	{ 0xd503233f, JF_INSN_OTHER, JF_FLOW_NEXT, 0 },		/* paciasp */
	{ 0xd2800000, JF_INSN_OTHER, JF_FLOW_NEXT, 0 },		/* mov x0, #0 */
	{ 0xd65f03c0, JF_INSN_OTHER, JF_FLOW_END, 0 },		/* ret */
	{ 0xd65f0bff, JF_INSN_OTHER, JF_FLOW_END, 0 },		/* retaa */
	{ 0xd69f03e0, JF_INSN_OTHER, JF_FLOW_END, 0 },		/* eret */
	{ 0xd61f0200, JF_INSN_OTHER, JF_FLOW_AWAY, 0 },		/* br x16 */
	{ 0xd71f0a11, JF_INSN_OTHER, JF_FLOW_AWAY, 0 },		/* braa x16, x17 */
	{ 0xd63f0100, JF_INSN_OTHER, JF_FLOW_NEXT, 0 },		/* blr x8 */
	{ 0xd4210000, JF_INSN_OTHER, JF_FLOW_END, 0 },		/* brk #0x800 */
	{ 0xd4200080, JF_INSN_OTHER, JF_FLOW_END, 0 },		/* brk #4 */
	{ 0x00000000, JF_INSN_OTHER, JF_FLOW_END, 0 },		/* udf #0 */
	{ 0xd4000001, JF_INSN_OTHER, JF_FLOW_NEXT, 0 },		/* svc #0 */
	{ 0x54000040, JF_INSN_OTHER, JF_FLOW_BRANCH, 0x1008 },	/* b.eq .+8 */
	{ 0x54ffffe1, JF_INSN_OTHER, JF_FLOW_BRANCH, 0xffc },	/* b.ne .-4 */
	{ 0x34000050, JF_INSN_OTHER, JF_FLOW_BRANCH, 0x1008 },	/* cbz w16, .+8 */
	{ 0xb5ffffc0, JF_INSN_OTHER, JF_FLOW_BRANCH, 0xff8 },	/* cbnz x0, .-8 */
	{ 0x37000060, JF_INSN_OTHER, JF_FLOW_BRANCH, 0x100c },	/* tbnz w0, #0, .+12 */
	{ 0xb607ffe0, JF_INSN_OTHER, JF_FLOW_BRANCH, 0xffc },	/* tbz x0, #32, .-4 */
};

static void test_vectors(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint64_t target = 0x5a5a;
		uint8_t p[4];

		memcpy(p, &vectors[i].insn, 4);
		check(jf_insn_decode(vectors[i].insn, 0x1000, &target) == vectors[i].kind,
		      "kind", i, vectors[i].insn);
		check(target == (vectors[i].kind ? vectors[i].target : 0x5a5a), "target", i, target);
		target = 0x5a5a;
		check(jf_insn_flow(p, 0x1000, &target) == vectors[i].flow, "flow", i, vectors[i].insn);
		if (vectors[i].flow == JF_FLOW_BRANCH)
			check(target == vectors[i].target, "flow's target", i, target);
	}
	check(jf_insn_is_break(0xd4200000) && jf_insn_is_break(0xd43fffe0), "brk", 0, 0);
	check(!jf_insn_is_break(0xd4400000) && !jf_insn_is_break(0xd4200001), "no brk", 0, 0);
	finish("words that an assembler made");
}

/* The rule itself, in integers wide enough for every sum. */
static int reaches_by_128_bits(uint64_t ip, uint64_t target)
{
	const __int128 turn = (__int128)1 << 64;
	__int128 away = (__int128)target - (__int128)ip;
	int k;

	for (k = -1; k <= 1; k++)
		if (away + k * turn >= -(__int128)(128 * MIB) &&
		    away + k * turn < (__int128)(128 * MIB))
			return 1;
	return 0;
}

static void one(uint64_t ip, uint64_t target)
{
	int reaches = reaches_by_128_bits(ip, target), err;
	uint32_t insn = 0xdeadbeef;
	uint64_t back = 0;

	err = jf_insn_call(&insn, ip, target);
	check(err == (reaches ? 0 : -ERANGE), "call", ip, target);
	check(reaches ? jf_insn_decode(insn, ip, &back) == JF_INSN_CALL && back == target :
			insn == 0xdeadbeef, "call decoded", ip, back);
	insn = 0xdeadbeef;
	err = jf_insn_jmp(&insn, ip, target);
	check(err == (reaches ? 0 : -ERANGE), "jmp", ip, target);
	check(reaches ? jf_insn_decode(insn, ip, &back) == JF_INSN_JMP && back == target :
			insn == 0xdeadbeef, "jmp decoded", ip, back);
}

static void test_edges(void)
{
	static const uint64_t ips[] = {
		0, 4, 0x1000, 127 * MIB, 128 * MIB, 0x7ffffffffffffffcULL,
		0x8000000000000000ULL, 0xffff800008000000ULL, 0xfffffffffffffffcULL,
	};
	static const uint64_t edges[] = { 0, 128 * MIB, -128 * MIB, 256 * MIB, 1ULL << 32, 1ULL << 63 };
	unsigned int i, j;
	int d;

	for (i = 0; i < ARRAY_SIZE(ips); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++)
			for (d = -12; d <= 12; d += 4)
				one(ips[i], ips[i] + edges[j] + d);
	finish("128 MIB on either side, and no further");
}

static void test_random(void)
{
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		uint64_t ip = random64() & ~3ULL;

		one(ip, ip + (random64() >> (random64() & 63) & ~3ULL));
		one(ip, ip - (random64() >> (random64() & 63) & ~3ULL));
	}
	finish("random places");
}

static void test_misaligned(void)
{
	uint32_t insn = 0xdeadbeef;
	unsigned int d;

	for (d = 1; d < 4; d++) {
		check(jf_insn_call(&insn, 0x1000, 0x2000 + d) == -EINVAL, "target", d, insn);
		check(jf_insn_jmp(&insn, 0x1000 + d, 0x2000) == -EINVAL, "ip", d, insn);
		check(jf_insn_jmp(&insn, 0x1000 + d, 0x2000 + d) == -EINVAL, "both", d, insn);
	}
	check(insn == 0xdeadbeef, "nothing written", 0, insn);
	finish("instructions are aligned");
}

static void test_veneer(void)
{
	/* adrp x16, .-0x1000; add x16, x16, #0x234; br x16 */
	uint32_t p[] = { 0xf0fffff0, 0x9108d210, 0xd61f0200 };
	uint64_t target = 0;
	unsigned int i, bit, same = 0;

	check(jf_insn_veneer(p, 0xffff800008123450, &target), "is one", 0, 0);
	check(target == 0xffff800008122234, "leads back", target, 0);
	p[0] = 0x90000010 | 1U << 29 | 2U << 5;	/* adrp x16, .+9 pages */
	check(jf_insn_veneer(p, 0x10ffc, &target) && target == 0x19234, "leads on", target, 0);
	for (i = 0; i < 3; i++)
		for (bit = 0; bit < 32; bit++) {
			p[i] ^= 1U << bit;
			same += jf_insn_veneer(p, 0x10ffc, &target) && target == 0x19234;
			p[i] ^= 1U << bit;
		}
	check(!same, "one bit less or more is another one, or none", same, 0);
	finish("what the loader puts between");
}

int main(void)
{
	puts("TAP version 13");
	test_vectors();
	test_edges();
	test_random();
	test_misaligned();
	test_veneer();
	printf("1..%u\n", test_nr);
	return failures != 0;
}
