// SPDX-License-Identifier: GPL-2.0
/* A module with some thousand symbols, and targets among them. */
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/stringify.h>

#include "jf_hide.h"

/*
 * Names, each with the name of a part that the compiler could have split off. objtool accepts nops
 * that are never executed.
 */
#define HIDE_NAMES	4000
/* Of three nops. */
#define HIDE_STRIDE	(IS_ENABLED(CONFIG_ARM64) ? 12 : 3)

#ifndef __JF_NOENDBR
#define __JF_NOENDBR
#endif

extern u8 hide_symbol_0[];

asm(".pushsection .text\n"
    ".set hide_n, 0\n"
    ".altmacro\n"
    ".macro hide_symbol n\n"
    "hide_symbol_\\n:\n"
    "	nop\n"
    "	nop\n"
    "hide_symbol_\\n\\().cold:\n"
    "	nop\n"
    ".size hide_symbol_\\n\\().cold, . - hide_symbol_\\n\\().cold\n"
    ".endm\n"
    __JF_NOENDBR
    ".rept " __stringify(HIDE_NAMES) "\n"
    "hide_symbol %hide_n\n"
    ".set hide_n, hide_n + 1\n"
    ".endr\n"
    ".noaltmacro\n"
    ".popsection\n");

#define HIDE_LARGE(n) \
static noinline u64 hide_large_##n(u64 x) \
{ \
	barrier(); \
	return x + 10 + (n); \
}
HIDE_LARGE(0)
HIDE_LARGE(1)
HIDE_LARGE(2)
HIDE_LARGE(3)
HIDE_LARGE(4)
HIDE_LARGE(5)
HIDE_LARGE(6)
HIDE_LARGE(7)

static bool one;
module_param(one, bool, 0444);
MODULE_PARM_DESC(one, "one target instead of eight (default N)");

static unsigned int names;
module_param(names, uint, 0444);
MODULE_PARM_DESC(names, "so many of the names are the targets (default 0: none is)");

static int hide_large_names(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < min(names, HIDE_NAMES); i++)
		err = dynfunc_update(hide_op, (u64 (*)(u64))(hide_symbol_0 + HIDE_STRIDE * i));
	return err ?: dynfunc_update(hide_op, hide_pass);
}

static int __init hide_large_init(void)
{
	int err;

	if (names)
		return hide_large_names();
	err = dynfunc_update(hide_op, hide_large_0);
	if (one)
		return err ?: dynfunc_update(hide_op, hide_pass);
	err = err ?: dynfunc_update(hide_op, hide_large_1);
	err = err ?: dynfunc_update(hide_op, hide_large_2);
	err = err ?: dynfunc_update(hide_op, hide_large_3);
	err = err ?: dynfunc_update(hide_op, hide_large_4);
	err = err ?: dynfunc_update(hide_op, hide_large_5);
	err = err ?: dynfunc_update(hide_op, hide_large_6);
	err = err ?: dynfunc_update(hide_op, hide_large_7);
	return err ?: dynfunc_update(hide_op, hide_pass);
}

static void __exit hide_large_exit(void)
{
}

module_init(hide_large_init);
module_exit(hide_large_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A module with some thousand symbols");
