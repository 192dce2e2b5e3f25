/* SPDX-License-Identifier: GPL-2.0 */
/* What jf_past*.c share. */
#ifndef JF_PAST_H
#define JF_PAST_H

#include <jumpfunc/dynfunc.h>

long past_type(long x);

#endif /* JF_PAST_H */
