// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * How others change a site in a program, in words of our own, on text of our own with
 * as many sites, one in 32 bytes. No other thread may run there during a change: there is
 * no protocol, and half of an instruction may be met. None of their code is used.
 *
 * C++, semi-static-conditions: the page becomes writable and executable, the bytes are
 * stored, the page gets its old protection. Rust, static-keys: a copy of the page is made,
 * changed, made executable and moved over the page.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "scale.h"

#define SPACING	32
#define PAGE	4096UL

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static uint8_t *make_text(size_t size)
{
	uint8_t *text = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		return NULL;
	memset(text, 0x90, size);
	if (!mprotect(text, size, PROT_READ | PROT_EXEC))
		return text;
	munmap(text, size);
	return NULL;
}

static const uint8_t jump[] = { 0xe9, 0x10, 0, 0, 0 };

static int by_mprotect(uint8_t *at)
{
	uint8_t *page = (uint8_t *)((uintptr_t)at & ~(PAGE - 1));

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return -1;
	memcpy(at, jump, sizeof(jump));
	return mprotect(page, PAGE, PROT_READ | PROT_EXEC);
}

static int by_remap(uint8_t *at)
{
	uint8_t *page = (uint8_t *)((uintptr_t)at & ~(PAGE - 1));
	uint8_t *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return -1;
	memcpy(copy, page, PAGE);
	memcpy(copy + (at - page), jump, sizeof(jump));
	if (!mprotect(copy, PAGE, PROT_READ | PROT_EXEC) &&
	    mremap(copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) != MAP_FAILED)
		return 0;
	munmap(copy, PAGE);
	return -1;
}

static double measure(unsigned int sites, int (*write_site)(uint8_t *at))
{
	size_t size = ((size_t)sites * SPACING + PAGE - 1) & ~(PAGE - 1);
	uint8_t *text = make_text(size);
	unsigned int i;
	double took;
	int err = 0;

	if (!text)
		return 0;
	took = now_ns();
	for (i = 0; i < sites && !err; i++)
		err = write_site(text + (size_t)i * SPACING);
	took = now_ns() - took;
	munmap(text, size);
	return err ? 0 : took;
}

double scale_mprotect(unsigned int sites)
{
	return measure(sites, by_mprotect);
}

double scale_remap(unsigned int sites)
{
	return measure(sites, by_remap);
}
