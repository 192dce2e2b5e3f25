// SPDX-License-Identifier: GPL-2.0
/*
 * What a look at the stacks asks for, beside what quiesce/gone.c has recorded.
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
#include "quiesce/sight.h"

#include "quiesce/function.h"
#include "quiesce/gone.h"
#include "index/index.h"

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

/* So many functions are followed to which code of keys jumps. */
#define JF_TAILS	1024

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
 * struct jf_former - what keys led to, while that is being looked for
 * @sight: it is added there
 * @keys:  keys that had changed by this replacement count
 * @again: look for what they led to, and do again, not for what they no longer do
 * @done:  the tails before this one have been searched for further jumps
 */
struct jf_former {
	struct jf_sight	*sight;
	u64		keys;
	bool		again;
	unsigned int	done;
};

static bool jf_key_left(const struct jf_ctl *ctl, u64 keys, bool on)
{
	return !jf_gone_is_settled(ctl->seq) && ctl->since <= keys &&
	       ctl->left_ways & BIT(on);
}

/*
 * A key that was on, off and is on again may have a task in code from the first time.
 * It is found as if the key were off.
 */
static unsigned int jf_former_ways(const struct jf_site *site, void *arg)
{
	const struct jf_former *f = arg;
	const struct jf_ctl *ctl = site->ctl;
	bool on = READ_ONCE(jf_ent_key(ctl->ent)->enabled);
	bool left = jf_key_left(ctl, f->keys, f->again ? on : !on);
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
static int jf_tail_add(struct jf_sight *s, unsigned long func)
{
	unsigned int first = s->in.num, i;
	int err;

	for (i = 0; i < s->num_tails; i++)
		if (s->tail[i] == func)
			return 0;
	if (s->num_tails == JF_TAILS) {
		pr_warn_once("code that keys led to jumps to more functions than are followed\n");
		return 0;
	}
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
		func = READ_ONCE(jf_ent_func(ctl->ent)->func);
		if (func == (void *)jf_nop || func == (void *)jf_ret0)
			return 0;
		to = (unsigned long)func;
	}
	return jf_tail_add(f->sight, to);
}

/* What those jump to in turn. */
static int jf_add_tails(struct jf_former *f)
{
	struct jf_text_ask ask = {
		.callee = jf_callee_kind,
		.left = jf_tail_left,
		.arg = f,
	};
	struct jf_spans text = { };
	int err = 0;

	for (; !err && f->done < f->sight->num_tails; f->done++) {
		jf_spans_free(&text);
		err = jf_spans_add_func(&text,
					(void *)f->sight->tail[f->done]);
		if (err)
			break;
		jf_spans_sort(&text);
		ask.text = &text;
		err = jf_arch_jumps(&ask);
		/* Jumps by a pointer are not found. */
		if (err == -ENOENT)
			err = 0;
	}
	jf_spans_free(&text);
	return err;
}

/* What the function with this site executes only by ways that keys went before. */
static int jf_add_former(struct jf_former *f, struct jf_spans *text,
			 const struct jf_site *site)
{
	struct jf_text_ask ask = {
		.text = text,
		.ways = jf_former_ways,
		.callee = jf_callee_kind,
		.left = jf_tail_left,
		.arg = f,
	};
	bool on = READ_ONCE(jf_ent_key(site->ctl->ent)->enabled);
	int err;

	jf_spans_free(text);
	err = jf_spans_add_func(text, (void *)site->addr);
	if (err)
		return err;
	jf_spans_sort(text);
	for (f->again = 0; !err; f->again = 1) {
		if (jf_key_left(site->ctl, f->keys, f->again ? on : !on))
			err = jf_arch_add_former(&f->sight->in, &ask);
		if (f->again)
			break;
	}
	return err;
}

/* Most functions with several sites of a key have them one after the other. */
static int jf_add_key(struct jf_sight *sight, const struct jf_ctl *ctl, u64 keys)
{
	struct jf_former f = {
		.sight = sight,
		.keys = keys,
		.done = sight->num_tails,
	};
	struct jf_spans text = { };
	struct jf_site *site;
	int err = 0;

	list_for_each_entry(site, &ctl->sites, list) {
		if (jf_spans_has(&text, site->addr))
			continue;
		err = jf_add_former(&f, &text, site);
		if (err)
			break;
		cond_resched();
	}
	jf_spans_free(&text);
	return err ?: jf_add_tails(&f);
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
	void *func = READ_ONCE(jf_ent_func(ctl->ent)->func);
	unsigned int i;

	if (jf_gone_is_settled(ctl->seq))
		return (unsigned long)func;
	if (ctl->num_left > JF_CTL_LEFT)
		return JF_TAG_NONE;
	for (i = 0; i < ctl->num_left; i++)
		if (ctl->left[i] == func)
			return JF_TAG_NONE;
	return (unsigned long)func;
}

static int jf_add_call(struct jf_sight *sight, const struct jf_ctl *ctl,
		       const struct jf_site *site)
{
	unsigned long ret = site->addr + JF_ARCH_SITE_SIZE;

	if (!(site->flags & JF_SITE_CALL))
		return 0;
	return jf_spans_add_tagged(&sight->calls, ret, ret + 1,
				   jf_ctl_tag(ctl));
}

/* The calls that lead through what was changed, and what they lead to now. */
static int jf_add_func(struct jf_sight *sight, const struct jf_ctl *ctl)
{
	void *func = READ_ONCE(jf_ent_func(ctl->ent)->func);
	unsigned int first = sight->fresh.num;
	struct jf_site *site;
	int err = 0;

	if (ctl->tramp)
		err = jf_spans_add_tagged(&sight->tramps,
					  ctl->tramp - JF_ARCH_CALL_PAD,
					  ctl->tramp + 1, jf_ctl_tag(ctl));
	list_for_each_entry(site, &ctl->sites, list)
		err = err ?: jf_add_call(sight, ctl, site);
	if (!err && jf_ctl_tag(ctl) == (unsigned long)func &&
	    func != (void *)jf_nop && func != (void *)jf_ret0)
		err = jf_spans_add_func(&sight->fresh, func);
	jf_spans_tag(&sight->fresh, first, (unsigned long)func);
	return err;
}

static int jf_add_changed(struct jf_sight *sight, u64 keys, u64 *seq)
{
	const struct jf_mod *m;
	unsigned int i;
	int err = 0;

	mutex_lock(&jf_mutex);
	*seq = jf_gone_seq();
	list_for_each_entry(m, &jf_modules, list) {
		for (i = 0; !err && i < m->num_ctls; i++) {
			const struct jf_ctl *ctl = &m->ctls[i];

			if (jf_gone_is_settled(ctl->seq))
				continue;
			if (ctl->ent->type != JF_ENT_KEY)
				err = jf_add_func(sight, ctl);
			else if (ctl->since <= keys)
				err = jf_add_key(sight, ctl, keys);
		}
	}
	mutex_unlock(&jf_mutex);
	return err;
}

int jf_sight_make(struct jf_sight *sight, const struct jf_spans *text,
		  u64 keys, u64 *seq)
{
	unsigned int i;
	int err = 0;

	memset(sight, 0, sizeof(*sight));
	for (i = 0; !err && i < text->num; i++)
		err = jf_spans_add_tagged(&sight->in, text->span[i].start,
					  text->span[i].end, text->span[i].tag);
	err = err ?: jf_add_changed(sight, keys, seq);
	if (err) {
		jf_sight_free(sight);
		return err;
	}
	jf_spans_sort(&sight->in);
	jf_spans_sort(&sight->calls);
	jf_spans_sort(&sight->tramps);
	jf_spans_sort(&sight->fresh);
	return 0;
}

void jf_sight_free(struct jf_sight *sight)
{
	jf_spans_free(&sight->in);
	jf_spans_free(&sight->calls);
	jf_spans_free(&sight->tramps);
	jf_spans_free(&sight->fresh);
	kvfree(sight->tail);
	sight->tail = NULL;
	sight->num_tails = 0;
	sight->max_tails = 0;
}

/* --- ways ------------------------------------------------------------------ */

struct jf_way_to {
	const struct jf_sight	*sight;
	unsigned long		tag;
	bool			there;
};

/* Does @to lead to the function, and to nothing that was changed? */
static bool jf_way_leads(const struct jf_way_to *w, unsigned long to)
{
	const struct jf_span *s = jf_spans_find(&w->sight->in, to);
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

	for (i = 0; i < w->sight->num_tails; i++)
		if (w->sight->tail[i] == w->tag)
			break;
	if (i == w->sight->num_tails)
		return false;
	for (i = 0; i < text->num; i++)
		for (site = jf_site_next(text->span[i].start, text->span[i].end);
		     site; site = jf_site_next(site->addr + 1, text->span[i].end))
			if (site->flags & JF_SITE_BRANCH &&
			    !jf_gone_is_settled(site->ctl->seq))
				return true;
	return false;
}

/* Can the function that is called at @to only have jumped there, for another reason? */
static bool jf_way_jumps(struct jf_way_to *w, unsigned long to)
{
	struct jf_spans text = { };
	struct jf_text_ask ask = {
		.text = &text,
		.callee = jf_callee_kind,
		.left = jf_way_left,
		.arg = w,
	};
	bool jumps = false;

	if (!jf_spans_add_entry(&text, to)) {
		jf_spans_sort(&text);
		jumps = !jf_way_is_tail(w, &text) && !jf_arch_jumps(&ask) &&
			w->there;
	}
	jf_spans_free(&text);
	return jumps;
}

bool jf_sight_is_other(struct jf_sight *sight, const struct jf_way *way)
{
	struct jf_way_memo *m = &sight->memo[hash_long(way->tag ^ way->to,
						       JF_WAY_BITS)];
	struct jf_way_to w = { .sight = sight, .tag = way->tag };

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
