// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Compares jf_insn_length() with a disassembler. Reads lines of a length and the instruction's
 * bytes in hexadecimal, without spaces.
 */
#include <stdio.h>
#include <string.h>

#include <stdint.h>

#include "common/x86/flow.h"

int main(void)
{
	unsigned long all = 0, known = 0, wrong = 0;
	unsigned int want, i, byte;
	char hex[64];

	while (scanf("%u %63s", &want, hex) == 2) {
		uint8_t bytes[32];
		size_t got;

		memset(bytes, 0, sizeof(bytes));
		for (i = 0; i < want && i < 15; i++) {
			if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
				return 2;
			bytes[i] = (uint8_t)byte;
		}
		got = jf_insn_length(bytes);
		all++;
		known += got != 0;
		if (got && got != want && wrong++ < 10)
			printf("%s: %zu instead of %u\n", hex, got, want);
	}
	printf("%lu instructions, %lu known, %lu wrong\n", all, known, wrong);
	return wrong || all < 1000 || known < all - all / 100;
}
