/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* A heap of the program's own: heap_enter() and heap_leave() are around each call. -rdynamic. */
#ifndef HOSTILE_HEAP_H
#define HOSTILE_HEAP_H

#include "hostile.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t num, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);

static void heap_enter(void);
static void heap_leave(void);

void *malloc(size_t size)
{
	void *p;

	heap_enter();
	p = __libc_malloc(size);
	heap_leave();
	return p;
}

void *calloc(size_t num, size_t size)
{
	void *p;

	heap_enter();
	p = __libc_calloc(num, size);
	heap_leave();
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p;

	heap_enter();
	p = __libc_realloc(old, size);
	heap_leave();
	return p;
}

void free(void *p)
{
	heap_enter();
	__libc_free(p);
	heap_leave();
}

#endif /* HOSTILE_HEAP_H */
