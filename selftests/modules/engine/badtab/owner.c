// SPDX-License-Identifier: GPL-2.0
/* Of nobody. */
#include "badtab.h"

TABLE(GOOD_HEAD, .owner = NULL);
