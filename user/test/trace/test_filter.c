// SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
/*
 * The value of filters of system calls, beside the value that the kernel acts by: a child installs
 * the filter and makes the call. Filters that are known, then random ones.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/test/tap.h"
#include "user/trace/tool/filter.h"

#ifdef __x86_64__
#define ROUNDS		300
#define STEPS		24
#define ALLOW		SECCOMP_RET_ALLOW
#define DENY(error)	(SECCOMP_RET_ERRNO | (error))
#define LOAD(what)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define ARG(n)		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]) + 8 * (n))
#define IF(what, k, yes, no) BPF_JUMP(BPF_JMP | (what) | BPF_K, k, yes, no)
#define RETURN(value)	BPF_STMT(BPF_RET | BPF_K, value)

_Static_assert(sizeof(struct filter_step) == sizeof(struct sock_filter), "steps are read as the kernel gives them");
_Static_assert(sizeof(struct filter_call) == sizeof(struct seccomp_data), "offsets of a filter are the kernel's");

/* The address is the same in each child: this call is made in one place. */
static const long asked[6] = { 1, -2, 0x123456789, 0, 7, 0x80000000 };
extern const char after_call[];

/* Once alone, so that its label is. */
__attribute__((__noinline__))
static long make_call(void)
{
	register long r10 __asm__("r10") = asked[3], r8 __asm__("r8") = asked[4], r9 __asm__("r9") = asked[5];
	long ret;

	__asm__ volatile("syscall\n.globl after_call\nafter_call:" : "=a" (ret)
			 : "a" ((long)__NR_restart_syscall), "D" (asked[0]), "S" (asked[1]), "d" (asked[2]), "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static struct filter_call call_made(void)
{
	struct filter_call call = { __NR_restart_syscall, AUDIT_ARCH_X86_64, (uintptr_t)after_call, { 0 } };

	memcpy(call.arg, asked, sizeof(asked));
	return call;
}

static int install(struct sock_filter *f, size_t num)
{
	struct sock_fprog prog = { (unsigned short)num, f };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

/*
 * The filter allows the child's end. The answer of the kernel: 0, it allows the call; an error
 * number; -1, it kills; -2, it refuses the filter.
 */
static int done_by_kernel(struct sock_filter *f, size_t num)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		status = install(f, num) ? 255 : (int)-make_call();
		/* EINTR: no sleep is to go on. A sanitizer's _exit() makes other calls. */
		for (;;)
			syscall(SYS_exit_group, status == EINTR ? 0 : status);
	}
	must(pid < 0 || waitpid(pid, &status, 0) != pid ? -errno : 0, "a child");
	return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status) == 255 ? -2 : WEXITSTATUS(status);
}

static int done_by_value(uint32_t value)
{
	switch (value & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		return 0;
	case SECCOMP_RET_ERRNO:
		return (int)(value & SECCOMP_RET_DATA);
	}
	return -1;
}

static uint32_t value_of(const struct sock_filter *f, size_t num)
{
	const struct filter_call call = call_made();

	return filter_value((const struct filter_step *)(const void *)f, num, &call);
}

static void check_filter(const char *name, struct sock_filter *f, size_t num, int want)
{
	int there = done_by_kernel(f, num), here = done_by_value(value_of(f, num));

	CHECK(there == want, "%s: the kernel's answer is %d", name, there);
	CHECK(here == want, "%s: ours is %d", name, here);
}

#define FILTER(name, want, ...)						\
	do {								\
		struct sock_filter f[] = { __VA_ARGS__ };		\
									\
		check_filter(name, f, sizeof(f) / sizeof(*f), want);	\
	} while (0)

static void test_known(void)
{
	FILTER("all", 0, RETURN(ALLOW));
	FILTER("other calls", 13, LOAD(nr), IF(BPF_JEQ, __NR_exit_group, 0, 1), RETURN(ALLOW), RETURN(DENY(13)));
	FILTER("this call", 0, LOAD(nr), IF(BPF_JEQ, __NR_getpid, 0, 1), RETURN(DENY(13)), RETURN(ALLOW));
	FILTER("killed for it", -1, LOAD(nr), IF(BPF_JEQ, __NR_restart_syscall, 0, 1), RETURN(SECCOMP_RET_KILL_PROCESS), RETURN(ALLOW));
	FILTER("the architecture", 14, LOAD(arch), IF(BPF_JEQ, AUDIT_ARCH_X86_64, 0, 4), LOAD(nr), IF(BPF_JGT, 1000, 2, 0), IF(BPF_JEQ, __NR_exit_group, 1, 0),
	       RETURN(DENY(14)), RETURN(ALLOW));
	FILTER("an argument", 0, ARG(1), IF(BPF_JEQ, (uint32_t)-2, 3, 0), LOAD(nr), IF(BPF_JEQ, __NR_exit_group, 1, 0), RETURN(DENY(15)), RETURN(ALLOW));
	FILTER("X and memory", 0, LOAD(nr), IF(BPF_JEQ, __NR_exit_group, 6, 0), BPF_STMT(BPF_ST, 15), BPF_STMT(BPF_LDX | BPF_MEM, 15), BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),
	       BPF_STMT(BPF_ALU | BPF_OR | BPF_K, ALLOW), IF(BPF_JSET, 1, 1, 0), BPF_STMT(BPF_RET | BPF_A, 0), RETURN(ALLOW));
	finish("filters that are known");
}

/* No step of seccomp's, or no filter at all. */
static void test_unknown(void)
{
	/* Memory is written first: the kernel refuses a filter that reads other. */
	struct sock_filter f[] = { BPF_STMT(BPF_ST, 1), RETURN(ALLOW), RETURN(ALLOW) };
	unsigned int code, known = 0;

	for (code = 0; code <= UINT16_MAX; code++) {
		f[1] = (struct sock_filter){ (uint16_t)code, 0, 0, 1 };
		if (value_of(f, 3) != ALLOW)
			continue;
		known++;
		CHECK(!done_by_kernel(f, 3), "step %#x", code);
	}
	CHECK(known > 20, "%u steps are known", known);
	f[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(struct seccomp_data));
	CHECK(value_of(f, 3) == FILTER_UNKNOWN, "beyond the data");
	f[1] = (struct sock_filter)BPF_STMT(BPF_ST, 16);
	CHECK(value_of(f, 3) == FILTER_UNKNOWN, "beyond the memory");
	f[1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX);
	CHECK(value_of(f, 3) == FILTER_UNKNOWN, "beyond the end");
	f[1] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32);
	CHECK(value_of(f, 3) == FILTER_UNKNOWN, "a shift by 32");
	CHECK(value_of(f, 0) == FILTER_UNKNOWN, "no step");
	finish("unknown steps");
}

static uint32_t seed = 1;

static uint32_t below(uint32_t max)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % max;
}

static uint32_t any_number(void)
{
	static const uint32_t number[] = { 0, 1, 2, 7, 31, __NR_restart_syscall, AUDIT_ARCH_X86_64, 0x80000000, UINT32_MAX, 0x23456789 };

	return number[below(sizeof(number) / sizeof(*number))];
}

static struct sock_filter any_step(unsigned int left)
{
	static const uint16_t code[] = {
		BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_IMM, BPF_LD | BPF_MEM, BPF_LD | BPF_W | BPF_LEN, BPF_LDX | BPF_IMM, BPF_LDX | BPF_MEM, BPF_LDX | BPF_W | BPF_LEN,
		BPF_ST, BPF_STX, BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA, BPF_ALU | BPF_NEG,
		BPF_ALU | BPF_ADD | BPF_K, BPF_ALU | BPF_SUB | BPF_K, BPF_ALU | BPF_MUL | BPF_K, BPF_ALU | BPF_DIV | BPF_K, BPF_ALU | BPF_AND | BPF_K,
		BPF_ALU | BPF_OR | BPF_K, BPF_ALU | BPF_XOR | BPF_K, BPF_ALU | BPF_LSH | BPF_K, BPF_ALU | BPF_RSH | BPF_K,
		BPF_ALU | BPF_ADD | BPF_X, BPF_ALU | BPF_SUB | BPF_X, BPF_ALU | BPF_MUL | BPF_X, BPF_ALU | BPF_DIV | BPF_X, BPF_ALU | BPF_AND | BPF_X,
		BPF_ALU | BPF_OR | BPF_X, BPF_ALU | BPF_XOR | BPF_X,
		BPF_JMP | BPF_JA, BPF_JMP | BPF_JEQ | BPF_K, BPF_JMP | BPF_JGT | BPF_K, BPF_JMP | BPF_JGE | BPF_K, BPF_JMP | BPF_JSET | BPF_K,
		BPF_JMP | BPF_JEQ | BPF_X, BPF_JMP | BPF_JGT | BPF_X, BPF_JMP | BPF_JGE | BPF_X, BPF_JMP | BPF_JSET | BPF_X,
	};
	struct sock_filter s = { .code = code[below(sizeof(code) / sizeof(*code))] };

	s.k = any_number();
	if (s.code == (BPF_LD | BPF_W | BPF_ABS))
		s.k = 4 * below(16);
	if (BPF_CLASS(s.code) == BPF_ST || BPF_CLASS(s.code) == BPF_STX || s.code == (BPF_LD | BPF_MEM) || s.code == (BPF_LDX | BPF_MEM))
		s.k = below(3);
	if (s.code == (BPF_ALU | BPF_LSH | BPF_K) || s.code == (BPF_ALU | BPF_RSH | BPF_K))
		s.k = below(32);
	if (BPF_CLASS(s.code) == BPF_JMP) {
		s.jt = (uint8_t)below(left);
		s.jf = (uint8_t)below(left);
		s.k = s.code == (BPF_JMP | BPF_JA) ? below(left) : s.k;
	}
	return s;
}

/*
 * All other calls are allowed, so that the child can end. The memory is written first: the kernel
 * refuses a filter that reads other. Bits of the accumulator are the error number.
 */
static size_t any_filter(struct sock_filter *f)
{
	const struct sock_filter begin[] = { LOAD(nr), IF(BPF_JEQ, __NR_restart_syscall, 1, 0), RETURN(ALLOW), BPF_STMT(BPF_ST, 0), BPF_STMT(BPF_ST, 1), BPF_STMT(BPF_ST, 2) };
	const struct sock_filter end[] = { BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x7f), IF(BPF_JGT, 63, 0, 1), RETURN(ALLOW), BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, DENY(10)),
					   BPF_STMT(BPF_RET | BPF_A, 0) };
	size_t at = sizeof(begin) / sizeof(*begin), steps = 1 + below(STEPS), last = at + steps;

	memcpy(f, begin, sizeof(begin));
	for (; at < last; at++)
		f[at] = any_step((unsigned int)(last - at));
	memcpy(f + at, end, sizeof(end));
	return at + sizeof(end) / sizeof(*end);
}

static void test_random(void)
{
	struct sock_filter f[STEPS + 16];
	unsigned int i, installed = 0;
	int here, there;
	size_t num;

	for (i = 0; i < ROUNDS; i++) {
		num = any_filter(f);
		there = done_by_kernel(f, num);
		here = done_by_value(value_of(f, num));
		installed += there != -2;
		/* A filter that the kernel refuses is never met. */
		CHECK(there == -2 || here == there, "round %u: %d, by the kernel %d", i, here, there);
	}
	CHECK(installed > ROUNDS / 2, "%u of %u filters could be installed", installed, ROUNDS);
	finish("random filters");
}

/* Two filters of a thread: both must allow it, and only those of a thread that stands are read. */
static bool thread_allows(uint32_t first, uint32_t second)
{
	struct sock_filter a[] = { LOAD(nr), IF(BPF_JEQ, __NR_restart_syscall, 1, 0), RETURN(ALLOW), RETURN(first) };
	struct sock_filter b[] = { LOAD(nr), IF(BPF_JEQ, __NR_restart_syscall, 1, 0), RETURN(ALLOW), RETURN(second) };
	const struct filter_call call = call_made();
	bool allows;
	pid_t pid = fork();

	if (!pid) {
		if (install(a, 4) || install(b, 4) || ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	must(pid < 0 || waitpid(pid, NULL, 0) != pid ? -errno : 0, "a child");
	allows = filters_allow(pid, &call);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return allows;
}

static void test_threads(void)
{
	const struct filter_call call = call_made();

	if (!thread_allows(ALLOW, ALLOW)) {
		CHECK(geteuid() || prctl(PR_GET_SECCOMP), "filters cannot be read");
		printf("# filters cannot be read here\n");
	} else {
		CHECK(thread_allows(SECCOMP_RET_LOG, ALLOW), "it is written to the log");
	}
	CHECK(!thread_allows(ALLOW, DENY(1)), "the second one denies it");
	CHECK(!thread_allows(SECCOMP_RET_KILL_PROCESS, ALLOW), "the first one kills for it");
	CHECK(!thread_allows(ALLOW, SECCOMP_RET_TRACE), "a tracer is asked");
	CHECK(!thread_allows(ALLOW, SECCOMP_RET_TRAP), "a signal comes");
	CHECK(!thread_allows(SECCOMP_RET_USER_NOTIF, ALLOW), "another process is asked");
	CHECK(!filters_allow(getpid(), &call), "a thread that is not traced");
	finish("the filters of a thread");
}

int main(void)
{
	test_known();
	test_unknown();
	test_random();
	test_threads();
	return tap_end();
}
#else
int main(void)
{
	printf("1..0 # SKIP filters are read on x86-64 alone\n");
	return 0;
}
#endif
