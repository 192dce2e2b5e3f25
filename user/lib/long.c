// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Changes of very many sites.
 *
 * A change of keys with more than LONG_SITES sites gives way to others: it is done in slices,
 * each with the lock held and signals kept off, as a transaction of its own. Between two
 * of them other threads take the lock: they fork, open objects, or change other keys. A
 * slice takes less than half a millisecond of CPU time: a thread that needs more at a time
 * than the scheduler gives it is switched out with the lock held. Where a helper writes
 * (writer.c), it does some slices, and then signal handlers of this thread run.
 *
 *   LOOK	each site is compared and each page asked for, and nothing is changed.
 *		What fails here fails the change as ever.
 *   CHANGE	slice by slice. The first one stores the value, which sites as compiled
 *		load. A slice that fails is tried again; if that is in vain, then
 *   TAKE_BACK	slice by slice, what was changed becomes what it was.
 *
 * So in the end all is done or nothing is, and the value says which. A key has no users
 * (core/count.h) from the LOOK on until all its sites are on. While it is under way one site
 * may be on and another one off. So it may be in each change, but here also in one that fails in the end.
 *
 * Its progress is in struct jf_long, and not on the stack of the thread that asked for
 * it: any thread that has the lock can do the next slice. That is how it ends
 *   - in the child of a fork(), which has a half of it and maybe not that thread: before
 *     fork() returns there, all the rest is done (child_begins());
 *   - if that thread does not come back, since a signal handler left by longjmp();
 *   - for a thread that changes one of these keys, or wants a long change, too.
 * Two long changes are never under way. No other one changes a key of it (jf_settle()).
 *
 * Objects that are loaded between two slices take the value that it has by then. Their sites
 * are found in a further walk, where sites that are done are skipped. Objects that are closed
 * have left the list of objects by then, so no site of theirs is touched. Where that goes on,
 * it does not give way any more: what is left is little.
 */
#include "commit.h"

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
	unsigned int		again;	/* how often objects were loaded or closed in between */
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

/* The entity of change number @i. NULL: its object was closed. */
static struct jf_ctl *long_ctl(const struct jf_long *l, size_t i)
{
	return jf_change_ctl(&l->change[i]);
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

/* Fills @jf_work. *more: the walk is not over. */
static int collect_slice(struct jf_long *l, bool *more)
{
	uintptr_t page = 0, mask = ~((uintptr_t)jf_page_size() - 1);
	size_t pages = 0, looks = 0;
	struct jf_site *site;
	int err = 0;

	*more = true;
	jf_work.num = 0;
	while (!err && jf_work.num < SLICE_SITES && pages < SLICE_PAGES && looks++ < SLICE_LOOKS) {
		err = next_site(l, &site);
		if (err)
			break;
		if (!site) {
			*more = false;
			break;
		}
		/* What a new one stores, should it be the first. */
		jf_ctl_real(site->ctl)->value = long_value(l, l->next.at);
		err = jf_pokes_add_site(&jf_work, site, long_value(l, l->next.at));
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
	l->err = jf_commit_at_once(&b, false);
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
	if (!err && jf_work.num)
		err = l->phase == LOOK ? jf_patch_look(jf_work.poke, jf_work.num, !at.ctl) :
					 jf_patch(jf_work.poke, jf_work.num, false);
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
		l->changed |= l->phase == CHANGE && jf_work.num;
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
		struct jf_ctl *ctl = jf_change_ctl(c);

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
	int err = jf_changes_mark(b);

	if (!err)
		err = jf_changes_check(b, false);
	if (!err)
		l = begin_long(b);
	for (c = l ? NULL : b->changes; c; c = c->next)
		jf_change_unfreeze(c);
	jf_changes_unmark(b);
	if (!err && !l)
		err = -ENOMEM;
	return l ? end_of(l) : err;
}

int jf_commit_locked(struct jf_batch *b, bool force)
{
	const struct jf_change *c;

	/* Its caller relies on the lock. */
	for (c = b->changes; c && under_way; c = c->next) {
		const struct jf_ctl *ctl = jf_change_ctl(c);

		if (ctl && ctl->by)
			finish_long();
	}
	return jf_commit_at_once(b, force);
}

int jf_commit_in_turn(struct jf_batch *b)
{
	const struct jf_change *c;

	/* Its object may be closed whenever the lock is dropped: then it is not looked at again. */
	for (c = b->changes; c && under_way; c = c->next)
		while (jf_change_ctl(c) && is_under_way(c->ent))
			do_slice_and_give_way();
	if (!is_long(b))
		return jf_commit_at_once(b, false);
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
