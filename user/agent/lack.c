// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * That there was no memory. A search that had none can find another reason against a probe, which
 * is no reason then.
 */
#include "lack.h"

unsigned int jf_lacks;
const char jf_no_memory[] = "no memory";
