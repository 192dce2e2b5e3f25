// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* C that an exception goes through. It is linked if the compiler can do that. */
#include <stdlib.h>

static int ended;

static void end(int *value)
{
	ended += *value;
}

int main(void)
{
	__attribute__((__cleanup__(end))) int value = 1;

	/* To the compiler, it might throw. */
	return rand() < 0 ? value : 0;
}
