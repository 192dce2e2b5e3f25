/* SPDX-License-Identifier: GPL-2.0 */
/* The functions and keys of jf_access.ko that others can call, and those that they can change. */
#ifndef JF_ACCESS_H
#define JF_ACCESS_H

#include <jumpfunc/dynfunc.h>

long access_type(long x);

#define ACCESS_ONE	100
#define ACCESS_TWO	200
#define ACCESS_GUEST	1000

#endif /* JF_ACCESS_H */
