// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A batch as one transaction: which sites does it change, do it. */
#include "commit.h"

int jf_pokes_add(struct jf_pokes *p, struct jf_site *site, jf_insn_t insn)
{
	if (p->num == p->max) {
		size_t max = p->max ? p->max * 2 : 64;
		struct jf_poke *more = jf_realloc(p->poke, max * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->poke = more;
		p->max = max;
	}
	/* It is compared to that soon, and far from all others in large programs. */
	__builtin_prefetch((const void *)site->addr);
	p->poke[p->num].addr = site->addr;
	p->poke[p->num].site = site;
	p->poke[p->num].old = atomic_load_explicit(&site->insn, memory_order_relaxed);
	p->poke[p->num++].new = insn;
	return 0;
}

/* If there is something to be done at it. */
static int add_site(struct jf_pokes *p, struct jf_site *site, uintptr_t value)
{
	jf_insn_t now = atomic_load_explicit(&site->insn, memory_order_relaxed);
	jf_insn_t insn;
	int err;

	/* Text cannot be written: a site that loads the value is right, and stays. */
	if (now == site->compiled && jf_site_loads(site) && !jf_writer_usable())
		return 0;
	err = jf_site_insn(site, value, false, &insn);
	if (err)
		return err;
	return insn != now || site->left ? jf_pokes_add(p, site, insn) : 0;
}

static int add_sites(struct jf_pokes *p, struct jf_ctl *ctl, uintptr_t value)
{
	struct jf_site *site;
	int err = jf_sites_of(ctl);

	for (site = ctl->sites; site && !err; site = site->next)
		err = add_site(p, site, value);
	return err;
}

static int collect(const struct jf_batch *b, struct jf_pokes *p)
{
	const struct jf_change *c;
	struct jf_ctl *proxy;
	int err = 0;

	for (c = b->changes; c && !err; c = c->next) {
		struct jf_ctl *ctl = jf_ctl_of(c->ent);

		if (c->again ||
		    (jf_ent_value(ctl->ent) == ctl->value && !jf_patch_incomplete()))
			continue;
		err = add_sites(p, ctl, ctl->value);
		for (proxy = ctl->proxies; proxy && !err; proxy = proxy->next_proxy)
			err = add_sites(p, proxy, ctl->value);
	}
	return err;
}

/* If text cannot be written, sites that load the value as compiled need no write. */
static bool drop_unpatched(struct jf_pokes *p)
{
	size_t i, num = 0;

	for (i = 0; i < p->num; i++)
		if (p->poke[i].old != p->poke[i].site->compiled || !jf_site_loads(p->poke[i].site))
			p->poke[num++] = p->poke[i];
	p->num = num;
	return !num;
}

/* It stays for the next change: fresh memory would cost as much as all else. */
static struct jf_pokes work;

static int patch_sites(const struct jf_batch *b)
{
	int err;

	work.num = 0;
	err = collect(b, &work);
	if (!err && work.num) {
		err = jf_patch(work.poke, work.num, false);
		if (err && err != -EIO && err != -EILSEQ && drop_unpatched(&work))
			err = 0;
		else if (!err || err == -EIO)
			jf_stats.commits++;
	}
	return err;
}

static bool all_compiled(const struct jf_ctl *ctl)
{
	const struct jf_site *s;

	for (s = ctl->sites; s; s = s->next)
		if (atomic_load_explicit(&s->insn, memory_order_relaxed) != s->compiled)
			return false;
	return true;
}

bool jf_ent_store_only(struct jf_ent *ent, uintptr_t value)
{
	struct jf_ctl *ctl = jf_ctl_of(ent);
	const struct jf_ctl *p;

	if (!all_compiled(ctl))
		return false;
	for (p = ctl->proxies; p; p = p->next_proxy)
		if (!all_compiled(p))
			return false;
	ctl->value = value;
	jf_ctl_apply(ctl);
	jf_replaced();
	return true;
}

static void apply(const struct jf_change *c, struct jf_ctl *ctl)
{
	jf_ctl_apply(ctl);
	if (c->turns && !c->again && ctl->ent->type == JF_ENT_KEY)
		jf_count_set(ctl, !!ctl->value);
}

static bool has_image(const struct jf_batch *b)
{
	const struct jf_change *c = b->changes;

	while (c && !c->image)
		c = c->next;
	return c;
}

/*
 * Nothing of a new image may be executed by a core that fetched something else from there
 * before. A transaction has a broadcast before it leads there; if it was none, this is it.
 */
static int patch_and_sync(const struct jf_batch *b)
{
	uint64_t syncs = jf_stats.syncs;
	int err = patch_sites(b);

	if (!err && jf_stats.syncs == syncs && has_image(b) && !jf_sync_cores())
		err = -EOPNOTSUPP;
	return err;
}

int jf_commit_locked(struct jf_batch *b, bool force)
{
	struct jf_change *c;
	int err = b->err;

	if (!err)
		err = jf_changes_mark(b);
	if (!err)
		err = jf_changes_check(b, force);
	if (!err)
		err = patch_and_sync(b);
	if (!err || err == -EIO) {
		for (c = b->changes; c; c = c->next)
			apply(c, jf_ctl_of(c->ent));
		if (b->changes)
			jf_replaced();
	} else {
		for (c = b->changes; c; c = c->next)
			jf_change_unfreeze(c);
	}
	jf_changes_unmark(b);
	return err;
}
