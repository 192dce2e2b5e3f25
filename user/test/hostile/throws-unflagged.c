// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same without -fexceptions. */
#include "throws-late.c"
