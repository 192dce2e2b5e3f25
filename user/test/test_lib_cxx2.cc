// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The second source file of test_lib_cxx.cc. */
#include "test_lib_cxx.h"

int cxx_other(int x)
{
	return cxx_inline(x) + cxx_template(x);
}

bool cxx_other_on()
{
	return jf_branch_unlikely(&cxx_header_key);
}

int (*cxx_address(void))(int)
{
	return cxx_inline;
}
