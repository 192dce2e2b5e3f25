// SPDX-License-Identifier: GPL-2.0
/*
 * The second object file of jf_keys.ko: sites of keys that another object file
 * defines, and a static key of the same name as one there.
 */
#include "jf_keys.h"

static DEFINE_JF_KEY_TRUE(jft_static);

JFT_EXPORTED_FUNCS(part, )
JFT_PROBE_FUNCS(part_static, jft_static, )

static const struct jft_probe probes[] = {
	JFT_EXPORTED_PROBES(part),
	JFT_PROBES(part_static, jft_static),
};

static struct jft_key keys[] = {
	{ "part's jft_static", &jft_static, false, true, 1 },
};

extern struct jft_set jft_part;

struct jft_set jft_part = {
	.name = "second object file",
	.keys = keys,
	.num_keys = ARRAY_SIZE(keys),
	.probes = probes,
	.num_probes = ARRAY_SIZE(probes),
};
