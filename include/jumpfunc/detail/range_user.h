/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/*
 * All elements of an array, in C. Included by macros.h only.
 *
 * No standard has a form for it, and no __extension__ can stand in front of it. So that
 * -pedantic says nothing, gcc takes this one macro for the system's, and clang is told so at
 * each use, where gcc would not have it.
 */
#ifndef JUMPFUNC_RANGE_USER_H
#define JUMPFUNC_RANGE_USER_H

#ifdef __clang__
#define __JF_ALL_OF(n, ...)						\
	_Pragma("clang diagnostic push")				\
	_Pragma("clang diagnostic ignored \"-Wgnu-designator\"")	\
	{ [0 ... (n) - 1] = __VA_ARGS__ }				\
	_Pragma("clang diagnostic pop")
#else
#pragma GCC system_header
#define __JF_ALL_OF(n, ...)	{ [0 ... (n) - 1] = __VA_ARGS__ }
#endif

#endif /* JUMPFUNC_RANGE_USER_H */
