// SPDX-License-Identifier: GPL-2.0
/* The same key twice. */
#include "badtab.h"

ENT(KEY, "0", "1", "0");
