/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of jf_observed for others to observe, and to replace. */
#ifndef JF_OBSERVED_H
#define JF_OBSERVED_H

/* Targets of a dynamic function; its caller; probes. */
long obs_one(long x);
long obs_two(long x);
long obs_site(long x);
long obs_tramp(long x);
void obs_event(long x);
void obs_single(void *data, long x);
void obs_chain_a(void *data, long x);
void obs_chain_b(void *data, long x);

#endif /* JF_OBSERVED_H */
