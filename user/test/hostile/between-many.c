// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same with so many sites that they are written in runs. */
#define CROWD
#include "between.c"
