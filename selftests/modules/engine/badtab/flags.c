// SPDX-License-Identifier: GPL-2.0
/* A site that is neither call nor branch. */
#include "badtab.h"

SITE("good_site", 0, KEY);
