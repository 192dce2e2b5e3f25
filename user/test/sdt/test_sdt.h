/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The interfaces between the files of test_sdt. */
#ifndef JF_TEST_SDT_H
#define JF_TEST_SDT_H

#include <sys/sdt.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _SDT_HAS_SEMAPHORES
/* The same probe, in an inline function, in each file that calls it. */
static inline int shared_inline(int x)
{
	DTRACE_PROBE1(jftest, shared, x);
	return x;
}
#endif

/* Of the second file. */
int second(int x);
int second_few(int x);
int many(int x);
/* Of the one with semaphores: 1 if it was enabled. */
int guarded(int x);
int guarded_value(void);

/* Of the plugin. */
typedef int plugin_fn(int x);

#ifdef __cplusplus
}
#endif

#define MANY_PROBES	1024

#endif /* JF_TEST_SDT_H */
