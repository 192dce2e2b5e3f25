// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* With: jf-sdt --run cc -c calls.c, and linked with -ljumpfunc */
#include <stdio.h>
#include <string.h>

/* No file defines these: their calls are the probe hello:said. */
void __dtrace_hello___said(unsigned long length, const char *name);
int __dtraceenabled_hello___said(void);

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "you";

	printf("hello, %s\n", name);
	if (__dtraceenabled_hello___said())
		__dtrace_hello___said(strlen(name), name);
	return 0;
}
