// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same by the flavour that needs no registration of threads. */
#define URCU_BP

#include "sub_urcu.c"
