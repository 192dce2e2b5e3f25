// SPDX-License-Identifier: GPL-2.0
/* A site of a key that no table names. */
#include "badtab.h"

SITE("good_site", 1, "stray + 16");
