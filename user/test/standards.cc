// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same in C++. */
#include "standards.c"
