// SPDX-License-Identifier: GPL-2.0
/*
 * What a look at the stacks asks for, beside what core/gone.c has recorded.
 *
 * A key that changed leaves no record. Its sites are known, and so is what their
 * functions execute only when a site goes the way that it no longer goes: a task
 * with a return address in that code has come by the branch before it changed.
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
 *   a call site, or from a trampoline,	inside, unless that leads there now
 *   that has changed
 *   a direct call of the function	elsewhere
 *   a direct call of another one, X	elsewhere if X can only have jumped there,
 *					or is a trampoline that has not changed;
 *					else inside
 *   anything else, such as a call by	inside: it may have been a pointer to the
 *   a pointer				trampoline
 */
#include "core/sight.h"

#include "core/function.h"
#include "core/gone.h"
#include "core/index.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

/* So many functions that jump to one another are followed from one key's code. */
#define JF_TAILS	64

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

/*
 * The last act of code that a key led to may be a call, which the compiler made a
 * jump. What is called returns to where the function with the site was called.
 */
struct jf_tails {
	struct jf_sight	*sight;
	unsigned long	from;
	/* Those before this one have been searched for further jumps. */
	unsigned int	done;
};

static int jf_tail_add(struct jf_tails *t, unsigned long func)
{
	struct jf_sight *s = t->sight;
	unsigned int first = s->in.num, i;
	int err;

	for (i = 0; i < s->num_tails; i++)
		if (s->tail[i].func == func && s->tail[i].from == t->from)
			return 0;
	err = jf_grow((void **)&s->tail, s->num_tails, &s->max_tails,
		      sizeof(*s->tail));
	if (!err)
		err = jf_spans_add_func(&s->in, (void *)func);
	if (err)
		return err;
	jf_spans_tag(&s->in, first, func);
	s->tail[s->num_tails].func = func;
	s->tail[s->num_tails++].from = t->from;
	return 0;
}

/* Through a trampoline, to where it leads. */
static int jf_tail_left(unsigned long to, void *arg)
{
	struct jf_tails *t = arg;
	const struct jf_ctl *ctl = jf_ctl_called(to);
	void *func;

	if (ctl) {
		func = READ_ONCE(jf_ent_func(ctl->ent)->func);
		if (func == (void *)jf_nop || func == (void *)jf_ret0)
			return 0;
		to = (unsigned long)func;
	}
	/* What never ends has been found by then. */
	if (t->sight->num_tails - t->done > JF_TAILS)
		return 0;
	return jf_tail_add(t, to);
}

/* What those jump to in turn. */
static int jf_add_tails(struct jf_tails *t)
{
	struct jf_text_ask ask = {
		.callee = jf_callee_kind,
		.left = jf_tail_left,
		.arg = t,
	};
	struct jf_spans text = { };
	int err = 0;

	for (; !err && t->done < t->sight->num_tails; t->done++) {
		jf_spans_free(&text);
		err = jf_spans_add_func(&text,
					(void *)t->sight->tail[t->done].func);
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

/* What is executed only by way of this site's key as it was. */
static int jf_add_only(struct jf_sight *sight, struct jf_spans *text,
		       const struct jf_site *site, bool was)
{
	struct jf_tails t = {
		.sight = sight,
		.from = site->addr,
		.done = sight->num_tails,
	};
	struct jf_text_ask ask = {
		.text = text,
		.callee = jf_callee_kind,
		.left = jf_tail_left,
		.arg = &t,
	};
	int err;

	jf_spans_free(text);
	err = jf_spans_add_func(text, (void *)site->addr);
	if (err)
		return err;
	jf_spans_sort(text);
	return jf_arch_add_only(&sight->in, &ask, site->ctl, was) ?:
	       jf_add_tails(&t);
}

/* Most functions with several sites of a key have them one after the other. */
static int jf_add_key(struct jf_sight *sight, const struct jf_ctl *ctl)
{
	bool was = !READ_ONCE(jf_ent_key(ctl->ent)->enabled);
	struct jf_spans text = { };
	struct jf_site *site;
	int err = 0;

	list_for_each_entry(site, &ctl->sites, list) {
		if (jf_spans_has(&text, site->addr))
			continue;
		err = jf_add_only(sight, &text, site, was);
		if (err)
			break;
		cond_resched();
	}
	jf_spans_free(&text);
	return err;
}

/* --- calls ----------------------------------------------------------------- */

static int jf_add_call(struct jf_sight *sight, const struct jf_ctl *ctl,
		       const struct jf_site *site)
{
	unsigned long func = (unsigned long)READ_ONCE(jf_ent_func(ctl->ent)->func);
	unsigned long ret = site->addr + JF_ARCH_SITE_SIZE;

	if (!(site->flags & JF_SITE_CALL))
		return 0;
	return jf_spans_add_tagged(&sight->calls, ret, ret + 1, func);
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
					  ctl->tramp + 1, (unsigned long)func);
	list_for_each_entry(site, &ctl->sites, list)
		err = err ?: jf_add_call(sight, ctl, site);
	if (!err && func != (void *)jf_nop && func != (void *)jf_ret0)
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
				err = jf_add_key(sight, ctl);
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
	return ctl && (unsigned long)READ_ONCE(jf_ent_func(ctl->ent)->func) ==
		      w->tag;
}

static int jf_way_left(unsigned long to, void *arg)
{
	struct jf_way_to *w = arg;

	if (!jf_way_leads(w, to))
		return -EXDEV;
	w->there = true;
	return 0;
}

/* Is that a function with code that a key led to, which jumps there? */
static bool jf_way_is_tail(const struct jf_way_to *w, const struct jf_spans *text)
{
	unsigned int i;

	for (i = 0; i < w->sight->num_tails; i++)
		if (w->sight->tail[i].func == w->tag &&
		    jf_spans_has(text, w->sight->tail[i].from))
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

bool jf_sight_is_other(const struct jf_sight *sight, const struct jf_way *way)
{
	struct jf_way_to w = { .sight = sight, .tag = way->tag };
	bool other;

	mutex_lock(&jf_mutex);
	other = jf_way_leads(&w, way->to);
	/* A trampoline that leads elsewhere may have led there. */
	if (!other && !jf_ctl_called(way->to))
		other = jf_way_jumps(&w, way->to);
	mutex_unlock(&jf_mutex);
	return other;
}
