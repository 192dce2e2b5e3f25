// SPDX-License-Identifier: GPL-2.0
/* A branch that a function decides. */
#include "badtab.h"

SITE("good_site", 2, KEY);
