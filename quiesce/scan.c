// SPDX-License-Identifier: GPL-2.0
/*
 * What a stack scan searches for, beside what quiesce/retired.c has recorded.
 *
 * A key that changed leaves no record. Its sites are known, and so is what their
 * functions execute only when sites go ways that they no longer go: a task with a
 * return address in that code has come by a branch before it changed. (Two keys may
 * lead to the same code: so each site of the function is followed as it goes now.)
 * Code that both ways lead to is not meant: a thread whose main loop has a site in
 * it, and that sleeps after it, would be waited for without end. Where the last act
 * of that code is a jump to another function, a task in that one is inside if it
 * came by the function with the site.
 *
 * A function that was replaced may be executed by tasks that never came through
 * what was changed: another dynamic function leads there, or it is called by its
 * name. The stack tells, by what the function returns to:
 *
 *   returns to				the task is
 *   a call site, or from a trampoline,	inside, unless that leads there now and
 *   that has changed			did not before
 *   a direct call of the function	elsewhere
 *   a direct call of another one, X	elsewhere if X can only have jumped there,
 *					or is a trampoline that has not changed;
 *					else inside
 *   anything else, such as a call by	inside: it may have been a pointer to the
 *   a pointer				trampoline
 */
#include "quiesce/scan.h"

#include "arch/reach.h"
#include "quiesce/function.h"
#include "quiesce/retired.h"
#include "index/index.h"
#include "quiesce/text.h"

#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/xarray.h>

/* The dynamic function whose trampoline a call of @to enters, or NULL. */
static const struct jf_ctl *jf_ctl_called(unsigned long to)
{
	const struct jf_ctl *ctl = NULL;
	unsigned int i;

	/* A call may lead into the padding in front. */
	for (i = 0; !ctl && i <= JF_ARCH_CALL_PAD; i++)
		ctl = jf_ctl_by_tramp(to + i);
	return ctl;
}

/* --- keys ------------------------------------------------------------------ */

/**
 * struct jf_former - what keys led to, while that is being searched for
 * @scan: it is added there
 * @keys:  keys that had changed by this replacement count
 * @again: search for what they led to, and do again, not for what they no longer do
 * @tails: the tails of @scan, by address
 * @text:  the last function that was read
 * @ent:   for which key that was
 * @hidden: what kprobes hide in it
 */
struct jf_former {
	struct jf_scan	*scan;
	u64		keys;
	bool		again;
	struct xarray	tails;
	struct jf_spans	text;
	const struct jf_ent *ent;
	struct jf_hidden hidden;
};

/* Does what this key led to count? */
static bool jf_key_counts(const struct jf_former *f, const struct jf_ctl *ctl)
{
	return !jf_retired_is_settled(ctl->seq) && ctl->since <= f->keys;
}

static bool jf_key_left(const struct jf_former *f, const struct jf_ctl *ctl,
			bool on)
{
	return jf_key_counts(f, ctl) && ctl->left_ways & BIT(on);
}

/*
 * A key that was on, off and is on again may have left a task in code from the first time.
 * It is found as if the key were off.
 */
static unsigned int jf_former_ways(const struct jf_site *site, void *arg)
{
	const struct jf_former *f = arg;
	const struct jf_ctl *ctl = site->ctl;
	bool on = READ_ONCE(jf_key_of(ctl->ent)->enabled);
	bool left = jf_key_left(f, ctl, f->again ? on : !on);
	bool goes = f->again && left ? !on : on;
	bool straight = site->flags & JF_SITE_BRANCH_INV ? goes : !goes;

	if (straight)
		return JF_WAY_STRAIGHT | (left ? JF_WAY_WAS_LABEL : 0);
	return JF_WAY_LABEL | (left ? JF_WAY_WAS_STRAIGHT : 0);
}

/*
 * The last act of code that a key led to may be a call, which the compiler made a
 * jump. What is called returns to where the function with the site was called.
 */
static int jf_tail_add(struct jf_former *f, unsigned long func)
{
	struct jf_scan *s = f->scan;
	unsigned int first = s->in.num;
	int err;

	if (xa_load(&f->tails, func))
		return 0;
	err = xa_err(xa_store(&f->tails, func, xa_mk_value(1), GFP_KERNEL));
	if (!err)
		err = jf_grow((void **)&s->tail, s->num_tails, &s->max_tails,
			      sizeof(*s->tail));
	if (!err)
		err = jf_spans_add_func(&s->in, (void *)func);
	if (err)
		return err;
	jf_spans_tag(&s->in, first, func);
	s->tail[s->num_tails++] = func;
	return 0;
}

/* Through a trampoline, to where it leads. */
static int jf_tail_left(unsigned long to, void *arg)
{
	struct jf_former *f = arg;
	const struct jf_ctl *ctl = jf_ctl_called(to);
	void *func;

	if (ctl) {
		func = READ_ONCE(jf_func_of(ctl->ent)->func);
		if (func == (void *)jf_nop || func == (void *)jf_ret0)
			return 0;
		to = (unsigned long)func;
	}
	return jf_tail_add(f, to);
}

/*
 * What this one jumps to in turn. It is read without the lock that jf_tail_left() had,
 * so its module may have been unloaded meanwhile, and another one be there. No task is
 * missed by that. What jumps to a function by its name depends on that one's module: it
 * is unloaded later than its caller, and no task is to return to an unloaded caller. That
 * leaves a function to which a trampoline led. It was a target, so no task was in it when
 * it was unloaded; a task that had left it by a jump before is one that a target's own
 * record does not find either: see the exception of jf_quiesce(). What is read in its
 * place is searched for in addition: a task may be waited for until it has left that. To
 * read it does no harm, since the space of modules has nothing but text and data.
 */
static int jf_add_tails(struct jf_former *f, unsigned long tail)
{
	struct jf_text_ask ask = {
		.callee = jf_callee_kind,
		.begins = jf_func_begins,
		.left = jf_tail_left,
		.arg = f,
	};
	struct jf_spans text = { };
	int err;

	err = jf_spans_add_func(&text, (void *)tail);
	if (!err) {
		jf_spans_sort(&text);
		ask.text = &text;
		do {
			mutex_lock(&jf_mutex);
			ask.kept = jf_text_kept(tail);
			err = jf_arch_jumps(&ask);
			mutex_unlock(&jf_mutex);
		} while (jf_arch_uncover(&ask.hidden, &err));
	}
	jf_spans_free(&text);
	/* Jumps by a pointer are not found. */
	return err == -ENOENT ? 0 : err;
}

/* What @f->text, with this site, executes only by ways that keys went before. */
static int jf_add_former(struct jf_former *f, const struct jf_site *site)
{
	struct jf_text_ask ask = {
		.text = &f->text,
		.kept = jf_text_kept(site->addr),
		.ways = jf_former_ways,
		.callee = jf_callee_kind,
		.begins = jf_func_begins,
		.left = jf_tail_left,
		.arg = f,
		.hidden = f->hidden,
	};
	bool on = READ_ONCE(jf_key_of(site->ctl->ent)->enabled);
	int err = 0;

	for (f->again = 0; !err; f->again = 1) {
		if (jf_key_left(f, site->ctl, f->again ? on : !on))
			err = jf_arch_add_former(&f->scan->in, &ask);
		if (f->again)
			break;
	}
	f->hidden = ask.hidden;
	return err;
}

/* Find out what the function with this site is, unless it is the last one. */
static int jf_former_text(struct jf_former *f, unsigned long addr)
{
	int err;

	if (jf_spans_has(&f->text, addr))
		return 0;
	jf_spans_free(&f->text);
	err = jf_spans_add_func(&f->text, (void *)addr);
	jf_spans_sort(&f->text);
	return err;
}

/*
 * The site of the key @ent at @addr, unless its module has been unloaded meanwhile. To find
 * out what a module's functions are takes long, once, and needs no lock.
 */
static int jf_add_site(struct jf_former *f, const struct jf_ent *ent,
		       unsigned long addr)
{
	const struct jf_site *site;
	int err;

	/*
	 * Most functions with several sites of a key have them one after the other. But
	 * another key may have left other ways.
	 */
	if (f->ent == ent && jf_spans_has(&f->text, addr))
		return 0;
	err = jf_former_text(f, addr);
	if (err)
		return err;
	f->ent = ent;
	do {
		mutex_lock(&jf_mutex);
		site = jf_site_find(addr);
		err = 0;
		if (site && site->flags & JF_SITE_BRANCH &&
		    jf_key_counts(f, site->ctl))
			err = jf_add_former(f, site);
		mutex_unlock(&jf_mutex);
	} while (jf_arch_uncover(&f->hidden, &err));
	return err;
}

/* --- calls ----------------------------------------------------------------- */

/* No function begins here. */
#define JF_TAG_NONE	2UL

/*
 * The tag of what @ctl leads to: a task in that came by a call that leads there. But
 * one that may have been there before it was replaced, and set again, is not excused.
 */
static unsigned long jf_ctl_tag(const struct jf_ctl *ctl)
{
	void *func = READ_ONCE(jf_func_of(ctl->ent)->func);
	unsigned int i;

	if (jf_retired_is_settled(ctl->seq))
		return (unsigned long)func;
	if (ctl->num_left > JF_CTL_LEFT)
		return JF_TAG_NONE;
	for (i = 0; i < ctl->num_left; i++)
		if (ctl->left[i] == func)
			return JF_TAG_NONE;
	return (unsigned long)func;
}

static int jf_add_call(struct jf_scan *scan, const struct jf_ctl *ctl,
		       const struct jf_site *site)
{
	unsigned long ret = site->addr + JF_ARCH_SITE_SIZE;

	if (!(site->flags & JF_SITE_CALL))
		return 0;
	return jf_spans_add_tagged(&scan->calls, ret, ret + 1,
				   jf_ctl_tag(ctl));
}

/* The calls that lead through what was changed, and what they lead to now. */
static int jf_add_func(struct jf_scan *scan, const struct jf_ctl *ctl)
{
	void *func = READ_ONCE(jf_func_of(ctl->ent)->func);
	unsigned int first = scan->fresh.num;
	struct jf_site *site;
	int err = 0;

	if (ctl->tramp)
		err = jf_spans_add_tagged(&scan->tramps,
					  ctl->tramp - JF_ARCH_CALL_PAD,
					  ctl->tramp + 1, jf_ctl_tag(ctl));
	list_for_each_entry(site, &ctl->sites, list)
		err = err ?: jf_add_call(scan, ctl, site);
	if (!err && jf_ctl_tag(ctl) == (unsigned long)func &&
	    func != (void *)jf_nop && func != (void *)jf_ret0)
		err = jf_spans_add_func(&scan->fresh, func);
	jf_spans_tag(&scan->fresh, first, (unsigned long)func);
	return err;
}

/* --- all that has changed -------------------------------------------------- */

/* A site of a key. Either may be no longer there. */
struct jf_changed_site {
	const struct jf_ent	*ent;
	unsigned long		addr;
};

/**
 * struct jf_changed - what there is to read, in no order
 * @ent: entities that have changed, with functions
 * @site: sites of keys
 */
struct jf_changed {
	const struct jf_ent	**ent;
	struct jf_changed_site	*site;
	unsigned int		num_ents, num_sites;
	unsigned int		max_ents, max_sites;
};

static int jf_changed_add_ctl(struct jf_changed *c, const struct jf_former *f,
			      const struct jf_ctl *ctl)
{
	const struct jf_site *site;
	int err;

	if (ctl->ent->type != JF_ENT_KEY) {
		err = jf_grow((void **)&c->ent, c->num_ents, &c->max_ents,
			      sizeof(*c->ent));
		if (!err)
			c->ent[c->num_ents++] = ctl->ent;
		return err;
	}
	if (!jf_key_counts(f, ctl))
		return 0;
	list_for_each_entry(site, &ctl->sites, list) {
		err = jf_grow((void **)&c->site, c->num_sites, &c->max_sites,
			      sizeof(*c->site));
		if (err)
			return err;
		c->site[c->num_sites].ent = ctl->ent;
		c->site[c->num_sites++].addr = site->addr;
	}
	return 0;
}

static int jf_changed_gather(struct jf_changed *c, const struct jf_former *f,
			     u64 *seq)
{
	const struct jf_mod *m;
	unsigned int i;
	int err = 0;

	mutex_lock(&jf_mutex);
	*seq = jf_retired_seq();
	list_for_each_entry(m, &jf_modules, list)
		for (i = 0; !err && i < m->num_ctls; i++)
			if (!jf_retired_is_settled(m->ctls[i].seq))
				err = jf_changed_add_ctl(c, f, &m->ctls[i]);
	mutex_unlock(&jf_mutex);
	return err;
}

static int jf_changed_do_ent(struct jf_former *f, const struct jf_ent *ent)
{
	const struct jf_ctl *ctl;
	int err = 0;

	mutex_lock(&jf_mutex);
	ctl = jf_ctl_find(ent);
	if (ctl && ctl->ent->type != JF_ENT_KEY &&
	    !jf_retired_is_settled(ctl->seq))
		err = jf_add_func(f->scan, ctl);
	mutex_unlock(&jf_mutex);
	return err;
}

/*
 * There may be thousands, so the lock is released between any two: other tasks may change
 * values, and unload modules. Each function is read as its keys go at that time. All that
 * counts was left before this began, and is remembered as left; where a way is taken
 * again meanwhile, there is a later replacement than @seq, and all of this is done anew
 * (jf_wait_renew()). What an entity that is no longer there led to was waited for by
 * its module.
 */
static int jf_add_changed(struct jf_former *f, u64 *seq)
{
	struct jf_changed c = { };
	unsigned int i;
	int err;

	err = jf_changed_gather(&c, f, seq);
	for (i = 0; !err && i < c.num_ents; i++) {
		err = jf_changed_do_ent(f, c.ent[i]);
		cond_resched();
	}
	for (i = 0; !err && i < c.num_sites; i++) {
		err = jf_add_site(f, c.site[i].ent, c.site[i].addr);
		cond_resched();
	}
	/* These become more. */
	for (i = 0; !err && i < f->scan->num_tails; i++) {
		err = jf_add_tails(f, f->scan->tail[i]);
		cond_resched();
	}
	kvfree(c.ent);
	kvfree(c.site);
	return err;
}

int jf_scan_make(struct jf_scan *scan, const struct jf_spans *text,
		 u64 keys, u64 *seq)
{
	struct jf_former f = {
		.scan = scan,
		.keys = keys,
	};
	int err;

	memset(scan, 0, sizeof(*scan));
	xa_init(&f.tails);
	err = jf_spans_copy(&scan->in, text);
	err = err ?: jf_add_changed(&f, seq);
	xa_destroy(&f.tails);
	jf_spans_free(&f.text);
	if (err) {
		jf_scan_free(scan);
		return err;
	}
	jf_spans_sort(&scan->in);
	jf_spans_sort(&scan->calls);
	jf_spans_sort(&scan->tramps);
	jf_spans_sort(&scan->fresh);
	if (scan->num_tails)
		sort(scan->tail, scan->num_tails, sizeof(*scan->tail),
		     jf_addr_cmp, NULL);
	return 0;
}

void jf_scan_free(struct jf_scan *scan)
{
	jf_spans_free(&scan->in);
	jf_spans_free(&scan->calls);
	jf_spans_free(&scan->tramps);
	jf_spans_free(&scan->fresh);
	kvfree(scan->tail);
	scan->tail = NULL;
	scan->num_tails = 0;
	scan->max_tails = 0;
}

/* --- ways ------------------------------------------------------------------ */

struct jf_way_to {
	const struct jf_scan	*scan;
	unsigned long		tag;
	bool			there;
};

/* Does @to lead to the function, and to nothing that was changed? */
static bool jf_way_leads(const struct jf_way_to *w, unsigned long to)
{
	const struct jf_span *s = jf_spans_find(&w->scan->in, to);
	const struct jf_ctl *ctl;

	if (s && s->tag == w->tag)
		return true;
	ctl = jf_ctl_called(to);
	return ctl && jf_ctl_tag(ctl) == w->tag;
}

static int jf_way_left(unsigned long to, void *arg)
{
	struct jf_way_to *w = arg;

	if (!jf_way_leads(w, to))
		return -EXDEV;
	w->there = true;
	return 0;
}

/* May code that a key led to, in this function, have jumped there? */
static bool jf_way_is_tail(const struct jf_way_to *w, const struct jf_spans *text)
{
	const struct jf_site *site;
	unsigned int i;

	if (!w->scan->num_tails ||
	    !bsearch(&w->tag, w->scan->tail, w->scan->num_tails,
		     sizeof(w->tag), jf_addr_cmp))
		return false;
	for (i = 0; i < text->num; i++)
		for (site = jf_site_next(text->span[i].start, text->span[i].end);
		     site; site = jf_site_next(site->addr + 1, text->span[i].end))
			if (site->flags & JF_SITE_BRANCH &&
			    !jf_retired_is_settled(site->ctl->seq))
				return true;
	return false;
}

/* With jf_mutex held, which is released meanwhile. */
static bool jf_uncover_locked(struct jf_hidden *h, int *err)
{
	bool again;

	if (!JF_ARCH_HIDES)
		return false;
	mutex_unlock(&jf_mutex);
	again = jf_arch_uncover(h, err);
	mutex_lock(&jf_mutex);
	return again;
}

/* Can the function that is called at @to only have jumped there, for another reason? */
static bool jf_way_jumps(struct jf_way_to *w, unsigned long to)
{
	struct jf_spans text = { };
	struct jf_text_ask ask = {
		.text = &text,
		.callee = jf_callee_kind,
		.begins = jf_func_begins,
		.left = jf_way_left,
		.arg = w,
	};
	bool jumps = false;
	int err = 0;

	if (!jf_spans_add_entry(&text, to)) {
		jf_spans_sort(&text);
		do {
			ask.kept = jf_text_kept(to);
			jumps = !jf_way_is_tail(w, &text) &&
				!(err = jf_arch_jumps(&ask)) && w->there;
		} while (jf_uncover_locked(&ask.hidden, &err));
	}
	jf_spans_free(&text);
	return jumps;
}

bool jf_scan_is_other(struct jf_scan *scan, const struct jf_way *way)
{
	struct jf_way_memo *m = &scan->memo[jf_way_hash(way->tag, way->to)];
	struct jf_way_to w = { .scan = scan, .tag = way->tag };

	if (m->way.tag == way->tag && m->way.to == way->to)
		return m->other;
	mutex_lock(&jf_mutex);
	m->other = jf_way_leads(&w, way->to);
	/* A trampoline that leads elsewhere may have led there. */
	if (!m->other && !jf_ctl_called(way->to))
		m->other = jf_way_jumps(&w, way->to);
	mutex_unlock(&jf_mutex);
	m->way = *way;
	return m->other;
}
