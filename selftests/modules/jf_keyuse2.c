// SPDX-License-Identifier: GPL-2.0
/* The same once more, under another name. */
#include "jf_keyuse.c"
