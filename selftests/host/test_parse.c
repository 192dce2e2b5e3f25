// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The debugfs parser on commands put together at random from the pieces that
 * commands are made of; the oracle is the one of fuzz_parse.c. Prints TAP.
 */
#include "../../kernel/parse/parse.c"
#include "fuzz_parse.c"

static uint64_t state;

static unsigned int rnd(unsigned int below)
{
	/*
	 * xorshift64*, from Vigna, "An experimental exploration of Marsaglia's xorshift generators"
	 */
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)((state * 2685821657736338717ULL) >> 33) % below;
}

int main(int argc, char **argv)
{
	static const char * const pieces[] = {
		"0", "1", "2", "3", "16", "17", "00", "4294967295", "4294967296", "429496729", "9", "x",
		"func0", "func1", "#", "#2", "jf_func0_1", "default", "none", "module", "=", "=", "=", ":", ":",
		" ", " ", "\n", "\t", "-", "+", "%s", "+a*:?b:", "-:*b?*:", "ab", "ba", "*", "?", "\r", "\xff", "/", "\x0b",
	};
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 500000, i;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x6a756d7066756e63ULL;
	if (!state || !rounds) {
		fprintf(stderr, "usage: test_parse [ROUNDS [SEED]], neither of them 0\n");
		return 2;
	}
	printf("TAP version 13\n1..1\n# seed %#llx\n", (unsigned long long)state);
	fflush(stdout);
	for (i = 0; i < rounds; i++) {
		uint8_t buf[256];
		size_t len = 0;
		unsigned int n = rnd(10);

		while (n--) {
			const char *p = pieces[rnd(sizeof(pieces) / sizeof(*pieces))];

			memcpy(buf + len, p, strlen(p));
			len += strlen(p);
		}
		if (!rnd(20))
			buf[len++] = (uint8_t)rnd(256);
		LLVMFuzzerTestOneInput(buf, len);
	}
	printf("ok 1 - %lu commands are read as the rules say\n", rounds);
	return 0;
}
