// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* Under valgrind changed text is executed as well. */
#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

int one(int i);
int two(int i);
int one(int i) { return i + 1; }
int two(int i) { return i + 2; }

DEFINE_DYNFUNC(op, one);

int main(void)
{
	int i, n;

	alarm(60);
	for (i = 0; i < 20; i++) {
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "round %d", i);
		MUST(!dynfunc_update(op, i & 1 ? two : one), "round %d", i);
		for (n = 0; n < 5; n++) {
			MUST(jf_branch_unlikely(&key) == (i & 1), "round %d", i);
			MUST(dynfunc_op(0) == 1 + (i & 1), "round %d", i);
		}
	}
	return 0;
}
