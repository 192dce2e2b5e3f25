// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* See inside.h. */
#include "lib/lib.h"
#include "inside.h"

#include <stdlib.h>

static int by_addr(const void *a, const void *b)
{
	const struct inside_site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

size_t inside_sites(struct jf_ent *ent, struct inside_site *sites, size_t max)
{
	const struct jf_site *s;
	struct jf_ctl *ctl;
	size_t num = 0;

	jf_lock();
	ctl = jf_ctl_of(ent);
	if (ctl && !jf_sites_of(ctl))
		for (s = ctl->sites; s && num < max; s = s->next)
			sites[num++] = (struct inside_site){
				.addr = (const uint8_t *)s->addr,
				.kind = s->flags & JF_SITE_TRAMP ? INSIDE_TRAMPOLINE :
					s->flags & JF_SITE_CALL ? INSIDE_CALL : INSIDE_BRANCH,
				.site = s,
			};
	jf_unlock();
	qsort(sites, num, sizeof(*sites), by_addr);
	return num;
}

bool inside_words(const struct inside_site *sites, size_t num)
{
	size_t i;

	for (i = 0; i < num; i++) {
		const struct jf_site *s = sites[i].site;

		if (atomic_load(&s->insn) != jf_insn_load(sites[i].addr))
			return false;
	}
	return true;
}

uint8_t inside_guard(const struct inside_site *site)
{
	const struct jf_site *s = site->site;

	return s->guard;
}

uint64_t inside_traps(void)
{
	return __atomic_load_n(&jf_stats.traps, __ATOMIC_RELAXED);
}
