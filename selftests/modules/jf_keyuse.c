// SPDX-License-Identifier: GPL-2.0
/*
 * A module with branches on the keys of jf_keys.ko, and keys of its own. Built
 * twice (jf_keyuse, jf_keyuse2), for every order of loading and unloading.
 */
#include "jf_keys.h"

static bool fail;
module_param(fail, bool, 0444);
MODULE_PARM_DESC(fail, "have the init function fail after it used and changed keys");

static DEFINE_JF_KEY_FALSE(use_false);
static DEFINE_JF_KEY_TRUE(use_true);
static DEFINE_JF_KEY_FALSE_RO(use_ro);
static DEFINE_JF_KEY_ARRAY_TRUE(use_array, 2);

JFT_EXPORTED_FUNCS(use, )
JFT_PROBE_FUNCS(use_own_false, use_false, )
JFT_PROBE_FUNCS(use_own_true, use_true, )
JFT_PROBE_FUNCS(use_own_ro, use_ro, )
JFT_PROBE_FUNCS(use_own_array, use_array[1], )
JFT_EXPORTED_FUNCS(use_init, __init)
JFT_PROBE_FUNCS(use_init_ro, use_ro, __init)
JFT_PROBE_FUNCS(use_exit_false, jft_false, __exit)
JFT_PROBE_FUNCS(use_exit_true, jft_true, __exit)
JFT_PROBE_FUNCS(use_exit_own, use_false, __exit)

static const struct jft_probe probes[] = {
	JFT_EXPORTED_PROBES(use),
	JFT_PROBES(use_own_false, use_false),
	JFT_PROBES(use_own_true, use_true),
	JFT_PROBES(use_own_ro, use_ro),
	JFT_PROBES(use_own_array, use_array[1]),
};

static const struct jft_probe init_probes[] __initconst = {
	JFT_EXPORTED_PROBES(use_init),
	JFT_PROBES(use_init_ro, use_ro),
};

static struct jft_key keys[] = {
	{ "use_false", &use_false, false, false, 0 },
	{ "use_true", &use_true, false, true, 1 },
	{ "use_ro", &use_ro, true, false, 0 },
	{ "use_array[0]", &use_array[0], false, true, 1 },
	{ "use_array[1]", &use_array[1], false, true, 1 },
};

static struct jft_set set = {
	.name = KBUILD_MODNAME,
	.keys = keys,
	.num_keys = ARRAY_SIZE(keys),
	.probes = probes,
	.num_probes = ARRAY_SIZE(probes),
};

static void __init expect(const char *what, int err, int want)
{
	if (err != want)
		jft_bad(KBUILD_MODNAME " init", what);
}

static int __init keyuse_init(void)
{
	jft_add(&set);
	jft_run(KBUILD_MODNAME " __init text", init_probes, ARRAY_SIZE(init_probes));

	/* Its own read-only key can be changed still, another module's cannot. */
	expect("own read-only key, enable", jf_key_enable(&use_ro), 0);
	keys[2].count = 1;
	expect("foreign read-only key, enable", jf_key_enable(&jft_false_ro_left), -EROFS);
	expect("foreign read-only key, dec", jf_key_dec(&jft_true_ro_left), -EROFS);
	jft_run(KBUILD_MODNAME " __init text, changed", init_probes, ARRAY_SIZE(init_probes));
	jft_run(KBUILD_MODNAME " changed", probes, ARRAY_SIZE(probes));

	if (fail) {
		jft_remove(&set);
		return -ECANCELED;
	}
	return 0;
}

static void __exit keyuse_exit(void)
{
	static const struct jft_probe exit_probes[] = {
		JFT_PROBES(use_exit_false, jft_false),
		JFT_PROBES(use_exit_true, jft_true),
		JFT_PROBES(use_exit_own, use_false),
	};

	jft_run(KBUILD_MODNAME " __exit text", exit_probes, ARRAY_SIZE(exit_probes));
	/* A module on its way out: its own keys are closed, others' are not. */
	if (jf_key_enable(&use_false) != -EBUSY)
		jft_bad(KBUILD_MODNAME " exit", "own key could be changed");
	if (jf_key_inc(&jft_array_false[1]) || jf_key_dec(&jft_array_false[1]))
		jft_bad(KBUILD_MODNAME " exit", "another module's key could not be changed");
	jft_remove(&set);
}

module_init(keyuse_init);
module_exit(keyuse_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Branches on another module's keys");
