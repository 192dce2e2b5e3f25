#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Text that is changed while jf-trace keeps all threads of the program from running.
# usage: stopped.sh BUILD
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

agent=$build/libjumpfunc-agent.so
mkdir -m 700 "$tmp/run"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR

# begin WAYS PROGRAM...: it runs in the background, as $pid, with its output in $tmp/out; it has said "ready".
begin()
{
	: > "$tmp/out"
	JUMPFUNC_AGENT_WAYS=$1 JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent
	export JUMPFUNC_AGENT_WAYS JUMPFUNC_TRACE_CONTROL LD_PRELOAD
	shift
	"$@" > "$tmp/out" 2> "$tmp/err" &
	pid=$!
	unset JUMPFUNC_AGENT_WAYS JUMPFUNC_TRACE_CONTROL LD_PRELOAD
	for _ in $(seq 200); do
		grep -q ready "$tmp/out" && { [ "$1" = strace ] || "$build/jf-trace" list "$pid" > /dev/null 2> "$tmp/answer"; } && return 0
		sleep 0.05
	done
	cat "$tmp/answer" "$tmp/out" "$tmp/err"
	return 1
}

# asks COMMAND...: jf-trace, with what it says in $tmp/answer.
asks()
{
	timeout -k 5 60 "$build/jf-trace" "$@" > "$tmp/answer" 2>&1
	said=$?
	cat "$tmp/answer"
	return "$said"
}

# has_ended: the program is told to, and its results were right.
has_ended()
{
	kill -USR1 "$pid" 2> /dev/null
	( sleep 30; kill -9 "$pid" ) > /dev/null 2>&1 &
	watch=$!
	wait "$pid"
	rc=$?
	kill "$watch" 2> /dev/null
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	[ "$rc" = 0 ] && grep -q right "$tmp/out"
}

# Threads that block all signals call both functions; others take a signal in them, on a stack of their own. The first instruction of
# one has five bytes; the other one begins with several.
worker()
{
	build_c worker <<-END
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/time.h>
	#include <unistd.h>
	int jumped(int a);
	int spanned(int a);
	__asm__(".text\n.globl jumped\n.type jumped, @function\njumped: .cfi_startproc\nmov \$100000, %eax\nadd %edi, %eax\nret\n.cfi_endproc\n"
		".size jumped, . - jumped\n"
		".globl spanned\n.type spanned, @function\nspanned: .cfi_startproc\nxor %eax, %eax\nnop\nadd %edi, %eax\nadd \$3, %eax\nret\n"
		".cfi_endproc\n.size spanned, . - spanned\n");
	static volatile int end, wrong;
	static void on_end(int sig) { end = sig; }
	static void on_timer(int sig) { wrong |= spanned(sig) != sig + 3 || jumped(sig) != 100000 + sig; }
	static void *calls(void *blocks)
	{
		sigset_t all;
		stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };

		sigfillset(&all);
		sigaltstack(&own, NULL);
		if (blocks)
			pthread_sigmask(SIG_BLOCK, &all, NULL);
		for (int i = 0; !end; i = (i + 1) & 0xffff)
			if (jumped(i) != 100000 + i || spanned(i) != i + 3)
				wrong = 1;
		return NULL;
	}
	static void *makes(void *arg)
	{
		pthread_t t;

		while (!end)
			if (!pthread_create(&t, NULL, (void *(*)(void *))jumped, arg))
				pthread_join(t, NULL);
		return NULL;
	}
	int main(int argc, char **argv)
	{
		struct itimerval every = { { 0, 500 }, { 0, 500 } };
		struct sigaction a = { .sa_handler = on_timer, .sa_flags = SA_ONSTACK | SA_RESTART };
		pthread_t t[6];
		int i;

		(void)argv;
		signal(SIGUSR1, on_end);
		sigaction(SIGALRM, &a, NULL);
		for (i = 0; i < 5; i++)
			pthread_create(&t[i], NULL, calls, i < 3 ? t : NULL);
		pthread_create(&t[5], NULL, makes, NULL);
		puts("ready");
		fflush(stdout);
		if (argc > 1)
			setitimer(ITIMER_REAL, &every, NULL);
		while (!end)
			usleep(1000);
		for (i = 0; i < 6; i++)
			pthread_join(t[i], NULL);
		puts(wrong ? "wrong" : "right");
		return 0;
	}
	END
}

# counted NAME: its events in the trace, of which there are some.
counted()
{
	babeltrace2 "$tmp/run/jumpfunc/worker-$pid"-* 2> /dev/null | grep -c " worker:$1: "
}

# enabled COMMAND PATTERN: the reason is shown if it refuses. It is asked again if a thread got no processor in time.
enabled()
{
	for _ in $(seq 10); do
		asks "$1" "$pid" "$2" && return 0
		cp "$tmp/answer" "$tmp/refused"
		asks list -e "$2" "$pid"
		grep -q 'could not be stopped from outside' "$tmp/answer" || break
	done
	cp "$tmp/refused" "$tmp/answer"
	return 1
}

# blocked WAYS NAME: late, beside threads that block all signals; there and back.
blocked()
{
	begin "$1" "$tmp/worker" timer || return 1
	enabled record "worker:$2" && grep -qx 'enabled 1' "$tmp/answer" && grep -q 'stood still' "$tmp/answer" || { has_ended; return 1; }
	done_with=0
	for _ in $(seq 5); do
		asks disable "$pid" "worker:$2" >> "$tmp/all" && enabled enable "worker:$2" >> "$tmp/all" || { done_with=1; break; }
	done
	tail -n 5 "$tmp/all"
	has_ended && [ "$done_with" = 0 ] && [ "$(counted "$2")" -gt 0 ]
}

# Threads at places of their own, as the first argument says; see within() and beside().
insider()
{
	build_c inside <<-END
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <linux/userfaultfd.h>
	#include <pthread.h>
	#include <sched.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/ioctl.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <ucontext.h>
	#include <unistd.h>
	int waits(int fd, char *byte, int num);
	int faults(int a);
	__asm__(".text\n.globl waits\n.type waits, @function\nwaits: .cfi_startproc\nxor %eax, %eax\nsyscall\nnop\nret\n.cfi_endproc\n"
		".size waits, . - waits\n"
		".globl faults\n.type faults, @function\nfaults: .cfi_startproc\nxor %eax, %eax\nmov (%rax), %eax\nnop\ninc %eax\nret\n.cfi_endproc\n"
		".size faults, . - faults\n");
	__asm__(".section .text.pages, \"ax\"\n.p2align 12\n.skip 4094, 0x90\n.globl crossing\n.type crossing, @function\n"
		"crossing: .cfi_startproc\nmov \$5, %eax\nret\n.cfi_endproc\n.size crossing, . - crossing\n"
		".skip 4094 - 6, 0x90\n.globl spanning\n.type spanning, @function\n"
		"spanning: .cfi_startproc\nxor %eax, %eax\nadd \$5, %eax\nret\n.cfi_endproc\n.size spanning, . - spanning\n.text\n");
	static int to[2];
	static volatile int end;
	static const char *how;
	static int is(const char *what) { return !strcmp(how, what); }
	static void on_end(int sig) { end = sig; }
	static void on_fault(int sig, siginfo_t *info, void *context)
	{
		ucontext_t *uc = context;
		char byte;

		if (is("outer") || is("both"))
			raise(SIGUSR2);
		else
			while (read(to[0], &byte, 1) != 1)
				;
		uc->uc_mcontext.gregs[REG_RIP] += 2;
	}
	static void on_second(int sig)
	{
		static int again;
		stack_t next = { .ss_sp = malloc(65536), .ss_size = 65536 };
		char byte;

		/* This one is interrupted, on the same stack or on a third one. */
		if (!again++ && (is("nested") || is("disarmed"))) {
			if (is("disarmed"))
				sigaltstack(&next, NULL);
			raise(SIGUSR2);
			return;
		}
		while (read(to[0], &byte, 1) != 1)
			;
	}
	/* The end of a stack that a handler was called on, as libraries of coroutines have them. */
	static ucontext_t back;
	static void on_coroutine(void)
	{
		on_second(0);
		setcontext(&back);
	}
	static long switches(void)
	{
		static volatile int done;
		ucontext_t uc;

		getcontext(&back);
		if (done++)
			return 1;
		getcontext(&uc);
		uc.uc_stack.ss_sp = malloc(65536);
		uc.uc_stack.ss_size = 65536;
		makecontext(&uc, on_coroutine, 0);
		setcontext(&uc);
		return 0;
	}
	/* In a handler, on another stack. */
	static void *handles(void)
	{
		stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };

		if (is("disarmed"))
			own.ss_flags = 1 << 31;
		sigaltstack(&own, NULL);
		raise(SIGUSR2);
		return (void *)1;
	}
	static int shares(void *byte) { return waits(to[0], byte, 1) != 1; }
	static long has_shared(char *byte)
	{
		int status;

		return waitpid(clone(shares, (char *)malloc(65536) + 65536, CLONE_VM | SIGCHLD, byte), &status, 0) > 0 && !status;
	}
	static long makes_child(void)
	{
		int status;
		pid_t child = vfork();

		if (!child) {
			usleep(700000);
			_exit(0);
		}
		return waitpid(child, &status, 0) == child && !status;
	}
	/* Reads with its stack there. */
	static long reads_at(char *stack, char *byte)
	{
		long ret;

		__asm__ volatile("mov %%rsp, %%rbx\n\tmov %5, %%rsp\n\tsyscall\n\tmov %%rbx, %%rsp" : "=a"(ret)
			: "0"(0L), "D"((long)to[0]), "S"(byte), "d"(1L), "r"(stack) : "rbx", "rcx", "r11", "memory");
		return ret;
	}
	/* No thread answers for it. */
	static char *page_that_waits(void)
	{
		char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct uffdio_api api = { .api = UFFD_API };
		struct uffdio_register r = { { (unsigned long)p, 8192 }, UFFDIO_REGISTER_MODE_MISSING, 0 };
		int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

		if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r)) {
			puts("ready, skipped");
			exit(0);
		}
		return p + 4096;
	}
	static void *runs(void *page)
	{
		stack_t own = { .ss_sp = malloc(65536), .ss_size = 65536 };
		char outer[65536], byte;
		sigset_t all;

		if (is("outer"))
			own.ss_sp = outer;
		sigaltstack(&own, NULL);
		if (is("call"))
			return (void *)(long)waits(to[0], &byte, 1);
		if (is("share"))
			return (void *)has_shared(&byte);
		if (is("same") || is("other") || is("outer") || is("both"))
			return (void *)(long)faults(0);
		if (is("handler") || is("nested") || is("disarmed"))
			return handles();
		if (is("coroutine"))
			return (void *)switches();
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		if (is("child"))
			return (void *)makes_child();
		return (void *)reads_at(is("odd") ? outer + 32771 : page, &byte);
	}
	int main(int argc, char **argv)
	{
		struct sigaction a = { .sa_flags = SA_SIGINFO };
		pthread_t t;
		void *r;

		how = argv[1];
		signal(SIGUSR1, on_end);
		a.sa_sigaction = on_fault;
		a.sa_flags |= is("other") ? SA_ONSTACK : 0;
		sigaction(SIGSEGV, &a, NULL);
		a.sa_flags = SA_ONSTACK | SA_NODEFER;
		a.sa_handler = on_second;
		sigaction(SIGUSR2, &a, NULL);
		if (argc != 2 || pipe(to) || pthread_create(&t, NULL, runs, is("slow") ? page_that_waits() : NULL))
			return 1;
		usleep(100000);
		puts("ready");
		fflush(stdout);
		while (!end)
			usleep(1000);
		if (write(to[1], "", 1) != 1)
			return 1;
		pthread_join(t, &r);
		puts(r == (void *)1 ? "right" : "wrong");
		fflush(stdout);
		for (end = 0; !end; usleep(1000))
			;
		return 0;
	}
	END
}

# A thread that sleeps in the midst of a function's first five bytes: in a system call there, of this process or of another one that
# has its memory; or in a handler that has interrupted it there, on this stack, on another one, or on this one and then on
# another one, also in the midst of this stack, above the interrupted frame. It is left alone until the thread has gone.
within()
{
	for how in call share same other outer both; do
		begin jump,span "$tmp/inside" "$how" || return 1
		case $how in
		call|share) which=waits ;;
		*) which=faults ;;
		esac
		! enabled record "inside:$which" && asks list -e "inside:$which" "$pid" && grep "inside:$which.*a thread is in the midst of its first" "$tmp/answer"
		refused=$?
		kill -USR1 "$pid"
		for _ in $(seq 100); do
			grep -q right "$tmp/out" && break
			sleep 0.05
		done
		# A record that was refused as a whole has left nothing: it is asked for again.
		enabled record "inside:$which"; asks list -e "inside:$which" "$pid" && grep -q "function on" "$tmp/answer" && [ "$refused" = 0 ]
		refused=$?
		has_ended && [ "$refused" = 0 ] || return 1
	done
}

# Bytes on two pages are not written from outside, where a child may be killed between the two writes.
pages()
{
	begin jump,span "$tmp/inside" call || return 1
	asks record "$pid" inside:crossing && asks list -e inside:crossing "$pid" && grep -q "function on  inside:crossing  jump" "$tmp/answer" &&
		asks disable "$pid" inside:crossing && ! grep -q 'stood still' "$tmp/answer" &&
		! asks enable "$pid" inside:spanning && asks list -e inside:spanning "$pid" && grep 'inside:spanning.*are on two pages' "$tmp/answer"
	done_with=$?
	kill -USR1 "$pid"
	sleep 0.1
	has_ended && [ "$done_with" = 0 ]
}

# A thread whose stack is at an odd address, or one that waits for a child of vfork() for a while: others are changed. That one cannot
# be interrupted is seen once, and again after a while, but the others are not stopped all the time.
beside()
{
	for how in odd child; do
		begin jump,span "$tmp/inside" "$how" || return 1
		timeout 60 strace -f -o "$tmp/strace" -e trace=ptrace "$build/jf-trace" record "$pid" inside:faults > "$tmp/answer" 2>&1
		cat "$tmp/answer"
		grep -qx 'enabled 1' "$tmp/answer" && n=$(grep -c "PTRACE_INTERRUPT, $pid\b" "$tmp/strace") && echo "interrupted $n times" && [ "$n" -lt 20 ]
		done_with=$?
		kill -USR1 "$pid"
		sleep 0.1
		has_ended && [ "$done_with" = 0 ] || return 1
	done
}

# A thread is in a handler on another stack all the time, also in a second one on that stack or on a third one. Its own stack is found
# by the frames, at once. A stack of another kind is not known, and nothing is changed.
handlers()
{
	for how in handler nested disarmed coroutine; do
		begin jump,span "$tmp/inside" "$how" || return 1
		asks record "$pid" inside:faults; asks list -e inside:faults "$pid"
		if [ "$how" = coroutine ]; then
			grep "inside:faults.*a thread is in the midst of its first" "$tmp/answer"
		else
			grep "function on  inside:faults" "$tmp/answer"
		fi
		done_with=$?
		kill -USR1 "$pid"
		for _ in $(seq 100); do
			grep -q right "$tmp/out" && break
			sleep 0.05
		done
		has_ended && [ "$done_with" = 0 ] || return 1
	done
}

# A thread whose stack is in a page that no program fills: jf-trace comes to an end, and the process goes on.
slow()
{
	begin jump,span "$tmp/inside" slow || return 1
	if grep -q skipped "$tmp/out"; then
		wait "$pid"
		return 0
	fi
	! asks record "$pid" inside:faults && [ "$said" -lt 124 ] && asks list -e inside:faults "$pid" &&
		grep 'inside:faults.*could not be stopped from outside' "$tmp/answer"
	done_with=$?
	kill -USR1 "$pid"
	sleep 0.1
	has_ended && [ "$done_with" = 0 ]
}

# jf-trace is killed in the midst of it, at any time: the program goes on, and its text is as it was or as it was to be.
killed()
{
	begin jump,span "$tmp/worker" || return 1
	enabled record worker:jumped || { has_ended; return 1; }
	for i in $(seq 40); do
		setsid "$build/jf-trace" "$([ $((i % 2)) = 0 ] && echo enable || echo disable)" "$pid" 'worker:*ed' > /dev/null 2>&1 &
		tool=$!
		sleep "0.0$((i % 8 + 1))"
		kill -9 -- -"$tool" 2> /dev/null
		wait "$tool" 2> /dev/null
	done
	enabled enable worker:jumped && grep -qx 'enabled 1' "$tmp/answer" && enabled enable worker:spanned && grep -qx 'enabled 1' "$tmp/answer"
	done_with=$?
	has_ended && [ "$done_with" = 0 ]
}

# A debugger has the threads: nothing is changed, and it is said why.
debugged()
{
	begin jump,span strace -f -o "$tmp/strace" -e trace=none "$tmp/worker" || { kill "$pid"; return 1; }
	strace=$pid
	pid=$(pgrep -P "$strace" -x worker)
	! asks record "$pid" worker:jumped && grep -q "process $strace traces it, a debugger say" "$tmp/answer" && asks list -e worker:jumped "$pid" &&
		grep 'worker:jumped.*the threads may not be stopped from outside' "$tmp/answer"
	done_with=$?
	kill -USR1 "$pid"
	wait "$strace"
	return "$done_with"
}

if ! command -v babeltrace2 > /dev/null; then
	skip "all" "babeltrace2"
	tap_end
fi
worker
check "one instruction, beside threads that block all signals" blocked jump jumped
check "several instructions, beside threads that block all signals" blocked jump,span spanned
insider
check "a thread within a function's first instructions" within
check "a thread in a handler on another stack, at each look" handlers
check "a page of the program that does not come" slow
check "instructions on two pages" pages
check "jf-trace is killed" killed
if command -v strace > /dev/null; then
	check "a thread that cannot be interrupted, and a stack at an odd address" beside
	check "a debugger" debugged
else
	skip "a debugger, and a thread that cannot be interrupted" "no strace"
fi
tap_end
