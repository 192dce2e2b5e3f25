// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The same with -mindirect-branch=thunk-inline. */
#define ARRAY_ROW	"array-retpoline", "array, retpolined"

#include "sub_array.c"
