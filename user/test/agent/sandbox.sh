#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Programs whose filter of system calls kills for each call that they do not make themselves: the agent makes none in their threads.
# usage: sandbox.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

agent=$build/libjumpfunc-agent.so
# shellcheck source=traced.sh
. "$here/traced.sh"
mkdir -m 700 "$tmp/run"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR

# box HOW NUMBER...: with these system calls alone after the filter; all of them, if none is said. HOW has a letter for each
# thing that it does.
build_c box <<-END
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static const char *how;
static volatile int go, over;
__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
/* Several instructions are replaced: for that all threads stand still. */
int spanned(int a);
__asm__(".text\n.globl spanned\n.type spanned, @function\nspanned: .cfi_startproc\nxor %eax, %eax\nnop\nadd %edi, %eax\nadd \$1, %eax\nret\n"
	".cfi_endproc\n.size spanned, . - spanned\n");
static int is(char what) { return strchr(how, what) != NULL; }
static void calls(int num)
{
	for (int i = 0; i < num; i++)
		if (work(i) != i + 1 || spanned(i) != i + 1)
			abort();
}
static void *works(void *arg)
{
	calls(1000);
	while (!go)
		;
	while (!over)
		calls(1000);
	return arg;
}
static void *comes_late(void *arg)
{
	calls(5000);
	return arg;
}
static void threads(void *(*fn)(void *), pthread_t *t, int num)
{
	for (int i = 0; i < num; i++)
		if (pthread_create(&t[i], NULL, fn, NULL))
			abort();
}
static void joins(pthread_t *t, int num)
{
	for (int i = 0; i < num; i++)
		if (pthread_join(t[i], NULL))
			abort();
}
static void restricts(int num, char **nr)
{
	struct sock_filter f[256];
	struct sock_fprog prog = { 0, f };

	/* What asks whether there are such filters is no filter yet. */
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	f[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4);
	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]));
	f[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_LOCK_PI_PRIVATE, 1, 0);
	f[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_UNLOCK_PI_PRIVATE, 0, 1);
	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < num; i++) {
		f[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)atoi(nr[i]), 0, 1);
		f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, num ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    (is('t') ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog) :
		       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0)))
		abort();
}
int main(int argc, char **argv)
{
	struct timespec some = { 0, 20000000 }, before, after;
	pthread_t t[2], late[4];
	int i, status = 0;
	pid_t child;

	how = argv[1];
	if (is('z'))
		some.tv_nsec = 200000000;
	if (is('y'))
		some = (struct timespec){ 8, 0 };
	if (is('r'))
		calls(1000);
	if (is('w'))
		threads(works, t, 2);
	restricts(argc - 2, argv + 2);
	go = 1;
	for (i = is('y') ? 19 : 0; i < 20; i++) {
		calls(20000);
		if (is('l')) {
			threads(comes_late, late, 4);
			joins(late, 4);
		}
		if (!is('s') && !is('z') && !is('y'))
			continue;
		clock_gettime(CLOCK_MONOTONIC, &before);
		if (nanosleep(&some, NULL))
			abort();
		clock_gettime(CLOCK_MONOTONIC, &after);
		if ((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec < some.tv_sec * 1000000000 + some.tv_nsec)
			abort();
	}
	if (is('d'))
		printf("%s\n", dlopen("libm.so.6", RTLD_NOW) ? "opened" : "not opened");
	if (is('f')) {
		fflush(stdout);
		child = fork();
		if (!child) {
			calls(1000);
			exit(3);
		}
		wait4(child, &status, 0, NULL);
	}
	over = 1;
	if (is('w'))
		joins(t, 2);
	printf("%d\n", WEXITSTATUS(status));
	return 5;
}
END

# 0: this user can read the filter of another process.
build_c readable <<-END
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter f[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog prog = { 1, f };
	pid_t child = fork();
	int status;
	long got;

	if (!child) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, 0);
	got = ptrace(PTRACE_SECCOMP_GET_FILTER, child, 0, 0);
	kill(child, SIGKILL);
	return got != 1;
}
END

# seen HOW: $list gets the calls that the program makes after its filter is there, by number; $plain is its status.
seen()
{
	# Threads that wait for each other do not do the same each time.
	for _ in 1 2 3; do
		strace -f -n -o "$tmp/calls" "$tmp/box" "$1" > "$tmp/plain"
		plain=$?
		awk '/SECCOMP/ && !/NULL/ { after = 1; next } after && match($0, /\[ *[0-9]+\]/) { print substr($0, RSTART + 1, RLENGTH - 2) + 0 }' \
			"$tmp/calls" >> "$tmp/numbers"
	done
	case $1 in *[wl]*) printf '%s\n' 14 28 202 >> "$tmp/numbers" ;; esac
	list=$(sort -un "$tmp/numbers" | tr '\n' ' ')
}

# allowed HOW: the same, and the program lives with that list. A call that a thread makes now and then is not in each one.
allowed()
{
	: > "$tmp/numbers"
	for _ in 1 2 3 4 5 6; do
		seen "$1"
		# shellcheck disable=SC2086
		"$tmp/box" "$1" $list > "$tmp/own"
		[ $? != "$plain" ] || return 0
	done
	echo "the list is too short: $list"
	return 1
}

# boxed HOW GLOBS: the same words and status, beneath such a filter.
boxed()
{
	allowed "$1" || return 1
	for mode in overwrite discard keep count; do
		rm -rf "$tmp/traces"/*
		# shellcheck disable=SC2086
		JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_MODE=$mode JUMPFUNC_TRACE_PACKETS=4 JUMPFUNC_TRACE_PACKET_SIZE=8192 JUMPFUNC_TRACE_CONTROL=1 \
			JUMPFUNC_AGENT=$2 LD_PRELOAD=$agent timeout -k 5 60 "$tmp/box" "$1" $list > "$tmp/out" 2> "$tmp/err"
		rc=$?
		cat "$tmp/err"
		echo "$mode: status $rc; $list"
		[ "$rc" = "$plain" ] && diff "$tmp/plain" "$tmp/out" || return 1
		[ "$mode" = count ] || babeltrace2 "$tmp/traces"/* > /dev/null || return 1
	done
}

# The last record is that of the last call.
goes_on()
{
	allowed rs || return 1
	rm -rf "$tmp/traces"/*
	# shellcheck disable=SC2086
	JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_PACKETS=4 JUMPFUNC_TRACE_PACKET_SIZE=8192 JUMPFUNC_AGENT=work LD_PRELOAD=$agent \
		"$tmp/box" rs $list
	babeltrace2 "$tmp/traces"/* > "$tmp/text" 2> "$tmp/lost"
	tail -n 1 "$tmp/text"
	tail -n 1 "$tmp/text" | grep -q 'arg1 = 0x4e1f\|arg1 = 19999\|= 0x4E1F'
}

# commanded HOW [PAUSE [SECONDS]]: probes are enabled and disabled, with a pause after each turn, until the program has ended,
# which takes no longer than that.
commanded()
{
	# shellcheck disable=SC2086
	JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_AGENT=box:spanned JUMPFUNC_AGENT_WAYS=span LD_PRELOAD=$agent "$tmp/box" "$1" $list > "$tmp/out" 2> "$tmp/err" &
	pid=$!
	turns=0
	until=$(($(date +%s) + ${3:-100}))
	while kill -0 "$pid" 2> /dev/null; do
		for command in "disable $pid box:spanned" "enable $pid box:spanned" "enable $pid libc.so.6:nano*" "stats $pid"; do
			# shellcheck disable=SC2086
			timeout 20 "$build/jf-trace" $command > "$tmp/answer" 2>&1 && turns=$((turns + 1)) || cat "$tmp/answer"
			grep "stood still" "$tmp/answer"
		done
		cat "$tmp/answer"
		[ "$(date +%s)" -lt "$until" ] || { echo "it sleeps for ever"; kill -9 "$pid"; }
		sleep "${2:-0}"
	done
	wait "$pid"
	rc=$?
	cat "$tmp/err"
	echo "status $rc, $turns commands; $list"
	[ "$rc" = "$plain" ] && diff "$tmp/plain" "$tmp/out" || return 1
	[ "$turns" -gt 1 ] || return 2
}

# Beside other work the program can end before the second command.
running()
{
	allowed rwls || return 1
	for _ in 1 2 3 4 5 6; do
		commanded rwls
		rc=$?
		[ "$rc" = 2 ] || return "$rc"
	done
	return 1
}

# The filter kills for restart_syscall(): a sleep that a stop interrupts begins anew, and can end in a pause.
asleep() { allowed rwz && commanded rwz 0.25; }

# The filter allows it, and can be read: a sleep of eight seconds goes on, and ends without a pause.
goes_on_asleep()
{
	allowed rwy || return 1
	list="$list 219"
	commanded rwy 0 40
}

# A signal handler leaves the agent's work for good: what the thread cannot record from there on is counted.
build_c leaves <<-END
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>
static sigjmp_buf out;
static uintptr_t own;
static volatile unsigned int made;
__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); made++; return a + 1; }
static void flags(unsigned long set, unsigned long clear)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tandq %1, (%%rsp)\n\tpopfq" : : "r" (set), "r" (~clear) : "memory", "cc");
}
static void step(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = (const ucontext_t *)context;
	uintptr_t sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];

	(void)sig;
	(void)info;
	if (sp - own + (1 << 20) > 2 << 20)
		siglongjmp(out, 1);
}
int main(void)
{
	struct sock_filter f[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog prog = { 1, f };
	struct sigaction action = { .sa_sigaction = step, .sa_flags = SA_SIGINFO | SA_NODEFER };
	int i;

	own = (uintptr_t)&prog;
	sigaction(SIGTRAP, &action, NULL);
	work(0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
		return 1;
	if (!sigsetjmp(out, 1)) {
		flags(0x100, 0);
		for (i = 0; i < 5000; i++)
			work(i);
		flags(0, 0x100);
		return 2;
	}
	for (i = 0; i < 1000; i++)
		work(i);
	printf("%u\n", made);
	return 0;
}
END

left_quietly()
{
	for mode in overwrite keep discard; do
		rm -rf "$tmp/traces"/*
		JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_MODE=$mode JUMPFUNC_TRACE_PACKETS=64 JUMPFUNC_TRACE_PACKET_SIZE=8192 JUMPFUNC_AGENT=leaves:work \
			LD_PRELOAD=$agent timeout -k 5 60 "$tmp/leaves" > "$tmp/out" || { echo "$mode: status $?"; return 1; }
		rm -rf "$tmp/copy"
		"$build/jf-recover" "$tmp/traces"/* "$tmp/copy" > "$tmp/sums" || return 1
		made=$(cat "$tmp/out")
		told=$(awk '/^(records|discarded|overwritten) / { n += $2 } END { print n }' "$tmp/sums")
		lost=$(awk '/^discarded / { n += $2 } END { print n }' "$tmp/sums")
		echo "$mode: $made calls, $told recorded or lost, $lost of them lost"
		[ "$lost" -ge 1000 ] && [ $((made - told)) -le 1 ] && [ $((told - made)) -le 1 ] || return 1
	done
}

if ! command -v strace > /dev/null || ! strace -n -o /dev/null true 2> /dev/null; then
	skip "programs with filters" "no strace that tells numbers"
	tap_end
	exit
fi
for how in r n rs rd rf rw rwl rwt wtl nlf; do
	check "a filter, $how: functions" boxed "$how" 'work'
	check "a filter, $how: strings, calls, the C library" boxed "$how" 'work(string),call/work,libc.so.6:[m-p]*'
done
check "recording goes on" goes_on
check "a handler leaves the work beneath a filter" left_quietly
check "commands while it runs" running
check "commands while it sleeps" asleep
if "$tmp/readable"; then
	check "commands while it sleeps, without a pause" goes_on_asleep
else
	skip "commands while it sleeps, without a pause" "filters cannot be read: by CAP_SYS_ADMIN alone, and with CONFIG_CHECKPOINT_RESTORE"
fi
tap_end
