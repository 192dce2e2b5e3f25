// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Memory for probes' code: it leaves the program enough for its own needs, mappings and a heap.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "user/agent/place.h"
#include "user/test/process.h"
#include "user/test/tap.h"

#define CODE	64

static size_t most(void)
{
	FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
	size_t n = 0;

	CHECK(f && fscanf(f, "%zu", &n) == 1, "max_map_count");
	if (f)
		fclose(f);
	return n;
}

static uintptr_t lead(uintptr_t site, int32_t distance)
{
	uint8_t rel[4];

	memcpy(rel, &distance, sizeof(rel));
	return jf_place_fixed(site, 0xf, rel, CODE, JF_HEAP_MAX);
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
		at = jf_place_fixed(site + 16 * (uintptr_t)i, 2, rel, CODE, JF_HEAP_MAX);
		CHECK(at && at < end, "code %#lx, the heap ends at %#lx", at, end);
	}
	for (i = 0; i < 1000; i++)
		CHECK(sbrk(1 << 20) != (void *)-1, "%d MiB of heap", i);
	sbrk(-(1000 << 20));
	finish("the heap");
}

/* Less room is left for it where that is asked for, and no less. */
static void part_of_the_heap(void)
{
	uintptr_t site = (uintptr_t)lead, end = (uintptr_t)sbrk(0), at = end + (64 << 20);
	uint32_t distance = (uint32_t)(at - site - 5);
	uint8_t rel[4];
	int i;

	memcpy(rel, &distance, sizeof(rel));
	CHECK(!jf_place_fixed(site, 0xf, rel, CODE, JF_HEAP_MAX) && jf_place_heap(), "all of it");
	CHECK(!jf_place_fixed(site, 0xf, rel, CODE, 65 << 20) && jf_place_heap(), "more");
	CHECK(jf_place_fixed(site, 0xf, rel, CODE, 64 << 20) == at && !jf_place_heap(), "no place at %#lx", at);
	/* The kernel leaves a page between. */
	for (i = 0; i < 63; i++)
		CHECK(sbrk(1 << 20) != (void *)-1, "%d MiB of heap", i);
	CHECK(sbrk(1 << 20) == (void *)-1, "the place is no mapping");
	finish("part of the heap");
}

/* Each leads elsewhere, and takes a mapping of its own. */
static void many_mappings(void)
{
	/* No break is above. */
	char *object = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = count_mappings(), limit = (most() - before) / 4, num = 0, i;
	uint32_t random = 1;

	for (i = 0; i < 2 * limit; i++) {
		random = random * UINT32_C(1664525) + UINT32_C(1013904223);
		num += lead((uintptr_t)object, (int32_t)(random | 0x80000000)) != 0;
		if (jf_place_full())
			break;
	}
	CHECK(jf_place_full() && num > limit / 2, "%zu places", num);
	CHECK(count_mappings() <= before + limit + 8, "%u mappings, %zu before", count_mappings(), before);
	/* For what does not need such a place there is one. */
	CHECK(jf_place_near((uintptr_t)object, CODE), "none is near");
	munmap(object, 4096);
	finish("many mappings");
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	the_heap();
	part_of_the_heap();
	many_mappings();
	return tap_end();
}
