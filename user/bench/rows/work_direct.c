// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Direct calls, with work between the calls that waits for none of them. */
#define CALL_GROUP	"call-work"
#define BODY		BRANCH_BODY

#include "call_direct.c"
