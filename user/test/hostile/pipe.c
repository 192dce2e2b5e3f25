// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/* No process reads the library's messages. That is no reason to die. */
#include <jumpfunc/branch.h>
#include <signal.h>
#include <sys/resource.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

int main(int argc, char **argv)
{
	sigset_t pending;
	int fds[2];

	(void)argc;
	alarm(10);
	if (!getenv("JUMPFUNC")) {
		setenv("JUMPFUNC", "neither", 1);
		MUST(!pipe(fds), "pipe");
		close(fds[0]);
		dup2(fds[1], STDERR_FILENO);
		execv(argv[0], argv);
	}
	sigpending(&pending);
	MUST(!sigismember(&pending, SIGPIPE), "a signal is left");
	MUST(!jf_key_enable(&key), "enable");
	return 0;
}
