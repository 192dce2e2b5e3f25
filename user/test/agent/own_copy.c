// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program with libjumpfunc.a in it, under the agent, which brings libjumpfunc.so: one note right
 * before a site, and one that is not. Prints the side of the branch for a key that is off, on and
 * off.
 */
#include <stdio.h>

#include <sys/sdt.h>

#include <jumpfunc/branch.h>

static DEFINE_JF_KEY_FALSE(own_key);

__attribute__((__noinline__))
static int own_branch(int a)
{
	DTRACE_PROBE1(jfown, beside, a);
	if (jf_branch_unlikely(&own_key))
		return a + 2;
	return a + 1;
}

__attribute__((__noinline__))
static int own_note(int a)
{
	DTRACE_PROBE1(jfown, note, a);
	/* The bytes there belong to no site, however far a jump reaches. */
	__asm__ volatile("nopl 0(%rax,%rax)\n\tnopl 0(%rax,%rax)");
	return a;
}

int main(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (i && (i & 1 ? jf_key_enable(&own_key) : jf_key_disable(&own_key)))
			return 2;
		printf("%d\n", own_branch(own_note(5)));
	}
	return 0;
}
