// SPDX-License-Identifier: GPL-2.0
/*
 * Suite jumpfunc-codec: common/x86/insn.h as the kernel's compiler sees it.
 *
 * Proves: each row of selftests/vectors/codec.h, which the host tests share,
 * encodes and decodes as the table says; a refused encode leaves the instruction
 * alone, a refused decode its target; the reach of a displacement ends exactly
 * where 32 bits do, from every base and on both sides; any value of any byte of
 * a displacement arrives at its place; load and store touch five bytes at any
 * alignment; of all words one bit away from ours none is taken for ours; and calls
 * are taken for each other over the padding of a function, and no further.
 */
#include "jfk.h"

#include "common/x86/insn.h"
#include "../vectors/codec.h"

#define UNTOUCHED_INSN		0x5a5a5a5a5aULL
#define UNTOUCHED_TARGET	0x5a5a5a5a5a5a5a5aULL

static int encode(jf_insn_t *insn, enum jf_insn_kind kind, u64 ip, u64 target)
{
	return kind == JF_INSN_CALL ? jf_insn_call(insn, ip, target) :
				      jf_insn_jmp(insn, ip, target);
}

/* --- the tables -------------------------------------------------------- */

static void vector_name(const char *name, char *desc)
{
	strscpy(desc, name, KUNIT_PARAM_DESC_SIZE);
}

static void encode_desc(const struct jf_encode_vector *v, char *desc)
{
	vector_name(v->name, desc);
}
KUNIT_ARRAY_PARAM(encode, jf_encode_vectors, encode_desc);

static void encode_vector(struct kunit *test)
{
	const struct jf_encode_vector *v = test->param_value;
	jf_insn_t insn = UNTOUCHED_INSN;

	KUNIT_EXPECT_EQ(test, encode(&insn, v->kind, v->ip, v->target), v->err);
	KUNIT_EXPECT_EQ(test, jf_insn_reaches(v->ip, v->target), !v->err);
	KUNIT_EXPECT_EQ(test, insn,
			v->err ? UNTOUCHED_INSN : jf_insn_load(v->bytes));
}

/* An encoded instruction decodes to itself, and stands in memory as the table says. */
static void encode_and_back(struct kunit *test)
{
	const struct jf_encode_vector *v = test->param_value;
	u64 target = UNTOUCHED_TARGET;
	u8 text[JF_INSN_SIZE];
	jf_insn_t insn;

	if (v->err)
		return;
	KUNIT_ASSERT_EQ(test, encode(&insn, v->kind, v->ip, v->target), 0);
	jf_insn_store(text, insn);
	KUNIT_EXPECT_EQ(test, memcmp(text, v->bytes, sizeof(text)), 0);
	KUNIT_EXPECT_EQ(test, (int)jf_insn_decode(jf_insn_load(text), v->ip, &target),
			(int)v->kind);
	KUNIT_EXPECT_EQ(test, target, v->target);
}

static void plain_desc(const struct jf_plain_vector *v, char *desc)
{
	vector_name(v->name, desc);
}
KUNIT_ARRAY_PARAM(plain, jf_plain_vectors, plain_desc);

static void plain_vector(struct kunit *test)
{
	const struct jf_plain_vector *v = test->param_value;
	jf_insn_t insn = v->kind == JF_INSN_NOP ? jf_insn_nop() : jf_insn_ret0();
	u64 target = UNTOUCHED_TARGET;

	KUNIT_EXPECT_EQ(test, insn, jf_insn_load(v->bytes));
	KUNIT_EXPECT_EQ(test, (int)jf_insn_decode(insn, 0x1000, &target),
			(int)v->kind);
	KUNIT_EXPECT_EQ(test, target, 0x1000ULL + JF_INSN_SIZE);
}

static void decode_desc(const struct jf_decode_vector *v, char *desc)
{
	vector_name(v->name, desc);
}
KUNIT_ARRAY_PARAM(decode, jf_decode_vectors, decode_desc);

static void decode_vector(struct kunit *test)
{
	const struct jf_decode_vector *v = test->param_value;
	u64 target = UNTOUCHED_TARGET;
	jf_insn_t insn = 0;
	unsigned int i;

	for (i = 0; i < sizeof(v->bytes); i++)
		insn |= (jf_insn_t)v->bytes[i] << (8 * i);
	KUNIT_EXPECT_EQ(test, (int)jf_insn_decode(insn, v->ip, &target),
			(int)v->kind);
	KUNIT_EXPECT_EQ(test, target, v->kind == JF_INSN_OTHER ? UNTOUCHED_TARGET :
								 v->target);
}

/* --- the reach --------------------------------------------------------- */

static const u64 bases[] = {
	0, 5, 0x7ffffffb, 0x80000000, 0xfffffffb, 0x400000000000,
	0x7fffffffffffffff, 0x8000000000000000, 0xffffffff80000000,
	0xffffffff81000000, 0xffffffffc0000000, 0xfffffffffffffffb,
	0xffffffffffffffff,
};

static void base_desc(const u64 *base, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "from %#llx", *base);
}
KUNIT_ARRAY_PARAM(base, bases, base_desc);

/* Every distance near every edge: with 33 bits of sign it fits, or it does not. */
static void reach(struct kunit *test)
{
	static const s64 edges[] = {
		0, S32_MAX, -(s64)S32_MAX, 1LL << 31, -(1LL << 31), 1LL << 32,
		-(1LL << 32), 3LL << 31, -(3LL << 31), S64_MAX, S64_MIN,
	};
	u64 ip = *(const u64 *)test->param_value;
	unsigned int i, wrong = 0;
	s64 d;

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		for (d = -300; d <= 300; d++) {
			/* The sum may wrap, as addresses do. */
			u64 away = (u64)edges[i] + (u64)d;
			u64 target = ip + JF_INSN_SIZE + away, back = 0;
			bool fits = (s64)away >= S32_MIN && (s64)away <= S32_MAX;
			jf_insn_t call = UNTOUCHED_INSN, jmp = UNTOUCHED_INSN;

			wrong += jf_insn_reaches(ip, target) != fits;
			wrong += jf_insn_call(&call, ip, target) != (fits ? 0 : -ERANGE);
			wrong += jf_insn_jmp(&jmp, ip, target) != (fits ? 0 : -ERANGE);
			if (!fits) {
				wrong += call != UNTOUCHED_INSN;
				wrong += jmp != UNTOUCHED_INSN;
				continue;
			}
			wrong += jf_insn_decode(call, ip, &back) != JF_INSN_CALL;
			wrong += back != target;
			wrong += jf_insn_decode(jmp, ip, &back) != JF_INSN_JMP;
			wrong += back != target;
			if (wrong)
				break;
		}
		KUNIT_ASSERT_EQ_MSG(test, wrong, 0U, "at edge %lld%+lld",
				    edges[i], d);
	}
}

/* --- bytes ------------------------------------------------------------- */

static void displacement_bytes(struct kunit *test)
{
	u64 ip = 0xffffffffc0001000ULL;
	unsigned int at, value, i, wrong = 0;

	for (at = 0; at < 4; at++) {
		for (value = 0; value < 256; value++) {
			s32 disp = (s32)(value << (8 * at));
			jf_insn_t insn = 0;

			wrong += jf_insn_call(&insn, ip, ip + 5 + (s64)disp) != 0;
			wrong += jf_insn_byte(insn, 0) != 0xe8;
			for (i = 0; i < 4; i++)
				wrong += jf_insn_byte(insn, i + 1) !=
					 (i == at ? value : 0);
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

static void load_store(struct kunit *test)
{
	const jf_insn_t insn = 0x5544332211ULL;
	unsigned int at, i, wrong = 0;
	u8 buf[24];

	for (at = 0; at < 16; at++) {
		memset(buf, 0xaa, sizeof(buf));
		/* More than five bytes in the word must not be written. */
		jf_insn_store(buf + at, insn | 0x77ULL << 40);
		for (i = 0; i < sizeof(buf); i++) {
			bool in = i >= at && i < at + JF_INSN_SIZE;

			wrong += buf[i] != (in ? 0x11 * (i - at + 1) : 0xaa);
		}
		wrong += jf_insn_load(buf + at) != insn;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

static bool is_plain(jf_insn_t insn)
{
	return insn == JF_INSN_NOP5 || insn == JF_INSN_NOP5_K8 ||
	       insn == JF_INSN_XOR5 || insn == JF_INSN_XOR5_OLD;
}

/* One bit off is not ours, unless it is another one of ours or a branch. */
static void one_bit_off(struct kunit *test)
{
	static const jf_insn_t ours[] = {
		JF_INSN_NOP5, JF_INSN_NOP5_K8, JF_INSN_XOR5, JF_INSN_XOR5_OLD,
		0x12345678e8ULL, 0x12345678e9ULL,
	};
	unsigned int i, bit;

	for (i = 0; i < ARRAY_SIZE(ours); i++) {
		for (bit = 0; bit < 64; bit++) {
			jf_insn_t insn = ours[i] ^ 1ULL << bit;
			bool branch = (insn & 0xfe) == 0xe8 && !(insn >> 40);
			u64 target = UNTOUCHED_TARGET;
			int kind = jf_insn_decode(insn, 0x1000, &target);

			KUNIT_EXPECT_EQ_MSG(test, kind != JF_INSN_OTHER,
					    branch || is_plain(insn),
					    "word %#llx", insn);
			if (kind == JF_INSN_OTHER)
				KUNIT_EXPECT_EQ(test, target, UNTOUCHED_TARGET);
		}
	}
}

static void calls_into_padding(struct kunit *test)
{
	u64 ip = 0xffffffffc0001000ULL, to = 0xffffffff81000100ULL;
	jf_insn_t call, jmp, insn;
	s64 d;

	KUNIT_ASSERT_EQ(test, jf_insn_call(&call, ip, to), 0);
	KUNIT_ASSERT_EQ(test, jf_insn_jmp(&jmp, ip, to), 0);
	for (d = -20; d <= 20; d++) {
		KUNIT_ASSERT_EQ(test, jf_insn_call(&insn, ip, to - d), 0);
		KUNIT_EXPECT_EQ(test, jf_insn_is(insn, call, ip, JF_CALL_PAD),
				d >= 0 && d <= JF_CALL_PAD);
		KUNIT_EXPECT_EQ(test, jf_insn_is(insn, call, ip, 10),
				d >= 0 && d <= 10);
		KUNIT_EXPECT_EQ(test, jf_insn_is(insn, call, ip, 0), !d);
		KUNIT_EXPECT_FALSE(test, jf_insn_is(insn, jmp, ip, JF_CALL_PAD));
		KUNIT_ASSERT_EQ(test, jf_insn_jmp(&insn, ip, to - d), 0);
		KUNIT_EXPECT_EQ(test, jf_insn_is(insn, jmp, ip, JF_CALL_PAD), !d);
	}
	KUNIT_EXPECT_FALSE(test, jf_insn_is(jf_insn_nop(), call, ip, JF_CALL_PAD));
	KUNIT_EXPECT_FALSE(test, jf_insn_is(call, jf_insn_nop(), ip, JF_CALL_PAD));
}

static struct kunit_case codec_cases[] = {
	KUNIT_CASE_PARAM(encode_vector, encode_gen_params),
	KUNIT_CASE_PARAM(encode_and_back, encode_gen_params),
	KUNIT_CASE_PARAM(plain_vector, plain_gen_params),
	KUNIT_CASE_PARAM(decode_vector, decode_gen_params),
	KUNIT_CASE_PARAM(reach, base_gen_params),
	KUNIT_CASE(displacement_bytes),
	KUNIT_CASE(load_store),
	KUNIT_CASE(one_bit_off),
	KUNIT_CASE(calls_into_padding),
	{}
};

static struct kunit_suite codec_suite = {
	.name = "jumpfunc-codec",
	.test_cases = codec_cases,
};
JFK_SUITES(&codec_suite);
