// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Sample: jf_sample_both_middle.c as a program:
 *   cc jf_sample_both_middle.c jf_sample_both_program.c $(pkg-config --cflags --libs jumpfunc)
 */
#include <stdio.h>

#include "jf_sample_both.h"

static void say(const char *what, long value)
{
	printf("%s: %ld\n", what, value);
}

int main(void)
{
	return both_run(say) ? 1 : 0;
}
