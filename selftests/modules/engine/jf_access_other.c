// SPDX-License-Identifier: GPL-2.0
/* A file of jf_access.ko with a dynamic function of a name that another one has. */
#include <linux/module.h>

#include "jf_access.h"

static noinline long one(long x) { return x - ACCESS_ONE; }
static noinline long two(long x) { return x - ACCESS_TWO; }

DEFINE_DYNFUNC_LOCAL(access_local, one);
DYNFUNC_TARGETS(access_local, one, two);
DEFINE_DYNFUNC_RET0_LOCAL(access_ret0, one);

long access_other(long x);
int access_other_set(bool second);

long access_other(long x)
{
	return dynfunc_call(access_local, x) + dynfunc_call(access_ret0, x);
}

int access_other_set(bool second)
{
	return dynfunc_update(access_local, second ? two : one);
}
