/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For all suites: KUnit, whether the kernel brings it or kunit.ko of lib/ does.
 *
 * JFK_SUITES(&a, &b): the suites of a module, once per module.
 */
#ifndef JFK_H
#define JFK_H

#include <linux/module.h>

#include <kunit/test.h>

#ifdef JFK_OWN_KUNIT

#ifdef JFK_RUN_TESTS
#define JFK_RUN_ARGS	, true
#else
#define JFK_RUN_ARGS
#endif

/* The kernel does not search a module for suites, so the module runs them. */
#define JFK_SUITES(...)							\
	static struct kunit_suite *jfk_suites[] = { __VA_ARGS__ };	\
									\
	static int __init jfk_module_init(void)				\
	{								\
		return __kunit_test_suites_init(jfk_suites,		\
				ARRAY_SIZE(jfk_suites) JFK_RUN_ARGS);	\
	}								\
	module_init(jfk_module_init);						\
									\
	static void __exit jfk_module_exit(void)				\
	{								\
		__kunit_test_suites_exit(jfk_suites,			\
					 ARRAY_SIZE(jfk_suites));	\
	}								\
	module_exit(jfk_module_exit);						\
	MODULE_DESCRIPTION("KUnit suites of jumpfunc");			\
	MODULE_LICENSE("GPL")

#else /* !JFK_OWN_KUNIT */

#define JFK_SUITES(...)							\
	kunit_test_suites(__VA_ARGS__);					\
	MODULE_DESCRIPTION("KUnit suites of jumpfunc");			\
	MODULE_LICENSE("GPL")

#endif

#endif /* JFK_H */
