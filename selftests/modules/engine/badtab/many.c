// SPDX-License-Identifier: GPL-2.0
/* More targets than there is memory. */
#include "badtab.h"

static const struct jf_target list[] __used = { { good, "good" } };
TARGETS(KEY, "list", 0x1000000000000000);
