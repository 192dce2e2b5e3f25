// SPDX-License-Identifier: GPL-2.0
/*
 * The site map: which site is at an address.
 *
 * The INT3 handler searches the site map, an array sorted by address. Loading a
 * module replaces the whole map, so that readers need no lock. Removing sites
 * blanks their entries in place, so that unloading never needs memory:
 *
 *   writer				    INT3 handler
 *   fill new map			    map = smp_load_acquire(&jf_map)
 *   smp_store_release(&jf_map, new)	    search, read entry->site
 *   synchronize_rcu(); free old map	    (runs with interrupts off: a reader)
 *
 * No INT3 stands in text before its site is in the map: a module's sites are
 * mapped before its text is first written, and unmapped when no transaction can
 * be running, because that needs jf_mutex.
 */
#include "index/index.h"

#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>

struct jf_map {
	unsigned int	num;
	struct jf_map_entry {
		unsigned long	addr;
		struct jf_site	*site;
	} entry[];
};

static struct jf_map *jf_map;

/* The number of the first entry at @addr or after it. */
static notrace unsigned int jf_map_bound(const struct jf_map *map,
					 unsigned long addr)
{
	unsigned int lo = 0, hi = map ? map->num : 0;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (map->entry[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
NOKPROBE_SYMBOL(jf_map_bound);

static notrace struct jf_map_entry *jf_map_search(struct jf_map *map,
						  unsigned long addr)
{
	unsigned int n = jf_map_bound(map, addr);

	return map && n < map->num && map->entry[n].addr == addr ?
		       &map->entry[n] : NULL;
}
NOKPROBE_SYMBOL(jf_map_search);

notrace struct jf_site *jf_site_find(unsigned long addr)
{
	/* Pairs with smp_store_release() in jf_index_add_sites(). */
	struct jf_map_entry *e = jf_map_search(smp_load_acquire(&jf_map), addr);

	return e ? READ_ONCE(e->site) : NULL;
}
NOKPROBE_SYMBOL(jf_site_find);

struct jf_site *jf_site_next(unsigned long addr, unsigned long end)
{
	unsigned int n;

	lockdep_assert_held(&jf_mutex);
	for (n = jf_map_bound(jf_map, addr);
	     jf_map && n < jf_map->num && jf_map->entry[n].addr < end; n++)
		if (jf_map->entry[n].site)
			return jf_map->entry[n].site;
	return NULL;
}

bool jf_site_is_near(const struct jf_site *site, unsigned long addr)
{
	return within_module(addr, site->mod->mod);
}

/*
 * Puts the sites that are left of @old, and the sites of @m, into @map in order, and returns their
 * number. It sorts the sites of @m alone: the map can have many more, and jf_mutex is held.
 */
static unsigned int jf_map_merge(struct jf_map *map, const struct jf_map *old,
				 const struct jf_mod *m)
{
	unsigned int i = 0, j, n = 0, num = old ? old->num : 0;
	/* At the end: the merge does not overtake it. */
	struct jf_map_entry *new = map->entry + num;

	for (j = 0; j < m->num_sites; j++) {
		new[j].addr = m->sites[j].addr;
		new[j].site = &m->sites[j];
	}
	sort(new, m->num_sites, sizeof(*new), jf_addr_cmp, NULL);
	for (j = 0; i < num || j < m->num_sites;) {
		if (j < m->num_sites &&
		    (i == num || new[j].addr <= old->entry[i].addr))
			map->entry[n++] = new[j++];
		else if (old->entry[i++].site)
			map->entry[n++] = old->entry[i - 1];
	}
	return n;
}

int jf_index_add_sites(const struct jf_mod *m)
{
	struct jf_map *old = jf_map, *map;
	unsigned int i, n, max = m->num_sites + (old ? old->num : 0);

	lockdep_assert_held(&jf_mutex);
	if (!m->num_sites)
		return 0;
	map = kvmalloc(struct_size(map, entry, max), GFP_KERNEL);
	if (!map)
		return -ENOMEM;

	n = jf_map_merge(map, old, m);
	map->num = n;
	for (i = 1; i < n; i++) {
		if (map->entry[i].addr - map->entry[i - 1].addr <
		    JF_ARCH_SITE_SIZE) {
			pr_err("%s: two sites overlap at %pS\n", m->mod->name,
			       (void *)map->entry[i].addr);
			kvfree(map);
			return -EINVAL;
		}
	}

	/* Pairs with smp_load_acquire() in jf_site_find(). */
	smp_store_release(&jf_map, map);
	synchronize_rcu();
	kvfree(old);
	return 0;
}

void jf_index_exit(void)
{
	kvfree(jf_map);
	jf_map = NULL;
}

void jf_index_del_site(const struct jf_site *site)
{
	struct jf_map_entry *e = jf_map_search(jf_map, site->addr);

	lockdep_assert_held(&jf_mutex);
	jf_index_dels++;
	if (e && e->site == site)
		WRITE_ONCE(e->site, NULL);
}
