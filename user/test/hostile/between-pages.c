// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Many sites in many pages, far from each other, are written by few writes of many pages.
 * A tracer has breakpoints in each page, in front of its first site, between two and after
 * the last one, and takes them away just when a page is written. None comes back, and no
 * byte between sites is another one afterwards.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "pwrite.h"

DEFINE_JF_KEY_FALSE(key);

/* A site, and other code: 256 bytes or so. */
#define ONE	n += jf_branch_unlikely(&key); __asm__ volatile("jmp 1f; .skip 240, 0x90; 1:");
#define TEN(m)	m m m m m m m m m m
#define SITES	1000

__attribute__((__noinline__, __no_reorder__)) int many(void);
__attribute__((__noinline__, __no_reorder__)) int next(void);
int many(void)
{
	int n = 0;

	TEN(TEN(TEN(ONE)))
	return n;
}
int next(void) { return 1; }

#define PAGE	4096UL
static int fd = -1, set, writes;
static size_t most;
static unsigned char as_was[SITES * 512], now[sizeof(as_was)];
static const unsigned char *text, *end;

/* Somewhere in a row of nops, or NULL. */
static const unsigned char *in_padding(const unsigned char *at)
{
	const unsigned char *stop = at + 300;

	for (; at + 3 < end && at < stop; at++)
		if (at >= text && at[0] == 0x90 && at[1] == 0x90 && at[2] == 0x90)
			return at + 1;
	return NULL;
}

#define PAGES	(sizeof(as_was) / PAGE)
static const unsigned char *places[PAGES * 4];
static unsigned int nr_places;

static void find_places(void)
{
	static const unsigned int offsets[] = { 0, 600, 2100, 3500 };
	const unsigned char *page = (const unsigned char *)((unsigned long)text & ~(PAGE - 1));
	unsigned int i;

	for (; page < end; page += PAGE)
		for (i = 0; i < 4; i++) {
			places[nr_places] = in_padding(page + offsets[i]);
			nr_places += places[nr_places] != NULL;
		}
}

static void each_breakpoint(unsigned char byte)
{
	unsigned int i;

	for (i = 0; i < nr_places; i++)
		MUST(real_pwrite(fd, &byte, 1, (off_t)(unsigned long)places[i]) == 1, "%m");
}

static ssize_t instead(int to, const void *bytes, size_t num, off_t at)
{
	/* Before it changes sites the library writes to each page once, and to itself. */
	if (set && num > 1 && at + (off_t)num > (off_t)(unsigned long)text &&
	    at < (off_t)(unsigned long)end) {
		each_breakpoint(0x90);
		set = 0;
	}
	if (!set && fd >= 0) {
		writes++;
		if (num > most)
			most = num;
	}
	return real_pwrite(to, bytes, num, at);
}

int main(void)
{
	struct jf_stats s;
	int i;

	text = (const unsigned char *)(unsigned long)many;
	end = (const unsigned char *)(unsigned long)next;
	MUST(text < end && (size_t)(end - text) <= sizeof(as_was), "not in order");
	MUST(!jf_key_enable(&key) && many() == SITES && !jf_key_disable(&key) && !many(), "at first");
	jf_stats_get(&s, sizeof(s));
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0 || strcmp(s.writer, "mem")) {
		printf("# not here\n");
		return 0;
	}
	memcpy(as_was, text, (size_t)(end - text));
	find_places();
	MUST(nr_places > SITES / 8, "%u places", nr_places);
	for (i = 0; i < 6; i++) {
		set = i > 1;
		if (set)
			each_breakpoint(0xcc);
		MUST(!(i & 1 ? jf_key_disable(&key) : jf_key_enable(&key)), "change %d", i);
		MUST(!set, "nothing was written");
		MUST(many() == (i & 1 ? 0 : SITES), "change %d: %d sites", i, many());
		if (!(i & 1))
			continue;
		memcpy(now, text, (size_t)(end - text));
		MUST(!memcmp(now, as_was, (size_t)(end - text)), "after change %d other bytes are there", i);
	}
	MUST(most > 4 * PAGE, "no write was of more than %zu bytes", most);
	/* The library's own breakpoints are such bytes, too. */
	MUST(writes < SITES || !strcmp(s.form, "int3"), "%d writes", writes);
	return 0;
}
