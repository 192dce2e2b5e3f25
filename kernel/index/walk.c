// SPDX-License-Identifier: GPL-2.0
/* Walks through the index: see kernel/index/walk.h. */
#include "index/walk.h"

#include <linux/err.h>
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

/* So many sites are visited before other tasks get the lock. */
#define JF_WALK_SITES	64
/* After so many walks in which modules were unloaded, the next one has no pause. */
#define JF_WALK_TRIES	8

void jf_walk_begin(struct jf_walk *w)
{
	jf_lock();
	w->mod = NULL;
	w->ctl = NULL;
	w->dels = jf_index_dels;
	/* At the addresses of one that was unloaded may be another one. */
	w->lost = w->names && w->names->dels != w->dels;
}

void jf_walk_leave(struct jf_walk *w)
{
	jf_unlock();
	cond_resched();
}

void jf_walk_enter(struct jf_walk *w)
{
	jf_lock();
	w->sites = 0;
	if (w->dels != jf_index_dels)
		w->lost = true;
}

bool jf_walk_is_last(const struct jf_walk *w)
{
	return w->tries >= JF_WALK_TRIES;
}

static void jf_walk_pause(struct jf_walk *w)
{
	if (w->lost || jf_walk_is_last(w))
		return;
	jf_walk_leave(w);
	jf_walk_enter(w);
}

static void jf_walk_next_mod(struct jf_walk *w)
{
	struct list_head *next = w->mod ? w->mod->list.next : jf_modules.next;

	w->mod = next == &jf_modules ? NULL :
				       list_entry(next, struct jf_mod, list);
	w->num = 0;
}

struct jf_ctl *jf_walk_ctl(struct jf_walk *w)
{
	/* Not before the first one: there is nothing to stay. */
	if (w->ctl)
		jf_walk_pause(w);
	/* A task that has been killed shows nothing any more. */
	if (w->lost || fatal_signal_pending(current))
		return NULL;
	if (!w->ctl)
		jf_walk_next_mod(w);
	while (w->mod && w->num == w->mod->num_ctls)
		jf_walk_next_mod(w);
	if (!w->mod)
		return NULL;
	w->ctl = &w->mod->ctls[w->num++];
	w->of = w->ctl;
	w->site = NULL;
	return w->ctl;
}

const struct jf_site *jf_walk_site(struct jf_walk *w)
{
	struct list_head *next;

	if (++w->sites > JF_WALK_SITES)
		jf_walk_pause(w);
	if (w->lost)
		return NULL;
	next = w->site ? w->site->list.next : w->of->sites.next;
	if (next == &w->of->sites)
		return NULL;
	w->site = list_entry(next, struct jf_site, list);
	return w->site;
}

bool jf_walk_again(struct jf_walk *w)
{
	jf_unlock();
	w->tries++;
	return w->lost && !fatal_signal_pending(current);
}

/* A line is longer than that. */
#define JF_WALK_LINE	32

/* A list that takes more than @m has room for is not begun: seq_file shows it with more room. */
static bool jf_walk_too_long(struct seq_file *m)
{
	const struct jf_mod *mod;
	size_t lines = 0;

	jf_lock();
	list_for_each_entry(mod, &jf_modules, list)
		lines += mod->num_ctls + mod->num_sites;
	jf_unlock();
	/* A short list fits, or is shown twice. */
	if (m->size >= JF_WALK_LINE * lines || lines < 1000)
		return false;
	m->count = m->size;
	return true;
}

/* --- names ------------------------------------------------------------------ */

struct jf_mod_names {
	struct module		*mod;
	struct jf_named_text	*text;
	unsigned int		num;
};

static int jf_named_cmp(const void *a, const void *b)
{
	const struct jf_named_text *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* Of two, the one that says how long it is counts. */
	return x->size < y->size ? -1 : x->size > y->size;
}

static int jf_mod_cmp(const void *a, const void *b)
{
	const struct jf_mod_names *x = a, *y = b;

	if (x->mod == y->mod)
		return 0;
	return x->mod < y->mod ? -1 : 1;
}

/* One walk. -EAGAIN: it was lost */
static int jf_walk_show_once(struct seq_file *m, struct jf_walk *w,
			     struct mutex *outer, jf_walk_fn fn, void *arg)
{
	bool last = jf_walk_is_last(w);
	int err = 0;

	if (last && outer)
		mutex_lock(outer);
	jf_walk_begin(w);
	if (last && w->lost) {
		/* The last walk must not be lost, so it does without names. */
		jf_names_put(w->names);
		w->lost = false;
	}
	/* A list that does not fit is shown anew, in a larger buffer. */
	while (!err && !seq_has_overflowed(m) && jf_walk_ctl(w))
		err = fn(m, w, arg);
	if (jf_walk_again(w) && !err)
		err = -EAGAIN;
	if (last && outer)
		mutex_unlock(outer);
	return err;
}

int jf_walk_show(struct seq_file *m, struct mutex *outer, jf_walk_fn fn, void *arg)
{
	size_t begun = m->count;
	struct jf_names names;
	struct jf_walk w = { .names = &names };
	int err;

	if (jf_walk_too_long(m))
		return 0;
	do {
		m->count = begun;
		err = jf_names_get(&names);
		if (err)
			return err;
		err = jf_walk_show_once(m, &w, outer, fn, arg);
		jf_names_put(&names);
	} while (err == -EAGAIN);
	return err;
}

/* All that have sites, with references on their objects; *@num: how many there are. */
static void jf_names_mods(struct jf_names *n, unsigned int max, unsigned int *num)
{
	struct jf_mod *m;

	*num = 0;
	n->num = 0;
	jf_lock();
	n->dels = jf_index_dels;
	list_for_each_entry(m, &jf_modules, list) {
		if (!m->num_sites)
			continue;
		/* One that is just being loaded has no object yet. */
		if ((*num)++ < max &&
		    kobject_get_unless_zero(&m->mod->mkobj.kobj))
			n->mod[n->num++].mod = m->mod;
	}
	jf_unlock();
}

static int jf_names_read(struct jf_mod_names *m)
{
	struct jf_named_text *text = jf_named_text(m->mod, &m->num);

	if (IS_ERR(text)) {
		m->num = 0;
		return PTR_ERR(text);
	}
	m->text = text;
	sort(m->text, m->num, sizeof(*m->text), jf_named_cmp, NULL);
	cond_resched();
	return 0;
}

int jf_names_get(struct jf_names *n)
{
	unsigned int i, num, max = 16;
	int err = 0;

	for (;;) {
		n->num = 0;
		n->mod = kvcalloc(max, sizeof(*n->mod), GFP_KERNEL);
		if (!n->mod)
			return -ENOMEM;
		jf_names_mods(n, max, &num);
		if (num <= max)
			break;
		for (i = 0; i < n->num; i++)
			kobject_put(&n->mod[i].mod->mkobj.kobj);
		kvfree(n->mod);
		max = 2 * num;
	}
	for (i = 0; i < n->num; i++) {
		err = err ?: jf_names_read(&n->mod[i]);
		kobject_put(&n->mod[i].mod->mkobj.kobj);
	}
	sort(n->mod, n->num, sizeof(*n->mod), jf_mod_cmp, NULL);
	if (err)
		jf_names_put(n);
	return err;
}

void jf_names_put(struct jf_names *n)
{
	unsigned int i;

	for (i = 0; i < n->num; i++)
		kvfree(n->mod[i].text);
	kvfree(n->mod);
	n->mod = NULL;
	n->num = 0;
}

static const struct jf_mod_names *jf_names_mod(const struct jf_names *n,
					       const struct module *mod)
{
	unsigned int lo = 0, hi = n->num;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (n->mod[mid].mod < mod)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n->num && n->mod[lo].mod == mod ? &n->mod[lo] : NULL;
}

const struct jf_named_text *jf_names_find(const struct jf_names *n,
					  const struct module *mod,
					  unsigned long addr)
{
	const struct jf_mod_names *m = jf_names_mod(n, mod);
	unsigned int lo = 0, hi = m ? m->num : 0;

	/* The last one that does not begin after it. */
	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (m->text[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - m->text[lo - 1].addr >= m->text[lo - 1].size)
		return NULL;
	return &m->text[lo - 1];
}
