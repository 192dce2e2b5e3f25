/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A module whose tables are right, but for one thing that the including file
 * adds. bad.sh loads each of them and looks for the reason in the log.
 */
#include <linux/module.h>

#include <jumpfunc/dynfunc.h>

static noinline int good(int a)
{
	return a + 1;
}

DEFINE_DYNFUNC(badtab_key, good);
/* Looks like a key and stands in no table. */
static struct jf_func stray __used = __JF_FUNC_INIT(stray, good, 0);

static noinline __used int good_site(int a)
{
	return dynfunc_call(badtab_key, a);
}

static int __init badtab_init(void)
{
	pr_info("badtab: a bad table was accepted\n");
	return 0;
}

static void __exit badtab_exit(void)
{
}

/* One more table; its fields follow. */
#define TABLE(...)							\
static const struct jf_table bad_table = { __VA_ARGS__ };		\
module_param_cb(bad, &jf_table_ops, (void *)&bad_table, 0)

#define GOOD_HEAD							\
	.magic = JF_TABLE_MAGIC, .rec_size = JF_TABLE_REC_SIZE, .owner = THIS_MODULE

/* One more site, key or list of targets. */
#define SITE(addr, flags, ent)						\
asm(__JF_SECTION("__jf_sites", 1)					\
    ".balign 8\n\t.long " addr " - .\n\t.long " #flags "\n\t.quad " ent "\n\t.popsection")
#define ENT(ent, tramp, num, stride)	__JF_ENT_REC(ent, tramp, num, stride)
#define TARGETS(ent, list, num)						\
asm(__JF_SECTION("__jf_targets", 1)					\
    ".balign 8\n\t.quad " ent ", " list ", " #num "\n\t.popsection")

#define KEY	"__jf_func_badtab_key + 16"

module_init(badtab_init);
module_exit(badtab_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Has a table that must be refused");
