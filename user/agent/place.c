// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Memory for probes' code, executable and never writable: libjumpfunc writes it as it writes text.
 *
 * A jump of five bytes leads 2 GiB far. For most probes any place in that reach will do: these are
 * side by side. Others have a forced address: part of the jump's distance is the bytes
 * of the instructions that it overlaps, or breakpoints. Another mapping can have such a place, or
 * it does not exist, and then there is no such jump. Nor is there one if too many such places have
 * been taken, each of which is a mapping of its own: the kernel lets a process have some ten
 * thousands.
 * Room for the heap (brk()) is left, how much the caller says.
 *
 * Pages stay: a thread can stay in code that no place leads to any more, for any time.
 */
#include "place.h"
#include "lack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE		4096UL
#define CHUNK		(64UL << 10)
/* For near addresses. */
#define REACH		(0x7f000000UL - CHUNK)
/* The need of a stack, if nothing says how much. */
#define STACK_MIN	(256UL << 20)
/* Mappings that a process may have, if the kernel does not say. */
#define MAPPINGS	65530
#define TRIES_NEAR	2048
#define TRIES_BELOW	1024
#define TRIES_FIXED	4096
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE	0x100000
#endif

/* The dynamic linker's. */
extern void *__libc_stack_end;

/**
 * struct page - of code
 * @addr: of it
 * @full: what is so large, or larger, found no room since something was given back; 0: not known
 * @used: a bit for each 8 bytes
 */
struct page {
	uintptr_t	addr;
	size_t		full;
	uint64_t	used[PAGE / 8 / 64];
};

/* Ascending. */
static struct page *pages;
static size_t nr_pages, max_pages;
/*
 * The page that had room the last time: those before it are full, but for blocks that were given
 * back.
 */
static size_t last;
/* Mappings of jf_place_fixed(), and how many there may be. */
static size_t nr_fixed, max_fixed;
/* The last of its calls would have needed one more. */
static bool full;
/* The last one passed over places that the heap may need. */
static bool left;

/* The first that is not below @addr. */
static size_t find(uintptr_t addr)
{
	size_t low = 0, high = nr_pages;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (pages[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct page *page_at(uintptr_t addr)
{
	size_t i = find(addr);

	return i < nr_pages && pages[i].addr == addr ? &pages[i] : NULL;
}

static bool room_for(size_t num)
{
	struct page *more;

	if (nr_pages + num <= max_pages)
		return true;
	more = jf_have(realloc(pages, (max_pages * 2 + num + 16) * sizeof(*more)));
	if (!more)
		return false;
	pages = more;
	max_pages = max_pages * 2 + num + 16;
	return true;
}

/* The first thread's stack grows until it comes upon a mapping. */
static bool is_below_stack(uintptr_t addr)
{
	uintptr_t end = (uintptr_t)__libc_stack_end;
	struct rlimit limit;
	uintptr_t grows = STACK_MIN;

	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur > grows)
		grows = limit.rlim_cur;
	return addr < end && end - addr < grows;
}

/**
 * struct heap - where it may grow to until it comes upon a mapping
 * @start: its end now
 * @end:   at most
 */
struct heap {
	uintptr_t	start;
	uintptr_t	end;
};

static struct heap find_heap(uint64_t grows)
{
	struct heap heap = { (uintptr_t)sbrk(0), 0 };
	struct rlimit limit;

	/* The program may raise the lower one. */
	if (!getrlimit(RLIMIT_DATA, &limit) && limit.rlim_max < grows)
		grows = limit.rlim_max;
	if (heap.start != UINTPTR_MAX)
		heap.end = heap.start + grows;
	return heap;
}

static bool is_heap(const struct heap *heap, uintptr_t addr, size_t size)
{
	return addr < heap->end && addr + size > heap->start;
}

/* Maps memory at @addr if nothing is mapped there, and makes it known. */
static bool map(uintptr_t addr, size_t size)
{
	size_t num = size / PAGE, i;
	void *p;

	if (is_below_stack(addr) || !room_for(num))
		return false;
	p = mmap((void *)addr, size, PROT_READ | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	/* Kernels before 4.17 take it for a wish. */
	if (p != (void *)addr) {
		munmap(p, size);
		return false;
	}
	i = find(addr);
	memmove(&pages[i + num], &pages[i], (nr_pages - i) * sizeof(*pages));
	nr_pages += num;
	for (; num; num--, i++, addr += PAGE)
		pages[i] = (struct page){ .addr = addr };
	return true;
}

static bool is_used(uintptr_t at, size_t size)
{
	uintptr_t a;

	for (a = at & ~7UL; a < at + size; a += 8) {
		const struct page *p = page_at(a & ~(PAGE - 1));

		if (p && p->used[a % PAGE / 512] >> (a % 512 / 8) & 1)
			return true;
	}
	return false;
}

static void mark(uintptr_t at, size_t size, bool use)
{
	uintptr_t a;

	for (a = at & ~7UL; a < at + size; a += 8) {
		struct page *p = page_at(a & ~(PAGE - 1));
		uint64_t bit = UINT64_C(1) << (a % 512 / 8);

		if (!p)
			continue;
		if (use) {
			p->used[a % PAGE / 512] |= bit;
			continue;
		}
		p->used[a % PAGE / 512] &= ~bit;
		p->full = 0;
	}
}

/* Exactly there. An unused mapping for that stays for others. */
static bool take(uintptr_t at, size_t size)
{
	uintptr_t page;

	if (at < 65536 || at + size < at || is_used(at, size))
		return false;
	for (page = at & ~(PAGE - 1); page < at + size; page += PAGE) {
		if (page_at(page))
			continue;
		full |= nr_fixed >= max_fixed;
		if (full || !map(page, PAGE))
			return false;
		nr_fixed++;
	}
	mark(at, size, true);
	return true;
}

static bool near(uintptr_t a, uintptr_t b)
{
	return (a > b ? a - b : b - a) < REACH;
}

/*
 * Such a byte in a jump's distance looks like a breakpoint; bit i of @bytes: byte i is looked at.
 */
static bool has_int3(uintptr_t site, uintptr_t at, unsigned int bytes)
{
	uint32_t rel = (uint32_t)(at - (site + 5));
	int i;

	for (i = 0; i < 4; i++)
		if (bytes >> i & 1 && (rel >> 8 * i & 0xff) == 0xcc)
			return true;
	return false;
}

/* True if it has space, at any place. *at: where, from @site. */
static bool has_room(struct page *p, uintptr_t site, size_t size, uintptr_t *at)
{
	size_t i, run = 0, units = (size + 7) / 8;
	bool any = false;

	for (i = 0; i < PAGE / 8; i++) {
		run = p->used[i / 64] >> i % 64 & 1 ? 0 : run + 1;
		if (run < units)
			continue;
		any = true;
		*at = p->addr + (i + 1 - units) * 8;
		if (!has_int3(site, *at, 0xf))
			return true;
	}
	if (!any)
		p->full = size;
	return false;
}

static uintptr_t take_from_pages(uintptr_t site, size_t size)
{
	uintptr_t at;
	size_t i;

	for (i = 0; i < nr_pages; i++) {
		struct page *p = &pages[(last + i) % nr_pages];

		if (!near(p->addr, site) || (p->full && size >= p->full) || !has_room(p, site, size, &at))
			continue;
		last = (size_t)(p - pages);
		mark(at, size, true);
		return at;
	}
	return 0;
}

/**
 * jf_place_near() - memory that a jump reaches
 * @site: from here
 * @size: bytes
 *
 * Return: its address, or 0: no place is free
 */
uintptr_t jf_place_near(uintptr_t site, size_t size)
{
	uintptr_t at = take_from_pages(site, size), distance;
	struct heap heap = find_heap(JF_HEAP_MAX);
	int i;

	if (at)
		return at;
	/* First where other allocators do not look. */
	for (i = 0; i < TRIES_NEAR; i++) {
		distance = (0x20000000UL + (uintptr_t)(i / 2) * 0x110000) % REACH & ~(CHUNK - 1);
		at = (i % 2 ? site + distance : site - distance) & ~(CHUNK - 1);
		if (i % 2 == 0 && site < distance + CHUNK)
			continue;
		if (!is_heap(&heap, at, CHUNK) && !has_int3(site, at, 0xf) && map(at, CHUNK))
			return take_from_pages(site, size);
	}
	/* A program that is not PIE has its heap above it, and some MiB below. */
	at = site & ~(CHUNK - 1);
	for (i = 0; i < TRIES_BELOW && at > CHUNK; i++) {
		at -= CHUNK;
		if (!has_int3(site, at, 0xf) && map(at, CHUNK))
			return take_from_pages(site, size);
	}
	/* As much of the heap as can be. */
	for (distance = REACH & ~(CHUNK - 1); distance > REACH / 2; distance -= 16 * CHUNK)
		if (!has_int3(site, (site + distance) & ~(CHUNK - 1), 0xf) && map((site + distance) & ~(CHUNK - 1), CHUNK))
			return take_from_pages(site, size);
	return 0;
}

static size_t lines_of(const char *path)
{
	size_t lines = 0;
	char text[4096];
	ssize_t n, i;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (i = 0; i < n; i++)
			lines += text[i] == '\n';
	close(fd);
	return lines;
}

static size_t number_in(const char *path)
{
	char text[32];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return strtoul(text, NULL, 10);
}

/* A quarter of the program's remaining mappings. */
static void limit_mappings(void)
{
	size_t most = number_in("/proc/sys/vm/max_map_count"), used = lines_of("/proc/self/maps");

	if (!most)
		most = MAPPINGS;
	max_fixed = most > used ? (most - used) / 4 : 0;
}

/* The i-th one that is tried: from small distances on, in both directions. */
static unsigned int nth_byte(unsigned int i)
{
	return i % 2 ? 255 - i / 2 : i / 2;
}

/**
 * jf_place_fixed() - memory to which a jump leads some of whose bytes are given
 * @site:  of the jump
 * @fixed: bit i: byte i of its distance is @rel[i]
 * @rel:   those bytes
 * @size:  bytes that are needed there
 * @heap:  bytes of room that are left to the heap
 *
 * Return: its address, or 0: no place is free
 */
uintptr_t jf_place_fixed(uintptr_t site, unsigned int fixed, const uint8_t *rel, size_t size, uint64_t heap)
{
	struct heap room = find_heap(heap);
	unsigned int i[4], tries = 0;
	uint8_t b[4];

	if (!max_fixed)
		limit_mappings();
	full = false;
	left = false;
	/* The low bytes in large steps: free space is free in pages. */
	for (i[3] = 0; i[3] < (fixed & 8 ? 1 : 256); i[3]++)
		for (i[2] = 0; i[2] < (fixed & 4 ? 1 : 256); i[2]++)
			for (i[1] = 0; i[1] < (fixed & 2 ? 1 : 256); i[1] += 8)
				for (i[0] = 0; i[0] < (fixed & 1 ? 1 : 256); i[0] += 32) {
					uintptr_t at;

					b[3] = fixed & 8 ? rel[3] : (uint8_t)nth_byte(i[3]);
					b[2] = fixed & 4 ? rel[2] : (uint8_t)(i[2] ^ 0x40);
					b[1] = fixed & 2 ? rel[1] : (uint8_t)i[1];
					b[0] = fixed & 1 ? rel[0] : (uint8_t)i[0];
					at = site + 5 + (uintptr_t)(int64_t)(int32_t)
					     ((uint32_t)b[0] | (uint32_t)b[1] << 8 |
					      (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
					/* A distance beyond the address space wraps around. */
					if ((int8_t)b[3] < 0 ? at < site : at > site) {
						if (has_int3(site, at, ~fixed))
							continue;
						if (is_heap(&room, at, size)) {
							left = true;
							continue;
						}
						if (take(at, size))
							return at;
						if (tries++ == TRIES_FIXED)
							return 0;
					}
				}
	return 0;
}

/**
 * jf_place_full() - was jf_place_fixed() in want of mappings, and not of memory
 */
bool jf_place_full(void)
{
	return full;
}

/**
 * jf_place_scarce() - have half of the mappings that jf_place_fixed() may make been made
 */
bool jf_place_scarce(void)
{
	return max_fixed && nr_fixed >= max_fixed / 2;
}

/**
 * jf_place_heap() - did jf_place_fixed() leave places to the heap
 */
bool jf_place_heap(void)
{
	return left;
}

/**
 * jf_place_free() - give memory back that no thread has executed
 * @at:   of jf_place_near() or jf_place_fixed()
 * @size: as there
 */
void jf_place_free(uintptr_t at, size_t size)
{
	mark(at, size, false);
}
