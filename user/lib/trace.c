// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
#include "lib.h"
void jf_trace_object_goes(const struct jf_mod *mod)
{
	(void)mod;
}
