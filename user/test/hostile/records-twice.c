// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Each site has two records, as where a linker keeps one of two functions that are the same,
 * and each allocation of the first change fails in its turn: the statistics count each
 * site once, however often that is tried.
 */
#include <jumpfunc/detail/table.h>

#define ONCE(sec, label, ent, flags)					\
	__JF_SECTION(sec)						\
	".balign 4\n\t"							\
	".long 771b - .\n\t"						\
	".long " label " - .\n\t"					\
	".long " ent " - .\n\t"						\
	".long " flags "\n\t"						\
	".popsection\n\t"
#undef __JF_SITE_REC_USER
#define __JF_SITE_REC_USER(sec, label, ent, flags)	ONCE(sec, label, ent, flags) ONCE(sec, label, ent, flags)

#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "hostile.h"
#include "maps.h"

DEFINE_JF_KEY_FALSE(key);

#define ONE	n += jf_branch_unlikely(&key);
#define TEN(m)	m m m m m m m m m m
#define SITES	100

static __attribute__((__noinline__)) int run(void)
{
	int n = 0;

	TEN(TEN(ONE))
	return n;
}

/* So many succeed; 0: all do. */
static int left;

FAILING_MMAP(left && !--left)

static int sites(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	return (int)s.sites;
}

int main(void)
{
	int n, err, failed = 0;

	MUST(sites() == 2 * SITES, "%d as records", sites());
	for (n = 1; n < 20; n++) {
		left = n;
		err = jf_key_enable(&key);
		left = 0;
		MUST(sites() == SITES || (sites() == 2 * SITES && err), "%d sites", sites());
		if (!err)
			break;
		MUST(err == -ENOMEM && !run(), "%s, %d on", strerror(-err), run());
		failed++;
	}
	MUST(failed > 1 && run() == SITES && sites() == SITES, "%d failed, %d sites", failed, sites());
	return 0;
}
