// SPDX-License-Identifier: GPL-2.0
/*
 * The section that JF_SLEEPABLE calls hold. One for all of them: a grace period is short
 * while no reader sleeps, and an updater that waits for one is not in a hurry.
 */
#define JF_NO_TABLE
#include <jumpfunc/contract.h>

DEFINE_SRCU(jf_sleepable_srcu);
EXPORT_SYMBOL_GPL(jf_sleepable_srcu);
