// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Dynamic functions, with work between the calls that waits for none of them. */
#define CALL_GROUP	"call-work"
#define BODY		BRANCH_BODY

#include "jf_call.c"
