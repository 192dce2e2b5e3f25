// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A call that the library does not find, since there is an indirect jump on the way: nothing says
 * where that leads. It stays a call of the trampoline: it is counted, said with JUMPFUNC=verbose,
 * and follows all changes.
 */
#include <fcntl.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>

#include "hostile.h"

static int one(int i) { return i + 1; }
static int two(int i) { return i + 2; }
DEFINE_DYNFUNC(op, one);

static inline __attribute__((__always_inline__)) int by_a_jump(int i)
{
	void *to;

	__asm__ volatile("lea 1f(%%rip), %0\n\tjmp *%0\n1:" : "=r" (to));
	return i;
}

__attribute__((__noinline__)) static int unfound(int i)
{
	return dynfunc_call(op, by_a_jump(i)) + 10;
}

__attribute__((__noinline__)) static int found(int i)
{
	return dynfunc_call(op, i) + 10;
}

int main(int argc, char **argv)
{
	const char *verbose = getenv("JUMPFUNC");
	char said[4096] = "";
	struct jf_stats s;
	int i, fd;

	if (!verbose || !*verbose) {
		setenv("JUMPFUNC", "verbose", 1);
		/* Else none is looked for. */
		setenv("JUMPFUNC_TRAP", "always", 1);
		snprintf(said, sizeof(said), "%s.said", argv[0]);
		fd = open(said, O_RDWR | O_CREAT | O_TRUNC, 0600);
		MUST(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO, "%s: %m", said);
		execl(argv[0], argv[0], said, NULL);
		MUST(0, "%m");
	}
	MUST(argc == 2, "run.sh sets JUMPFUNC");
	jf_stats_get(&s, sizeof(s));
	MUST(s.trampolined == 1, "%llu", (unsigned long long)s.trampolined);
	fd = open(argv[1], O_RDONLY);
	MUST(fd >= 0 && read(fd, said, sizeof(said) - 1) > 0, "nothing was said");
	MUST(strstr(said, "1 calls were not found"), "%s", said);
	unlink(argv[1]);
	for (i = 0; i < 10; i++) {
		MUST(!dynfunc_update(op, i % 2 ? one : two), "update");
		MUST(unfound(5) == (i % 2 ? 16 : 17) && found(5) == unfound(5), "%d", unfound(5));
	}
	return 0;
}
