// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same by name: a call to a jump that was retargeted. */
#define BY_NAME
#define CALL_OWN(name)	dynfunc_##name()
#define CALL_ROW	"trampoline", "the same, by name: a call to a jump"

#include "jf_call.c"
