// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a module with jump labels.
 *
 *   sample_verbose	off; set through a module parameter
 *   sample_stats	off; on while it has users (jf_sample_key_user is one)
 *   sample_offload	on or off for good, decided in init
 *
 * After loading, see /sys/kernel/debug/jumpfunc/keys. For example
 *   P=/sys/module/jf_sample_key/parameters
 *   echo 1 > $P/verbose; echo 3 > $P/send; dmesg | tail
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/module.h>

#include "jf_sample_key.h"

static DEFINE_JF_KEY_FALSE(sample_verbose);
DEFINE_JF_KEY_FALSE(sample_stats);
EXPORT_JF_KEY_GPL(sample_stats);
static DEFINE_JF_KEY_TRUE_RO(sample_offload);

static atomic_long_t bytes;

void sample_account_slow(unsigned int len)
{
	atomic_long_add(len, &bytes);
}
EXPORT_SYMBOL_GPL(sample_account_slow);

void sample_send(unsigned int len)
{
	if (jf_branch_unlikely(&sample_verbose))
		pr_info("sending %u bytes\n", len);
	sample_account(len);
	if (!jf_branch_likely(&sample_offload))
		barrier();	/* here the slow way to send would stand */
}
EXPORT_SYMBOL_GPL(sample_send);

static int verbose_set(const char *val, const struct kernel_param *kp)
{
	bool on;
	int err = kstrtobool(val, &on);

	if (err)
		return err;
	return on ? jf_key_enable(&sample_verbose) : jf_key_disable(&sample_verbose);
}

static int verbose_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%d\n", jf_key_enabled(&sample_verbose));
}

static const struct kernel_param_ops verbose_ops = {
	.set = verbose_set,
	.get = verbose_get,
};
module_param_cb(verbose, &verbose_ops, NULL, 0644);
MODULE_PARM_DESC(verbose, "say what is sent (0 or 1)");

static int send_set(const char *val, const struct kernel_param *kp)
{
	unsigned int i, n;
	int err = kstrtouint(val, 0, &n);

	for (i = 0; !err && i < n; i++)
		sample_send(60 + i);
	return err;
}

static int send_get(char *buf, const struct kernel_param *kp)
{
	return sprintf(buf, "%ld bytes counted\n", atomic_long_read(&bytes));
}

static const struct kernel_param_ops send_ops = {
	.set = send_set,
	.get = send_get,
};
module_param_cb(send, &send_ops, NULL, 0644);
MODULE_PARM_DESC(send, "write a number: send so many packets; read: bytes counted so far");

static int __init sample_key_init(void)
{
	/* Decided once: afterwards the key cannot change any more. */
	if (num_possible_cpus() == 1)
		return jf_key_disable(&sample_offload);
	return 0;
}

static void __exit sample_key_exit(void)
{
}

module_init(sample_key_init);
module_exit(sample_key_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: jump labels, their keys set and counted");
