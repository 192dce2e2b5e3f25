// SPDX-License-Identifier: GPL-2.0
/*
 * Something to observe with kprobes, ftrace, livepatch, BPF and perf: a target
 * that an inline site and a trampoline lead to, a probe that is called from the
 * image of one, and two that are called from a chain. Each adds up its arguments, so that a call
 * that was lost, doubled or misled shows.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>
#include <jumpfunc/tracepoint.h>

#include "jf_observed.h"

long obs_one(long x)
{
	return x + 1;
}

long obs_two(long x)
{
	return x + 2;
}

DEFINE_DYNFUNC(obs_op, obs_one);
/* Probes of these sleep. */
DECLARE_JF_TRACE(obs_single, JF_PROTO(long x), JF_ARGS(x), JF_SLEEPABLE);
DEFINE_JF_TRACE(obs_single);
DECLARE_JF_TRACE(obs_chain, JF_PROTO(long x), JF_ARGS(x), JF_SLEEPABLE);
DEFINE_JF_TRACE(obs_chain);

static atomic_long_t site, tramp, single, chain_a, chain_b;
/* A probe of the chain sleeps as long as this is set, and is then inside. */
static bool stay, inside;

/* None of these ends with its call, or it would not be on the stack during that call. */
noinline long obs_site(long x)
{
	return dynfunc_call(obs_op, x) + 1000;
}

noinline long obs_tramp(long x)
{
	return dynfunc_obs_op(x) + 1000;
}

noinline void obs_event(long x)
{
	jf_trace_obs_single(x);
	jf_trace_obs_chain(x);
	barrier();
}

void obs_single(void *data, long x)
{
	atomic_long_add(x, data);
}

void obs_chain_a(void *data, long x)
{
	atomic_long_add(x, data);
	WRITE_ONCE(inside, true);
	while (READ_ONCE(stay))
		msleep(20);
	WRITE_ONCE(inside, false);
}

void obs_chain_b(void *data, long x)
{
	atomic_long_add(2 * x, data);
}

/* With 1 ... @n, each of them. */
static int fire_set(const char *val, const struct kernel_param *kp)
{
	long x, n;
	int err = kstrtol(val, 0, &n);

	for (x = 1; !err && x <= n; x++) {
		atomic_long_add(obs_site(x), &site);
		atomic_long_add(obs_tramp(x), &tramp);
		obs_event(x);
	}
	return err;
}

static const struct kernel_param_ops fire_ops = { .set = fire_set };
module_param_cb(fire, &fire_ops, NULL, 0200);

/* The sums since the last request. */
static int sums_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%ld %ld %ld %ld %ld\n",
		       atomic_long_xchg(&site, 0), atomic_long_xchg(&tramp, 0),
		       atomic_long_xchg(&single, 0),
		       atomic_long_xchg(&chain_a, 0),
		       atomic_long_xchg(&chain_b, 0));
}

static const struct kernel_param_ops sums_ops = { .get = sums_get };
module_param_cb(sums, &sums_ops, NULL, 0444);

static int target_set(const char *val, const struct kernel_param *kp)
{
	int n, err = kstrtoint(val, 0, &n);

	return err ?: dynfunc_update(obs_op, n == 2 ? obs_two : obs_one);
}

static const struct kernel_param_ops target_ops = { .set = target_set };
module_param_cb(target, &target_ops, NULL, 0200);

static struct task_struct *stayer;

static int stay_thread(void *unused)
{
	obs_event(1);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/*
 * A thread enters the chain, and stays there, or returns. Not the writer, which
 * holds the lock of module parameters: that is needed for other things.
 */
static int stay_set(const char *val, const struct kernel_param *kp)
{
	struct task_struct *t = stayer;
	bool on;
	int err = kstrtobool(val, &on);

	if (err || on == !!t)
		return err;
	WRITE_ONCE(stay, on);
	if (on) {
		t = kthread_run(stay_thread, NULL, "jf_observed");
		if (IS_ERR(t))
			return PTR_ERR(t);
		while (!READ_ONCE(inside))
			msleep(20);
		stayer = t;
	} else {
		stayer = NULL;
		kthread_stop(t);
	}
	return 0;
}

static int stay_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", READ_ONCE(inside));
}

static const struct kernel_param_ops stay_ops = {
	.set = stay_set,
	.get = stay_get,
};
module_param_cb(stay, &stay_ops, NULL, 0644);

static int __init observed_init(void)
{
	/* A failure here shows in the sums; the core takes the probes off. */
	return register_jf_trace_obs_single(obs_single, &single) ?:
	       register_jf_trace_obs_chain(obs_chain_a, &chain_a) ?:
	       register_jf_trace_obs_chain(obs_chain_b, &chain_b);
}

static void __exit observed_exit(void)
{
	WRITE_ONCE(stay, false);
	if (stayer)
		kthread_stop(stayer);
	if (unregister_jf_trace_obs_chain(obs_chain_b, &chain_b) ||
	    unregister_jf_trace_obs_chain(obs_chain_a, &chain_a) ||
	    unregister_jf_trace_obs_single(obs_single, &single))
		pr_warn("jf_observed: cannot remove its probes\n");
}

module_init(observed_init);
module_exit(observed_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc test: something to observe");
