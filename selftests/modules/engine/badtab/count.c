// SPDX-License-Identifier: GPL-2.0
/* As many keys as a number can say. */
#include "badtab.h"

static struct jf_func second __used = __JF_FUNC_INIT(second, good, 0);
ENT("second + 16", "0", "0xffffffff", "40");
