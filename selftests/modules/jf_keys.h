/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keys of jf_keys.ko, and probes: small functions that return the side of a branch.
 *
 * A probe returns 1 if its branches say "enabled", 0 if they say "disabled", and
 * -1 if they disagree with each other. Every key gets the probes below in each
 * object file that names it in JFT_PROBE_FUNCS(): the sites of one key are
 * spread over several object files and modules.
 */
#ifndef JF_KEYS_H
#define JF_KEYS_H

#include <linux/list.h>
#include <linux/module.h>

#include <jumpfunc/branch.h>

#define JFT_ARRAY	3

DECLARE_JF_KEY(jft_false);
DECLARE_JF_KEY(jft_true);
DECLARE_JF_KEY(jft_false_ro);
DECLARE_JF_KEY(jft_true_ro);
DECLARE_JF_KEY(jft_false_ro_left);
DECLARE_JF_KEY(jft_true_ro_left);
DECLARE_JF_KEY_ARRAY(jft_array_false, JFT_ARRAY);
DECLARE_JF_KEY_ARRAY(jft_array_true, JFT_ARRAY);

struct jft_probe {
	const char	*name;
	struct jf_key	*key;
	int		(*fn)(void);
};

/* A test's expectation of a key. */
struct jft_key {
	const char	*name;
	struct jf_key	*key;
	bool		ro;
	bool		initial;	/* before any init function ran */
	int		count;		/* expected now */
};

/* A list of keys and probes; several object files and modules have one. */
struct jft_set {
	struct list_head	list;
	const char		*name;
	struct jft_key		*keys;
	unsigned int		num_keys;
	const struct jft_probe	*probes;
	unsigned int		num_probes;
};

/*
 * jft_add() has all probes of @set run at once, and with every check from now on
 * until jft_remove(). Both return the number of wrong results.
 */
unsigned int jft_add(struct jft_set *set);
unsigned int jft_remove(struct jft_set *set);
/* Runs some probes that are in no set. */
unsigned int jft_run(const char *where, const struct jft_probe *probes, unsigned int num);
/* Tells of a failure. */
void jft_bad(const char *where, const char *what);

static __always_inline int jft_side(bool on)
{
	/* Something that the compiler cannot merge with the other side. */
	asm volatile("" : : "r" (on));
	return on;
}

/* An inline function of a header, as users have them. */
static __always_inline int jft_inline(struct jf_key * const key)
{
	if (jf_branch_likely(key))
		return jft_side(true);
	return jft_side(false);
}

/* Unrolled, so that the compiler copies the branch. */
#define JFT_LOOP(branch)						\
({									\
	int __i, __n = 0;						\
									\
	_Pragma("GCC unroll 4")						\
	for (__i = 0; __i < 4; __i++) {					\
		asm volatile("" : "+r" (__n));				\
		if (branch)						\
			__n++;						\
	}								\
	__n == 4 ? 1 : __n ? -1 : 0;					\
})

#define JFT_PROBE_FUNCS(tag, key, attr)					\
static noinline attr int tag##_unlikely(void)				\
{									\
	if (jf_branch_unlikely(&key))					\
		return jft_side(true);					\
	return jft_side(false);						\
}									\
static noinline attr int tag##_likely(void)				\
{									\
	if (jf_branch_likely(&key))					\
		return jft_side(true);					\
	return jft_side(false);						\
}									\
static noinline attr int tag##_not(void)				\
{									\
	if (!jf_branch_unlikely(&key))					\
		return !jft_side(true);					\
	return !jft_side(false);					\
}									\
static noinline attr int tag##_value(void)				\
{									\
	bool a = jf_branch_unlikely(&key), b = jf_branch_likely(&key);	\
									\
	return a == b ? a : -1;						\
}									\
static noinline attr int tag##_inline(void)				\
{									\
	return jft_inline(&key);					\
}									\
static noinline attr int tag##_loop(void)				\
{									\
	int a = JFT_LOOP(jf_branch_unlikely(&key));			\
	int b = JFT_LOOP(jf_branch_likely(&key));			\
									\
	return a == b ? a : -1;						\
}

#define JFT_PROBES(tag, key)						\
	{ #tag " unlikely", &key, tag##_unlikely },			\
	{ #tag " likely", &key, tag##_likely },				\
	{ #tag " not", &key, tag##_not },				\
	{ #tag " value", &key, tag##_value },				\
	{ #tag " inline", &key, tag##_inline },				\
	{ #tag " loop", &key, tag##_loop }

/* All exported keys. */
#define JFT_EXPORTED_FUNCS(p, attr)					\
	JFT_PROBE_FUNCS(p##_false, jft_false, attr)			\
	JFT_PROBE_FUNCS(p##_true, jft_true, attr)			\
	JFT_PROBE_FUNCS(p##_false_ro, jft_false_ro, attr)		\
	JFT_PROBE_FUNCS(p##_true_ro, jft_true_ro, attr)			\
	JFT_PROBE_FUNCS(p##_false_ro_left, jft_false_ro_left, attr)	\
	JFT_PROBE_FUNCS(p##_true_ro_left, jft_true_ro_left, attr)	\
	JFT_PROBE_FUNCS(p##_array_false_0, jft_array_false[0], attr)	\
	JFT_PROBE_FUNCS(p##_array_false_2, jft_array_false[2], attr)	\
	JFT_PROBE_FUNCS(p##_array_true_1, jft_array_true[1], attr)	\
	JFT_PROBE_FUNCS(p##_array_true_2, jft_array_true[2], attr)

#define JFT_EXPORTED_PROBES(p)						\
	JFT_PROBES(p##_false, jft_false),				\
	JFT_PROBES(p##_true, jft_true),					\
	JFT_PROBES(p##_false_ro, jft_false_ro),				\
	JFT_PROBES(p##_true_ro, jft_true_ro),				\
	JFT_PROBES(p##_false_ro_left, jft_false_ro_left),		\
	JFT_PROBES(p##_true_ro_left, jft_true_ro_left),			\
	JFT_PROBES(p##_array_false_0, jft_array_false[0]),		\
	JFT_PROBES(p##_array_false_2, jft_array_false[2]),		\
	JFT_PROBES(p##_array_true_1, jft_array_true[1]),		\
	JFT_PROBES(p##_array_true_2, jft_array_true[2])

#endif /* JF_KEYS_H */
