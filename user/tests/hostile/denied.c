// SPDX-License-Identifier: GPL-2.0
/*
 * A program is started under a filter that denies one system call. Its keys work.
 */
#include <jumpfunc/branch.h>
#include <jumpfunc/stats.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "hostile.h"

DEFINE_JF_KEY_FALSE(key);

static void deny(unsigned int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { 4, code };

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl");
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), "seccomp");
}

int main(int argc, char **argv)
{
	struct jf_stats s;
	int err;

	alarm(20);
	if (argc > 2 && !strcmp(argv[2], "exec")) {
		deny((unsigned int)atoi(argv[1]));
		execl(argv[0], argv[0], argv[1], NULL);
	}
	if (argc > 2) { /* later */
		MUST(!jf_key_enable(&key) && jf_branch_unlikely(&key), "before");
		deny((unsigned int)atoi(argv[1]));
		jf_key_disable(&key);
	}
	err = jf_key_enable(&key);
	jf_stats_get(&s, sizeof(s));
	printf("# writer %s, %s, why %s\n", s.writer, s.form, s.why);
	MUST(!err, "enable: %s", strerror(-err));
	MUST(jf_branch_unlikely(&key), "the branch");
	err = jf_key_disable(&key);
	MUST(!err, "disable: %s", strerror(-err));
	MUST(!jf_branch_unlikely(&key), "the branch");
	return 0;
}
