/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The resources of this process, for tests of growth.
 *
 * API:
 *   count_mappings()	of memory
 *   allocated()	bytes, if that can be told; else 0
 */
#ifndef JF_TEST_PROCESS_H
#define JF_TEST_PROCESS_H

#include <malloc.h>
#include <stddef.h>
#include <stdio.h>

static inline unsigned int count_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int num = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		num += c == '\n';
	if (f)
		fclose(f);
	return num;
}

static inline size_t allocated(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

#endif /* JF_TEST_PROCESS_H */
