// SPDX-License-Identifier: GPL-2.0
#define JFB_PART 5
#include "bulk_part.h"
