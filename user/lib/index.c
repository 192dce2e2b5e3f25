// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Look-up of objects and sites. object.c enters them; this file calls no other part.
 *
 * The list of objects is read by the SIGTRAP handler without a lock: objects are
 * added in front, complete, and freed when no handler can see them.
 */
#include "lib.h"

struct jf_mod *jf_mods;
uint64_t jf_mods_version;

static struct jf_site *search(struct jf_site *sites, size_t high, uintptr_t addr)
{
	size_t low = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sites[mid].addr == addr)
			return &sites[mid];
		if (sites[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Where there is a handler, all are in jf_mod.sites; the others need the lock. */
static struct jf_site *find_in(const struct jf_mod *m, uintptr_t addr)
{
	struct jf_site *site = search(m->sites, m->num_sites, addr);
	size_t i;

	for (i = 0; !site && !m->all && i < m->num_ctls; i++)
		if (m->ctls[i].later)
			site = search(m->ctls[i].later, m->ctls[i].num_later, addr);
	return site || m->all ? site : search(m->calls, m->num_calls, addr);
}

struct jf_site *jf_site_find(uintptr_t addr, bool *ours)
{
	/*
	 * This and the next one pair with the stores in __jf_object_register() and
	 * __jf_object_unregister(): objects in the list are seen complete.
	 */
	const struct jf_mod *m = __atomic_load_n(&jf_mods, __ATOMIC_ACQUIRE);

	for (; m; m = __atomic_load_n(&m->next, __ATOMIC_ACQUIRE))
		if (jf_mod_has(m, addr)) {
			*ours = true;
			return find_in(m, addr);
		}
	return NULL;
}

struct jf_site *jf_trampoline_find(uintptr_t addr)
{
	const struct jf_mod *m = jf_mod_of(addr);
	struct jf_site *site = m ? search(m->sites, m->num_sites, addr) : NULL;

	return site && site->flags & JF_SITE_TRAMP ? site : NULL;
}

struct jf_mod *jf_mod_of(uintptr_t addr)
{
	struct jf_mod *m = jf_mods;

	while (m && !jf_mod_has(m, addr))
		m = m->next;
	return m;
}

bool jf_is_unloading(const void *addr)
{
	const struct jf_mod *m;

	for (m = jf_mods; m; m = m->next)
		if (m->unloading && jf_mod_has(m, (uintptr_t)addr))
			return true;
	return false;
}
