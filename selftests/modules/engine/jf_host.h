/* SPDX-License-Identifier: GPL-2.0 */
/* A dynamic function of jf_host.ko, for which jf_plain.ko and jf_user.ko have targets. */
#ifndef JF_KEYS_H
#define JF_KEYS_H

#include <linux/types.h>

/* Each target adds another number to its argument, which tells them apart. */
#define KEYS_INITIAL	1
#define KEYS_PLAIN	1000
#define KEYS_USER	2000

u64 keys_type(u64 x);

#endif
