// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Memory for probes' code: it leaves the program what it needs itself, a heap.
 */
#include <string.h>
#include <unistd.h>

#include "user/agent/agent.h"
#include "user/test/tap.h"

#define CODE	64

static uintptr_t lead(uintptr_t site, int32_t distance)
{
	uint8_t rel[4];

	memcpy(rel, &distance, sizeof(rel));
	return jf_place_fixed(site, 0xf, rel, CODE);
}

/* Upwards from the program's break there is room for all of the heap, for each kind of place. */
static void the_heap(void)
{
	uintptr_t site = (uintptr_t)lead, at, end = (uintptr_t)sbrk(0);
	uint8_t rel[4] = { 0, 0xcc };
	int i;

	for (i = 1; i < 64; i++) {
		at = lead(site, i << 25);
		CHECK(!at || at + CODE <= end, "code %#lx, the heap ends at %#lx", at, end);
	}
	for (i = 0; i < 4000; i++) {
		at = jf_place_near(site, CODE);
		CHECK(at && (at < end || at - site > UINT32_C(1) << 30), "code %#lx, the heap ends at %#lx", at, end);
	}
	/* As where the third byte of an instruction is the first of another. */
	for (i = 0; i < 500; i++) {
		at = jf_place_fixed(site + 16 * (uintptr_t)i, 2, rel, CODE);
		CHECK(at && at < end, "code %#lx, the heap ends at %#lx", at, end);
	}
	for (i = 0; i < 1000; i++)
		CHECK(sbrk(1 << 20) != (void *)-1, "%d MiB of heap", i);
	finish("the heap");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	the_heap();
	printf("1..%u\n", test_nr);
	return tap_status();
}
