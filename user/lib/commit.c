// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Batches: is what shall change legal, which sites does it change, do it. */
#include "lib.h"

#include "core/count.h"

#include <limits.h>

#if JF_HAVE_PATCHING
/* --- what stands at a site ------------------------------------------------------ */

/*
 * The guard of a branch falls through, as the nop does. So where the compiler left a jump
 * to a test, and others execute it, it cannot become a jump to the other side: it waits
 * until the test would say to fall through.
 */
static int branch_insn(const struct jf_site *site, bool jumps, bool alone, jf_insn_t *insn)
{
	jf_insn_t now = atomic_load_explicit(&site->insn, memory_order_relaxed);
	bool tests = site->flags & JF_SITE_TESTED && now == site->compiled;

	if (jumps && (!tests || alone || jf_options()->int3))
		return jf_insn_jmp(insn, site->addr, site->label);
	if (jumps)
		*insn = site->compiled;
	else if (jf_insn_byte(now, 0) == JF_OPCODE_TEST)
		/* A guard was left here, as some text can no longer be written. */
		*insn = now;
	else
		*insn = jf_insn_nop();
	return 0;
}

/*
 * No jump leads into an object that may be closed before the site's own one: by the time
 * it is closed, text may no longer be writable. A pointer always is.
 */
static bool may_go(const struct jf_site *site, uintptr_t target)
{
	const struct jf_mod *own = site->ctl->mod, *m = jf_mod_of(target);

	return m ? m != own && !m->program : jf_image_leaves(target, own);
}

/* Nothing to call: what has no effect, or none but a result of 0. */
static bool call_is_none(const struct jf_site *site, uintptr_t value, jf_insn_t *insn)
{
	const struct jf_ctl *ctl = jf_ctl_real(site->ctl);

	if (value != (uintptr_t)jf_func_of(ctl->ent)->init)
		return false;
	if (ctl->ent->flags & JF_ENT_NULL_OK)
		*insn = jf_insn_nop();
	else if (ctl->ent->flags & JF_ENT_RET0)
		*insn = jf_insn_ret0();
	else
		return false;
	return true;
}

/*
 * Does this thread have a shadow stack? Then no handler can do what a call does:
 * calls stay calls of the trampoline, whose jump can be patched.
 */
static bool has_shadow_stack(void)
{
	uint64_t ssp = 0;

	/* rdsspq %rax, which is a nop where there is none */
	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a" (ssp));
	return ssp;
}

static int call_insn(const struct jf_site *site, uintptr_t value, jf_insn_t *insn)
{
	bool tail = jf_insn_byte(site->compiled, 0) == JF_OPCODE_JMP;

	/* While it changes only INT3 can stand there: a guard that is no call skips it. */
	if (!jf_options()->int3 || may_go(site, value))
		goto raw;
	if (tail ? !jf_insn_jmp(insn, site->addr, value) :
	    !has_shadow_stack() && (call_is_none(site, value, insn) ||
				    !jf_insn_call(insn, site->addr, value)))
		return 0;
raw:
	*insn = site->compiled;	/* by way of the trampoline */
	return 0;
}

int jf_site_insn(const struct jf_site *site, uintptr_t value, bool alone, jf_insn_t *insn)
{
	if (site->flags & JF_SITE_BRANCH)
		return branch_insn(site, !!value != !!(site->flags & JF_SITE_BRANCH_INV), alone,
				   insn);
	if (site->flags & JF_SITE_CALL)
		return call_insn(site, value, insn);
	if (may_go(site, value) || jf_insn_jmp(insn, site->addr, value))
		*insn = site->compiled;	/* by way of the pointer */
	return 0;
}

#endif /* JF_HAVE_PATCHING */

/* --- what a change may be ----------------------------------------------------- */

static uintptr_t next_value(const struct jf_ctl *ctl)
{
	return ctl->batch ? ctl->value : jf_ent_value(ctl->ent);
}

/* The dynamic function whose trampoline is at @addr. */
static struct jf_ctl *by_trampoline(uintptr_t addr)
{
	const struct jf_site *site;
	int i;

	/* An endbr64 may come first. */
	for (i = 0; i <= 4; i += 4) {
		site = jf_trampoline_find(addr + (uintptr_t)i);
		if (site)
			return jf_ctl_real(site->ctl);
	}
	return NULL;
}

static struct jf_ctl *jf_circle_next(const struct jf_ctl *ctl)
{
	return by_trampoline(next_value(ctl));
}

static struct jf_ctl *jf_circle_back(const struct jf_ctl *ctl)
{
	return by_trampoline((uintptr_t)jf_func_of(ctl->ent)->init);
}

#include "core/circle.h"

static int check_func(struct jf_ctl *ctl, bool force)
{
	const struct jf_ent *ent = ctl->ent;

	if (!ctl->value) {
		jf_say(true, "%s: has no NULL form", ent->name);
		return -EINVAL;
	}
	if (!force && ent->flags & JF_ENT_TRACE) {
		jf_say(true, "%s: belongs to a tracepoint", ent->name);
		return -EINVAL;
	}
	if (!force && jf_is_unloading((const void *)ctl->value)) {
		jf_say(true, "%s: its target is in an object that is being closed",
		       ent->name);
		return -EBUSY;
	}
	if (jf_in_circle(ctl)) {
		jf_say(true, "%s: would call itself, now or when an object is closed",
		       ent->name);
		return -EINVAL;
	}
	return 0;
}

static int check_ctl(struct jf_ctl *ctl, bool force)
{
	return ctl->ent->type == JF_ENT_FUNC ? check_func(ctl, force) : 0;
}

/*
 * A key is about to be disabled. Its one user is taken away first, so that a caller that
 * counts it up from here on waits for the lock; see core/count.h.
 */
static int freeze(struct jf_change *c, struct jf_ctl *ctl)
{
	int one = 1;

	if (ctl->ent->type != JF_ENT_KEY || ctl->value || c->again || c->frozen)
		return 0;
	c->frozen = jf_count_swap(&jf_key_of(ctl->ent)->count, &one, 0);
	/* Silent: callers that share a key expect this. */
	c->shared = !c->frozen;
	return c->frozen ? 0 : -EBUSY;
}

static bool has_ctl(const struct jf_mod *m, const struct jf_ent *ent)
{
	const struct jf_ctl *ctl = ent->ctl;

	return ctl >= m->ctls && ctl < m->ctls + m->num_ctls && ctl->ent == ent;
}

struct jf_change jf_change_of(struct jf_ent *ent, uintptr_t value)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)ent);
	struct jf_change c = { .ent = ent, .value = value };

	if (m)
		c.serial = m->serial;
	return c;
}

/*
 * Its object may have been closed since it was added, and another one be there, with
 * another entity at this address, or a hole. So it is not looked at before it is known.
 */
static struct jf_ctl *changed(const struct jf_change *c)
{
	const struct jf_mod *m = jf_mod_of((uintptr_t)c->ent);
	size_t i;

	if (!m || (c->serial && c->serial != m->serial))
		return NULL;
	if (c->serial && has_ctl(m, c->ent))
		return jf_ctl_of(c->ent);
	for (i = 0; i < m->num_ctls; i++)
		if (m->ctls[i].ent == c->ent)
			/* One that waits for its exporter has none yet. */
			return m->ctls[i].wants ? NULL : jf_ctl_real(&m->ctls[i]);
	return NULL;
}

static void unfreeze(struct jf_change *c)
{
	/* It may be closed by now. */
	struct jf_ctl *ctl = c->frozen ? changed(c) : NULL;

	c->frozen = false;
	if (ctl)
		jf_count_set(ctl, 1);
}

static int mark(struct jf_batch *b)
{
	struct jf_change *c;

	for (c = b->changes; c; c = c->next) {
		struct jf_ctl *ctl = changed(c);

		if (!ctl) {
			jf_say(true, "change of something that no loaded object defines");
			return -ENODEV;
		}
		if (ctl->batch && ctl->value != c->value) {
			jf_say(true, "%s: twice in one batch, with different values",
			       ctl->ent->name);
			return -EINVAL;
		}
		c->again = ctl->batch;
		ctl->batch = b;
		ctl->value = c->value;
		ctl->also = c->also;
		ctl->stored = c->stored;
	}
	return 0;
}

static void unmark(struct jf_batch *b)
{
	const struct jf_change *c;

	for (c = b->changes; c; c = c->next) {
		struct jf_ctl *ctl = changed(c);

		if (!ctl)
			continue;
		ctl->batch = NULL;
		ctl->also = NULL;
	}
}

/* --- the transaction ------------------------------------------------------------ */

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
	int err = jf_site_insn(site, value, false, &insn);

	/* Text cannot be written: a site that loads the value is right, and stays. */
	if (err || (now == site->compiled && jf_site_loads(site) && !jf_writer_usable()))
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

static bool all_raw(const struct jf_ctl *ctl)
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

	if (!all_raw(ctl))
		return false;
	for (p = ctl->proxies; p; p = p->next_proxy)
		if (!all_raw(p))
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

static int check_changes(struct jf_batch *b, bool force)
{
	struct jf_change *c;
	int err = 0;

	for (c = b->changes; c && !err; c = c->next) {
		struct jf_ctl *ctl = jf_ctl_of(c->ent);

		c->turns = jf_ent_value(ctl->ent) != ctl->value;
		if (c->turns)
			err = check_ctl(ctl, force || c->force) ?: freeze(c, ctl);
	}
	return err;
}

static int commit_at_once(struct jf_batch *b, bool force)
{
	struct jf_change *c;
	int err = b->err;

	if (!err)
		err = mark(b);
	if (!err)
		err = check_changes(b, force);
	if (!err)
		err = patch_and_sync(b);
	if (!err || err == -EIO) {
		for (c = b->changes; c; c = c->next)
			apply(c, jf_ctl_of(c->ent));
		if (b->changes)
			jf_replaced();
	} else {
		for (c = b->changes; c; c = c->next)
			unfreeze(c);
	}
	unmark(b);
	return err;
}

/* --- changes of very many sites ----------------------------------------------------- */

/*
 * A change of keys with more than LONG_SITES sites gives way to others: it is done in slices,
 * each with the lock held and signals kept off, as a transaction of its own. Between two
 * of them other threads take the lock: they fork, open objects, or change other keys. A slice takes
 * less than half a millisecond of CPU time: a thread that needs more at a time than the
 * scheduler gives it is switched out with the lock held. Where a helper writes
 * (writer.c), it does some slices, and then signal handlers of this thread run.
 *
 *   LOOK	each site is compared and each page asked for, and nothing is changed.
 *		What fails here fails the change as ever.
 *   CHANGE	slice by slice. The first one stores the value, which sites as compiled
 *		load. A slice that fails is tried again; if that is in vain, then
 *   TAKE_BACK	slice by slice, what was changed becomes what it was.
 *
 * So in the end all is done or nothing is, and the value says which. A key has no users (core/count.h) from the LOOK on
 * until all its sites are on. While it is under way one site may be on and
 * another one off. So it may be in each change, but here also in one that fails in the end.
 *
 * Its progress is in struct jf_long, and not on the stack of the thread that asked for
 * it: any thread that has the lock can do the next slice. That is how it ends
 *   - in the child of a fork(), which has a half of it and maybe not that thread: before
 *     fork() returns there, all the rest is done (child_begins());
 *   - if that thread does not come back, since a signal handler left by longjmp();
 *   - for a thread that changes one of these keys, or wants a long change, too.
 * Two long changes are never under way. No other one changes a key of it (jf_settle()).
 *
 * Objects that come between two slices take the value that it has by then. Their sites are
 * found in a further walk, where sites that are done are skipped. Objects that go have left
 * the list of objects by then, so no site of theirs is touched. Where that goes on and on,
 * it does not give way any more: what is left is little.
 */
#ifndef LONG_SITES
#define LONG_SITES	8192
#endif
/* What one slice has at most: sites, pages that they are in, sites that are looked at. */
#define SLICE_SITES	LONG_SITES
#define SLICE_PAGES	128
#define SLICE_LOOKS	(4 * SLICE_SITES)
#define SLICE_TRIES	3
#define AGAIN_MAX	4

enum phase { LOOK, CHANGE, TAKE_BACK, DONE };

/* Where it is in the walk through all sites. */
struct cursor {
	size_t		at;	/* which change */
	struct jf_ctl	*ctl;	/* its entity, or one that stands in for that; NULL: begins */
	struct jf_site	*site;	/* the next one; NULL: that of the next entity */
};

struct jf_long {
	enum phase		phase;
	int			err;
	unsigned int		tries;
	unsigned int		again;	/* how often objects have come or gone in between */
	bool			changed;
	bool			left;	/* what could not be taken back */
	uint64_t		mods;	/* which there were as the walk began */
	struct cursor		next;
	const struct jf_mod	*mod;	/* whose entity @next has, and which of those there */
	uint64_t		serial;
	size_t			num;
	struct jf_change	change[];
};

static struct jf_long *under_way;

static void rewind_long(struct jf_long *l)
{
	l->next = (struct cursor){ 0 };
	l->mod = NULL;
	l->mods = jf_mods_version;
	l->tries = 0;
}

/* The lock was dropped: is the entity where it stopped still there? */
static void check_cursor(struct jf_long *l)
{
	const struct jf_mod *m;

	for (m = jf_mods; m && l->mod; m = m->next)
		if (m == l->mod && m->serial == l->serial)
			return;
	l->again += l->mod != NULL;
	l->next.ctl = NULL;
	l->next.site = NULL;
}

static void note_cursor(struct jf_long *l)
{
	l->mod = l->next.ctl ? l->next.ctl->mod : NULL;
	l->serial = l->mod ? l->mod->serial : 0;
}

static void set_phase(struct jf_long *l, enum phase phase)
{
	l->phase = phase;
	rewind_long(l);
}

static uintptr_t long_value(const struct jf_long *l, size_t i)
{
	return l->phase == TAKE_BACK ? !l->change[i].value : l->change[i].value;
}

/* The entity of change number @i. NULL: it has gone. */
static struct jf_ctl *long_ctl(const struct jf_long *l, size_t i)
{
	return changed(&l->change[i]);
}

/* The next one in the walk, of l->change[l->next.at]. *next is NULL: that was all. */
static int next_site(struct jf_long *l, struct jf_site **next)
{
	struct cursor *c = &l->next;
	int err;

	while (!c->site && c->at < l->num) {
		if (!c->ctl)
			c->ctl = long_ctl(l, c->at);
		else
			c->ctl = c->ctl->real ? c->ctl->next_proxy : c->ctl->proxies;
		err = c->ctl ? jf_sites_of(c->ctl) : 0;
		if (err)
			return err;
		if (c->ctl)
			c->site = c->ctl->sites;
		else
			c->at++;
	}
	*next = c->site;
	if (c->site)
		c->site = c->site->next;
	return 0;
}

/* Fills @work. *more: the walk is not over. */
static int collect_slice(struct jf_long *l, bool *more)
{
	uintptr_t page = 0, mask = ~((uintptr_t)jf_page_size() - 1);
	size_t pages = 0, looks = 0;
	struct jf_site *site;
	int err = 0;

	*more = true;
	work.num = 0;
	while (!err && work.num < SLICE_SITES && pages < SLICE_PAGES && looks++ < SLICE_LOOKS) {
		err = next_site(l, &site);
		if (err)
			break;
		if (!site) {
			*more = false;
			break;
		}
		/* What a new one stores, should it be the first. */
		jf_ctl_real(site->ctl)->value = long_value(l, l->next.at);
		err = add_site(&work, site, long_value(l, l->next.at));
		pages += (site->addr & mask) != page;
		page = site->addr & mask;
	}
	return err;
}

/* It is over, with l->err. The values are those of the phase. */
static void end_long(struct jf_long *l)
{
	size_t i;

	for (i = 0; i < l->num; i++) {
		struct jf_ctl *ctl = long_ctl(l, i);

		if (!ctl)
			continue;
		ctl->by = NULL;
		ctl->value = long_value(l, i);
		jf_ctl_apply(ctl);
		jf_count_set(ctl, !!ctl->value);
	}
	if (l->changed)
		jf_stats.commits++;
	jf_replaced();
	l->phase = DONE;
	under_way = NULL;
}

/*
 * It would not begin: then say why not in the way that smaller ones have. Keys that were to be
 * disabled have no user from before until after that, or another one could come in between.
 */
static void do_at_once(struct jf_long *l)
{
	struct jf_batch b;
	size_t i;

	jf_batch_init(&b);
	for (i = 0; i < l->num; i++) {
		struct jf_ctl *ctl = long_ctl(l, i);

		if (ctl)
			ctl->by = NULL;
		l->change[i].next = b.changes;
		b.changes = &l->change[i];
	}
	l->phase = DONE;
	under_way = NULL;
	l->err = commit_at_once(&b, false);
}

/* Once for each change. On with the rest: each later change tries again what is left. */
static void leave_slice(struct jf_long *l, int err)
{
	const struct jf_ctl *ctl = l->next.at < l->num ? long_ctl(l, l->next.at) : NULL;

	jf_patch_set_incomplete();
	l->tries = 0;
	if (!l->left)
		jf_say(false, "%s: a change fails, and some of its sites cannot be taken back: %s",
		       ctl ? ctl->ent->name : "keys", jf_error(-err));
	l->left = true;
}

/* A slice was not done, and nothing of it is. */
static void slice_fails(struct jf_long *l, const struct cursor *at, int err)
{
	if (++l->tries < SLICE_TRIES) {
		l->next = *at;
		return;
	}
	if (l->phase == TAKE_BACK) {
		leave_slice(l, err);
		return;
	}
	l->err = err;
	set_phase(l, TAKE_BACK);
}

static void walk_ends(struct jf_long *l)
{
	if (l->phase == LOOK) {
		set_phase(l, CHANGE);
	} else if (l->mods != jf_mods_version) {
		l->again++;
		rewind_long(l);
	} else {
		end_long(l);
	}
}

/* With the lock held. */
static void do_slice(struct jf_long *l)
{
	struct cursor at;
	bool more;
	int err;

	check_cursor(l);
	at = l->next;
	err = collect_slice(l, &more);
	if (!err && work.num)
		err = l->phase == LOOK ? jf_patch_look(work.poke, work.num, !at.ctl) :
					 jf_patch(work.poke, work.num, false);
	if (err && l->phase == LOOK) {
		do_at_once(l);
		return;
	}
	/*
	 * Some of it may be done. What is not is noted, and the next change tries again. The values
	 * count as set; while they are taken back what failed before remains the result.
	 */
	if (err == -EIO) {
		if (l->phase == CHANGE)
			l->err = -EIO;
		err = 0;
	}
	if (err) {
		slice_fails(l, &at, err);
	} else {
		l->tries = 0;
		l->changed |= l->phase == CHANGE && work.num;
		if (!more)
			walk_ends(l);
	}
	note_cursor(l);
}

static void finish_long(void)
{
	while (under_way)
		do_slice(under_way);
}

/*
 * The thread is cancelled, or ends in a signal handler. Where that is not told, by a C
 * library that does not unwind, or a compiler without -fexceptions, the rest is left to the
 * next change, as after longjmp().
 */
static void end_in_between(const bool *back)
{
	if (*back)
		return;
	jf_lock();
	finish_long();
	jf_unlock();
}

static void give_way(void)
{
	__attribute__((__cleanup__(end_in_between))) bool back = false;

	jf_give_way();
	back = true;
}

/* Others' as well as this thread's. */
static void do_slice_and_give_way(void)
{
	do_slice(under_way);
	if (under_way && under_way->again < AGAIN_MAX)
		give_way();
}

static bool is_under_way(const struct jf_ent *ent)
{
	const struct jf_ctl *ctl = under_way ? jf_ctl_of(ent) : NULL;

	return ctl && ctl->by;
}

void jf_settle(const struct jf_ent *ent)
{
	while (is_under_way(ent))
		do_slice_and_give_way();
}

static size_t sites_of(struct jf_ctl *ctl)
{
	size_t num = jf_sites_num(ctl);
	struct jf_ctl *proxy;

	for (proxy = ctl->proxies; proxy; proxy = proxy->next_proxy)
		num += jf_sites_num(proxy);
	return num;
}

/*
 * Has @b keys alone, with many sites? Targets of functions may have to change together with
 * other things.
 */
static bool is_long(const struct jf_batch *b)
{
	const struct jf_change *c;
	size_t sites = 0;

	if (b->err || jf_stats.sites <= LONG_SITES || jf_patch_incomplete())
		return false;
	for (c = b->changes; c; c = c->next) {
		struct jf_ctl *ctl = changed(c);

		if (!ctl || ctl->ent->type != JF_ENT_KEY || c->also)
			return false;
		if (jf_ent_value(ctl->ent) != c->value)
			sites += sites_of(ctl);
	}
	return sites > LONG_SITES;
}

/* Not those that come again, nor those that are what they shall be. */
static bool is_change(const struct jf_change *c)
{
	return !c->again && jf_ent_value(jf_ctl_of(c->ent)->ent) != c->value;
}

/* @b, which is marked, becomes one that is under way. NULL: no memory. */
static struct jf_long *begin_long(const struct jf_batch *b)
{
	const struct jf_change *c;
	struct jf_long *l;
	size_t num = 0;

	for (c = b->changes; c; c = c->next)
		num += is_change(c);
	l = jf_zalloc(sizeof(*l) + num * sizeof(l->change[0]));
	for (c = l ? b->changes : NULL; c; c = c->next) {
		struct jf_ctl *ctl = jf_ctl_of(c->ent);

		if (!is_change(c))
			continue;
		l->change[l->num] = jf_change_of(ctl->ent, c->value);
		l->change[l->num++].frozen = c->frozen;
		ctl->by = l;
	}
	if (l)
		set_phase(l, LOOK);
	under_way = l;
	return l;
}

/* By a helper. Another thread may have done the rest, since the lock was not held. */
static bool take_turn(void *arg)
{
	struct jf_long *l = arg;

	if (l->phase != DONE)
		do_slice(l);
	return l->phase != DONE && l->again < AGAIN_MAX;
}

/* Nothing is freed of a change whose caller no longer waits for it. */
static int end_of(struct jf_long *l)
{
	int err;

	while (l->phase != DONE) {
		if (l->again >= AGAIN_MAX || !jf_writer_take_turns(take_turn, l))
			do_slice(l);
		if (l->phase != DONE && l->again < AGAIN_MAX)
			give_way();
	}
	err = l->err;
	jf_free(l);
	return err;
}

static int commit_long(struct jf_batch *b)
{
	struct jf_long *l = NULL;
	struct jf_change *c;
	int err = mark(b);

	if (!err)
		err = check_changes(b, false);
	if (!err)
		l = begin_long(b);
	for (c = l ? NULL : b->changes; c; c = c->next)
		unfreeze(c);
	unmark(b);
	if (!err && !l)
		err = -ENOMEM;
	return l ? end_of(l) : err;
}

int jf_commit_locked(struct jf_batch *b, bool force)
{
	const struct jf_change *c;

	/* Its caller relies on the lock. */
	for (c = b->changes; c && under_way; c = c->next) {
		const struct jf_ctl *ctl = changed(c);

		if (ctl && ctl->by)
			finish_long();
	}
	return commit_at_once(b, force);
}

int jf_commit_in_turn(struct jf_batch *b)
{
	const struct jf_change *c;

	/* Its object may be closed whenever the lock is dropped: then it is not looked at again. */
	for (c = b->changes; c && under_way; c = c->next)
		while (changed(c) && is_under_way(c->ent))
			do_slice_and_give_way();
	if (!is_long(b))
		return commit_at_once(b, false);
	/* Others may come in between, with another one, or change what this one is about. */
	if (under_way) {
		do_slice_and_give_way();
		return jf_commit_in_turn(b);
	}
	return commit_long(b);
}

/* With the lock held, and after those of the parts that are used here. */
static void child_begins(void)
{
	finish_long();
}

__attribute__((__constructor__(JF_BEGINS_LATER)))
static void commit_begins(void)
{
	static struct jf_fork_part forks = { .child = child_begins };

	jf_at_fork(&forks);
}

/* --- batches ---------------------------------------------------------------------- */

void jf_batch_init(struct jf_batch *b)
{
	b->changes = NULL;
	b->probes = NULL;
	b->err = 0;
}

void jf_batch_drop(struct jf_batch *b)
{
	struct jf_change *c, *next;
	struct jf_probe_change *p, *after;

	for (c = b->changes; c; c = next) {
		next = c->next;
		jf_free(c);
	}
	for (p = b->probes; p; p = after) {
		after = p->next;
		jf_free(p);
	}
	jf_batch_init(b);
}

void jf_batch_abort(struct jf_batch *b)
{
	/* One that was committed: exit() does not wait for the lock. */
	if (!b->changes && !b->probes) {
		jf_batch_init(b);
		return;
	}
	jf_lock();
	jf_batch_drop(b);
	jf_unlock();
}

int jf_batch_add(struct jf_batch *b, struct jf_ent *ent, uintptr_t value)
{
	struct jf_change *c = jf_alloc(sizeof(*c));

	if (!c) {
		if (!b->err)
			b->err = -ENOMEM;
		return -ENOMEM;
	}
	*c = jf_change_of(ent, value);
	c->next = b->changes;
	b->changes = c;
	return 0;
}

void *jf_func_target(const struct jf_func *f, void *func)
{
	return !func && f->ent.flags & (JF_ENT_NULL_OK | JF_ENT_RET0) ? f->init : func;
}

int __jf_batch_set_func(struct jf_batch *b, struct jf_func *f, void *func)
{
	int err;

	jf_lock();
	err = jf_batch_add(b, &f->ent, (uintptr_t)jf_func_target(f, func));
	jf_unlock();
	return err;
}

int __jf_batch_set_key(struct jf_batch *b, struct jf_key *key, bool on)
{
	int err;

	jf_lock();
	err = jf_batch_add(b, &key->ent, on);
	jf_unlock();
	return err;
}
