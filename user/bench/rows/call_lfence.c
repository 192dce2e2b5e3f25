// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same with -mindirect-branch=thunk-extern, whose thunks are those of targets.c. */
#define POINTER_ROW	"lfence", "function pointer, lfence thunk"

#include "call_pointer.c"
