// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* The keys of test_lib_list.c that C++ cannot define: an array. */
#include <jumpfunc/branch.h>

DEFINE_JF_KEY_ARRAY_FALSE(host_keys, 3);
EXPORT_JF_KEY_ARRAY(host_keys);
