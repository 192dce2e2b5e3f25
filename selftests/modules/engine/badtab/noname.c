// SPDX-License-Identifier: GPL-2.0
/* A target without a name. */
#include "badtab.h"

static const struct jf_target list[] __used = { { good, (char *)8 } };
TARGETS(KEY, "list", 1);
