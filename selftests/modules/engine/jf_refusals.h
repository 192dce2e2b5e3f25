/* SPDX-License-Identifier: GPL-2.0 */
/* A dynamic function of jf_refusals.ko that jf_refusals_target.ko tries to lead into itself. */
#ifndef JF_REFUSALS_H
#define JF_REFUSALS_H

#include <jumpfunc/dynfunc.h>

int bad_shared_type(int a);
DECLARE_DYNFUNC(bad_shared, bad_shared_type);

#endif
