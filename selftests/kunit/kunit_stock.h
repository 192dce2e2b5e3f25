/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KUnit on a kernel that was built without it; included in front of everything.
 *
 * lib/kunit of the matching linux-source package is copied here when the tests
 * are built, and becomes a module of its own, kunit.ko. Its needs of a kernel with CONFIG_KUNIT,
 * and their substitutes:
 *
 *   CONFIG_KUNIT=m		set below, but only after the headers of the
 *				structs whose layout would depend on it
 *   current->kunit_test	journal_info: a pointer per task that only file
 *				systems use, inside of their transactions
 *   module->kunit_suites	none: jfk.h runs the suites from module_init()
 *   the kernel's hooks.o	linked into kunit.ko
 */
#ifndef JFK_KUNIT_STOCK_H
#define JFK_KUNIT_STOCK_H

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#define CONFIG_KUNIT_MODULE			1
#define CONFIG_KUNIT_DEFAULT_ENABLED		1
#define CONFIG_KUNIT_DEFAULT_TIMEOUT		300
#define CONFIG_KUNIT_AUTORUN_ENABLED		1
#define CONFIG_KUNIT_DEFAULT_FILTER_GLOB	""
#define CONFIG_KUNIT_DEFAULT_FILTER		""
#define CONFIG_KUNIT_DEFAULT_FILTER_ACTION	""

#define kunit_test	journal_info

/* hooks.c names it before anything declares it. */
struct kunit;

#ifdef JFK_KUNIT_TEST_C	/* lib/kunit/test.c */
#include <kunit/test.h>
#include <kunit/test-bug.h>

/*
 * Its notifier for modules uses fields of struct module that are not there:
 * it compiles against a struct that has them, and is never registered.
 */
struct jfk_module {
	struct kunit_suite	**kunit_suites, **kunit_init_suites;
	int			num_kunit_suites, num_kunit_init_suites;
};
#define module				jfk_module
#define register_module_notifier(nb)	({ (void)(nb); 0; })
#define unregister_module_notifier(nb)	register_module_notifier(nb)

/* And it is the one file that cares for the type of current->kunit_test. */
#undef kunit_test
struct jfk_task {
	char			pad[offsetof(struct task_struct, journal_info)];
	struct kunit		*kunit_test;
};
#undef current
#define current				((struct jfk_task *)get_current())
#endif

#endif /* JFK_KUNIT_STOCK_H */
