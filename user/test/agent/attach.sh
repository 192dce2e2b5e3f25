#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# The agent is loaded into processes that run: whatever they do, they do not notice. waits.c knows what each has to come to.
# usage: attach.sh BUILD [CYCLES]
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317,SC2119,SC2120
set -u
build=$1
cycles=${2:-100}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

waits=$build/agent/waits
tool=$build/jf-trace
mkdir -m 700 "$tmp/run"
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR
unset LD_PRELOAD

# begin PROGRAM...: in the background, as $pid; it has said "ready".
begin()
{
	: > "$tmp/program"
	"$@" > "$tmp/program" 2>&1 &
	pid=$!
	for _ in $(seq 500); do
		grep -q ready "$tmp/program" && return 0
		kill -0 "$pid" 2> /dev/null || break
		sleep 0.02
	done
	cat "$tmp/program"
	return 1
}

# finish [STATUS]: the program is told to end, and was right.
finish()
{
	kill "$pid" 2> /dev/null
	( sleep 60; kill -9 "$pid" ) > /dev/null 2>&1 &
	watch=$!
	wait "$pid"
	rc=$?
	kill "$watch" 2> /dev/null
	cat "$tmp/program"
	[ "$rc" = "${1:-0}" ] && { [ "${1:-0}" != 0 ] || grep -q right "$tmp/program"; }
}

# quits: it is ended, whatever it does.
quits()
{
	kill -9 "$pid" 2> /dev/null
	wait "$pid" 2> /dev/null
	:
}

# An agent that only does what its constructor does, and a jf-trace beside it, in $tmp/NAME.
agent_of()
{
	mkdir -p "$tmp/$1"
	cp "$tool" "$tmp/$1/jf-trace"
	{ cat; echo 'int __jf_agent_attach(void) { return 0; }'; } > "$tmp/$1/agent.c"
	${CC:-cc} -O1 -shared -fPIC -o "$tmp/$1/libjumpfunc-agent-glibc.so" "$tmp/$1/agent.c"
}

# --- programs that wait, calculate, allocate -------------------------------------------------

# One is attached to some times, at any moment of it, told to record, and let go.
attached()
{
	for pause in 0.01 0.03 0.05; do
		begin "$waits" "$1" || return 1
		sleep "$pause"
		ends 0 "$tool" record -p "$pid" -e 'waits:do_*' && says 'has the agent now' || { finish; return 1; }
		grep -q libjumpfunc-agent "/proc/$pid/maps" || { finish; return 1; }
		sleep 0.1
		ends 0 "$tool" stop "$pid" || { finish; return 1; }
		finish || return 1
	done
}

for kind in $("$waits"); do
	check "nothing is interrupted, and nothing lost: $kind" attached "$kind"
done

again()
{
	begin "$waits" read || return 1
	ends 0 "$tool" record -p "$pid" -e waits:do_read && says 'has the agent now' || { finish; return 1; }
	for _ in $(seq "$cycles"); do
		"$tool" stop "$pid" > "$tmp/out" 2> "$tmp/err" && ends 0 "$tool" record -p "$pid" -e waits:do_read &&
			! says 'has the agent now' || { finish; return 1; }
	done
	finish
}
check "attach again, $cycles times" again

sums()
{
	begin "$waits" epoll || return 1
	timeout -s INT 2 "$tool" time -p "$pid" -e 'waits:do_*' > "$tmp/out" 2> "$tmp/err"
	cat "$tmp/out" "$tmp/err"
	says 'waits:do_epoll' && ends 0 "$tool" top -p "$pid" -e 'waits:do_*' -n 2 -i 0.3 && says 'waits:do_epoll' &&
		ends 0 "$tool" list -p "$pid" -e 'call/waits:do_poll' && says 'call  *off waits:do_poll' && finish
}
check "time, top and list of it" sums

# Without a kind a pattern names functions to each command, and calls to none: disable says that calls are on.
kinds()
{
	begin "$waits" epoll || return 1
	ends 0 "$tool" record -p "$pid" -e call/waits:do_epoll && ends 0 "$tool" list -p "$pid" -e '*do_epoll' && says 'function off' &&
		! says '^call' > /dev/null && ends 4 "$tool" disable "$pid" '*do_epoll' &&
		says "call/ alone: 1 that are on match: jf-trace disable $pid 'call/\*do_epoll'" && ends 0 "$tool" disable "$pid" 'call/*do_epoll' &&
		says 'disabled 1' && ends 4 "$tool" disable "$pid" '*do_epoll' && ! says 'call/' > /dev/null || { finish; return 1; }
	ends 0 "$tool" enable "$pid" '*do_epoll' && ends 0 "$tool" list -p "$pid" -e 'call/*do_epoll' && says '^call  *off' &&
		ends 0 "$tool" disable "$pid" '*do_epoll' && says 'disabled 1' || { finish; return 1; }
	finish
}
check "a pattern names the same to each command" kinds

# Names that debug information has are not known there: the message says so, and names the command that reads it.
names()
{
	begin "$waits" epoll || return 1
	for pattern in 'waits:do_epoll if size >= 4096' 'waits:do_epoll(order->price)' 'call/waits:do_epoll(order->price)'; do
		ends 1 "$tool" record -p "$pid" -e "$pattern" && says "has all its names" && says "'jf-trace run' alone reads" &&
			! says 'Invalid argument' || { finish; return 1; }
	done
	finish
}
check "names that a process that runs does not have" names

# Whatever asks jf-trace to end, nothing stays on: the next command is not refused. The reader of a pipe that goes is such an end, too.
ends_of()
{
	begin "$waits" epoll || return 1
	for command in time count top; do
		for sig in HUP QUIT TERM INT; do
			ends 124 env --default-signal=HUP,QUIT timeout -s "$sig" 1 "$tool" "$command" -p "$pid" -e 'waits:do_*' || return 1
			! says 'is recording' || return 1
		done
	done
	{ env --default-signal=PIPE "$tool" top -p "$pid" -i 0.1 -e 'waits:do_*' 2> "$tmp/err"; echo "$?" > "$tmp/rc"; } | head -n 1 > "$tmp/out"
	says 'events/s' && [ "$(cat "$tmp/rc")" = 141 ] && ends 0 "$tool" stats -p "$pid" && says '^recording 0$' || return 1
	set -- "$XDG_RUNTIME_DIR/jumpfunc/waits-$pid"-*
	[ ! -e "$1" ] && finish
}
if env --default-signal=INT,HUP true 2> /dev/null; then
	check "signals end time, count and top, and nothing stays on" ends_of
fi

# --- what is not the thread's ------------------------------------------------------------------

# The constructor changes errno, vector registers, their control word and the direction of rounding; signals come meanwhile.
changes_all()
{
	agent_of changes <<-END
	#include <errno.h>
	#include <signal.h>
	#include <unistd.h>
	__attribute__((constructor)) static void begins(void)
	{
		unsigned int control = 0x7f80;
		unsigned short x87 = 0xf7f;

		errno = 4711;
		__asm__ volatile("ldmxcsr %0\n\tfninit\n\tfldcw %1\n\tpcmpeqd %%xmm0, %%xmm0\n\tpcmpeqd %%xmm7, %%xmm7\n\tpcmpeqd %%xmm15, %%xmm15"
				 : : "m" (control), "m" (x87) : "xmm0", "xmm7", "xmm15");
		kill(getpid(), SIGUSR1);
		kill(getpid(), SIGUSR2);
	}
	END
	build_c signals <<-END
	#include <errno.h>
	#include <fenv.h>
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile sig_atomic_t one, two, end;
	static void on_signal(int sig) { one += sig == SIGUSR1; two += sig == SIGUSR2; }
	static void on_end(int sig) { end = sig; }
	int main(void)
	{
		volatile double third = 1.0, wrong = 0;
		long i;

		signal(SIGUSR1, on_signal);
		signal(SIGUSR2, on_signal);
		signal(SIGTERM, on_end);
		puts("ready");
		fflush(stdout);
		while (!end) {
			close(-1);
			for (i = 0; i < 10000; i++)
				wrong += third / 3.0 != 1.0 / 3.0 || (double)((long double)third / 3.0L) != 1.0 / 3.0;
			wrong += errno != EBADF || fegetround() != FE_TONEAREST;
		}
		printf("%s: %d %d %g\n", one == 1 && two == 1 && !wrong ? "right" : "wrong", (int)one, (int)two, wrong);
		return !(one == 1 && two == 1 && !wrong);
	}
	END
	begin "$tmp/signals" || return 1
	"$tmp/changes/jf-trace" record -p "$pid" -e 'x:y'
	sleep 0.1
	finish
}
check 'registers, errno and signals are the program'"'"'s' changes_all

# killed KIND: all of jf-trace, in the midst of the constructor; the program goes on.
killed()
{
	begin "$waits" "$1" || return 1
	rm -f "$tmp/in" "$tmp/go" "$tmp/out-of"
	setsid "$tmp/slow/jf-trace" record -p "$pid" -e 'x:y' &
	group=$!
	for _ in $(seq 500); do
		[ -e "$tmp/in" ] && break
		sleep 0.01
	done
	kill -9 -- "-$group"
	wait "$group" 2> /dev/null
	[ -e "$tmp/in" ] || { finish; echo "not in the constructor"; return 1; }
	sleep 0.1
	: > "$tmp/go"
	for _ in $(seq 200); do
		[ -e "$tmp/out-of" ] && break
		sleep 0.02
	done
	[ -e "$tmp/out-of" ] || { finish; echo "the constructor did not end"; return 1; }
	rm -f "$tmp/out-of"
	finish
}
agent_of slow <<END
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
__attribute__((constructor)) static void begins(void)
{
	struct timespec a, b;

	close(open("$tmp/in", O_CREAT | O_WRONLY, 0600));
	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while (access("$tmp/go", F_OK) && b.tv_sec - a.tv_sec < 30);
	close(open("$tmp/out-of", O_CREAT | O_WRONLY, 0600));
}
END
# Calls with a time-out may end with EINTR then.
for kind in read sem compute malloc threads wait; do
	check "jf-trace is killed in the midst: $kind" killed "$kind"
done

# At any moment of it.
killed_anywhere()
{
	for k in 0 1 2 3; do
		for ms in 02 04 06 08 10 12 15 20 25 30; do
			begin "$waits" compute || return 1
			setsid "$tool" record -p "$pid" -e 'waits:do_*' > /dev/null 2>&1 &
			group=$!
			sleep "0.0$ms$k"
			kill -9 -- "-$group" 2> /dev/null
			wait "$group" 2> /dev/null
			finish || return 1
		done
	done
}
check "jf-trace is killed, whenever" killed_anywhere

interrupted()
{
	begin "$waits" read || return 1
	rm -f "$tmp/in" "$tmp/go" "$tmp/out-of"
	setsid env --default-signal=INT "$tmp/slow/jf-trace" record -p "$pid" -e 'x:y' &
	group=$!
	for _ in $(seq 500); do
		[ -e "$tmp/in" ] && break
		sleep 0.01
	done
	kill -INT -- "-$group"
	sleep 0.1
	: > "$tmp/go"
	wait "$group"
	[ -e "$tmp/out-of" ] || { finish; echo "it did not wait for the constructor"; return 1; }
	rm -f "$tmp/out-of"
	finish
}
check "jf-trace is interrupted in the midst" interrupted

# --- locks --------------------------------------------------------------------------------------

# One thread holds the dynamic linker's lock, and waits for a lock of another one, which is in nothing.
linker_waits()
{
	build_c plugin -shared -fPIC <<-END
	#include <pthread.h>
	extern pthread_mutex_t wanted;
	__attribute__((constructor)) static void begins(void) { pthread_mutex_lock(&wanted); pthread_mutex_unlock(&wanted); }
	END
	build_c holder -rdynamic <<-END
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER;
	static void *loads(void *arg) { return dlopen(arg, RTLD_NOW); }
	int main(int argc, char **argv)
	{
		pthread_t t;
		void *lib;

		(void)argc;
		pthread_mutex_lock(&wanted);
		pthread_create(&t, NULL, loads, argv[1]);
		usleep(200000);
		puts("ready");
		fflush(stdout);
		if (read(0, &lib, 1))
			return 1;
		pthread_mutex_unlock(&wanted);
		pthread_join(t, &lib);
		puts(lib ? "right" : "wrong");
		return !lib;
	}
	END
	mkfifo "$tmp/fifo"
	begin sh -c "exec '$tmp/holder' '$tmp/plugin' < '$tmp/fifo'" &
	sleep 0.2
	exec 9> "$tmp/fifo"
	wait $!
	pid=$(pgrep -f "^$tmp/holder")
	ends 1 "$tool" record -p "$pid" -e 'x:y' && says 'another thread of it is loading an object' && ! grep -q libjumpfunc "/proc/$pid/maps"
	rc=$?
	exec 9>&-
	for _ in $(seq 200); do
		grep -q right "$tmp/program" && break
		sleep 0.02
	done
	rm -f "$tmp/fifo"
	[ "$rc" = 0 ] && grep -q right "$tmp/program"
}
check "the dynamic linker's lock waits for the thread: it is let go" linker_waits

# No thread of the first program fits; the second one is another memory, and other functions.
executes()
{
	build_c executes <<-END
	#include <signal.h>
	#include <stdio.h>
	#include <time.h>
	#include <unistd.h>
	static volatile int ended;
	static void end(int sig) { ended = sig; }
	static void handler(int sig)
	{
		struct timespec t = { 1, 500000000 };

		(void)sig;
		nanosleep(&t, NULL);
		execl("$tmp/executes", "executes", "again", NULL);
	}
	__attribute__((__noinline__)) void turn(void) { usleep(1000); }
	int main(int argc, char **argv)
	{
		signal(SIGTERM, end);
		signal(SIGUSR1, handler);
		if (argc == 1) {
			setvbuf(stdout, NULL, _IOLBF, 0);
			puts("ready");
			raise(SIGUSR1);
		}
		while (!ended)
			turn();
		puts(argv[1]);
		puts("right");
		return 0;
	}
	END
	begin "$tmp/executes" && ends 0 "$tool" record -p "$pid" -e 'function/executes:turn' && grep -q libjumpfunc-agent "/proc/$pid/maps" &&
		ends 0 "$tool" stats "$pid" && finish && grep -q again "$tmp/program"
}
check "a process that executes another program meanwhile" executes

# Its only thread has no right to read the counter; or traps where a number is rounded, and so do its children.
odd()
{
	build_c odd -rdynamic <<-'END'
	#define _GNU_SOURCE
	#include <fenv.h>
	#include <poll.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static volatile int over;
	static void ends(int sig) { (void)sig; over = 1; }
	__attribute__((__noinline__)) long turn(long a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return a + 1; }
	int main(int argc, char **argv)
	{
		int status, good = 1;
		long turns = argc;

		signal(SIGTERM, ends);
		if (*argv[1] == 'c' && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
			return 1;
		if (*argv[1] == 't' && feenableexcept(FE_ALL_EXCEPT) == -1)
			return 1;
		puts("ready");
		fflush(stdout);
		for (; !over; turns = turn(turns)) {
			poll(NULL, 0, 10);
			if (turns % 20)
				continue;
			if (!fork()) {
				for (int i = 0; i < 5000; i++)
					turn(i);
				_exit(0);
			}
			while (wait(&status) < 0)
				;
			good &= !status;
		}
		puts(good ? "right" : "a child has died");
		return 0;
	}
	END
	begin "$tmp/odd" "$1" && ends 0 "$tool" record -p "$pid" -e 'odd:turn' -e 'call/odd:turn' && grep -q libjumpfunc-agent "/proc/$pid/maps" || { quits; return 1; }
	sleep 3
	ends 0 "$tool" enable "$pid" 'odd:turn if arg0 > 0.1' && ends 0 "$tool" stats "$pid"
	cat "$tmp/out"
	ends 0 "$tool" stop "$pid" || { quits; return 1; }
	finish
}
check "a program without the right to read the counter of the processor" odd counter
check "a program that traps where a number is rounded" odd traps

# --- what is refused ------------------------------------------------------------------------------

refused()
{
	ends 1 "$tool" record -p "$pid" -e 'x:y' && says "$1" && ! grep -q libjumpfunc "/proc/$pid/maps" && [ "$(wc -l < "$tmp/err")" = 1 ]
	rc=$?
	quits
	return "$rc"
}

build_c plain <<END
#include <stdio.h>
#include <unistd.h>
int main(void) { puts("ready"); fflush(stdout); for (;;) pause(); }
END

if ${CC:-cc} -static -o "$tmp/plain-static" "$tmp/plain.c" 2> /dev/null; then
	is_static() { begin "$tmp/plain-static" && refused 'static program'; }
	check "a static program" is_static
fi
if have musl-gcc && musl-gcc -o "$tmp/plain-musl" "$tmp/plain.c" 2> /dev/null; then
	is_musl() { begin "$tmp/plain-musl" && refused 'C library is musl'; }
	check "musl" is_musl
fi
cat > "$tmp/bits.S" <<END
.globl _start
_start:	mov \$4, %eax
	mov \$1, %ebx
	mov \$said, %ecx
	mov \$6, %edx
	int \$0x80
1:	mov \$29, %eax
	int \$0x80
	jmp 1b
.data
said:	.ascii "ready\\n"
END
if ${CC:-cc} -m32 -nostdlib -static -o "$tmp/bits" "$tmp/bits.S" 2> "$tmp/said" && { timeout 0.3 "$tmp/bits" > "$tmp/out"; grep -q ready "$tmp/out"; }; then
	is_32() { begin "$tmp/bits" && refused 'of another architecture'; }
	check "32 bits" is_32
else
	skip "32 bits" "they cannot be built, or not executed"
fi

build_c filter <<END
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog p = { 1, &all };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
END
has_filter() { begin "$tmp/filter" && refused 'seccomp'; }
check "a filter of system calls" has_filter

is_stopped() { begin "$tmp/plain" && kill -STOP "$pid" && sleep 0.1 && refused 'kill -CONT'; }
check "a stopped process" is_stopped

# Its only thread has no block of the C library's, in which dlopen() would look for its variables.
without_block()
{
	build_c blockless -fno-stack-protector <<-'END'
	#include <asm/prctl.h>
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(void)
	{
		long ret, pause = SYS_pause;

		puts("ready");
		fflush(stdout);
		syscall(SYS_arch_prctl, ARCH_SET_FS, 0);
		for (;;)
			__asm__ volatile("syscall" : "=a" (ret) : "a" (pause) : "rcx", "r11", "memory");
	}
	END
	begin "$tmp/blockless" && sleep 0.1 || return 1
	ends 1 "$tool" record -p "$pid" -e 'x:y' && says "C library's variables" && kill -0 "$pid" && ! grep -q libjumpfunc "/proc/$pid/maps"
	rc=$?
	quits
	return "$rc"
}
check "a thread without the C library's variables" without_block

is_traced()
{
	build_c tracer <<-END
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/ptrace.h>
	#include <unistd.h>
	int main(int argc, char **argv) { (void)argc; if (ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0)) return 1; puts("traces"); fflush(stdout); for (;;) pause(); }
	END
	begin "$tmp/plain" || return 1
	"$tmp/tracer" "$pid" > "$tmp/traces" &
	tracer=$!
	for _ in $(seq 100); do
		grep -q traces "$tmp/traces" && break
		sleep 0.02
	done
	ends 1 "$tool" record -p "$pid" -e 'x:y' && says "process $tracer traces it"
	rc=$?
	kill "$tracer"
	wait "$tracer" 2> /dev/null
	quits
	return "$rc"
}
check "another tracer" is_traced

if unshare -m true 2> /dev/null; then
	is_elsewhere() { begin unshare -m "$tmp/plain" && refused 'nsenter -a -t'; }
	check "another mount namespace" is_elsewhere
else
	skip "another mount namespace" "unshare is not permitted"
fi
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups true 2> /dev/null; then
	chmod 755 "$tmp" && mkdir -m 755 "$tmp/other" && cp "$tool" "$build/libjumpfunc-agent-glibc.so" "$tmp/other/"
	is_anothers()
	{
		begin "$tmp/plain" || return 1
		ends 1 setpriv --reuid 65534 --clear-groups "$tmp/other/jf-trace" record -p "$pid" -e 'x:y' && says 'belongs to another user'
		rc=$?
		quits
		return "$rc"
	}
	check "another user's process" is_anothers
	# Its effective user is the caller's, and it has more rights.
	has_rights()
	{
		cp "$tmp/plain" "$tmp/plain-rights" && setcap cap_net_raw+ep "$tmp/plain-rights" || return 1
		begin setpriv --reuid 65534 --clear-groups "$tmp/plain-rights" || return 1
		ends 1 setpriv --reuid 65534 --clear-groups "$tmp/other/jf-trace" record -p "$pid" -e 'x:y' && says 'more rights than its user\|Permission'
		rc=$?
		quits
		return "$rc"
	}
	if have setcap && cp "$tmp/plain" "$tmp/plain-try" && setcap cap_net_raw+ep "$tmp/plain-try" 2> /dev/null; then
		check "a process with more rights" has_rights
	else
		skip "a process with more rights" "no setcap"
	fi
	# What Yama refuses, on a kernel with or without it: the call by a filter, and the file by a mount.
	build_c denied <<- 'END'
		#include <errno.h>
		#include <stddef.h>
		#include <linux/filter.h>
		#include <linux/seccomp.h>
		#include <sys/prctl.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct sock_filter f[] = {
				BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
				BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
				BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			};
			struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

			(void)argc;
			if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
				return 99;
			execvp(argv[1], argv + 1);
			return 98;
		}
	END
	# denied SCOPE UID TEXT: of kernel.yama.ptrace_scope
	denied()
	{
		# shellcheck disable=SC2016 # the inner shell's
		begin unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo "$1" > /proc/sys/kernel/yama/ptrace_scope &&
			exec setpriv --reuid "$2" --clear-groups "$3"' - "$1" "$2" "$tmp/plain" || return 1
		ends 1 nsenter -t "$pid" -m setpriv --reuid "$2" --clear-groups "$tmp/denied" "$tmp/other/jf-trace" record -p "$pid" -e 'x:y' &&
			says "$3" && ! grep -q libjumpfunc "/proc/$pid/maps" && [ "$(wc -l < "$tmp/err")" = 1 ]
		rc=$?
		quits
		return "$rc"
	}
	by_yama()
	{
		for scope in 1 2; do
			denied "$scope" 65534 "lets root alone trace others' children (kernel.yama.ptrace_scope is $scope): be root, or sysctl kernel.yama.ptrace_scope=0" &&
				denied "$scope" 0 'this root lacks CAP_SYS_PTRACE' || return 1
		done
		denied 3 65534 'until it boots again (kernel.yama.ptrace_scope is 3)' && denied 3 0 'until it boots again (kernel.yama.ptrace_scope is 3)' &&
			denied 0 65534 'ptrace() is not permitted: it has more rights' && denied 0 0 'this root lacks CAP_SYS_PTRACE'
	}
	# shellcheck disable=SC2016 # the inner shell's
	if unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel' 2> /dev/null; then
		check "refusals of Yama" by_yama
	else
		skip "refusals of Yama" "nothing can be mounted on /proc/sys/kernel"
	fi
fi

cannot_load()
{
	mkdir -p "$tmp/broken"
	cp "$tool" "$tmp/broken/jf-trace"
	echo 'not ELF' > "$tmp/broken/libjumpfunc-agent-glibc.so"
	begin "$waits" read || return 1
	ends 1 "$tmp/broken/jf-trace" record -p "$pid" -e 'x:y' && says 'its dynamic linker says: .*libjumpfunc-agent-glibc.so' && finish
}
check "an agent that cannot be loaded" cannot_load

no_agent()
{
	mkdir -p "$tmp/none"
	cp "$tool" "$tmp/none/jf-trace"
	begin "$waits" read || return 1
	ends 1 "$tmp/none/jf-trace" record -p "$pid" -e 'x:y' && says 'is not installed' && finish
}
check "no agent" no_agent

ended()
{
	begin "$tmp/plain" || return 1
	quits
	ends 1 "$tool" record -p "$pid" -e 'x:y' && says "there is no process $pid"
}
check "no process" ended

# malloc() is a part of the program, by whatever name: it is borrowed only where it waits.
own_malloc()
{
	build_c own -rdynamic <<-END
	#include <stddef.h>
	#include <stdint.h>
	#include <signal.h>
	#include <stdio.h>
	#include <string.h>
	#include <unistd.h>
	static char heap[16 << 20];
	static size_t used;
	static volatile int held;
	void *malloc(size_t size)
	{
		size_t *p;

		while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE))
			;
		for (volatile int i = 0; i < 1000; i++)
			;
		p = (size_t *)(heap + used);
		used += (size + 31) & ~(size_t)15;
		held = 0;
		*p = size;
		return (char *)p + 16;
	}
	void free(void *p) { (void)p; }
	void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
	void *realloc(void *p, size_t size)
	{
		void *q = malloc(size);

		if (p)
			memcpy(q, p, *(size_t *)((char *)p - 16) < size ? *(size_t *)((char *)p - 16) : size);
		return q;
	}
	static volatile int end;
	static void on_end(int sig) { end = sig; }
	int main(void)
	{
		signal(SIGTERM, on_end);
		puts("ready");
		fflush(stdout);
		while (!end) {
			for (int i = 0; i < 2000; i++) {
				used = used > sizeof(heap) / 2 ? sizeof(heap) / 4 : used;
				*(volatile char *)malloc(16) = 1;
			}
			usleep(2000);
		}
		puts("right");
		return 0;
	}
	END
	begin "$tmp/own" || return 1
	ends 0 "$tool" record -p "$pid" -e 'own:main' || says 'no probe' || { quits; return 1; }
	grep -q libjumpfunc-agent "/proc/$pid/maps" && finish
}
check "malloc() in the program" own_malloc

# --- a server under load ----------------------------------------------------------------------------

# The server $server at $port.
serve()
{
	redis-server --port "$port" --save '' --bind 127.0.0.1 > "$tmp/redis.log" 2>&1 &
	server=$!
	for _ in $(seq 200); do
		redis-cli -p "$port" ping > /dev/null 2>&1 && break
		sleep 0.05
	done
}

redis()
{
	port=$((20000 + $$ % 20000))
	serve
	redis-benchmark -p "$port" -n 2000000 -c 10 -P 4 -t set -q > "$tmp/bench" 2>&1 &
	load=$!
	rc=0
	for i in $(seq "$cycles"); do
		kill -0 "$load" 2> /dev/null || { echo "the load ended in cycle $i"; break; }
		ends 0 "$tool" record -p "$server" -o "$tmp" -e '*:setCommand' && ends 0 "$tool" stop "$server" || { rc=1; break; }
		rm -rf "$tmp"/redis-*-*
	done
	kill -0 "$server" && kill "$load" 2> /dev/null
	wait "$load"
	[ "$(redis-cli -p "$port" set key value)" = OK ] && [ "$(redis-cli -p "$port" get key)" = value ] || rc=1
	# All of a load without an end before its time, with an attach to a fresh server in it.
	kill "$server"
	wait "$server"
	serve
	redis-benchmark -p "$port" -n 50000 -c 10 -t incr -q > "$tmp/bench" 2>&1 &
	load=$!
	sleep 0.2
	ends 0 "$tool" record -p "$server" -o "$tmp" -e '*:incrCommand' && says 'has the agent now' || rc=1
	wait "$load" || { rc=1; cat "$tmp/bench"; }
	[ "$(redis-cli -p "$port" get counter:__rand_int__)" = 50000 ] || rc=1
	redis-cli -p "$port" info commandstats | grep -q 'cmdstat_incr:calls=50000,.*failed_calls=0' || rc=1
	kill "$server"
	wait "$server" || rc=1
	return "$rc"
}
if have redis-benchmark && have redis-server; then
	check "redis under load, $cycles times; no request is lost" redis
else
	skip "redis under load" "no redis-server"
fi

tap_end
