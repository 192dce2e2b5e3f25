// SPDX-License-Identifier: GPL-2.0
/* A site in another module. */
#include "badtab.h"

SITE("jf_nop", 1, KEY);
