// SPDX-License-Identifier: GPL-2.0
#define JFB_PART 4
#include "bulk_part.h"
