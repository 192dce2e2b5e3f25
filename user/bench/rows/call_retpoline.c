// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same with -mindirect-branch=thunk-inline: a retpoline. */
#define POINTER_ROW	"retpoline", "function pointer, retpoline"

#include "call_pointer.c"
