/* SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1 */
/* The code of sites in programs, by machine. Included by dynfunc_user.h and branch_user.h only. */
#ifndef JUMPFUNC_SITE_USER_H
#define JUMPFUNC_SITE_USER_H

#ifdef __x86_64__
#include <jumpfunc/detail/site_user_x86.h>
#else
#include <jumpfunc/detail/site_user_arm64.h>
#endif

#endif /* JUMPFUNC_SITE_USER_H */
