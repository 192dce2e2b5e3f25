// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The arrays of keys of standards.c, as C++ only declares such. */
#include "standards.h"

DEFINE_JF_KEY_ARRAY_FALSE(off_keys, 3);
DEFINE_JF_KEY_ARRAY_TRUE(on_keys, 3);
IMPORT_JF_KEY_ARRAY(other_keys, 4);
IMPORT_JF_KEY_ARRAY(other_keys_gpl, 4);
