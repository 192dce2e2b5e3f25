// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Names that the first file has as well, and very many of its own. */
#include "test_sdt.h"

int second(int x)
{
	DTRACE_PROBE1(jftest, twice, x);
	return shared_inline(x);
}

/* Another number of arguments: another probe of the same name. */
int second_few(int x)
{
	DTRACE_PROBE2(jftest, twice, x, x + 1);
	return x;
}

#define MANY_1(n)	DTRACE_PROBE2(jfmany, probe_##n, x, #n);
#define MANY_8(n)	MANY_1(n##0) MANY_1(n##1) MANY_1(n##2) MANY_1(n##3) MANY_1(n##4) MANY_1(n##5) MANY_1(n##6) MANY_1(n##7)
#define MANY_64(n)	MANY_8(n##0) MANY_8(n##1) MANY_8(n##2) MANY_8(n##3) MANY_8(n##4) MANY_8(n##5) MANY_8(n##6) MANY_8(n##7)
#define MANY_512(n)	MANY_64(n##0) MANY_64(n##1) MANY_64(n##2) MANY_64(n##3) MANY_64(n##4) MANY_64(n##5) MANY_64(n##6) MANY_64(n##7)
#define MANY_FUNCTION(n)	static int many_##n(int x) { MANY_512(n) return x; }

MANY_FUNCTION(0)
MANY_FUNCTION(1)

int many(int x)
{
	return many_0(x) + many_1(x);
}
