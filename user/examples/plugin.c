// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/dynfunc.h>
#include <stdio.h>

int any(int n);
IMPORT_DYNFUNC(price, any);             /* any function of its type, which need not be defined */

static int twice(int n)
{
	return 2 * n;
}

__attribute__((constructor)) static void begin(void)
{
	if (dynfunc_update(price, twice))
		fprintf(stderr, "the plugin has changed nothing\n");
}
