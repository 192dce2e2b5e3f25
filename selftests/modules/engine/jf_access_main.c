// SPDX-License-Identifier: GPL-2.0
/*
 * Permissions: a dynamic function that others can only call, one that they can
 * change, and pins of their modules; with another file of this module, dynamic
 * functions that share a name. See jf_test.h.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "jf_test.h"
#include "jf_access.h"

static noinline long one(long x) { return x + ACCESS_ONE; }
static noinline long two(long x) { return x + ACCESS_TWO; }

/* Others see its trampoline alone. */
DEFINE_DYNFUNC(access_call, one);
EXPORT_DYNFUNC_CALL_GPL(access_call);

DEFINE_DYNFUNC(access_open, one);
EXPORT_DYNFUNC_GPL(access_open);

/* The other file has one of that name. */
DEFINE_DYNFUNC_LOCAL(access_local, one);
DYNFUNC_TARGETS(access_local, one, two);
long access_other(long x);
int access_other_set(bool second);

/* Text of the other module, as long as that is there. */
extern void *access_guest_text;
void *access_guest_text;
EXPORT_SYMBOL_GPL(access_guest_text);

static int case_one(void)
{
	CHECK_EQ(dynfunc_update(access_call, one), 0);
	CHECK_EQ(dynfunc_access_call(1), 1 + ACCESS_ONE);
	return 0;
}

static int case_two(void)
{
	CHECK_EQ(dynfunc_update(access_call, two), 0);
	CHECK_EQ(dynfunc_access_call(1), 1 + ACCESS_TWO);
	return 0;
}

static int case_local(void)
{
	CHECK_EQ(dynfunc_call(access_local, 1), 1 + ACCESS_ONE);
	CHECK_EQ(access_other(1), 1 - ACCESS_ONE);
	CHECK_EQ(dynfunc_update(access_local, two), 0);
	CHECK_EQ(dynfunc_call(access_local, 1), 1 + ACCESS_TWO);
	CHECK_EQ(dynfunc_access_local(1), 1 + ACCESS_TWO);
	CHECK_EQ(access_other(1), 1 - ACCESS_ONE);
	CHECK_EQ(access_other_set(true), 0);
	CHECK_EQ(dynfunc_update(access_local, one), 0);
	CHECK_EQ(dynfunc_call(access_local, 1), 1 + ACCESS_ONE);
	CHECK_EQ(access_other(1), 1 - ACCESS_TWO);
	CHECK_EQ(access_other_set(false), 0);
	return 0;
}

static int set_open(const void *func, unsigned int flags)
{
	return __jf_func_update_flags(&__jf_func_access_open, (void *)func, flags);
}

/* Addresses that are not text, or belong to no module. None of it is ever called. */
static int case_foreign(void)
{
	static char data[16];
	void *heap = kmalloc(64, GFP_KERNEL), *area = vmalloc(PAGE_SIZE);

	CHECK_EQ(set_open(heap, 0), -EPERM);
	CHECK_EQ(set_open(area, 0), -EPERM);
	CHECK_EQ(set_open(data, 0), -EPERM);
	CHECK_EQ(set_open(data, JF_VOUCH), -EPERM);
	CHECK_EQ(set_open((void *)16, 0), -EPERM);
	/* Symbols of the kernel say no more than that they are its; page tables do. */
	if (JF_HAVE_PATCHING) {
		CHECK_EQ(set_open(&init_task, 0), -EPERM);
		CHECK_EQ(set_open(&jiffies_64, 0), -EPERM);
		/* Of rodata one that is linked early, and one of lib/. */
		CHECK_EQ(set_open((void *)cpu_all_bits, 0), -EPERM);
		CHECK_EQ(set_open((void *)_ctype, 0), -EPERM);
	}
	CHECK_EQ(dynfunc_query(access_open), one);
	/* The kernel's own is no foreign text. */
	CHECK_EQ(set_open(kfree, 0), 0);
	CHECK_EQ(dynfunc_update(access_open, one), 0);
	CHECK_EQ(dynfunc_call(access_open, 1), 1 + ACCESS_ONE);
	kfree(heap);
	vfree(area);
	return 0;
}

/* Text that the kernel made when it ran, and may free; not called either. */
static unsigned long generated;
module_param(generated, ulong, 0644);
MODULE_PARM_DESC(generated, "where such text is");

static int case_generated(void)
{
	if (!generated)
		return -ENOENT;
	CHECK_EQ(set_open((void *)generated, 0), -EPERM);
	CHECK_EQ(set_open((void *)generated, JF_PIN), -EPERM);
	CHECK_EQ(set_open((void *)generated, JF_VOUCH | JF_PIN), -EOPNOTSUPP);
	CHECK_EQ(dynfunc_query(access_open), one);
	CHECK_EQ(set_open((void *)generated, JF_VOUCH), 0);
	CHECK_EQ(dynfunc_update(access_open, one), 0);
	return 0;
}

/* Where a module was; nothing has been loaded since. */
static int case_freed(void)
{
	if (!access_guest_text)
		return -ENOENT;
	CHECK_EQ(set_open(access_guest_text, 0), -EPERM);
	CHECK_EQ(dynfunc_query(access_open), one);
	CHECK_EQ(set_open(access_guest_text, JF_VOUCH), 0);
	CHECK_EQ(dynfunc_query(access_open), access_guest_text);
	CHECK_EQ(dynfunc_update(access_open, one), 0);
	return 0;
}

static int case_back(void)
{
	CHECK_EQ(dynfunc_update(access_open, one), 0);
	return 0;
}

static int case_guest(void)
{
	CHECK_EQ(dynfunc_call(access_open, 1), 1 + ACCESS_GUEST);
	return 0;
}

const struct jft_case jft_cases[] = {
	{ "one", case_one },
	{ "two", case_two },
	{ "local", case_local },
	{ "foreign", case_foreign },
	{ "generated", case_generated },
	{ "freed", case_freed },
	{ "guest", case_guest },
	{ "back", case_back },
	{ }
};

module_init(jft_init);
module_exit(jft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Dynamic functions that others may call, change, or not see");
