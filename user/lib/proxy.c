// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Entities that one object imports from another: each has one that stands in for it, with
 * a copy of its value.
 */
#include "object.h"

/*
 * The meaning of NULL, for queries without the lock; without @real it has no meaning. While @init
 * leads to the exporter, JF_ENT_UNKNOWN says so: it is taken away before.
 */
static void know_null(struct jf_ent *ent, const struct jf_ent *real)
{
	struct jf_func *f = jf_container(ent, struct jf_func, ent);
	const struct jf_func *from = jf_container((struct jf_ent *)(uintptr_t)real,
						  struct jf_func, ent);
	const unsigned int null = JF_ENT_NULL_OK | JF_ENT_RET0;
	uint16_t flags;

	if (ent->type != JF_ENT_FUNC)
		return;
	flags = ent->flags & ~(null | JF_ENT_UNKNOWN);
	__atomic_store_n(&ent->flags, flags, __ATOMIC_RELAXED);
	/* Pairs with __jf_func_query(): a query that sees it sees no JF_ENT_UNKNOWN. */
	__atomic_store_n(&f->init, real ? from->init : (void *)jf_ret0, __ATOMIC_RELEASE);
	/* No partner: a query has loaded @init before, and can say the meaning of NULL. */
	if (real)
		__atomic_store_n(&ent->flags, flags | (real->flags & null), __ATOMIC_RELEASE);
}

static void link_proxy(struct jf_ctl *ctl)
{
	struct jf_ctl *real = ctl->real;

	ctl->next_proxy = real->proxies;
	/*
	 * Pairs with count_alone(), which counts before it looks here: it finds this one, or
	 * its number is copied. And with jf_count_follow().
	 */
	__atomic_store_n(&real->proxies, ctl, __ATOMIC_SEQ_CST);
	jf_ent_copy(ctl->ent, real->ent);
	if (ctl->ent->type == JF_ENT_KEY)
		jf_count_follow(real);
	know_null(ctl->ent, real->ent);
}

void jf_proxies_link(struct jf_mod *m)
{
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (ctl->real)
			link_proxy(ctl);
		if (!ctl->wants)
			continue;
		m->waiting++;
		jf_ent_copy(ctl->ent, jf_ent_element(ctl->wants, ctl->nth));
		know_null(ctl->ent, NULL);
		ctl->ent->ctl = NULL;
	}
}

bool jf_proxies_link_waiting(struct jf_mod *m, const struct jf_mod *loaded)
{
	bool found = false;
	size_t i;

	/* Most objects have none, and each object that is loaded asks. */
	for (i = 0; m->waiting && i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i], *first;

		if (!ctl->wants || !jf_mod_holds(loaded, ctl->wants, sizeof(*ctl->wants)))
			continue;
		first = jf_ctl_of(ctl->wants);
		if (!first || ctl->nth >= first->rest || first->ent->type != ctl->ent->type) {
			jf_say(false, "%s: %s, which it imports, is not there", m->name,
			       ctl->ent->name);
			continue;
		}
		ctl->real = first + ctl->nth;
		ctl->wants = NULL;
		m->waiting--;
		link_proxy(ctl);
		/* Pairs with the load in count(): it is complete. */
		__atomic_store_n(&ctl->ent->ctl, ctl, __ATOMIC_RELEASE);
		found = true;
	}
	return found;
}

void jf_proxy_unlink(struct jf_ctl *ctl)
{
	struct jf_ctl **p = &ctl->real->proxies;

	while (*p && *p != ctl)
		p = &(*p)->next_proxy;
	/* Pairs with jf_count_follow(): those after it are as before. */
	if (*p)
		__atomic_store_n(p, ctl->next_proxy, __ATOMIC_RELEASE);
	/* Pairs with count_shared(): it counts the real one, or finds that it does not exist. */
	__atomic_store_n(&ctl->real, NULL, __ATOMIC_RELEASE);
}

void jf_proxies_unlink(struct jf_mod *m)
{
	struct jf_ctl *c;
	size_t i;

	for (i = 0; i < m->num_ctls; i++) {
		struct jf_ctl *ctl = &m->ctls[i];

		if (ctl->real)
			jf_proxy_unlink(ctl);
		/* Those that stand in for this one keep its last value. */
		for (c = ctl->proxies; c; c = c->next_proxy) {
			know_null(c->ent, NULL);
			/* Pairs with count_shared(), which is waited for after this. */
			__atomic_store_n(&c->real, NULL, __ATOMIC_RELEASE);
		}
	}
}
