// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <stdio.h>
#include <string.h>
#include <sys/sdt.h>

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "you";

	printf("hello, %s\n", name);
	DTRACE_PROBE2(hello, said, (int)strlen(name), name);
	return 0;
}
