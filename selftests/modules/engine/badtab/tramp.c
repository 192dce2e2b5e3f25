// SPDX-License-Identifier: GPL-2.0
/* A trampoline in another module. */
#include "badtab.h"

static struct jf_func second __used = __JF_FUNC_INIT(second, good, 0);
ENT("second + 16", "jf_nop", "1", "0");
