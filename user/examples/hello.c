// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include <jumpfunc/branch.h>
#include <stdio.h>

DEFINE_JF_KEY_FALSE(greeting);

int main(int argc, char **argv)
{
	if (argc > 1 && jf_key_enable(&greeting))
		return 1;
	if (jf_branch_unlikely(&greeting))
		printf("hello, %s\n", argv[1]);
}
