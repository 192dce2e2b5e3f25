// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A program writes its title over the environment that it came with, as setproctitle()
 * does. Its settings are still in force.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "again.h"

DEFINE_JF_KEY_FALSE(key);

extern char **environ;

static void changes(const char *asked)
{
	char writer[16];
	struct jf_stats s;
	char **e;
	int i;

	snprintf(writer, sizeof(writer), "%s", asked);
	for (e = environ; *e; e++)
		memset(*e, 't', strlen(*e));
	for (i = 1; i < 4; i++) {
		MUST(!(i & 1 ? jf_key_enable(&key) : jf_key_disable(&key)), "%s: %d", writer, i);
		MUST(jf_branch_unlikely(&key) == (i & 1), "%s: %d", writer, i);
	}
	jf_stats_get(&s, sizeof(s));
	MUST(!strcmp(s.writer, writer), "%s instead of %s", s.writer, writer);
}

int main(int argc, char **argv)
{
	static const char *const writers[] = { "mem", "remap" };
	int i;

	alarm(10);
	if (argc > 1) {
		changes(getenv("JUMPFUNC_WRITER"));
		return 0;
	}
	for (i = 0; i < 2; i++)
		must_run(argv[0], writers[i], writers[i]);
	return 0;
}
