/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* An inline function with a site, in a header of C++: one copy is kept; and such a key. */
#ifndef TEST_LIB_CXX_H
#define TEST_LIB_CXX_H

#include <jumpfunc/branch.h>

DECLARE_JF_KEY(cxx_shared);
inline DEFINE_JF_KEY_FALSE(cxx_header_key);

inline int cxx_inline(int x)
{
	return jf_branch_unlikely(&cxx_shared) ? x + 1 : x;
}

template<typename T> T cxx_template(T x)
{
	return jf_branch_likely(&cxx_shared) ? x + 1 : x;
}

int cxx_other(int x);
bool cxx_other_on();
int (*cxx_address(void))(int);

#endif /* TEST_LIB_CXX_H */
