// SPDX-License-Identifier: GPL-2.0
/*
 * Records of what was replaced and may still be executed. Each is allocated
 * before the replacement, which therefore cannot fail for lack of memory, and
 * kept until a quiesce has found no task in it.
 */
#include "quiesce/gone.h"

#include "quiesce/function.h"
#include "index/spans.h"
#include "index/state.h"

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

/**
 * struct jf_gone - code that was replaced, and may still be executed
 * @hash: in jf_gones, by @func
 * @func: where it begins
 * @kind: what it is
 * @pins: preparations that have not been brought to an end
 * @seq:  number of the replacement; 0: there was none yet
 */
struct jf_gone {
	struct hlist_node	hash;
	unsigned long		func;
	enum jf_gone_kind	kind;
	unsigned int		pins;
	u64			seq;
};

/* All of these under jf_mutex. */
static DEFINE_HASHTABLE(jf_gones, 8);
/* Number of replacements. */
static u64 jf_seq;
/* No task is in what was replaced up to this one. */
static u64 jf_quiesced_seq;

static struct jf_gone *jf_gone_find(void *func)
{
	struct jf_gone *g;

	lockdep_assert_held(&jf_mutex);
	hash_for_each_possible(jf_gones, g, hash, (unsigned long)func)
		if (g->func == (unsigned long)func)
			return g;
	return NULL;
}

int jf_gone_prepare(void *func, enum jf_gone_kind kind)
{
	struct jf_gone *g = jf_gone_find(func);

	if (!g) {
		g = kzalloc(sizeof(*g), GFP_KERNEL);
		if (!g)
			return -ENOMEM;
		g->func = (unsigned long)func;
		hash_add(jf_gones, &g->hash, g->func);
	}
	/* Some tasks in it may have entered when it was the other kind. */
	if (kind == JF_GONE_DISPATCH || (!g->pins && !g->seq)) {
		/* Waits for such code that are under way missed it: renumber it. */
		if (g->kind != kind && g->seq)
			g->seq = ++jf_seq;
		g->kind = kind;
	}
	g->pins++;
	return 0;
}

static void jf_gone_drop(struct jf_gone *g, u64 seq)
{
	if (g->pins || g->seq > seq)
		return;
	hash_del(&g->hash);
	kfree(g);
}

void jf_gone_done(void *func, bool replaced)
{
	struct jf_gone *g = jf_gone_find(func);

	if (WARN_ON_ONCE(!g || !g->pins))
		return;
	g->pins--;
	if (replaced)
		g->seq = ++jf_seq;
	else
		jf_gone_drop(g, 0);
}

u64 jf_gone_seq(void)
{
	lockdep_assert_held(&jf_mutex);
	return jf_seq;
}

u64 jf_gone_number(void)
{
	lockdep_assert_held(&jf_mutex);
	return ++jf_seq;
}

void jf_gone_forget(void *func, u64 seq)
{
	struct jf_gone *g = jf_gone_find(func);

	if (g)
		jf_gone_drop(g, seq);
}

bool jf_gone_is_settled(u64 seq)
{
	lockdep_assert_held(&jf_mutex);
	return seq <= jf_quiesced_seq;
}

/* A copy of what is needed of a record, which cannot be kept. */
struct jf_gone_copy {
	void	*func;
	bool	target;
};

/* Of all kinds or of one. */
static int jf_gones_list(struct jf_gone_copy **copies, unsigned int *num,
			 bool dispatch_only, u64 *seq)
{
	unsigned int n = 0, max = 0;
	struct jf_gone *g;
	int bkt, err = 0;

	mutex_lock(&jf_mutex);
	*seq = jf_seq;
	hash_for_each(jf_gones, bkt, g, hash)
		max++;
	*copies = kvmalloc_array(max + 1, sizeof(**copies), GFP_KERNEL);
	if (!*copies) {
		err = -ENOMEM;
	} else {
		hash_for_each(jf_gones, bkt, g, hash) {
			bool target = g->kind == JF_GONE_TARGET;

			if (!g->seq || (dispatch_only && target))
				continue;
			(*copies)[n].func = (void *)g->func;
			(*copies)[n++].target = target;
		}
	}
	mutex_unlock(&jf_mutex);
	*num = n;
	return err;
}

int jf_spans_add_gone(struct jf_spans *s, bool dispatch_only, u64 *seq)
{
	struct jf_gone_copy *copies;
	unsigned int i, num, first;
	int err;

	err = jf_gones_list(&copies, &num, dispatch_only, seq);
	for (i = 0; !err && i < num; i++) {
		first = s->num;
		err = jf_spans_add_func(s, copies[i].func);
		/* What calls others belongs to nothing else. */
		jf_spans_tag(s, first, copies[i].target ?
			     (unsigned long)copies[i].func : 0);
	}
	kvfree(copies);
	return err;
}

void jf_gone_forget_all(u64 seq, bool dispatch_only)
{
	struct hlist_node *tmp;
	struct jf_gone *g;
	int bkt;

	mutex_lock(&jf_mutex);
	hash_for_each_safe(jf_gones, bkt, tmp, g, hash)
		if (!dispatch_only || g->kind == JF_GONE_DISPATCH)
			jf_gone_drop(g, seq);
	if (!dispatch_only && seq > jf_quiesced_seq)
		jf_quiesced_seq = seq;
	jf_stats.quiesces++;
	mutex_unlock(&jf_mutex);
}

void jf_gone_forget_module(const struct module *mod)
{
	struct hlist_node *tmp;
	struct jf_gone *g;
	int bkt;

	mutex_lock(&jf_mutex);
	hash_for_each_safe(jf_gones, bkt, tmp, g, hash)
		if (within_module(g->func, mod))
			jf_gone_drop(g, U64_MAX);
	mutex_unlock(&jf_mutex);
}
