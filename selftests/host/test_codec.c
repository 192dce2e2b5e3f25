// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Host tests of the instruction codec; prints TAP.
 *
 * test_codec [--seed N] [--rounds N]
 *
 * Three independent witnesses: the vectors, whose bytes are constants;
 * arithmetic in 128 bits, where nothing can wrap; and the disassembler, which
 * knows nothing of the codec.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/x86/insn.h"
#include "../vectors/codec.h"

static unsigned int test_nr, test_failures;
static unsigned int case_failures;	/* in the test that now runs */
static unsigned long case_checks;

#define CASE_FAILURES_SHOWN 5

static void check(bool ok, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void check(bool ok, const char *fmt, ...)
{
	va_list args;

	case_checks++;
	if (ok || ++case_failures > CASE_FAILURES_SHOWN)
		return;

	fputs("# ", stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

static void finish(const char *name)
{
	test_nr++;
	if (!case_checks)
		check(false, "nothing was checked");
	if (case_failures) {
		test_failures++;
		printf("not ok %u - %s # %u of %lu checks failed\n", test_nr, name,
		       case_failures, case_checks);
	} else {
		printf("ok %u - %s # %lu checks\n", test_nr, name, case_checks);
	}
	fflush(stdout);
	case_failures = 0;
	case_checks = 0;
}

static uint64_t random_state;

/* splitmix64: any seed will do, and the run can be repeated from it. */
static uint64_t random64(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static const char *kind_name(enum jf_insn_kind kind)
{
	switch (kind) {
	case JF_INSN_OTHER:
		return "other";
	case JF_INSN_NOP:
		return "nop";
	case JF_INSN_RET0:
		return "ret0";
	case JF_INSN_CALL:
		return "call";
	case JF_INSN_JMP:
		return "jmp";
	}
	return "no kind";
}

static int encode(jf_insn_t *insn, enum jf_insn_kind kind, uint64_t ip,
		  uint64_t target)
{
	return kind == JF_INSN_CALL ? jf_insn_call(insn, ip, target) :
				      jf_insn_jmp(insn, ip, target);
}

/* The rule itself, in integers wide enough for every sum. */
static bool reaches_by_128_bits(uint64_t ip, uint64_t target)
{
	const __int128 turn = (__int128)1 << 64;
	__int128 away = (__int128)target - (__int128)(uint64_t)(ip + JF_INSN_SIZE);
	int k;

	for (k = -1; k <= 1; k++) {
		__int128 d = away + k * turn;

		if (d >= INT32_MIN && d <= INT32_MAX)
			return true;
	}
	return false;
}

static void test_encode_vectors(void)
{
	const jf_insn_t untouched = 0x5a5a5a5a5aULL;
	size_t i;

	for (i = 0; i < JF_VECTORS(jf_encode_vectors); i++) {
		const struct jf_encode_vector *v = &jf_encode_vectors[i];
		jf_insn_t insn = untouched;
		int err = encode(&insn, v->kind, v->ip, v->target);

		check(err == v->err, "%s: returned %d instead of %d", v->name, err,
		      v->err);
		check(jf_insn_reaches(v->ip, v->target) == !v->err,
		      "%s: jf_insn_reaches() disagrees", v->name);
		check(reaches_by_128_bits(v->ip, v->target) == !v->err,
		      "%s: the vector itself is wrong", v->name);
		if (v->err)
			check(insn == untouched, "%s: touched on error", v->name);
		else
			check(insn == jf_insn_load(v->bytes),
			      "%s: bytes %010" PRIx64 " instead of %010" PRIx64,
			      v->name, insn, jf_insn_load(v->bytes));
	}
	finish("encode: every vector");
}

static void test_plain_vectors(void)
{
	size_t i;

	for (i = 0; i < JF_VECTORS(jf_plain_vectors); i++) {
		const struct jf_plain_vector *v = &jf_plain_vectors[i];
		jf_insn_t insn = v->kind == JF_INSN_NOP ? jf_insn_nop() :
							  jf_insn_ret0();

		check(insn == jf_insn_load(v->bytes),
		      "%s: bytes %010" PRIx64 " instead of %010" PRIx64, v->name, insn,
		      jf_insn_load(v->bytes));
	}
	finish("encode: nop and ret0");
}

static void test_decode_vectors(void)
{
	const uint64_t untouched = 0x5a5a5a5a5a5a5a5aULL;
	size_t i;
	int b;

	for (i = 0; i < JF_VECTORS(jf_decode_vectors); i++) {
		const struct jf_decode_vector *v = &jf_decode_vectors[i];
		uint64_t target = untouched, want;
		enum jf_insn_kind kind;
		jf_insn_t insn = 0;

		for (b = 0; b < 8; b++)
			insn |= (jf_insn_t)v->bytes[b] << (8 * b);

		want = v->kind == JF_INSN_OTHER ? untouched : v->target;
		kind = jf_insn_decode(insn, v->ip, &target);
		check(kind == v->kind, "%s: decoded as %s instead of %s", v->name,
		      kind_name(kind), kind_name(v->kind));
		check(target == want,
		      "%s: target %#" PRIx64 " instead of %#" PRIx64, v->name, target,
		      want);
	}
	finish("decode: every vector");
}

/* Every vector that can be encoded decodes to itself. */
static void test_vectors_both_ways(void)
{
	size_t i;

	for (i = 0; i < JF_VECTORS(jf_encode_vectors); i++) {
		const struct jf_encode_vector *v = &jf_encode_vectors[i];
		enum jf_insn_kind kind;
		uint64_t target = 0;

		if (v->err)
			continue;
		kind = jf_insn_decode(jf_insn_load(v->bytes), v->ip, &target);
		check(kind == v->kind && target == v->target,
		      "%s: decoded as %s %#" PRIx64, v->name, kind_name(kind), target);
	}
	finish("decode: every encode vector, back to its kind and target");
}

static void check_pair(uint64_t ip, uint64_t target)
{
	bool want = reaches_by_128_bits(ip, target);
	enum jf_insn_kind kind = random64() & 1 ? JF_INSN_CALL : JF_INSN_JMP;
	enum jf_insn_kind back;
	jf_insn_t insn = 0;
	uint64_t to = 0;
	int err;

	err = encode(&insn, kind, ip, target);
	check(err == (want ? 0 : -ERANGE),
	      "%s from %#" PRIx64 " to %#" PRIx64 ": returned %d", kind_name(kind), ip,
	      target, err);
	check(jf_insn_reaches(ip, target) == want,
	      "jf_insn_reaches(%#" PRIx64 ", %#" PRIx64 ") is not %d", ip, target, want);
	if (err)
		return;

	check(!(insn & ~JF_INSN_MASK), "more than five bytes: %#" PRIx64, insn);
	back = jf_insn_decode(insn, ip, &to);
	check(back == kind && to == target,
	      "%s from %#" PRIx64 " to %#" PRIx64 " came back as %s to %#" PRIx64,
	      kind_name(kind), ip, target, kind_name(back), to);
}

static void test_edges(void)
{
	const uint64_t ips[] = {
		0, 1, 0x1000, 0x7ffffffb, 0x7ffffffc, 0x80000000ULL, 0xfffffffbULL,
		0x400000000000ULL, 0x7fffffffffffffffULL, 0x8000000000000000ULL,
		0xffffffff7fffffffULL, 0xffffffff80000000ULL, 0xffffffff81000000ULL,
		0xffffffffc0000000ULL, 0xfffffffffffffffaULL, 0xfffffffffffffffbULL,
		0xffffffffffffffffULL,
	};
	const uint64_t edges[] = {
		0, 0x7fffffffULL, 0x80000000ULL, 0xffffffffULL, 0x100000000ULL,
		0x17fffffffULL, 0x180000000ULL, 0x7fffffffffffffffULL,
	};
	const int64_t width = 2048;
	size_t i, e;
	int64_t d;

	for (i = 0; i < sizeof(ips) / sizeof(ips[0]); i++)
		for (e = 0; e < sizeof(edges) / sizeof(edges[0]); e++)
			for (d = -width; d <= width; d++) {
				uint64_t at = ips[i] + JF_INSN_SIZE + (uint64_t)d;

				check_pair(ips[i], at + edges[e]);
				check_pair(ips[i], at - edges[e]);
			}
	finish("range: every address near every edge, by 128-bit arithmetic");
}

static void test_random_pairs(unsigned long rounds)
{
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		uint64_t ip = random64();
		uint64_t d = random64();

		/* A random width, or nearly all pairs were out of reach. */
		d >>= random64() & 63;
		check_pair(ip, ip + JF_INSN_SIZE + (random64() & 1 ? d : -d));
	}
	finish("range: random pairs, encoded and decoded");
}

static void test_all_displacement_bytes(void)
{
	uint64_t ip = 0xffffffffc0001000ULL, target;
	unsigned int at, value;

	for (at = 0; at < 4; at++)
		for (value = 0; value < 256; value++) {
			int32_t disp = (int32_t)(value << (8 * at));
			jf_insn_t insn = 0;

			target = ip + JF_INSN_SIZE + (uint64_t)(int64_t)disp;
			check(!jf_insn_call(&insn, ip, target),
			      "displacement %#x refused", disp);
			check(jf_insn_byte(insn, (int)at + 1) == value &&
			      jf_insn_byte(insn, 0) == 0xe8,
			      "displacement %#x: bytes %010" PRIx64, disp, insn);
		}
	finish("encode: every value of every displacement byte");
}

static bool plain_word(jf_insn_t insn)
{
	static const uint8_t known[][JF_INSN_SIZE] = {
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 }, { 0x66, 0x66, 0x66, 0x66, 0x90 },
		{ 0x2e, 0x2e, 0x2e, 0x31, 0xc0 }, { 0x66, 0x66, 0x48, 0x31, 0xc0 },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (insn == jf_insn_load(known[i]))
			return true;
	return false;
}

/* Bytes that may be taken for ours, over all first two bytes and all bit flips. */
static void test_foreign_bytes(void)
{
	static const uint32_t tails[] = {
		0, 0x000044, 0x906666, 0xc0312e, 0xc03148, 0xffffff, 0xcccccc,
	};
	const uint64_t ip = 0xffffffffc0001000ULL;
	unsigned int head, t, bit;
	size_t i;

	for (head = 0; head < 0x10000; head++)
		for (t = 0; t < sizeof(tails) / sizeof(tails[0]); t++) {
			jf_insn_t insn = head | (jf_insn_t)tails[t] << 16;
			bool branch = (head & 0xfe) == 0xe8;
			uint64_t target = 1;
			enum jf_insn_kind kind = jf_insn_decode(insn, ip, &target);

			check((kind != JF_INSN_OTHER) == (branch || plain_word(insn)),
			      "%010" PRIx64 " decoded as %s", insn, kind_name(kind));
			check(kind != JF_INSN_OTHER || target == 1,
			      "%010" PRIx64 ": target touched", insn);
		}

	for (i = 0; i < 2; i++)
		for (bit = 0; bit < 64; bit++) {
			jf_insn_t insn = (i ? jf_insn_nop() : jf_insn_ret0()) ^
					 1ULL << bit;
			uint64_t target = 1;

			check(jf_insn_decode(insn, ip, &target) == JF_INSN_OTHER,
			      "one bit off, %016" PRIx64 " decoded as ours", insn);
		}
	finish("decode: foreign bytes");
}

/* Calls may differ by the padding of their target, forwards; nothing else may. */
static void test_is(void)
{
	const uint64_t ip = 0xffffffffc0001000ULL;
	static const int64_t targets[] = { 0x100, -0x5000, 5, -0x7fffff00, 0x7fffff00 };
	unsigned int pad, kinds;
	size_t t;
	int d;

	for (t = 0; t < sizeof(targets) / sizeof(targets[0]); t++)
		for (kinds = 0; kinds < 4; kinds++)
			for (pad = 0; pad <= JF_CALL_PAD; pad++)
				for (d = -40; d <= 40; d++) {
					bool jmp = kinds & 1, asked_jmp = kinds & 2, want;
					uint64_t to = ip + (uint64_t)targets[t];
					jf_insn_t insn = 0, asked = 0;

					encode(&asked, asked_jmp ? JF_INSN_JMP : JF_INSN_CALL, ip, to);
					encode(&insn, jmp ? JF_INSN_JMP : JF_INSN_CALL, ip,
					       to - (uint64_t)(int64_t)d);
					want = jmp == asked_jmp &&
					       (!d || (!jmp && d > 0 && d <= (int)pad));
					check(jf_insn_is(insn, asked, ip, pad) == want,
					      "%s %d in front of a %s, pad %u: not %d",
					      jmp ? "jmp" : "call", d, asked_jmp ? "jmp" : "call",
					      pad, want);
				}
	for (t = 0; t < JF_VECTORS(jf_decode_vectors); t++) {
		const struct jf_decode_vector *v = &jf_decode_vectors[t];
		jf_insn_t insn = jf_insn_load(v->bytes);
		jf_insn_t call = 0xe8 | (insn & ~0xffULL);

		check(jf_insn_is(insn, insn, v->ip, JF_CALL_PAD), "%s is not itself", v->name);
		check(jf_insn_is(insn, call, v->ip, JF_CALL_PAD) == (insn == call) &&
		      jf_insn_is(call, insn, v->ip, JF_CALL_PAD) == (insn == call),
		      "%s is a call, or is not", v->name);
	}
	finish("is: calls up to the padding apart, else the same bytes");
}

static void test_load_store(void)
{
	const jf_insn_t insn = 0x5544332211ULL;
	uint8_t buf[24];
	size_t at, i;

	for (at = 1; at < 16; at++) {
		memset(buf, 0xaa, sizeof(buf));
		jf_insn_store(buf + at, insn);
		for (i = 0; i < sizeof(buf); i++) {
			uint8_t want = 0xaa;

			if (i >= at && i < at + JF_INSN_SIZE)
				want = (uint8_t)(0x11 * (i - at + 1));
			check(buf[i] == want, "offset %zu, byte %zu: %#x", at, i, buf[i]);
		}
		check(jf_insn_load(buf + at) == insn, "offset %zu: loaded %#" PRIx64, at,
		      jf_insn_load(buf + at));
		for (i = 0; i < JF_INSN_SIZE; i++)
			check(jf_insn_byte(insn, (int)i) == buf[at + i],
			      "jf_insn_byte(%zu)", i);
	}
	finish("load and store: memory order, any alignment, five bytes only");
}

/* --- the disassembler as witness ------------------------------------------ */

struct expected {
	enum jf_insn_kind kind;
	uint64_t target;
};

/* Takes "call   0x1234" apart; old binutils write callq and jmpq. */
static bool same_instruction(const char *text, const struct expected *want)
{
	char mnemonic[16] = "";
	uint64_t target = 0;
	int fields = sscanf(text, "%15s %" SCNx64, mnemonic, &target);

	switch (want->kind) {
	case JF_INSN_CALL:
		return fields == 2 && !strncmp(mnemonic, "call", 4) &&
		       target == want->target;
	case JF_INSN_JMP:
		return fields == 2 && !strncmp(mnemonic, "jmp", 3) &&
		       target == want->target;
	case JF_INSN_NOP:
		return !strncmp(text, "nopl ", 5) && strstr(text, "0x0(%rax,%rax,1)");
	case JF_INSN_RET0:
		return strstr(text, "xor ") && strstr(text, "%eax,%eax");
	case JF_INSN_OTHER:
		break;
	}
	return false;
}

/* Lets objdump read @count instructions that stand at @ip and after it. */
static void check_disassembly(uint64_t ip, const uint8_t *bytes,
			      const struct expected *want, size_t count)
{
	char path[] = "/tmp/jf-codec-XXXXXX", command[256], line[512];
	size_t size = count * JF_INSN_SIZE, seen = 0;
	FILE *out;
	int fd;

	fd = mkstemp(path);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
		check(false, "cannot write %s: %s", path, strerror(errno));
		goto close;
	}
	snprintf(command, sizeof(command),
		 "LC_ALL=C objdump -D -z -b binary -mi386:x86-64 --insn-width=5"
		 " --adjust-vma=%#" PRIx64 " %s", ip, path);
	out = popen(command, "r");
	if (!out) {
		check(false, "cannot start objdump: %s", strerror(errno));
		goto close;
	}

	while (fgets(line, sizeof(line), out)) {
		/* "  400000:\te8 00 00 00 00 \tcall   0x400005" */
		char *tab = strchr(line, '\t'), *text;
		uint64_t at, addr = ip + seen * JF_INSN_SIZE;

		if (!tab || sscanf(line, " %" SCNx64 ":", &at) != 1)
			continue;
		text = strchr(tab + 1, '\t');
		line[strcspn(line, "\n")] = '\0';
		if (seen == count) {
			check(false, "objdump sees more instructions than were written");
			break;
		}
		check(text && at == addr && same_instruction(text + 1, &want[seen]),
		      "%s at %#" PRIx64 " to %#" PRIx64 " is, for objdump: %s",
		      kind_name(want[seen].kind), addr, want[seen].target, line);
		seen++;
	}
	if (pclose(out) || seen != count)
		check(false, "objdump read %zu of %zu instructions (is binutils installed?)",
		      seen, count);
close:
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
}

static void test_disassemble_vectors(void)
{
	struct expected want;
	uint8_t bytes[JF_INSN_SIZE];
	size_t i;

	for (i = 0; i < JF_VECTORS(jf_encode_vectors); i++) {
		const struct jf_encode_vector *v = &jf_encode_vectors[i];
		jf_insn_t insn;

		if (v->err || encode(&insn, v->kind, v->ip, v->target))
			continue;
		/*
		 * objdump counts the bytes of a file whose last address wraps
		 * as none; the row is still checked by the other witnesses.
		 */
		if (v->ip + JF_INSN_SIZE < v->ip)
			continue;
		want.kind = v->kind;
		want.target = v->target;
		jf_insn_store(bytes, insn);
		check_disassembly(v->ip, bytes, &want, 1);
	}

	for (i = 0; i < JF_VECTORS(jf_plain_vectors); i++) {
		want.kind = jf_plain_vectors[i].kind;
		want.target = 0;
		jf_insn_store(bytes, want.kind == JF_INSN_NOP ? jf_insn_nop() :
								jf_insn_ret0());
		check_disassembly(0x400000, bytes, &want, 1);
	}
	finish("disassembler: every vector");
}

static void test_disassemble_random(void)
{
	enum { COUNT = 4000 };
	static const uint64_t bases[] = {
		0x400000, 0x7f0000000000ULL, 0xffffffff81000000ULL,
		0xffffffffc0000000ULL,
	};
	static uint8_t bytes[COUNT * JF_INSN_SIZE];
	static struct expected want[COUNT];
	size_t b, i;

	for (b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
		for (i = 0; i < COUNT; i++) {
			uint64_t ip = bases[b] + i * JF_INSN_SIZE;
			jf_insn_t insn = 0;

			want[i].kind = JF_INSN_NOP + random64() % 4;
			want[i].target = 0;
			switch (want[i].kind) {
			case JF_INSN_CALL:
			case JF_INSN_JMP:
				want[i].target = ip + JF_INSN_SIZE +
					(uint64_t)(int64_t)(int32_t)random64();
				check(!encode(&insn, want[i].kind, ip, want[i].target),
				      "a target in reach was refused");
				break;
			case JF_INSN_NOP:
				insn = jf_insn_nop();
				break;
			default:
				insn = jf_insn_ret0();
				break;
			}
			jf_insn_store(bytes + i * JF_INSN_SIZE, insn);
		}
		check_disassembly(bases[b], bytes, want, COUNT);
	}
	finish("disassembler: random instructions of all kinds");
}

static void usage(FILE *to)
{
	fputs("usage: test_codec [--seed N] [--rounds N]\n"
	      "Tests common/x86/insn.h and prints TAP; needs objdump (binutils).\n"
	      "  --seed N    repeat the random part of a run (default 1)\n"
	      "  --rounds N  number of random pairs (default 1000000)\n", to);
}

static unsigned long number(const char *option, const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = text ? strtoul(text, &end, 0) : 0;
	if (!text || errno || end == text || *end) {
		fprintf(stderr, "test_codec: %s needs a number\n", option);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	unsigned long rounds = 1000000;
	uint64_t seed = 1;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			usage(stdout);
			return 0;
		} else if (!strcmp(argv[i], "--seed")) {
			seed = number(argv[i], argv[i + 1]);
			i++;
		} else if (!strcmp(argv[i], "--rounds")) {
			rounds = number(argv[i], argv[i + 1]);
			i++;
		} else {
			usage(stderr);
			return 2;
		}
	}
	random_state = seed;

	printf("TAP version 13\n1..12\n# seed %" PRIu64 "\n", seed);
	test_encode_vectors();
	test_plain_vectors();
	test_decode_vectors();
	test_vectors_both_ways();
	test_edges();
	test_random_pairs(rounds);
	test_all_displacement_bytes();
	test_foreign_bytes();
	test_is();
	test_load_store();
	test_disassemble_vectors();
	test_disassemble_random();
	return test_failures ? 1 : 0;
}
