// SPDX-License-Identifier: GPL-2.0
/* Targets for no dynamic function. */
#include "badtab.h"

static const struct jf_target list[] __used = { { good, "good" } };
TARGETS("stray + 16", "list", 1);
