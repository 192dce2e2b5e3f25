// SPDX-License-Identifier: GPL-2.0
/*
 * CPU hotplug callbacks that change keys and dynamic functions, under the hotplug
 * lock: each CPU that is online is a user of a key.
 *
 * /sys/kernel/debug/jf_keyhot/
 *   check	reading it compares the key with the CPUs: "<online> <count> <bad>"
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

static DEFINE_JF_KEY_FALSE(hot_key);
static DEFINE_JF_KEY_FALSE(hot_odd);
/* Counts each CPU as well, but is put off late. */
static DEFINE_JF_KEY_DEFERRED_FALSE(hot_late, 2);

static int even(int x) { return x; }
static int odd(int x) { return x + 1; }

DEFINE_DYNFUNC(hot_func, even);

static atomic_t bad;
static struct dentry *dir;
static int state;

static void expect(bool good, const char *what, int err)
{
	if (!good && !atomic_fetch_inc(&bad))
		pr_err("jf_keyhot: BAD: %s (%d)\n", what, err);
}

/* Data that depend on the number of CPUs change together, with text and values. */
static void set_odd(bool is_odd)
{
	struct jf_batch b;
	int err;

	jf_batch_init(&b);
	jf_key_batch_set(&b, &hot_odd, is_odd);
	dynfunc_batch_set(&b, hot_func, is_odd ? odd : even);
	err = jf_batch_commit_cpuslocked(&b);
	expect(!err, "a batch", err);
	expect(jf_branch_unlikely(&hot_odd) == is_odd &&
	       dynfunc_call(hot_func, 1) == 1 + is_odd, "what a batch left", 0);
	err = dynfunc_update_cpuslocked(hot_func, is_odd ? odd : even);
	expect(!err, "an update", err);
}

static int cpu_online_cb(unsigned int cpu)
{
	int err = jf_key_inc_cpuslocked(&hot_key);

	expect(!err, "inc", err);
	expect(jf_branch_likely(&hot_key), "a key that this CPU uses is off", cpu);
	err = jf_key_inc_cpuslocked(&hot_late.key);
	expect(!err, "deferred key, inc", err);
	err = jf_key_dec_deferred(&hot_late);
	expect(!err, "deferred key, dec", err);
	set_odd(jf_key_count(&hot_key) & 1);
	return 0;
}

static int cpu_offline_cb(unsigned int cpu)
{
	int err = jf_key_dec_cpuslocked(&hot_key);

	expect(!err, "dec", err);
	set_odd(jf_key_count(&hot_key) & 1);
	return 0;
}

static int check_show(struct seq_file *m, void *v)
{
	cpus_read_lock();
	seq_printf(m, "%u %d %d\n", num_online_cpus(), jf_key_count(&hot_key),
		   atomic_read(&bad));
	cpus_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(check);

static int __init keyhot_init(void)
{
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "jf_keyhot", cpu_online_cb,
				  cpu_offline_cb);
	if (state < 0)
		return state;
	dir = debugfs_create_dir("jf_keyhot", NULL);
	debugfs_create_file("check", 0400, dir, NULL, &check_fops);
	return 0;
}

static void __exit keyhot_exit(void)
{
	debugfs_remove_recursive(dir);
	/* A module's exit can no longer change its own keys. */
	cpuhp_remove_state_nocalls(state);
}

module_init(keyhot_init);
module_exit(keyhot_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Changes keys from CPU hotplug callbacks");
