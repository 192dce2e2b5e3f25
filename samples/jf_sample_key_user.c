// SPDX-License-Identifier: GPL-2.0
/*
 * Sample: a user of another module's key. While this module is loaded, the
 * statistics of jf_sample_key are on; several such users are counted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "jf_sample_key.h"

static int __init sample_key_user_init(void)
{
	int err = jf_key_inc(&sample_stats);

	if (err)
		return err;
	/* A site of this module, in __init text, on the other module's key. */
	sample_account(1);
	sample_send(1000);
	pr_info("statistics are on, for %d user(s)\n", jf_key_count(&sample_stats));
	return 0;
}

static void __exit sample_key_user_exit(void)
{
	WARN_ON(jf_key_dec(&sample_stats));
}

module_init(sample_key_user_init);
module_exit(sample_key_user_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("jumpfunc sample: a counted user of another module's jump label");
