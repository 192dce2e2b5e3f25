// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* An object that calls a function of its user: NAME says by which function. */
int NAME(int (*fn)(int), int n);

int NAME(int (*fn)(int), int n)
{
	return fn(n) + 1;
}
