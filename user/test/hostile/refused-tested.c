// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same with branches that lead to a test. */
#define JF_TESTED
#include "refused.c"
