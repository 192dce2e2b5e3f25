// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that jumpfunc does for a module, one operation at a time, so that a
 * test can let each of its steps fail, and check the result.
 *
 * /sys/kernel/debug/jf_each_op/
 *   do		write one of
 *		  one T		dynfunc_update() of one function to its target T, 0 or 1
 *		  many T	a batch of 12 functions and 4 keys
 *		  key ON	jf_key_enable() or _disable()
 *		  count UP	jf_key_inc() or _dec()
 *		  probes ARGS N	register or unregister probes until the tracepoint with
 *				that many arguments (1, 5 or 8) has N, at most 18
 *		the write returns the result of the operation
 *   state	the result of every call, branch and tracepoint, if it is called now
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <jumpfunc/branch.h>
#include <jumpfunc/tracepoint.h>

#include "../files.h"

#define NFUNCS	12
#define NKEYS	4
#define NPROBES	18

static noinline int target_0(int a)
{
	return 2 * a;
}

static noinline int target_1(int a)
{
	return 2 * a + 1;
}

static noinline int target_2(int a)
{
	return 2 * a + 100;
}

static int (* const targets[])(int) = { target_0, target_1 };

/* --- functions ------------------------------------------------------------- */

DEFINE_DYNFUNC(ops_one, target_0);

static noinline int call_one(int a)
{
	return dynfunc_call(ops_one, a);
}

#define FUNC(n)								\
DEFINE_DYNFUNC(ops_##n, target_0);					\
static noinline int call_##n(int a)					\
{									\
	return dynfunc_call(ops_##n, a);				\
}									\
/* Through the trampoline, or the pointer if the kernel has no trampoline. */	\
static noinline int tramp_##n(int a)					\
{									\
	return dynfunc_ops_##n(a);					\
}
FUNC(0) FUNC(1) FUNC(2) FUNC(3) FUNC(4) FUNC(5)
FUNC(6) FUNC(7) FUNC(8) FUNC(9) FUNC(10) FUNC(11)

/* By name, too. */
DEFINE_DYNFUNC_RET0(ops_ret0, target_0);
DYNFUNC_TARGETS(ops_0, target_0, target_1, target_2);
DYNFUNC_TARGETS(ops_1, target_0, target_1, target_2);
DYNFUNC_TARGETS(ops_ret0, target_0, target_1);

static noinline int call_ret0(int a)
{
	return dynfunc_call(ops_ret0, a);
}

static const struct func {
	struct jf_func	*func;
	int		(*call)(int a);
	int		(*tramp)(int a);
} funcs[NFUNCS] = {
#define F(n) { &__jf_func_ops_##n, call_##n, tramp_##n }
	F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11),
};

/* --- keys ------------------------------------------------------------------ */

static DEFINE_JF_KEY_FALSE(ops_key);
static DEFINE_JF_KEY_FALSE(ops_counted);
static DEFINE_JF_KEY_ARRAY_FALSE(ops_keys, NKEYS);

#define BRANCH(name, key)						\
static noinline int name(void)						\
{									\
	int r = 0;							\
									\
	if (jf_branch_unlikely(key))					\
		r |= 1;							\
	if (jf_branch_likely(key))					\
		r |= 2;							\
	return r;							\
}
BRANCH(branch_key, &ops_key)
BRANCH(branch_counted, &ops_counted)
BRANCH(branch_0, &ops_keys[0])
BRANCH(branch_1, &ops_keys[1])
BRANCH(branch_2, &ops_keys[2])
BRANCH(branch_3, &ops_keys[3])

static int (* const branches[NKEYS])(void) = { branch_0, branch_1, branch_2, branch_3 };

/* --- tracepoints ----------------------------------------------------------- */

DECLARE_JF_TRACE(ops1, JF_PROTO(long a), JF_ARGS(a));
DECLARE_JF_TRACE(ops5, JF_PROTO(long a, long b, long c, long d, long e), JF_ARGS(a, b, c, d, e));
DECLARE_JF_TRACE(ops8, JF_PROTO(long a, long b, long c, long d, long e, long f, long g, long h),
		 JF_ARGS(a, b, c, d, e, f, g, h));
DEFINE_JF_TRACE(ops1);
DEFINE_JF_TRACE(ops5);
DEFINE_JF_TRACE(ops8);

/* Each probe's data is its number; the calls are a number in base 32. */
static u64 ran_hash;
static unsigned int ran;

static void note_probe(void *data, long sum)
{
	ran_hash = ran_hash * 1000003 + (unsigned long)data * 31 + sum;
	ran++;
}

static void probe1(void *data, long a)
{
	note_probe(data, a);
}

static void probe5(void *data, long a, long b, long c, long d, long e)
{
	note_probe(data, a + 2 * b + 3 * c + 4 * d + 5 * e);
}

static void probe8(void *data, long a, long b, long c, long d, long e, long f, long g, long h)
{
	note_probe(data, a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h);
}

static noinline void hit1(void)
{
	jf_trace_ops1(1);
}

static noinline void hit5(void)
{
	jf_trace_ops5(1, 2, 3, 4, 5);
}

static noinline void hit8(void)
{
	jf_trace_ops8(1, 2, 3, 4, 5, 6, 7, 8);
}

static struct tp {
	struct jf_tracepoint	*tp;
	unsigned int		nargs;
	void			*probe;
	void			(*hit)(void);
	unsigned int		num;
} tps[] = {
	{ &__jf_trace_ops1, 1, probe1, hit1 },
	{ &__jf_trace_ops5, 5, probe5, hit5 },
	{ &__jf_trace_ops8, 8, probe8, hit8 },
};

/* --- operations ------------------------------------------------------------ */

static DEFINE_MUTEX(ops_mutex);

static int do_many(unsigned int t)
{
	struct jf_batch b;
	unsigned int i;

	jf_batch_init(&b);
	for (i = 0; i < NFUNCS; i++)
		__jf_batch_set_func(&b, funcs[i].func, targets[t]);
	for (i = 0; i < NKEYS; i++)
		jf_key_batch_set(&b, &ops_keys[i], t);
	return jf_batch_commit(&b);
}

static int do_probes(unsigned int nargs, unsigned int num)
{
	struct tp *t;
	int err = 0;

	if (num > NPROBES)
		return -EINVAL;
	for (t = tps; t < tps + ARRAY_SIZE(tps) && t->nargs != nargs; t++)
		;
	if (t == tps + ARRAY_SIZE(tps))
		return -EINVAL;
	while (!err && t->num < num) {
		err = __jf_trace_register(t->tp, t->probe, (void *)(unsigned long)(t->num + 1), 10);
		t->num += !err;
	}
	while (!err && t->num > num) {
		err = __jf_trace_unregister(t->tp, t->probe, (void *)(unsigned long)t->num);
		t->num -= !err;
	}
	return err;
}

static int do_command(const char *cmd)
{
	unsigned int n, m;

	if (sscanf(cmd, "one %u", &n) == 1 && n < 2)
		return dynfunc_update(ops_one, targets[n]);
	if (sscanf(cmd, "many %u", &n) == 1 && n < 2)
		return do_many(n);
	if (sscanf(cmd, "key %u", &n) == 1)
		return n ? jf_key_enable(&ops_key) : jf_key_disable(&ops_key);
	if (sscanf(cmd, "count %u", &n) == 1)
		return n ? jf_key_inc(&ops_counted) : jf_key_dec(&ops_counted);
	if (sscanf(cmd, "probes %u %u", &n, &m) == 2)
		return do_probes(n, m);
	return -EINVAL;
}

static ssize_t do_write(struct file *file, const char __user *ubuf, size_t count, loff_t *pos)
{
	char buf[32], *cmd = test_command(buf, sizeof(buf), ubuf, count);
	int err;

	if (IS_ERR(cmd))
		return PTR_ERR(cmd);
	mutex_lock(&ops_mutex);
	err = do_command(cmd);
	mutex_unlock(&ops_mutex);
	return err ?: count;
}

TEST_WRITE_ONLY(do);

static int state_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&ops_mutex);
	seq_printf(m, "one %d %d\nret0 %d\nmany", call_one(1), dynfunc_ops_one(1), call_ret0(1));
	for (i = 0; i < NFUNCS; i++)
		seq_printf(m, " %d %d", funcs[i].call(i), funcs[i].tramp(i));
	seq_printf(m, "\nkey %d counted %d %d\nkeys", branch_key(), branch_counted(),
		   jf_key_count(&ops_counted));
	for (i = 0; i < NKEYS; i++)
		seq_printf(m, " %d", branches[i]());
	seq_putc(m, '\n');
	for (i = 0; i < ARRAY_SIZE(tps); i++) {
		ran = 0;
		ran_hash = 0;
		tps[i].hit();
		seq_printf(m, "probes of %u: %u ran, %llx\n", tps[i].nargs, ran, ran_hash);
	}
	mutex_unlock(&ops_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static struct dentry *dir;

static int __init ops_init(void)
{
	dir = debugfs_create_dir("jf_each_op", NULL);
	debugfs_create_file("do", 0200, dir, NULL, &do_fops);
	debugfs_create_file("state", 0400, dir, NULL, &state_fops);
	return 0;
}

static void __exit ops_exit(void)
{
	unsigned int i;

	debugfs_remove_recursive(dir);
	/* Those that are left, jumpfunc removes; half of them are taken away here. */
	for (i = 0; i < ARRAY_SIZE(tps); i += 2)
		if (do_probes(tps[i].nargs, 0))
			pr_err("jf_each_op: probes cannot be removed at exit\n");
}

module_init(ops_init);
module_exit(ops_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Each operation of jumpfunc by itself");
