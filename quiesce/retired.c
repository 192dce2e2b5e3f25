// SPDX-License-Identifier: GPL-2.0
/*
 * Records of what was replaced and may still be executed. Each is allocated
 * before the replacement, which therefore cannot fail for lack of memory, and
 * kept until a quiesce has found no task in it.
 */
#include "quiesce/retired.h"

#include "arch/text.h"
#include "quiesce/function.h"
#include "index/spans.h"
#include "index/state.h"

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

/**
 * struct jf_retired_func - code that was replaced, and may still be executed
 * @hash: in jf_retired_funcs, by @func
 * @func: where it begins
 * @kind: what it is
 * @pins: preparations that have not been brought to an end
 * @seq:  number of the replacement; 0: there was none yet
 */
struct jf_retired_func {
	struct hlist_node	hash;
	unsigned long		func;
	enum jf_retired_kind	kind;
	unsigned int		pins;
	u64			seq;
};

/* All of these under jf_mutex. */
static DEFINE_HASHTABLE(jf_retired_funcs, 8);
/* Number of replacements. */
static u64 jf_seq;
/* No task is in what was replaced up to this one. */
static u64 jf_quiesced_seq;

static struct jf_retired_func *jf_retired_find(void *func)
{
	struct jf_retired_func *r;

	lockdep_assert_held(&jf_mutex);
	hash_for_each_possible(jf_retired_funcs, r, hash, (unsigned long)func)
		if (r->func == (unsigned long)func)
			return r;
	return NULL;
}

int jf_retire_prepare(void *func, enum jf_retired_kind kind)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (!r) {
		r = kzalloc(sizeof(*r), GFP_KERNEL);
		if (!r)
			return -ENOMEM;
		r->func = (unsigned long)func;
		hash_add(jf_retired_funcs, &r->hash, r->func);
	}
	/* Some tasks in it may have entered when it was the other kind. */
	if (kind == JF_RETIRED_DISPATCH || (!r->pins && !r->seq)) {
		/* Waits for such code that are under way missed it: renumber it. */
		if (r->kind != kind && r->seq)
			r->seq = ++jf_seq;
		r->kind = kind;
	}
	r->pins++;
	return 0;
}

static void jf_retired_drop(struct jf_retired_func *r, u64 seq)
{
	if (r->pins || r->seq > seq)
		return;
	hash_del(&r->hash);
	kfree(r);
}

void jf_retire_done(void *func, bool replaced)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (WARN_ON_ONCE(!r || !r->pins))
		return;
	r->pins--;
	if (replaced)
		r->seq = ++jf_seq;
	else
		jf_retired_drop(r, 0);
}

/*
 * A site that could not be taken back leads to what counts as replaced: no scan says that
 * no task comes there any more.
 */
static int jf_retired_close(bool stuck)
{
	int err = 0;

	if (stuck) {
		jf_lock();
		err = jf_arch_mend_all();
		jf_unlock();
	}
	return err;
}

int jf_retired_begin(u64 *seq)
{
	bool stuck;

	mutex_lock(&jf_mutex);
	*seq = jf_seq;
	stuck = jf_arch_is_stuck();
	mutex_unlock(&jf_mutex);
	return jf_retired_close(stuck);
}

u64 jf_retired_seq(void)
{
	lockdep_assert_held(&jf_mutex);
	return jf_seq;
}

u64 jf_retire_number(void)
{
	lockdep_assert_held(&jf_mutex);
	return ++jf_seq;
}

void jf_retired_forget(void *func, u64 seq)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (r)
		jf_retired_drop(r, seq);
}

bool jf_retired_is_settled(u64 seq)
{
	lockdep_assert_held(&jf_mutex);
	return seq <= jf_quiesced_seq;
}

/* A copy of what is needed of a record, which cannot be kept. */
struct jf_retired_copy {
	void	*func;
	bool	target;
};

/* Of all kinds or of one. */
static int jf_retired_list(struct jf_retired_copy **copies, unsigned int *num,
			   bool dispatch_only, u64 *seq)
{
	unsigned int n = 0, max = 0;
	struct jf_retired_func *r;
	int bkt, err = 0;
	bool stuck;

	mutex_lock(&jf_mutex);
	*seq = jf_seq;
	stuck = jf_arch_is_stuck();
	hash_for_each(jf_retired_funcs, bkt, r, hash)
		max++;
	*copies = kvmalloc_array(max + 1, sizeof(**copies), GFP_KERNEL);
	if (!*copies) {
		err = -ENOMEM;
	} else {
		hash_for_each(jf_retired_funcs, bkt, r, hash) {
			bool target = r->kind == JF_RETIRED_TARGET;

			if (!r->seq || (dispatch_only && target))
				continue;
			(*copies)[n].func = (void *)r->func;
			(*copies)[n++].target = target;
		}
	}
	mutex_unlock(&jf_mutex);
	*num = n;
	return err ?: jf_retired_close(stuck);
}

int jf_spans_add_retired(struct jf_spans *s, bool dispatch_only, u64 *seq)
{
	struct jf_retired_copy *copies;
	unsigned int i, num, first;
	int err;

	err = jf_retired_list(&copies, &num, dispatch_only, seq);
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

void jf_retired_forget_all(u64 seq, bool dispatch_only)
{
	struct hlist_node *tmp;
	struct jf_retired_func *r;
	int bkt;

	mutex_lock(&jf_mutex);
	hash_for_each_safe(jf_retired_funcs, bkt, tmp, r, hash)
		if (!dispatch_only || r->kind == JF_RETIRED_DISPATCH)
			jf_retired_drop(r, seq);
	if (!dispatch_only && seq > jf_quiesced_seq)
		jf_quiesced_seq = seq;
	jf_stats.quiesces++;
	mutex_unlock(&jf_mutex);
}

void jf_retired_forget_module(const struct module *mod)
{
	struct hlist_node *tmp;
	struct jf_retired_func *r;
	int bkt;

	mutex_lock(&jf_mutex);
	hash_for_each_safe(jf_retired_funcs, bkt, tmp, r, hash)
		if (within_module(r->func, mod))
			jf_retired_drop(r, U64_MAX);
	mutex_unlock(&jf_mutex);
}
