/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * The table test of keys and dynamic functions: one source for both worlds, a
 * kernel module above jumpfunc.ko and a program above libjumpfunc.
 *
 * API:
 *   jf_table_keys(fail)	each kind of key through each script, all forms of
 *				branch after each step
 *   jf_table_funcs(fail)	each kind of dynamic function through each script,
 *				both forms of call after each step
 * Both return how many comparisons they made. fail(what, at, got, want) is called
 * for each that went wrong.
 *
 * Caveats: it defines the entities that it tests, so include it in one source file.
 */
#ifndef JF_SELFTESTS_TABLE_H
#define JF_SELFTESTS_TABLE_H

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#include "keys.h"

typedef void (*jf_table_fail_t)(const char *what, const char *at, long got, long want);

#define JF_TABLE_NOINLINE	static __attribute__((__noinline__))
#define JF_TABLE_ROWS(table)	(sizeof(table) / sizeof((table)[0]))

/* --- keys ----------------------------------------------------------------- */

static DEFINE_JF_KEY_FALSE(jft_t_static_false);
static DEFINE_JF_KEY_TRUE(jft_t_static_true);
DEFINE_JF_KEY_FALSE(jft_t_false);
DEFINE_JF_KEY_TRUE(jft_t_true);
#ifndef __cplusplus
DEFINE_JF_KEY_ARRAY_FALSE(jft_t_array_false, 3);
DEFINE_JF_KEY_ARRAY_TRUE(jft_t_array_true, 3);
#endif

/* Something that the compiler cannot merge with the other side. */
static inline int jft_t_side(int on)
{
	__asm__ __volatile__("" : : "r" (on));
	return on;
}

#define JFT_T_PROBES(tag, key)						\
JF_TABLE_NOINLINE int tag##_unlikely(void)				\
{									\
	if (jf_branch_unlikely(&key))					\
		return jft_t_side(1);					\
	return jft_t_side(0);						\
}									\
JF_TABLE_NOINLINE int tag##_likely(void)				\
{									\
	if (jf_branch_likely(&key))					\
		return jft_t_side(1);					\
	return jft_t_side(0);						\
}									\
JF_TABLE_NOINLINE int tag##_not(void)					\
{									\
	if (!jf_branch_unlikely(&key))					\
		return !jft_t_side(1);					\
	return !jft_t_side(0);						\
}									\
JF_TABLE_NOINLINE int tag##_value(void)					\
{									\
	bool a = jf_branch_unlikely(&key), b = jf_branch_likely(&key);	\
									\
	return a == b ? a : -1;						\
}									\
JF_TABLE_NOINLINE int tag##_loop(void)					\
{									\
	int i, n = 0;							\
									\
	for (i = 0; i < 4; i++)						\
		if (jf_branch_likely(&key))				\
			n += jft_t_side(1);				\
	return n == 4 ? 1 : n ? -1 : 0;					\
}

JFT_T_PROBES(jft_t_sf, jft_t_static_false)
JFT_T_PROBES(jft_t_st, jft_t_static_true)
JFT_T_PROBES(jft_t_f, jft_t_false)
JFT_T_PROBES(jft_t_t, jft_t_true)
#ifndef __cplusplus
JFT_T_PROBES(jft_t_af1, jft_t_array_false[1])
JFT_T_PROBES(jft_t_at2, jft_t_array_true[2])
#endif

struct jft_t_key {
	const char	*name;
	struct jf_key	*key;
	bool		on;
	int		(*probe[5])(void);
};

#define JFT_T_KEY(tag, key, on)						\
	{ #key, &key, on, { tag##_unlikely, tag##_likely, tag##_not,	\
			    tag##_value, tag##_loop } }

static const struct jft_t_key jft_t_keys[] = {
	JFT_T_KEY(jft_t_sf, jft_t_static_false, false),
	JFT_T_KEY(jft_t_st, jft_t_static_true, true),
	JFT_T_KEY(jft_t_f, jft_t_false, false),
	JFT_T_KEY(jft_t_t, jft_t_true, true),
#ifndef __cplusplus
	JFT_T_KEY(jft_t_af1, jft_t_array_false[1], false),
	JFT_T_KEY(jft_t_at2, jft_t_array_true[2], true),
#endif
};

/* True if everything agrees that the key has so many users. */
static unsigned int jft_t_check_key(const struct jft_t_key *k, int count, const char *at,
				    jf_table_fail_t fail)
{
	unsigned int i;

	if (jf_key_count(k->key) != count)
		fail(k->name, at, jf_key_count(k->key), count);
	if (jf_key_enabled(k->key) != (count > 0))
		fail(k->name, at, jf_key_enabled(k->key), count > 0);
	for (i = 0; i < JF_TABLE_ROWS(k->probe); i++) {
		int got = k->probe[i]();

		if (got != (count > 0))
			fail(k->name, at, got, count > 0);
	}
	return 2 + i;
}

/* To a count of @count, from any; in no more steps than that takes if each counts. */
static int jft_t_set_key(struct jf_key *key, int count)
{
	int n = jf_key_count(key), err = 0;

	for (; !err && n > count; n--)
		err = jf_key_dec(key);
	for (; !err && n < count; n++)
		err = jf_key_inc(key);
	return err ? err : jf_key_count(key) - count;
}

static unsigned int jft_t_script(const struct jft_t_key *k, const struct jf_key_script *s,
				 jf_table_fail_t fail)
{
	unsigned int checks = 0;
	int count = s->on, err = jft_t_set_key(k->key, s->on);
	const char *p;

	if (err)
		fail(k->name, "the start", err, 0);
	checks += jft_t_check_key(k, count, "the start", fail);
	for (p = s->steps; *p; p++) {
		bool fails = *p == '!';
		int want;

		p += fails;
		want = fails ? jf_key_script_err(*p) : 0;
		err = jf_key_step(k->key, *p);
		if (err != want)
			fail(k->name, p, err, want);
		if (!fails)
			count = jf_key_script_count(count, *p);
		checks += 1 + jft_t_check_key(k, count, p, fail);
	}
	if (count != s->count)
		fail(k->name, "the end", count, s->count);
	return checks + 1;
}

static inline unsigned int jf_table_keys(jf_table_fail_t fail)
{
	unsigned int i, j, checks = 0;

	for (i = 0; i < JF_TABLE_ROWS(jft_t_keys); i++) {
		const struct jft_t_key *k = &jft_t_keys[i];

		checks += jft_t_check_key(k, k->on, "the first time", fail);
		for (j = 0; j < JF_TABLE_ROWS(jf_key_scripts); j++)
			checks += jft_t_script(k, &jf_key_scripts[j], fail);
		if (jft_t_set_key(k->key, k->on))
			fail(k->name, "the way back", 1, 0);
	}
	return checks;
}

/* --- dynamic functions ------------------------------------------------------ */

JF_TABLE_NOINLINE long jft_t_add(long a, long b) { return a + b; }
JF_TABLE_NOINLINE long jft_t_sub(long a, long b) { return a - b; }
JF_TABLE_NOINLINE void jft_t_inc(long *a) { *a += 1; }
JF_TABLE_NOINLINE void jft_t_inc10(long *a) { *a += 10; }

DEFINE_DYNFUNC(jft_t_op, jft_t_add);
DEFINE_DYNFUNC_RET0(jft_t_ret0, jft_t_add);
DEFINE_DYNFUNC_NULL(jft_t_null, jft_t_inc);

/*
 * One letter is one update: a to the first function, b to the second one, n to
 * NULL, A and B the same in a batch; after '!' it has to fail with -EINVAL. The
 * results of a call after each are in @want.
 */
struct jf_func_script {
	const char	*steps;
	long		want[6];
};

/* Of jft_t_op(7, 2). */
static const struct jf_func_script jft_t_op_scripts[] = {
	{ "", { 9 } },
	{ "a", { 9, 9 } },
	{ "bb", { 9, 5, 5 } },
	{ "ba!nb", { 9, 5, 9, 9, 5 } },
	{ "BAB", { 9, 5, 9, 5 } },
	{ "!n", { 9, 9 } },
};

/* Of jft_t_ret0(7, 2), which begins with NULL. */
static const struct jf_func_script jft_t_ret0_scripts[] = {
	{ "", { 0 } },
	{ "n", { 0, 0 } },
	{ "anb", { 0, 9, 0, 5 } },
	{ "ABn", { 0, 9, 5, 0 } },
	{ "abann", { 0, 9, 5, 9, 0, 0 } },
};

/* The number that jft_t_null(&x) adds to x, which begins with NULL. */
static const struct jf_func_script jft_t_null_scripts[] = {
	{ "", { 0 } },
	{ "n", { 0, 0 } },
	{ "anb", { 0, 1, 0, 10 } },
	{ "ABn", { 0, 1, 10, 0 } },
	{ "babnn", { 0, 10, 1, 10, 0, 0 } },
};

#define JFT_T_UPDATE(name, first, second)				\
static int name##_step(char op)						\
{									\
	struct jf_batch b;						\
									\
	switch (op) {							\
	case 'a': return dynfunc_update(name, first);			\
	case 'b': return dynfunc_update(name, second);			\
	case 'n': return dynfunc_update(name, NULL);			\
	}								\
	jf_batch_init(&b);						\
	if (op == 'A')							\
		dynfunc_batch_set(&b, name, first);			\
	else								\
		dynfunc_batch_set(&b, name, second);			\
	return jf_batch_commit(&b);					\
}

JFT_T_UPDATE(jft_t_op, jft_t_add, jft_t_sub)
JFT_T_UPDATE(jft_t_ret0, jft_t_add, jft_t_sub)
JFT_T_UPDATE(jft_t_null, jft_t_inc, jft_t_inc10)

JF_TABLE_NOINLINE long jft_t_op_call(bool inlined)
{
	return inlined ? dynfunc_call(jft_t_op, 7, 2) : dynfunc_jft_t_op(7, 2);
}

JF_TABLE_NOINLINE long jft_t_ret0_call(bool inlined)
{
	return inlined ? dynfunc_call(jft_t_ret0, 7, 2) : dynfunc_jft_t_ret0(7, 2);
}

JF_TABLE_NOINLINE long jft_t_null_call(bool inlined)
{
	long x = 0;

	if (inlined)
		dynfunc_call(jft_t_null, &x);
	else
		dynfunc_jft_t_null(&x);
	return x;
}

static void *jft_t_op_query(void) { return dynfunc_query(jft_t_op); }
static void *jft_t_ret0_query(void) { return dynfunc_query(jft_t_ret0); }
static void *jft_t_null_query(void) { return dynfunc_query(jft_t_null); }

struct jft_t_func {
	const char	*name;
	int		(*step)(char op);
	long		(*call)(bool inlined);
	void		*(*query)(void);
	void		*target[2];
	char		back;
	const struct jf_func_script *scripts;
	unsigned int	num;
};

#define JFT_T_FUNC(name, first, second, back)				\
	{ #name, name##_step, name##_call, name##_query,		\
	  { (void *)first, (void *)second }, back,			\
	  name##_scripts, JF_TABLE_ROWS(name##_scripts) }

static const struct jft_t_func jft_t_funcs[] = {
	JFT_T_FUNC(jft_t_op, jft_t_add, jft_t_sub, 'a'),
	JFT_T_FUNC(jft_t_ret0, jft_t_add, jft_t_sub, 'n'),
	JFT_T_FUNC(jft_t_null, jft_t_inc, jft_t_inc10, 'n'),
};

static unsigned int jft_t_check_func(const struct jft_t_func *f, long want, void *target,
				     const char *at, jf_table_fail_t fail)
{
	int way;

	for (way = 0; way < 2; way++) {
		long got = f->call(way);

		if (got != want)
			fail(f->name, at, got, want);
	}
	if (f->query() != target)
		fail(f->name, at, (long)f->query(), (long)target);
	return 3;
}

static unsigned int jft_t_func_script(const struct jft_t_func *f,
				      const struct jf_func_script *s, jf_table_fail_t fail)
{
	void *target = f->back == 'n' ? NULL : f->target[0];
	const long *want = s->want;
	unsigned int checks;
	const char *p;

	checks = jft_t_check_func(f, *want++, target, "the start", fail);
	for (p = s->steps; *p; p++) {
		bool fails = *p == '!';
		int err;

		p += fails;
		err = f->step(*p);
		if (err != (fails ? -EINVAL : 0))
			fail(f->name, p, err, fails ? -EINVAL : 0);
		if (!fails)
			target = *p == 'n' ? NULL : f->target[*p == 'b' || *p == 'B'];
		checks += 1 + jft_t_check_func(f, *want++, target, p, fail);
	}
	if (f->step(f->back))
		fail(f->name, "the way back", 1, 0);
	return checks;
}

static inline unsigned int jf_table_funcs(jf_table_fail_t fail)
{
	unsigned int i, j, checks = 0;

	for (i = 0; i < JF_TABLE_ROWS(jft_t_funcs); i++)
		for (j = 0; j < jft_t_funcs[i].num; j++)
			checks += jft_t_func_script(&jft_t_funcs[i],
						    &jft_t_funcs[i].scripts[j], fail);
	return checks;
}

#endif /* JF_SELFTESTS_TABLE_H */
