// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A shared object with probes, and with a subscriber. */
#include <jumpfunc/sdt.h>

#include "test_sdt.h"

int plugin_hit(int x);
void plugin_count(void *data, const struct jf_sdt *sdt, const unsigned long *words);

int plugin_hit(int x)
{
	DTRACE_PROBE1(jfplugin, hit, x);
	DTRACE_PROBE1(jftest, twice, x);
	return x;
}

void plugin_count(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)sdt;
	(void)words;
	++*(int *)data;
}
