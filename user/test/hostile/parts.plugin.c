// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Compiled once for each part. */
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#define CAT_(a, b)	a##b
#define CAT(a, b)	CAT_(a, b)

int CAT(is_on, PART)(void);
int CAT(set, PART)(int on);

DEFINE_JF_KEY_FALSE(key);
static int off(void) { return 0; }
static int on(void) { return PART; }
DEFINE_DYNFUNC(op, off);

int CAT(is_on, PART)(void)
{
	return jf_branch_unlikely(&key) ? dynfunc_call(op) : 0;
}

int CAT(set, PART)(int to)
{
	int err = to ? jf_key_enable(&key) : jf_key_disable(&key);

	return err ? err : dynfunc_update(op, to ? on : off);
}
