/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The functions of the shared object that the rows "plt" and "got" call. */
#include "row.h"

#define DECLARE_SHARED(hi, lo) void bench_shared_##hi##lo(void);
FOR_ALL(DECLARE_SHARED)
