// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* As headers that dtrace -h makes, and the object that dtrace -G makes. */
#define _SDT_HAS_SEMAPHORES	1
#include "test_sdt.h"

#ifdef __cplusplus
extern "C" {
#endif
extern unsigned short jftest_guarded_semaphore;
unsigned short jftest_guarded_semaphore __attribute__((unused, section(".probes")));
#ifdef __cplusplus
}
#endif
#define JFTEST_GUARDED_ENABLED()	__builtin_expect(*(volatile unsigned short *)&jftest_guarded_semaphore, 0)

int guarded(int x)
{
	int is = JFTEST_GUARDED_ENABLED();

	if (is)
		DTRACE_PROBE1(jftest, guarded, x);
	return is;
}

int guarded_value(void)
{
	return *(volatile unsigned short *)&jftest_guarded_semaphore;
}
