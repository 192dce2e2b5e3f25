/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* For rows that use libjumpfunc, before everything else. */
#ifndef JF_USER_BENCH_LIBRARY_H
#define JF_USER_BENCH_LIBRARY_H

#include "bench.h"

#include <jumpfunc/branch.h>

#endif /* JF_USER_BENCH_LIBRARY_H */
