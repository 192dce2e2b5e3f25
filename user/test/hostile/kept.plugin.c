// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that follows a key of the program's. */
#include <jumpfunc/branch.h>

DECLARE_JF_KEY(shared_key);
IMPORT_JF_KEY(shared_key);

/* In one page, with a byte of the file that looks like a breakpoint. */
__attribute__((__noinline__, __aligned__(4096))) int plugin_other(void);
int plugin_other(void)
{
	return 0xcccc;
}

int plugin_is_on(void);
int plugin_is_on(void)
{
	return jf_branch_unlikely(&shared_key);
}
