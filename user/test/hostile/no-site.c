// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* A program without a site: the statistics are defined all the same. */
#include <jumpfunc/stats.h>

#include "hostile.h"

int main(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	MUST(!strcmp(s.writer, "none") && !s.why[0], "\"%s\" (%s)", s.writer, s.why);
	MUST(!strcmp(s.form, "flip") || !strcmp(s.form, "int3"), "\"%s\"", s.form);
	return 0;
}
