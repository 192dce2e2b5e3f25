/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys, targets and probes in modules of their own, for the suites of replaced code:
 * retired_test.c, quiesce_test.c, scan_test.c, reclaim_test.c, exits_test.c.
 */
#ifndef JFK_WORLD_H
#define JFK_WORLD_H

#include "fake.h"

#define FUNCS	3

/*
 * Module "m" has three dynamic functions with a call site each; "a" and "b" have
 * targets for them, and no tables.
 */
struct world {
	struct jfk_mod	*m, *a, *b;
	struct jf_func	*f[FUNCS];
	unsigned long	call[FUNCS];
	unsigned long	branch;
	struct jf_key	*key;
	struct jf_tracepoint *tp;
};

static inline struct world world(struct kunit *test)
{
	static const char * const names[] = { "f0", "f1", "f2" };
	struct world w = {
		.m = jfk_module(test, "m"),
		.a = jfk_module(test, "a"),
		.b = jfk_module(test, "b"),
	};
	unsigned int i;

	for (i = 0; i < FUNCS; i++)
		w.f[i] = jfk_func(w.m, names[i], NULL, JF_ENT_NULL_OK);
	w.key = jfk_key(w.m, "key", false, 0);
	for (i = 0; i < FUNCS; i++)
		w.call[i] = jfk_site(w.m, &w.f[i]->ent, JF_SITE_CALL);
	w.branch = jfk_site(w.m, &w.key->ent, JF_SITE_BRANCH);
	w.tp = jfk_tp(w.m, "tp", 2);
	w.a->mod.num_kp = 0;
	w.b->mod.num_kp = 0;
	KUNIT_ASSERT_EQ(test, jfk_load(w.m), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(w.a), 0);
	KUNIT_ASSERT_EQ(test, jfk_load(w.b), 0);
	return w;
}

/* To @to and away from it: replaced, once. */
static inline void replace(struct kunit *test, struct jf_func *f, void *to)
{
	void *was = __jf_func_query(f);

	KUNIT_ASSERT_EQ(test, __jf_func_update(f, to), 0);
	KUNIT_ASSERT_EQ(test, __jf_func_update(f, was), 0);
}

/* --- records by hand ----------------------------------------------------- */

#define X	((void *)0x1000)
#define Y	((void *)0x2000)

static inline int prepare(void *func, enum jf_retired_kind kind)
{
	int err;

	mutex_lock(&jf_mutex);
	err = jf_retire_prepare(func, kind);
	mutex_unlock(&jf_mutex);
	return err;
}

static inline void done(void *func, bool replaced)
{
	mutex_lock(&jf_mutex);
	jf_retire_done(func, replaced);
	mutex_unlock(&jf_mutex);
}

static inline u64 seq(void)
{
	u64 s;

	mutex_lock(&jf_mutex);
	s = jf_retired_seq();
	mutex_unlock(&jf_mutex);
	return s;
}

/* --- probes, all of module "a" ------------------------------------------- */

static inline int trace(struct world *w, unsigned int i)
{
	return __jf_trace_register(w->tp, jfk_code(w->a, i), NULL, 10 - i);
}

static inline int untrace(struct world *w, unsigned int i)
{
	return __jf_trace_unregister(w->tp, jfk_code(w->a, i), NULL);
}

#define CHAIN	JF_TRACE_CHAIN_MAX

/* --- tasks and the log --------------------------------------------------- */

/* It has begun to exit, and is on no list any more. */
static inline struct jfk_task *exit_task(struct kunit *test, void *at)
{
	struct jfk_task *t = jfk_task(test, at);

	jfk_exiting(t);
	jfk_unlist(t);
	return t;
}

/* True if the last warning has @text in it. */
static inline bool said(const char *text)
{
	return strstr(jfk.warning, text);
}

#endif /* JFK_WORLD_H */
