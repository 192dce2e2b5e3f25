// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The behaviour of libjumpfunc where something is denied: by a seccomp filter, by a
 * policy that nothing may become executable, by sealed text, by a missing /proc.
 *
 * First denials from the start: the whole test_lib-tested, whose branches lead to tests, runs below
 * each denial, and has to find the writer that is left. Then denials to this program, whose
 * branches do not, before the first change, or when text has been written: a change succeeds, or is
 * refused and changes nothing. With "int3" as well as the path this is done with
 * JUMPFUNC_TRAP=always, where changes need a handler for SIGTRAP.
 *
 * usage: test_lib_deny PATH-OF-TEST_LIB-TESTED [int3]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <jumpfunc/branch.h>
#include <jumpfunc/dynfunc.h>
#include <jumpfunc/stats.h>

#include "tap.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE		65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#ifndef SYS_mseal
#define SYS_mseal		462
#endif

/* JUMPFUNC_TRAP=always */
static bool int3;

/* --- ways to deny --------------------------------------------------------------- */

static int install(const struct sock_filter *code, unsigned short num)
{
	struct sock_fprog prog = { .len = num, .filter = (struct sock_filter *)code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog))
		return -errno;
	return 0;
}

/* Let a system call fail, for all threads; with @arg2: if it has this bit there. */
static int deny_if(long nr, int err, unsigned int arg2)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, arg2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_filter always[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (!arg2)
		return install(always, 4);
	return install(code, 6);
}

static int no_mem(void)
{
	return deny_if(SYS_pwrite64, EACCES, 0);
}

static int no_mremap(void)
{
	return deny_if(SYS_mremap, EPERM, 0);
}

static int no_mem_no_mremap(void)
{
	int err = no_mem();

	return err ? err : no_mremap();
}

/* As SELinux does without execmod and execmem, but /proc/self/mem is open. */
static int no_exec_gain(void)
{
	return deny_if(SYS_mprotect, EACCES, PROT_EXEC);
}

static int no_mem_no_exec_gain(void)
{
	int err = no_mem();

	return err ? err : no_exec_gain();
}

static int no_membarrier(void)
{
	return deny_if(SYS_membarrier, ENOSYS, 0);
}

static int no_sigaction(void)
{
	/* Of SIGTRAP alone would need another look; this is more. */
	return deny_if(SYS_rt_sigaction, EPERM, 0);
}

static int mdwe(void)
{
	return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) ? -errno : 0;
}

static int mdwe_no_mem(void)
{
	int err = mdwe();

	return err ? err : no_mem();
}

static int no_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		return -errno;
	return 0;
}

static int undumpable(void)
{
	/* Needs another user, or /proc/self/mem is root's and we are root. */
	if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 0))
		return -errno;
	return 0;
}

/* --- from the start --------------------------------------------------------------- */

struct early {
	const char *name;
	int (*deny)(void);
	const char *writer;	/* NULL: it depends on the form */
};

static const struct early at_start[] = {
	{ "no pwrite()", no_mem, "remap" },
	{ "no pwrite(), no mremap()", no_mem_no_mremap, "none" },
	{ "nothing becomes executable", no_exec_gain, "mem" },
	{ "the same, and no pwrite()", no_mem_no_exec_gain, "none" },
	{ "no membarrier()", no_membarrier, "none" },
	{ "no sigaction()", no_sigaction, NULL },
	{ "memory-deny-write-execute", mdwe, "mem" },
	{ "the same, and no pwrite()", mdwe_no_mem, "none" },
	{ "no /proc", no_proc, "remap" },
};

static const char *writer_of(const struct early *e)
{
	return e->writer ? e->writer : int3 ? "none" : "mem";
}

/* The child's exit status: 77 if this cannot be denied here. */
static int run(const char *path, const struct early *e)
{
	pid_t pid = fork();
	int status = 0, err;

	if (!pid) {
		err = e->deny();
		if (err) {
			printf("# %s: %s\n", e->name, strerror(-err));
			fflush(stdout);
			_exit(77);
		}
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		execl(path, path, writer_of(e), int3 ? "int3" : "flip", "denied", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void from_the_start(const char *path)
{
	size_t i;

	for (i = 0; i < sizeof(at_start) / sizeof(at_start[0]); i++) {
		const struct early *e = &at_start[i];
		char name[128];
		int rc = run(path, e);

		CHECK(rc == 0 || rc == 77, "test_lib ends with %d", rc);
		snprintf(name, sizeof(name), "from the start: %s: %s%s", e->name,
			 writer_of(e),
			 rc == 77 ? " # SKIP cannot be denied here" : "");
		finish(name);
	}
}

/* --- later ------------------------------------------------------------------------- */

static DEFINE_JF_KEY_FALSE(key);

static int one(void) { return 1; }
static int two(void) { return 2; }
DEFINE_DYNFUNC(func, one);

__attribute__((__noinline__)) static int branch(void)
{
	return jf_branch_unlikely(&key);
}

static int seal_text(void)
{
	uintptr_t page = (uintptr_t)branch & ~4095UL;

	if (syscall(SYS_mseal, page, 4096, 0))
		return -errno;
	page = (uintptr_t)dynfunc_func & ~4095UL;
	return syscall(SYS_mseal, page, 4096, 0) ? -errno : 0;
}

struct late {
	const char *name;
	int (*deny)(void);
	bool thread;		/* there is another one */
	int err;		/* of a change; 1: it depends on the form */
};

static const struct late afterwards[] = {
	{ "no pwrite(): remap takes over", no_mem, true, 0 },
	{ "no pwrite(), no mremap(): refused", no_mem_no_mremap, true, -EOPNOTSUPP },
	{ "no membarrier(), threads: refused", no_membarrier, true, -EOPNOTSUPP },
	{ "no membarrier(), no thread: it is not needed", no_membarrier, false, 0 },
	{ "no sigaction(), threads: refused if INT3 needs it", no_sigaction, true, 1 },
	{ "no sigaction(), no thread: it is not needed", no_sigaction, false, 0 },
	{ "sealed text: can be written", seal_text, true, 0 },
	{ "memory-deny-write-execute", mdwe, true, 0 },
	{ "not dumpable", undumpable, true, 0 },
};

/* Before the first change; text is as the linker left it, but for trampolines. */
static const struct late before[] = {
	{ "no pwrite(): remap", no_mem, true, 0 },
	{ "no pwrite(), no mremap(): refused", no_mem_no_mremap, true, -EOPNOTSUPP },
	{ "no pwrite(), no mremap(), no thread: refused", no_mem_no_mremap, false, -EOPNOTSUPP },
	{ "no membarrier(), threads: refused", no_membarrier, true, -EOPNOTSUPP },
	{ "no membarrier(), no thread: it is not needed", no_membarrier, false, 0 },
	{ "memory-deny-write-execute", mdwe, true, 0 },
	{ "the same, and no pwrite(): refused", mdwe_no_mem, true, -EOPNOTSUPP },
	{ "no /proc: remap", no_proc, true, 0 },
	{ "not dumpable", undumpable, true, 0 },
};

static void *sleeper(void *arg)
{
	pause();
	return arg;
}

/* The values that a state of @on means. */
static bool is(bool on)
{
	return branch() == on && jf_key_enabled(&key) == on &&
	       dynfunc_func() == (on ? 2 : 1) &&
	       dynfunc_query(func) == (void *)(uintptr_t)(on ? two : one);
}

/* In the child: 0 if all is as it should be. */
static int late(const struct late *l)
{
	int want = l->err <= 0 ? l->err : int3 ? -EOPNOTSUPP : 0;
	struct jf_stats s;
	struct jf_batch b;
	pthread_t t;
	int err;

	if (jf_key_enable(&key) || dynfunc_update(func, two) || !is(true))
		return 10;
	if (l->thread && pthread_create(&t, NULL, sleeper, NULL))
		return 11;
	if (l->deny())
		return 77;
	jf_batch_init(&b);
	jf_key_batch_set(&b, &key, false);
	dynfunc_batch_set(&b, func, one);
	err = jf_batch_commit(&b);
	if (err != want) {
		printf("# %d instead of %d\n", err, l->err);
		fflush(stdout);
		return 12;
	}
	if (!is(err != 0))
		return 13;
	if (jf_key_disable(&key) != want || !is(err != 0))
		return 14;
	jf_stats_get(&s, sizeof(s));
	if (strcmp(s.writer, "mem") && !s.why[0])
		return 15;
	return 0;
}

/* Likewise, and nothing has been changed. */
static int early(const struct late *l)
{
	pthread_t t;
	int err;

	if (l->thread && pthread_create(&t, NULL, sleeper, NULL))
		return 11;
	if (!is(false))
		return 10;
	if (l->deny())
		return 77;
	err = jf_key_enable(&key);
	if (err != l->err) {
		printf("# %d instead of %d\n", err, l->err);
		fflush(stdout);
		return 12;
	}
	if (branch() != !err || jf_key_enabled(&key) != !err || jf_key_disable(&key) || !is(false))
		return 13;
	return 0;
}

static void each(const char *when, const struct late *rows, size_t num,
		 int (*run_row)(const struct late *l))
{
	size_t i;

	for (i = 0; i < num; i++) {
		char name[128];
		int status = 0, rc;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			_exit(run_row(&rows[i]));
		waitpid(pid, &status, 0);
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		CHECK(rc == 0 || rc == 77, "ends with %d", rc);
		snprintf(name, sizeof(name), "%s: %s%s", when, rows[i].name,
			 rc == 77 ? " # SKIP cannot be denied here" : "");
		finish(name);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2 && !(argc == 3 && !strcmp(argv[2], "int3"))) {
		fputs("usage: test_lib_deny PATH-OF-TEST_LIB-TESTED [int3]\n", stderr);
		return 2;
	}
	int3 = argc == 3;
	if (int3 && (!getenv("JUMPFUNC_TRAP") || strcmp(getenv("JUMPFUNC_TRAP"), "always"))) {
		setenv("JUMPFUNC_TRAP", "always", 1);
		/* By its own name: a look at its file has to find it, without /proc as well. */
		execv(argv[0], argv);
	}
	from_the_start(argv[1]);
	each("before the first change", before, sizeof(before) / sizeof(before[0]), early);
	each("later", afterwards, sizeof(afterwards) / sizeof(afterwards[0]), late);
	return tap_end();
}
