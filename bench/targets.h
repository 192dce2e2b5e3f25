/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declares the targets by name, for files that call them directly.
 */
#ifndef JFB_TARGETS_H
#define JFB_TARGETS_H

#include "bench.h"
#include "repeat.h"

#define JFB_DECLARE_TARGET(i)	jfb_fn jfb_target_##i;

JFB_REP64(JFB_DECLARE_TARGET, t)

#define JFB_DECLARE_PROBE(i)	jfb_probe_fn jfb_probe_##i;
JFB_REP8(JFB_DECLARE_PROBE, p)

struct jf_entry;

void jfb_entered(unsigned long arg);
void jfb_not_entered(unsigned long arg);
void jfb_entry_probe(void *data, const struct jf_entry *e,
		     unsigned long caller, const void *args);

#endif /* JFB_TARGETS_H */
