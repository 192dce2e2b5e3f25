/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The provider's offer to other modules: a filter that decides about
 * packets, a hook that sees them, and a quota.
 */
#ifndef JF_SAMPLE_H
#define JF_SAMPLE_H

#include <linux/types.h>

#include <jumpfunc/dynfunc.h>

struct sample_packet {
	unsigned int	len;
	u16		port;
};

/* Functions that give the dynamic ones their types. They need not exist. */
bool sample_filter_type(const struct sample_packet *p, unsigned int max);
void sample_hook_type(const struct sample_packet *p);
long sample_quota_type(u16 port);

DECLARE_DYNFUNC(sample_filter, sample_filter_type);
DECLARE_DYNFUNC(sample_hook, sample_hook_type);
DECLARE_DYNFUNC(sample_quota, sample_quota_type);

/* Runs a packet through all three. Returns the number of accepted bytes. */
long sample_receive(const struct sample_packet *p);

#endif /* JF_SAMPLE_H */
