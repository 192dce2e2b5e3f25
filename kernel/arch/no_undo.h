/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For an architecture on which no CPU executes the new instructions of a transaction that fails:
 * there is nothing to retire, and no site that could not be taken back. It is included by one
 * source of it.
 */
#ifndef JF_ARCH_NO_UNDO_H
#define JF_ARCH_NO_UNDO_H

#include "arch/text.h"

bool jf_arch_runs_failed(void)
{
	return false;
}

bool jf_arch_ran(void)
{
	return false;
}

bool jf_arch_is_stuck(void)
{
	return false;
}

int jf_arch_mend(const struct list_head *sites)
{
	return 0;
}

int jf_arch_mend_all(void)
{
	return 0;
}

#endif /* JF_ARCH_NO_UNDO_H */
