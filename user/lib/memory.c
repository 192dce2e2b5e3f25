// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Memory for changes. That of malloc() is the program's, which may have one of
 * its own: with a lock that it takes around a fork, before it waits for ours; or one that
 * asks the dynamic linker, whose lock a thread has that waits for ours in a constructor. So it is
 * never called with our lock held, nor are functions that can call it: qsort(), atexit().
 *
 * Small blocks have sizes that are powers of two. They are cut from chunks, which stay,
 * and wait in lists while they are free. Large ones are mapped one by one. That takes no
 * mremap(), by which text may be written, and which may be denied for that.
 */
#include "lib.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define CHUNK_SIZE	(64UL << 10)
/* Room that the heap may need, and a stack if nothing says its size: as in user/agent/place.c. */
#define HEAP_MAX	(UINT64_C(64) << 30)
#define STACK_MIN	(256UL << 20)
#define SMALL_MIN_BITS	5
#define SMALL_MAX_BITS	14
/* Larger blocks have a mapping of their own. With 16 all do: for tests, where each can fail. */
#ifndef SMALL_MAX
#define SMALL_MAX	(1UL << SMALL_MAX_BITS)
#endif

/**
 * struct block - the header of each
 * @size: with this
 * @next: of those that are free
 */
struct block {
	size_t		size;
	struct block	*next;
	char		data[];
};

/* By the bits of their size. */
static struct block *unused[SMALL_MAX_BITS + 1];
/* The rest of the last chunk. */
static char *rest;
static size_t rest_size;

/* A leak detector looks here for pointers to the program's memory, such as data of probes. */
extern void __lsan_register_root_region(const void *p, size_t size) __attribute__((__weak__));
extern void __lsan_unregister_root_region(const void *p, size_t size)
	__attribute__((__weak__));

size_t jf_page_size(void)
{
	static size_t size;

	if (!size)
		size = (size_t)sysconf(_SC_PAGESIZE);
	return size;
}

bool jf_is_heap(uintptr_t addr, size_t size)
{
	uintptr_t start = (uintptr_t)sbrk(0);
	uint64_t grows = HEAP_MAX;
	struct rlimit limit;

	/* The program may raise the lower one. */
	if (!getrlimit(RLIMIT_DATA, &limit) && limit.rlim_max < grows)
		grows = limit.rlim_max;
	return addr + size > start && addr < start + grows;
}

bool jf_is_below_stack(uintptr_t addr)
{
	/* The kernel puts it at the end of the stack. */
	uintptr_t end = getauxval(AT_RANDOM), grows = STACK_MIN;
	struct rlimit limit;

	if (addr >= end)
		return false;
	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur > grows)
		grows = limit.rlim_cur;
	return end - addr < grows;
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (__lsan_register_root_region)
		__lsan_register_root_region(p, size);
	return p;
}

static void unmap(void *p, size_t size)
{
	int err = errno;

	if (__lsan_unregister_root_region)
		__lsan_unregister_root_region(p, size);
	munmap(p, size);
	errno = err;
}

/* The highest bit of @size, which is not 0. */
static int top_bit(size_t size)
{
	return (int)(8 * sizeof(unsigned long)) - 1 - __builtin_clzl(size);
}

static void put(struct block *b, int bits)
{
	b->next = unused[bits];
	unused[bits] = b;
}

/* @size is a power of two. */
static struct block *cut(size_t size)
{
	struct block *b = (struct block *)rest;

	rest += size;
	rest_size -= size;
	b->size = size;
	return b;
}

static bool add_chunk(void)
{
	char *p = map(CHUNK_SIZE);

	if (!p)
		return false;
	while (rest_size) {
		int bits = top_bit(rest_size);

		put(cut(1UL << bits), bits);
	}
	rest = p;
	rest_size = CHUNK_SIZE;
	return true;
}

static struct block *take(size_t size)
{
	int bits = SMALL_MIN_BITS;
	struct block *b;

	while (1UL << bits < size)
		bits++;
	b = unused[bits];
	if (b) {
		unused[bits] = b->next;
		return b;
	}
	if (rest_size < 1UL << bits && !add_chunk())
		return NULL;
	return cut(1UL << bits);
}

static struct block *take_large(size_t size)
{
	size_t page = jf_page_size();
	struct block *b;

	size = (size + page - 1) & ~(page - 1);
	b = map(size);
	if (b)
		b->size = size;
	return b;
}

void *jf_alloc(size_t size)
{
	struct block *b;

	size += sizeof(*b);
	b = size > SMALL_MAX ? take_large(size) : take(size);
	return b ? b->data : NULL;
}

void *jf_zalloc(size_t size)
{
	void *p = jf_alloc(size);

	/* A fresh mapping is zero. */
	return p && size <= SMALL_MAX - sizeof(struct block) ? memset(p, 0, size) : p;
}

void *jf_realloc(void *p, size_t size)
{
	const struct block *b = p ? jf_container(p, struct block, data) : NULL;
	size_t had = b ? b->size - sizeof(*b) : 0;
	void *more;

	if (size <= had)
		return p;
	more = jf_alloc(size);
	if (more && p) {
		memcpy(more, p, had);
		jf_free(p);
	}
	return more;
}

void jf_free(void *p)
{
	struct block *b;

	if (!p)
		return;
	b = jf_container(p, struct block, data);
	if (b->size > SMALL_MAX)
		unmap(b, b->size);
	else
		put(b, top_bit(b->size));
}

/* --- sorting ---------------------------------------------------------------------- */

struct array {
	size_t	num, size;
	int	(*compare)(const void *a, const void *b);
};

/* The end of the ascending run that begins with @item, or @end. */
static char *run_end(const struct array *a, char *item, const char *end)
{
	do
		item += a->size;
	while (item < end && a->compare(item - a->size, item) <= 0);
	return item;
}

/* Makes one run of each two. Present number of them. */
static size_t merge(const struct array *a, char *from, char *to)
{
	char *end = from + a->num * a->size, *x_end, *y, *y_end, **next;
	size_t runs;

	for (runs = 0; from < end; runs++) {
		y = x_end = run_end(a, from, end);
		y_end = y < end ? run_end(a, y, end) : end;
		while (from < x_end || y < y_end) {
			next = y == y_end || (from < x_end && a->compare(from, y) <= 0) ?
				&from : &y;
			memcpy(to, *next, a->size);
			to += a->size;
			*next += a->size;
		}
		from = y_end;
	}
	return runs;
}

int jf_sort(void *items, size_t num, size_t size,
	    int (*compare)(const void *a, const void *b))
{
	const struct array a = { num, size, compare };
	char *other = jf_alloc(num * size), *from = items, *to = other;
	size_t runs;

	if (!other)
		return -ENOMEM;
	do {
		char *sorted = to;

		runs = merge(&a, from, to);
		to = from;
		from = sorted;
	} while (runs > 1);
	if (from != items)
		memcpy(items, from, num * size);
	jf_free(other);
	return 0;
}
