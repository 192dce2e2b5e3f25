// SPDX-License-Identifier: GPL-2.0
/*
 * A module whose text begins with a trampoline: it has no function of its own.
 */
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

DEFINE_DYNFUNC(onlytramp, jf_ret0);
DEFINE_DYNFUNC(onlytramp_2, jf_ret0);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Nothing but trampolines");
