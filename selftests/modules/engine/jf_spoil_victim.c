// SPDX-License-Identifier: GPL-2.0
/*
 * A module whose tables are right: two functions, two sites, a list of targets. See
 * jf_spoil.c for how it spoils them.
 */
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

static noinline int good(int a)
{
	return a + 1;
}

DEFINE_DYNFUNC(victim_a, good);
DEFINE_DYNFUNC(victim_b, good);
DYNFUNC_TARGETS(victim_a, good);

static int __init victim_init(void)
{
	return 0;
}

/* Not __init text: it has to be there for longer. */
static void __exit victim_exit(void)
{
	pr_info("jf_spoil_victim: %d\n", dynfunc_call(victim_a, 1) + dynfunc_call(victim_a, 2));
}

module_init(victim_init);
module_exit(victim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Has tables that jf_spoil spoils");
