// SPDX-License-Identifier: GPL-2.0
/*
 * A quarter of jf_trace_many.ko: a cost that is more than four times as high there is not linear.
 */
#define TRACE_SOME	1
#include "jf_trace_many.c"
