// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same, where the one that exports comes first. */
#include "imports-peer.c"
