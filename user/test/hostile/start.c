// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program whose branches are right as compiled: when it starts no page of its text is
 * copied, nor when another key changes; and a change copies the pages of its own sites.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <stdint.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(off);
DEFINE_JF_KEY_TRUE(on);
DEFINE_JF_KEY_FALSE(other);

#define A_PAGE __attribute__((__noinline__, __aligned__(4096)))

int is_off(void);
int is_on(void);
int is_other(void);
int last(void);
A_PAGE int is_off(void) { return jf_branch_unlikely(&off) + 2 * jf_branch_likely(&off); }
A_PAGE int is_on(void) { return jf_branch_unlikely(&on) + 2 * jf_branch_likely(&on); }
A_PAGE int is_other(void) { return jf_branch_unlikely(&other); }
A_PAGE int last(void) { return 0; }

/* Copied pages of the mapping that @func is in, in kB. */
static int copied(int (*func)(void))
{
	uintptr_t at = (uintptr_t)func, from, to;
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	int kb = -1, here = 0;

	MUST(f, "no smaps");
	while (kb < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = at >= from && at < to;
		else if (here)
			sscanf(line, "Anonymous: %d", &kb);
	}
	fclose(f);
	return kb;
}

static int first_byte(int (*func)(void))
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)func;
	int i;

	for (i = 0; i < 16; i++)
		if (p[i] == 0xe9 || !memcmp(p + i, "\x0f\x1f\x44\x00\x00", 5))
			return p[i];
	return -1;
}

int main(void)
{
	struct jf_stats s;

	MUST(first_byte(is_off) == 0x0f && first_byte(is_on) == 0xe9, "%#x, %#x",
	     first_byte(is_off), first_byte(is_on));
	MUST(is_off() == 0 && is_on() == 3 && is_other() == 0, "%d, %d", is_off(), is_on());
	jf_stats_get(&s, sizeof(s));
	MUST(s.sites == 5 && s.keys == 3 && !s.patched && !s.syncs, "%d sites, %d patched",
	     (int)s.sites, (int)s.patched);
	MUST(copied(is_off) == 0, "%d kB", copied(is_off));
	MUST(!jf_key_enable(&on) && !jf_key_disable(&off) && copied(is_off) == 0, "no change");
	MUST(!jf_key_enable(&other) && is_other() == 1, "a change");
	MUST(copied(is_off) == 4, "%d kB for a site in one page", copied(is_off));
	MUST(!jf_key_enable(&off) && !jf_key_disable(&on) && copied(is_off) == 12, "%d kB",
	     copied(is_off));
	MUST(is_off() == 3 && is_on() == 0, "changed: %d, %d", is_off(), is_on());
	MUST(!jf_key_disable(&off) && !jf_key_enable(&on), "back");
	MUST(is_off() == 0 && is_on() == 3, "back: %d, %d", is_off(), is_on());
	MUST(first_byte(is_off) == 0x0f && first_byte(is_on) == 0xe9, "%#x, %#x",
	     first_byte(is_off), first_byte(is_on));
	return last();
}
