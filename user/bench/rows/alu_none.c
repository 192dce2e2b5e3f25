// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The additions alone. */
#include "row.h"

#define SITE(hi, lo)
#include "alu.h"

ALU_ROW("none", "no site");
