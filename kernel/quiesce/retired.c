// SPDX-License-Identifier: GPL-2.0
/*
 * Records of code that was replaced and may still be executed. Each is allocated
 * before the replacement, which therefore cannot fail for lack of memory, and
 * kept until a search has found no task in it. A function that is in use is not searched for,
 * so its record stays for as long as the use lasts, however that ends.
 */
#include "quiesce/retired.h"

#include "arch/text.h"
#include "index/index.h"
#include "index/spans.h"
#include "quiesce/function.h"
#include "index/state.h"

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

/**
 * struct jf_retired_func - code that was replaced, and may still be executed
 * @hash:  in jf_retired_funcs, by @func
 * @func:  where it begins
 * @kind:  one of enum jf_retired_kind
 * @pins:  preparations that have not been brought to an end
 * @users: arrays that have it as a probe; as long as there are some, it stays
 * @seq:   number of the latest replacement; 0: there was none yet
 * @first: number of the first one
 * @led:   number of the latest time that a use of it began, or ended by an unload
 * @into:  modules that it calls, or whose data it uses; NULL: some that jumpfunc did
 *         not see coming
 * @num_into: how many these are
 * @max_into: for how many there is room
 */
struct jf_retired_func {
	struct hlist_node	hash;
	unsigned long		func;
	enum jf_retired_kind	kind;
	unsigned int		pins, users;
	u64			seq, first, led;
	const struct jf_mod	**into;
	unsigned int		num_into, max_into;
};

/* All of these under jf_mutex. A benchmark replaces tens of thousands of functions. */
static DEFINE_HASHTABLE(jf_retired_funcs, 12);
/* Number of replacements, and of other events that the present waits must notice. */
static u64 jf_seq;

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
		r->kind = kind;
		hash_add(jf_retired_funcs, &r->hash, r->func);
	}
	/* Some tasks in it may have entered when it was the other kind. */
	r->kind = max(r->kind, kind);
	r->pins++;
	return 0;
}

static void jf_retired_drop(struct jf_retired_func *r, u64 seq)
{
	if (r->pins || r->seq > seq)
		return;
	/* Waits that are under way search for it no more: it can be used anew. */
	if (r->seq)
		jf_seq++;
	r->seq = 0;
	r->first = 0;
	/* A later removal adds the modules of its own data. */
	r->num_into = 0;
	if (r->users)
		return;
	hash_del(&r->hash);
	kvfree(r->into);
	kfree(r);
}

/* Where @m is in r->into, or r->num_into. */
static unsigned int jf_retired_into(const struct jf_retired_func *r,
				    const struct jf_mod *m)
{
	unsigned int i;

	for (i = 0; i < r->num_into && r->into[i] != m; i++)
		;
	return i;
}

int jf_retire_into(void *func, const void *addr)
{
	struct jf_retired_func *r = jf_retired_find(func);
	const struct jf_mod *m = jf_mod_by_addr((unsigned long)addr);
	int err;

	if (WARN_ON_ONCE(!r) || (!m && !jf_may_be_module((unsigned long)addr)))
		return 0;
	/* It is on the list only while it is unloaded: jf_retired_mod(). */
	if (m && m->early)
		m = NULL;
	if (jf_retired_into(r, m) < r->num_into)
		return 0;
	err = jf_grow((void **)&r->into, r->num_into, &r->max_into,
		      sizeof(*r->into));
	if (!err)
		r->into[r->num_into++] = m;
	return err;
}

/* As records have it: NULL if jumpfunc did not see it coming. */
static const struct jf_mod *jf_retired_mod(const struct module *mod)
{
	const struct jf_mod *m = jf_mod_find(mod);

	return m && m->early ? NULL : m;
}

void jf_retire_done(void *func, bool replaced)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (WARN_ON_ONCE(!r || !r->pins))
		return;
	r->pins--;
	if (!replaced) {
		jf_retired_drop(r, 0);
		return;
	}
	r->seq = ++jf_seq;
	if (!r->first)
		r->first = r->seq;
}

/*
 * A site that could not be taken back leads to code that counts as replaced: no scan says that
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

void jf_retired_again(void *func)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (r && r->seq)
		r->led = ++jf_seq;
}

void jf_retired_use(void *func, int more)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (WARN_ON_ONCE(!r || !r->pins))
		return;
	r->users += more;
	if (more > 0)
		jf_retired_again(func);
}

/* A dynamic function leads there, or it is a probe. */
static bool jf_retired_is_used(const struct jf_retired_func *r)
{
	return r->users || jf_index_leads_to(r->func);
}

/*
 * True if a search that covers replacements up to @seq is made for it: always for code that calls
 * others, which has no other callers (and of which the iterator is in use all the time); for a
 * function unless it is in use, or was so after @seq. The target of a change that failed has a new
 * record, but was not in use.
 */
static bool jf_retired_is_sought(const struct jf_retired_func *r, u64 seq)
{
	return r->kind == JF_RETIRED_DISPATCH ||
	       (r->led <= seq && !jf_retired_is_used(r));
}

bool jf_retired_is_meant(const struct jf_span *s, u64 seq)
{
	const struct jf_retired_func *r = jf_retired_find((void *)s->record);

	if (!r || !r->seq || r->first > seq)
		return false;
	return !s->tag || jf_retired_is_sought(r, seq);
}

void jf_retired_forget(void *func, u64 seq)
{
	struct jf_retired_func *r = jf_retired_find(func);

	if (r)
		jf_retired_drop(r, seq);
}

/* A copy of the needed part of a record, which cannot be kept. */
struct jf_retired_copy {
	void	*func;
	bool	can_be_used;
};

/* True if a wait for all replaced code, or (@m, if @into) an unload, searches for it. */
static bool jf_retired_counts(const struct jf_retired_func *r, bool into,
			      const struct jf_mod *m)
{
	if (!r->seq)
		return false;
	if (into)
		return jf_retired_into(r, m) < r->num_into;
	return jf_retired_is_sought(r, jf_seq);
}

/* Of all, or of those that lead into @into. */
static int jf_retired_list(struct jf_retired_copy **copies, unsigned int *num,
			   const struct module *into, u64 *seq)
{
	const struct jf_mod *m;
	unsigned int n = 0, max = 0;
	struct jf_retired_func *r;
	int bkt, err = 0;
	bool stuck;

	mutex_lock(&jf_mutex);
	*seq = jf_seq;
	stuck = jf_arch_is_stuck();
	m = into ? jf_retired_mod(into) : NULL;
	hash_for_each(jf_retired_funcs, bkt, r, hash)
		max++;
	*copies = kvmalloc_array(max + 1, sizeof(**copies), GFP_KERNEL);
	if (!*copies) {
		err = -ENOMEM;
	} else {
		hash_for_each(jf_retired_funcs, bkt, r, hash) {
			if (!jf_retired_counts(r, into, m))
				continue;
			(*copies)[n].func = (void *)r->func;
			(*copies)[n++].can_be_used =
				!into && r->kind != JF_RETIRED_DISPATCH;
		}
	}
	mutex_unlock(&jf_mutex);
	*num = n;
	return err ?: jf_retired_close(stuck);
}

int jf_spans_add_retired(struct jf_spans *s, const struct module *into,
			 u64 *seq)
{
	struct jf_retired_copy *copies;
	unsigned int i, num, first;
	int err;

	err = jf_retired_list(&copies, &num, into, seq);
	for (i = 0; !err && i < num; i++) {
		if (into && within_module((unsigned long)copies[i].func, into))
			continue;
		first = s->num;
		err = jf_spans_add_func(s, copies[i].func);
		/* Code that calls others belongs to nothing else. */
		jf_spans_tag(s, first, copies[i].can_be_used ?
			     (unsigned long)copies[i].func : 0,
			     (unsigned long)copies[i].func);
	}
	kvfree(copies);
	return err;
}

void jf_retired_forget_all(u64 seq)
{
	struct hlist_node *tmp;
	struct jf_retired_func *r;
	int bkt;

	mutex_lock(&jf_mutex);
	hash_for_each_safe(jf_retired_funcs, bkt, tmp, r, hash)
		if (jf_retired_is_sought(r, seq))
			jf_retired_drop(r, seq);
	jf_stats.quiesces++;
	mutex_unlock(&jf_mutex);
}

void jf_retired_forget_into(const struct module *mod, u64 seq)
{
	const struct jf_mod *m;
	struct hlist_node *tmp;
	struct jf_retired_func *r;
	unsigned int i;
	int bkt;

	mutex_lock(&jf_mutex);
	m = jf_retired_mod(mod);
	hash_for_each_safe(jf_retired_funcs, bkt, tmp, r, hash) {
		i = jf_retired_into(r, m);
		if (i == r->num_into)
			continue;
		/* Of those without a name there can be more. */
		if (m)
			r->into[i] = r->into[--r->num_into];
		jf_retired_drop(r, seq);
	}
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
