// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The same where the program has the static library in it, and is linked with libgcc_s, as
 * user/README.md says.
 */
#include "throws-late.c"
