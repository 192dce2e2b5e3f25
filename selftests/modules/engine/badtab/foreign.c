// SPDX-License-Identifier: GPL-2.0
/* A key in another module. */
#include "badtab.h"

ENT("jf_nop", "0", "1", "0");
