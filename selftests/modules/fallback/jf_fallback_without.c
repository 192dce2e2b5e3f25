// SPDX-License-Identifier: GPL-2.0
/* The driver of jf_fallback.h, without jumpfunc. */
#include "jf_fallback.h"
