// SPDX-License-Identifier: GPL-2.0
/* A site where no call stands. */
#include "badtab.h"

SITE("good", 1, KEY);
