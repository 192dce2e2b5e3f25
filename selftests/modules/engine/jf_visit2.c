// SPDX-License-Identifier: GPL-2.0
/* Another module like jf_visit.c. */
#define VISIT_ID	HALL_VISIT2
#include "jf_visit.c"
