// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * Branches that were compiled for another first value than their key has, as if a source
 * file had a declaration of its own: they are written when the program starts. Where that
 * is not possible a message says so, with every change refused. A key that is known as a
 * parameter has a test.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>

#include "again.h"

DEFINE_JF_KEY_FALSE(off);
DEFINE_JF_KEY_TRUE(on);

static inline __attribute__((__always_inline__)) bool is(struct jf_key *key)
{
	return jf_branch_unlikely(key) && jf_branch_likely(key);
}

int is_off(void);
int is_on(void);
__attribute__((__noinline__)) int is_off(void)
{
	return jf_branch_unlikely((__jf_key_true *)&off) + 2 * jf_branch_likely(&off);
}

__attribute__((__noinline__)) int is_on(void)
{
	return jf_branch_unlikely((__jf_key_false *)&on) + 2 * jf_branch_likely(&on);
}

static void written(void)
{
	struct jf_stats s;

	jf_stats_get(&s, sizeof(s));
	MUST(s.patched >= 4, "%d", (int)s.patched);
	MUST(is_off() == 0 && is_on() == 3 && !is(&off) && is(&on), "%d, %d", is_off(), is_on());
	MUST(!jf_key_enable(&off) && !jf_key_disable(&on), "a change");
	MUST(is_off() == 3 && is_on() == 0 && is(&off) && !is(&on), "%d, %d", is_off(), is_on());
	MUST(!jf_key_disable(&off) && !jf_key_enable(&on), "back");
	MUST(is_off() == 0 && is_on() == 3 && !is(&off) && is(&on), "%d, %d", is_off(), is_on());
}

static void not_written(void)
{
	MUST(is_off() == 1 && is_on() == 2 && !is(&off) && is(&on), "%d, %d", is_off(), is_on());
	MUST(jf_key_enable(&off) == -EOPNOTSUPP && jf_key_disable(&on) == -EOPNOTSUPP, "changed");
	MUST(!jf_key_enabled(&off) && jf_key_enabled(&on), "changed");
}

int main(int argc, char **argv)
{
	char text[1024] = "";
	int fd[2];

	alarm(10);
	if (argc > 1) {
		if (strcmp(argv[1], "none"))
			written();
		else
			not_written();
		return 0;
	}
	must_run(argv[0], "mem", "mem");
	must_run(argv[0], "remap", "remap");
	MUST(!pipe(fd) && dup2(fd[1], STDERR_FILENO) == STDERR_FILENO, "a pipe");
	must_run(argv[0], "none", "none");
	MUST(read(fd[0], text, sizeof(text) - 1) > 0, "no message");
	MUST(strstr(text, "off: source files declare it otherwise") &&
	     strstr(text, "on: source files declare it otherwise"), "%s", text);
	return 0;
}
