// SPDX-License-Identifier: GPL-2.0
/*
 * A tracepoint in a function whose name is longer than any buffer that the kernel has for
 * a symbol's name, and its module's.
 */
#include <linux/module.h>

#include <jumpfunc/tracepoint.h>

#define TEN(x)		x x x x x x x x x x
/* With padding before functions objtool makes a symbol __pfx_NAME of each, in 512 bytes. */
#ifdef CONFIG_CALL_PADDING
#define LONG_NAME	TEN(TEN("long_"))
#else
#define LONG_NAME	TEN(TEN("longer_name_"))
#endif

DECLARE_JF_TRACE(long_name, JF_PROTO(unsigned long a), JF_ARGS(a));
DEFINE_JF_TRACE(long_name);

static void hit(unsigned long a) asm(LONG_NAME);

static noinline __noclone void hit(unsigned long a)
{
	jf_trace_long_name(a);
}

static char *function = LONG_NAME;
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "the function's name");

static int __init long_init(void)
{
	hit(1);
	return 0;
}

static void __exit long_exit(void)
{
}

module_init(long_init);
module_exit(long_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a tracepoint in a function with a very long name");
