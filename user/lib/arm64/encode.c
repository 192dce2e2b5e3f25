// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The instruction at a site of an entity with some value. A nop, a jump and a call may all be
 * replaced by each other while threads execute them, so no site has to wait for anything.
 */
#include "../lib.h"

int jf_site_insn(struct jf_site *site, uintptr_t value, bool alone, jf_insn_t *insn)
{
	bool inverse = site->flags & JF_SITE_BRANCH_INV;

	(void)alone;
	*insn = jf_insn_nop();
	if (site->flags & JF_SITE_BRANCH)
		return !!value == inverse ? 0 : jf_insn_jmp(insn, site->addr, site->label);
	/* By way of the pointer, as compiled. */
	if (!jf_site_may_lead(site, value) || jf_insn_jmp(insn, site->addr, value))
		*insn = site->compiled;
	return 0;
}
