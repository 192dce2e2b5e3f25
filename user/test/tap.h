/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * TAP for the tests of the userspace engine.
 *
 * API: CHECK(condition, format, ...) any number of times, then finish(name),
 * which makes one test of them; tap_status() for exit(). must() is for what
 * the tests themselves need.
 *
 * Example:
 *   CHECK(sum == 3, "sum is %d", sum);
 *   finish("addition");
 *
 * How it works: counters; the first failures of a test are shown. A test that
 * checked nothing has failed.
 */
#ifndef JF_TAP_H
#define JF_TAP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int test_nr, failures_here, failed_tests;
static unsigned long checks;

#define CHECK(condition, ...)						\
	do {								\
		checks++;						\
		if (!(condition) && ++failures_here <= 5) {		\
			printf("# line %d: %s: ", __LINE__, #condition);\
			printf(__VA_ARGS__);				\
			putchar('\n');					\
		}							\
	} while (0)

static void finish(const char *name)
{
	test_nr++;
	if (failures_here || !checks) {
		failed_tests++;
		printf("not ok %u - %s # %u of %lu checks failed\n", test_nr, name,
		       failures_here, checks);
	} else {
		printf("ok %u - %s # %lu checks\n", test_nr, name, checks);
	}
	fflush(stdout);
	failures_here = 0;
	checks = 0;
}

static inline void must(int err, const char *what)
{
	if (err) {
		printf("Bail out! %s: %s\n", what, strerror(-err));
		exit(1);
	}
}

static inline int tap_status(void)
{
	return failed_tests ? 1 : 0;
}

static inline int tap_end(void)
{
	printf("1..%u\n", test_nr);
	return tap_status();
}

#endif /* JF_TAP_H */
