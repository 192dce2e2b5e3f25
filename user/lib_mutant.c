// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* One source of the library, or a header of it, broken or whole: see lib.mk, lib-mutants. */
#ifdef JF_FLOW
#include JF_FLOW
/* Which has it already, then. */
#define JF_LIB_SOURCE	"lib/call.c"
#endif
#include JF_LIB_SOURCE
