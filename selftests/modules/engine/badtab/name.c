// SPDX-License-Identifier: GPL-2.0
/* A key without a name. */
#include "badtab.h"

static struct jf_func second __used = {
	.func = good, .init = good, .ent = { .owner = THIS_MODULE, .name = (char *)8 },
};
ENT("second + 16", "0", "1", "0");
