// SPDX-License-Identifier: GPL-2.0
/* Of another version. */
#include "badtab.h"

TABLE(GOOD_HEAD, .magic = JF_TABLE_MAGIC + 1);
