// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "shared.h"

#define DEFINE_SHARED(hi, lo) void bench_shared_##hi##lo(void) \
	{ __asm__ volatile("" :: "i" (SITE_INDEX(hi, lo))); }
FOR_ALL(DEFINE_SHARED)
