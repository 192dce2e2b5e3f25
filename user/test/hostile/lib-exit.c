// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Only a library that the program is linked with has tables. exit() while a
 * thread is in a section does not wait for that thread.
 */
#include "hostile.h"

void library_starts(void);

int main(void)
{
	alarm(5);
	library_starts();
	return 0;
}
