// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * A process of two threads that may make no more: text is written all the same, in copies for
 * this time, and a change that may have a thread writes in place again.
 */
#define _GNU_SOURCE
#include <jumpfunc/branch.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "second-thread.h"

#define UNPRIVILEGED	65534

DEFINE_JF_KEY_FALSE(key);
DEFINE_JF_KEY_FALSE(other);

/* Root has no such limit. */
static void limit_threads(rlim_t max)
{
	struct rlimit r;

	MUST(!getrlimit(RLIMIT_NPROC, &r), "%m");
	r.rlim_cur = max < r.rlim_max ? max : r.rlim_max;
	MUST(!setrlimit(RLIMIT_NPROC, &r), "%m");
}

static void toggle(struct jf_key *k)
{
	int err = jf_key_enable(k);

	MUST(!err && jf_branch_unlikely(&key) + jf_branch_unlikely(&other) == 1, "%s", strerror(-err));
	MUST(!jf_key_disable(k) && !jf_branch_unlikely(&key) && !jf_branch_unlikely(&other), "back");
}

int main(void)
{
	pthread_t t;

	if (!getuid() && (setresgid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) || setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) ||
			  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))) {
		printf("# not here\n");
		return 0;
	}
	MUST(!pthread_create(&t, NULL, waits, NULL), "thread");
	toggle(&key);
	if (strcmp(writer(), "mem")) {
		printf("# not here\n");
		return 0;
	}
	limit_threads(0);
	if (!pthread_create(&t, NULL, waits, NULL)) {
		printf("# there is no such limit here\n");
		return 0;
	}
	toggle(&key);
	MUST(!strcmp(writer(), "remap"), "%s", writer());
	limit_threads(RLIM_INFINITY);
	toggle(&other);
	MUST(!strcmp(writer(), "mem"), "%s", writer());
	return 0;
}
