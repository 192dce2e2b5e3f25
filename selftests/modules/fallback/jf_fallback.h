/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A driver that has jumpfunc if it is there, and fallback.h if not, as that file says.
 * It tests, when it is loaded, that the two mean the same; with a parameter, a batch that
 * fails, in which they differ. A module with a failure is not loaded, and the log says where
 * it was.
 */
#include <linux/init.h>
#include <linux/module.h>

#if __has_include(<jumpfunc/tracepoint.h>)
#include <jumpfunc/tracepoint.h>
#define JF_FALLBACK_SYSTEM	jf_fb_with
#else
#include "fallback.h"
#define JF_FALLBACK_SYSTEM	jf_fb_without
#endif

#define CREATE_TRACE_POINTS
#include "jf_fallback_event.h"

static bool checked = true;

#define CHECK(what)							\
do {									\
	if (!(what)) {							\
		pr_err("%s: line %d: not so: %s\n", KBUILD_MODNAME, __LINE__, #what); \
		checked = false;					\
	}								\
} while (0)

/* --- dynamic functions --- */

static int hits;

static noinline int add(int a, int b)
{
	return a + b;
}

static noinline int sub(int a, int b)
{
	return a - b;
}

static noinline void note(int by)
{
	hits += by;
}

/* 1 if preemption is off in it, as its contract says. */
static noinline int atomic(int x)
{
	return !x || !preemptible();
}

DEFINE_DYNFUNC(fb_op, add);
DYNFUNC_TARGETS(fb_op, add, sub);
DEFINE_DYNFUNC_NULL(fb_hook, note);
DEFINE_DYNFUNC_RET0(fb_filter, add);
DEFINE_DYNFUNC_LOCAL(fb_local, sub);
DEFINE_DYNFUNC(fb_rcu, atomic, JF_RCU);

/* Kernels such as 5.10 patch no branch in __init text, which these would be a part of. */
static noinline void check_functions(void)
{
	CHECK(dynfunc_call(fb_op, 7, 5) == 12);
	CHECK(dynfunc_fb_op(7, 5) == 12);
	CHECK(dynfunc_query(fb_op) == add);
	CHECK(dynfunc_update(fb_op, sub) == 0);
	CHECK(dynfunc_call(fb_op, 7, 5) == 2);
	CHECK(dynfunc_fb_op(7, 5) == 2);
	CHECK(dynfunc_query(fb_op) == sub);
	CHECK(dynfunc_update(fb_op, NULL) == -EINVAL);
	CHECK(dynfunc_call(fb_op, 7, 5) == 2);
	CHECK(dynfunc_update(fb_op, add) == 0);
	CHECK(dynfunc_call(fb_local, 7, 5) == 2);
	CHECK(dynfunc_call(fb_rcu, 1) == (IS_ENABLED(CONFIG_PREEMPT_COUNT) || !preemptible()));

	CHECK(!dynfunc_query(fb_hook));
	dynfunc_call(fb_hook, 1);
	dynfunc_fb_hook(1);
	CHECK(!hits);
	CHECK(dynfunc_update(fb_hook, note) == 0);
	dynfunc_call(fb_hook, 1);
	dynfunc_fb_hook(2);
	CHECK(hits == 3);
	CHECK(dynfunc_update(fb_hook, NULL) == 0);
	dynfunc_call(fb_hook, 1);
	CHECK(hits == 3 && !dynfunc_query(fb_hook));

	CHECK(dynfunc_call(fb_filter, 7, 5) == 0 && dynfunc_fb_filter(7, 5) == 0);
	CHECK(dynfunc_update(fb_filter, add) == 0 && dynfunc_call(fb_filter, 7, 5) == 12);
	CHECK(dynfunc_update(fb_filter, NULL) == 0 && dynfunc_call(fb_filter, 7, 5) == 0);
	jf_quiesce();
}

/* --- keys --- */

static DEFINE_JF_KEY_FALSE(fb_off);
DECLARE_JF_KEY_TRUE(fb_on);
DEFINE_JF_KEY_TRUE(fb_on);
static DEFINE_JF_KEY_TRUE_RO(fb_ro);

static noinline int ways(void)
{
	int way = 0;

	if (jf_branch_unlikely(&fb_off))
		way |= 1;
	if (jf_branch_likely(&fb_off))
		way |= 2;
	if (jf_branch_unlikely(&fb_on))
		way |= 4;
	if (jf_branch_likely(&fb_on))
		way |= 8;
	if (jf_branch_likely(&fb_ro))
		way |= 16;
	return way;
}

static noinline void check_keys(void)
{
	CHECK(ways() == 28);
	CHECK(jf_key_enable(&fb_off) == 0 && jf_key_enable(&fb_off) == 0 && ways() == 31);
	CHECK(jf_key_count(&fb_off) == 1 && jf_key_enabled(&fb_off));
	CHECK(jf_key_inc(&fb_off) == 0 && jf_key_count(&fb_off) == 2);
	CHECK(jf_key_disable(&fb_off) == -EBUSY && ways() == 31);
	CHECK(jf_key_dec(&fb_off) == 0 && ways() == 31);
	CHECK(jf_key_dec(&fb_off) == 0 && ways() == 28);
	CHECK(jf_key_dec(&fb_off) == -EINVAL && jf_key_count(&fb_off) == 0);
	CHECK(jf_key_inc(&fb_off) == 0 && ways() == 31);
	CHECK(jf_key_disable(&fb_off) == 0 && ways() == 28);
	CHECK(jf_key_disable(&fb_on) == 0 && ways() == 16 && !jf_key_enabled(&fb_on));
	CHECK(jf_key_enable(&fb_on) == 0 && ways() == 28);
}

/* --- tracepoints --- */

DECLARE_JF_TRACE(fb_rx, JF_PROTO(int a, char *s), JF_ARGS(a, s));
DEFINE_JF_TRACE(fb_rx);
DECLARE_JF_TRACE_NOARGS(fb_tick);
DEFINE_JF_TRACE(fb_tick);

/* The calls of probes, in their order: a decimal digit each. */
static int told;

static void tell(void *data, int a, char *s)
{
	told = 10 * told + (int)(long)data * (a == 3 && *s == 'x');
}

static void tell_also(void *data, int a, char *s)
{
	tell((void *)((long)data + 5), a, s);
}

static void tick(void *data)
{
	++*(int *)data;
}

static int rx(void)
{
	told = 0;
	jf_trace_fb_rx(3, "x");
	return told;
}

static noinline void check_traces(void)
{
	int ticks = 0, evaluated = 0;

	CHECK(rx() == 0 && !jf_trace_fb_rx_enabled());
	CHECK(register_jf_trace_fb_rx(tell, (void *)1) == 0 && rx() == 1 && jf_trace_fb_rx_enabled());
	CHECK(register_jf_trace_fb_rx(tell, (void *)1) == -EEXIST && rx() == 1);
	CHECK(register_jf_trace_fb_rx(tell, (void *)2) == 0 && rx() == 12);
	CHECK(register_jf_trace_prio_fb_rx(tell, (void *)3, JF_TRACE_PRIO_DEFAULT + 1) == 0 && rx() == 312);
	CHECK(register_jf_trace_prio_fb_rx(tell, (void *)4, -1) == 0 && rx() == 3124);
	CHECK(register_jf_trace_fb_rx(tell_also, (void *)1) == 0 && rx() == 31264);
	CHECK(unregister_jf_trace_fb_rx(tell, (void *)5) == -ENOENT && rx() == 31264);
	CHECK(unregister_jf_trace_fb_rx(tell, (void *)1) == 0 && rx() == 3264);
	CHECK(unregister_jf_trace_fb_rx(tell, (void *)3) == 0 && rx() == 264);
	CHECK(unregister_jf_trace_fb_rx(tell, (void *)4) == 0 && rx() == 26);
	CHECK(unregister_jf_trace_fb_rx(tell_also, (void *)1) == 0 && rx() == 2);
	jf_trace(fb_rx, (evaluated++, 3), "x");
	CHECK(evaluated == 1);
	CHECK(unregister_jf_trace_fb_rx(tell, (void *)2) == 0 && rx() == 0 && !jf_trace_fb_rx_enabled());
	jf_trace(fb_rx, (evaluated++, 3), "x");
	CHECK(evaluated == 1);

	jf_trace_fb_tick();
	CHECK(register_jf_trace_fb_tick(tick, &ticks) == 0);
	jf_trace_fb_tick();
	CHECK(unregister_jf_trace_fb_tick(tick, &ticks) == 0);
	jf_trace_fb_tick();
	CHECK(ticks == 1);
	jf_trace_synchronize(fb_rx);
}

static noinline void check_batches(void)
{
	struct jf_batch b;

	jf_batch_init(&b);
	CHECK(dynfunc_batch_set(&b, fb_op, sub) == 0);
	CHECK(jf_key_batch_set(&b, &fb_off, true) == 0);
	CHECK(jf_key_batch_set(&b, &fb_on, false) == 0);
	CHECK(jf_trace_batch_register(&b, fb_rx, tell, (void *)7, JF_TRACE_PRIO_DEFAULT) == 0);
	CHECK(dynfunc_call(fb_op, 7, 5) == 12 && ways() == 28 && rx() == 0);
	CHECK(jf_batch_commit(&b) == 0);
	CHECK(dynfunc_call(fb_op, 7, 5) == 2 && ways() == 19 && rx() == 7);
	CHECK(jf_batch_commit(&b) == 0);

	CHECK(dynfunc_batch_set(&b, fb_op, add) == 0);
	jf_batch_abort(&b);
	CHECK(jf_batch_commit(&b) == 0);
	CHECK(dynfunc_call(fb_op, 7, 5) == 2);

	dynfunc_batch_set(&b, fb_op, NULL);
	CHECK(jf_batch_commit(&b) == -EINVAL);
	jf_trace_batch_unregister(&b, fb_rx, tell, (void *)8);
	CHECK(jf_batch_commit(&b) == -ENOENT);

	dynfunc_batch_set(&b, fb_op, add);
	jf_key_batch_set(&b, &fb_off, false);
	jf_key_batch_set(&b, &fb_on, true);
	jf_trace_batch_unregister(&b, fb_rx, tell, (void *)7);
	CHECK(jf_batch_commit(&b) == 0);
	CHECK(dynfunc_call(fb_op, 7, 5) == 12 && ways() == 28 && rx() == 0);
}

/* --- events: each call of "fire" records those of its value --- */

static int fire_set(const char *val, const struct kernel_param *kp)
{
	int a, err = kstrtoint(val, 0, &a);

	if (err)
		return err;
	jf_trace_jf_fb_one(a);
	jf_trace_jf_fb_odd(a);
	jf_trace_jf_fb_two(a, a + 1);
	jf_trace_jf_fb_less(a, 5);
	return 0;
}

static int fire_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", jf_trace_jf_fb_one_enabled());
}

static const struct kernel_param_ops fire_ops = {
	.set = fire_set,
	.get = fire_get,
};
module_param_cb(fire, &fire_ops, NULL, 0600);
MODULE_PARM_DESC(fire, "a number that the events have; reads as 1 while the first one is on");

static int __init fallback_init(void)
{
	check_functions();
	check_keys();
	check_traces();
	check_batches();
	return checked ? 0 : -EINVAL;
}

static void __exit fallback_exit(void)
{
}

module_init(fallback_init);
module_exit(fallback_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A driver that builds with jumpfunc and without");
