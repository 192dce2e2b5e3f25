#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# libjumpfunc-agent.so in programs that were not built with us: the distribution's own.
# usage: agent.sh BUILD [SECONDS]
# What is not installed is skipped, with its name. The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
build=$1
seconds=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../tap.sh
. "$here/../tap.sh"
tap_begin

agent=$build/libjumpfunc-agent.so
# shellcheck source=traced.sh
. "$here/traced.sh"

# That of the distribution: it has notes.
python=$(readlink -f /usr/bin/python3)

python_notes()
{
	cat > "$tmp/script.py" <<-'END'
	import gc
	def twice(x):
	    return 2 * x
	for i in range(100):
	    twice(i)
	gc.collect()
	import colorsys
	END
	traced 'python:*' "$python" "$tmp/script.py" || return 1
	sort "$tmp/events" | cut -d' ' -f1 | uniq -c
	[ "$(count python:function__entry)" -ge 100 ] && [ "$(count python:function__return)" -ge 100 ] &&
		[ "$(count python:line)" -gt 300 ] && [ "$(count python:gc__start)" -ge 1 ] &&
		[ "$(count python:gc__done)" = "$(count python:gc__start)" ] &&
		[ "$(count python:import__find__load__start)" -ge 1 ] && [ "$(count python:audit)" -ge 1 ] &&
		# None was impossible.
		! grep 'is not recorded' "$tmp/err"
}

# The arguments are what the program has: the line's number is the third.
python_arguments()
{
	printf 'def f():\n\n\n  pass\nf()\nf()\nf()\n' > "$tmp/lines.py"
	# This python has its calls in its loop as long as lines are not asked for: there are no entries then.
	traced 'python:function__entry,python:line' "$python" -S -E "$tmp/lines.py" || return 1
	grep 'python:function__entry' "$tmp/events" | tail -4
	[ "$(grep -c 'function__entry.*arg3 = 1 }' "$tmp/events")" -ge 3 ]
}

libc_functions()
{
	head -c 2000000 "$python" > "$tmp/in"
	traced malloc,free,read,write,libc.so.6:close zstd -q -f -T2 "$tmp/in" -o "$tmp/out.zst" || return 1
	cut -d' ' -f1 "$tmp/events" | sort | uniq -c
	zstd -q -d -f "$tmp/out.zst" -o "$tmp/back" && cmp "$tmp/in" "$tmp/back" && [ "$(count libc.so.6:malloc)" -gt 10 ] &&
		[ "$(count libc.so.6:free)" -gt 10 ] && [ "$(count libc.so.6:read)" -ge 10 ] &&
		[ "$(count libc.so.6:write)" -ge 1 ]
}

# Everything that the recorder itself uses, too, in each way. all_of_libc WAYS GLOBS
all_of_libc()
{
	JUMPFUNC_AGENT_WAYS=$1
	export JUMPFUNC_AGENT_WAYS
	traced "$2" "$python" -c 'import json; print(len(json.dumps(list(range(500)))))'
	rc=$?
	unset JUMPFUNC_AGENT_WAYS
	grep -c 'is not recorded' "$tmp/err"
	[ "$rc" = 0 ] && [ "$(cat "$tmp/out")" = 2390 ] && [ "$(cut -d' ' -f1 "$tmp/events" | sort -u | wc -l)" -gt 10 ]
}

cxx_notes()
{
	traced 'libstdcxx:*' "$tmp/exceptions" || return 1
	[ "$(count libstdcxx:throw)" = 500 ] && [ "$(count libstdcxx:catch)" = 500 ]
}

# An exception, a cancellation and backtrace() find their way through functions that are recorded in each way.
exceptions()
{
	"$tmp/exceptions" > "$tmp/expected" || return 1
	for ways in jump,short span break; do
		JUMPFUNC_AGENT_WAYS=$ways
		export JUMPFUNC_AGENT_WAYS
		traced 'throws_it,passes_it,waits,__cxa_throw,_Unwind_*,pause,backtrace' "$tmp/exceptions"
		rc=$?
		unset JUMPFUNC_AGENT_WAYS
		cat "$tmp/out"
		[ "$rc" = 0 ] && diff "$tmp/expected" "$tmp/out" && [ -s "$tmp/events" ] || return 1
	done
}

# Each program that it starts has a trace of its own, those without a probe none.
children()
{
	traced 'python:function__entry' sh -c "$python -c 'import json'; $python -c 'import re'; true" || return 1
	ls "$tmp/traces"
	[ "$(find "$tmp/traces" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
}

nothing_matches()
{
	traced_nothing=$(JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT='no:such' JUMPFUNC=verbose LD_PRELOAD=$agent sh -c 'echo works' 2>&1)
	echo "$traced_nothing"
	[ "$(echo "$traced_nothing" | grep -c 'no:such: nothing matches')" = 1 ] && echo "$traced_nothing" | grep -qx works
}

# What is no pattern is named, with the reason, and the others are recorded.
wrong_patterns()
{
	long=$(printf 'x%.0s' $(seq 300))
	JUMPFUNC_AGENT="takes(strin),$long,made(string,string,puts" LD_PRELOAD=$agent /bin/true 2> "$tmp/err" || return 1
	cat "$tmp/err"
	grep -q "'takes(strin)' is no pattern of probes: 'strin' in its brackets is neither string" "$tmp/err" &&
		grep -q "'xxx.*\.\.\.' is no pattern of probes: it has more than 255 characters" "$tmp/err" &&
		grep -q "'made(string,string,puts' is no pattern of probes" "$tmp/err" || return 1
	traced "$long,libc*:write" /bin/echo written || return 1
	[ "$(count libc.so.6:write)" = 1 ]
}

# What is recorded all the time is complete, whatever else is switched.
asked()
{
	rm -rf "$tmp/traces" "$tmp/run"
	mkdir -m 700 "$tmp/traces" "$tmp/run"
	XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_PACKETS=64 LD_PRELOAD=$agent \
		JUMPFUNC_AGENT='subject.so:subject_nothing' "$build/agent/asked" "$build/agent/subject2.so" "$seconds" > "$tmp/out" 2> "$tmp/err"
	rc=$?
	cat "$tmp/out" "$tmp/err"
	[ "$rc" = 0 ] || return 1
	events "$tmp/traces"/* || return 1
	cut -d' ' -f1 "$tmp/events" | sort | uniq -c
	[ "$(count subject.so:subject_nothing)" = "$(cat "$tmp/out")" ] && [ "$(cut -d' ' -f1 "$tmp/events" | sort -u | wc -l)" -ge 3 ]
}

killed()
{
	rm -rf "$tmp/traces"
	mkdir "$tmp/traces"
	# By itself, in the midst of what is recorded.
	JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT='python:function__entry,python:line' LD_PRELOAD=$agent "$python" -S -E -c \
'import os
def f(i):
    if i == 1000: os.kill(os.getpid(), 9)
for i in range(2000): f(i)' 2> /dev/null
	events "$tmp/traces"/* || return 1
	[ "$(count python:function__entry)" -ge 1001 ]
}

redis()
{
	rm -rf "$tmp/traces"
	mkdir "$tmp/traces"
	JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT='epoll_wait,read' LD_PRELOAD=$agent \
		timeout 20 redis-server --port 0 --unixsocket "$tmp/redis.sock" --save '' > "$tmp/out" 2>&1 &
	pid=$!
	tries=0
	while [ ! -S "$tmp/redis.sock" ] && [ "$tries" -lt 50 ]; do
		sleep 0.2
		tries=$((tries + 1))
	done
	timeout 5 redis-cli -s "$tmp/redis.sock" set a 5 && [ "$(timeout 5 redis-cli -s "$tmp/redis.sock" get a)" = 5 ]
	rc=$?
	kill "$pid"
	wait "$pid"
	events "$tmp/traces"/redis* || return 1
	cut -d' ' -f1 "$tmp/events" | sort | uniq -c
	[ "$rc" = 0 ] && [ "$(count libc.so.6:read)" -ge 2 ] && [ "$(count libc.so.6:epoll_wait)" -ge 1 ]
}

# The agent's libjumpfunc does not know the sites of the program's.
own_copy()
{
	# shellcheck disable=SC2086
	${CC:-cc} -O2 -I"$here/../../../include" $1 -o "$tmp/own_copy" "$here/own_copy.c" "$build/libjumpfunc.a" -pthread -ldl || return 1
	for trap in "" always; do
		JUMPFUNC_TRAP=$trap
		export JUMPFUNC_TRAP
		traced 'jfown:*,own_*' "$tmp/own_copy"
		rc=$?
		unset JUMPFUNC_TRAP
		cat "$tmp/err"
		[ "$rc" = 0 ] && [ "$(tr '\n' ' ' < "$tmp/out")" = "6 7 6 " ] || return 1
		[ -n "$1$trap" ] || { [ "$(count jfown:note)" = 3 ] && grep -q 'beside at .* a site of libjumpfunc' "$tmp/err"; } || return 1
	done
}

# Probes of our <sys/sdt.h>: the program records them, and no word of the agent's denies that.
own_sdt()
{
	cat > "$tmp/own_sdt.c" <<-'END'
	#include <sys/sdt.h>
	int main(void)
	{
		int i;

		for (i = 0; i < 3; i++)
			DTRACE_PROBE1(ownsdt, hit, i);
		return 0;
	}
	END
	include=$here/../../../include
	${CC:-cc} -O2 -I"$include/jumpfunc-sdt" -I"$include" -o "$tmp/own_sdt" "$tmp/own_sdt.c" -L"$build" -ljumpfunc -Wl,-rpath,"$build" || return 1
	JUMPFUNC_TRACE='ownsdt:*'
	export JUMPFUNC_TRACE
	traced 'ownsdt:*' "$tmp/own_sdt"
	rc=$?
	unset JUMPFUNC_TRACE
	cat "$tmp/err"
	[ "$rc" = 0 ] && [ "$(count ownsdt:hit)" = 3 ] && ! grep 'nothing is recorded' "$tmp/err" &&
		grep -q 'ownsdt:hit at .* (the program itself records a probe' "$tmp/err"
}

# Where one thread writes text, no function that it comes through is half written. What it comes through itself is no call.
own_pwrite()
{
	for how in "-O2" "-O0" "-O2 -no-pie" "-O0 -no-pie"; do
		echo "$how"
		# shellcheck disable=SC2086
		${CC:-cc} $how -rdynamic -o "$tmp/own_pwrite" "$here/own_pwrite.c" &&
			traced 'own_pwrite:pwrite,own_pwrite:count' "$tmp/own_pwrite" &&
			[ "$(count own_pwrite:pwrite)" = 1 ] && [ "$(count own_pwrite:count)" = 1 ] || return 1
	done
}

# As a sanitizer's, its close() must not be called in a thread that begins, and records already.
own_close()
{
	build_c own_close -rdynamic <<-END
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <stdlib.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static __thread int known;
	static int threads;
	int close(int fd)
	{
		if (threads && !known)
			abort();
		return (int)syscall(SYS_close, fd);
	}
	__attribute__((__noinline__)) void begins(const void *arg) { __asm__ volatile("" : : "r" (arg) : "memory"); }
	static void *thread(void *arg)
	{
		begins(arg);
		known = 1;
		return arg;
	}
	int main(void)
	{
		pthread_t t[8];
		int i;

		known = 1;
		threads = 1;
		for (i = 0; i < 8; i++)
			if (pthread_create(&t[i], NULL, thread, t))
				return 1;
		for (i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
		return 0;
	}
	END
	traced own_close:begins "$tmp/own_close" && [ "$(count own_close:begins)" = 8 ]
}

sanitized()
{
	clang "-fsanitize=$1" -DOF_OTHERS -o "$tmp/sanitized" "$here/own_pwrite.c" &&
		traced 'sanitized:pwrite' "$tmp/sanitized" && [ "$(count sanitized:pwrite)" = 1 ]
}

# Functions that a compiler has begun with room for a jump: one instruction, or five of which each may be interrupted.
made_for_it()
{
	cat > "$tmp/made.c" <<-END
	#include <stdio.h>
	__attribute__((__noinline__)) int made_one(int a) { __asm__ volatile(""); return a + 1; }
	__attribute__((__noinline__)) int made_two(int a) { __asm__ volatile(""); return a + 2; }
	int main(void) { printf("%d\n", made_one(1) + made_two(2) + made_one(3)); return 0; }
	END
	ways=jump
	for flags in "-pg -mfentry -mnop-mcount -fno-pic -no-pie" "-fpatchable-function-entry=5" "-fpatchable-function-entry=5 -fcf-protection"; do
		# shellcheck disable=SC2086
		if ! ${CC:-cc} -O2 $flags -o "$tmp/made" "$tmp/made.c" 2> "$tmp/err"; then
			echo "not by this compiler: $flags"
			[ "$ways" = jump ] || return 1
			ways=jump,short,span
			continue
		fi
		# -pg leaves a file where the program runs.
		(cd "$tmp" && JUMPFUNC_AGENT_WAYS=$ways && export JUMPFUNC_AGENT_WAYS && traced 'made_*' "$tmp/made") || return 1
		ways=jump,short,span
		cat "$tmp/events" "$tmp/err"
		[ "$(cat "$tmp/out")" = 10 ] && [ "$(count made:made_one)" = 2 ] && [ "$(count made:made_two)" = 1 ] || return 1
	done
}

# As long as C++ has them. They differ in the last character; the one that is asked for is recorded, with all of its name.
long_names()
{
	long=$(printf 'n%.0s' $(seq 598))
	cat > "$tmp/long.c" <<-END
	int one(int a) __asm__("${long}_1"), two(int a) __asm__("${long}_2");
	__attribute__((__noinline__)) int one(int a) { __asm__ volatile("nopl 8(%rax,%rax)"); return a + 1; }
	__attribute__((__noinline__)) int two(int a) { __asm__ volatile("nopl 8(%rax,%rax)"); return a + 2; }
	int main(void) { return one(one(one(0))) + two(two(0)) != 7; }
	END
	${CC:-cc} -O2 -o "$tmp/long" "$tmp/long.c" || return 1
	for glob in 'long:nnn*_1' 'lon?:*n_1' 'nnn*[1]' 'long:*,-'; do
		traced "${glob%,-}" "$tmp/long" || return 1
		cut -c1-16,580-700 "$tmp/events"
		[ "$(count "long:${long}_1")" = 3 ] || return 1
		[ "$(count "long:${long}_2")" = "$([ "$glob" = 'long:*,-' ] && echo 2 || echo 0)" ] || return 1
	done
	# Where there is no way the reason is said as well.
	mkdir "$tmp/nothing" && JUMPFUNC_TRACE_DIR=$tmp/nothing JUMPFUNC_TRAP=always JUMPFUNC_AGENT_WAYS=span JUMPFUNC_AGENT='long:nnn*_1' \
		JUMPFUNC=verbose LD_PRELOAD=$agent "$tmp/long" 2> "$tmp/err"
	cut -c1-16,600-700 "$tmp/err"
	grep -q "long:${long}_1 at 0x[0-9a-f]* is not recorded: [a-z]" "$tmp/err" || return 1
	"$build/jf-trace" list -e 'long:nnn*' "$tmp/long" > "$tmp/out" || return 1
	cut -c1-40,580-700 "$tmp/out"
	[ "$(grep -c "long:${long}_[12]\$" "$tmp/out")" = 2 ]
}

# A thread makes its first packet in a handler on an alternate stack. What it calls for that are breakpoints, too: their
# signals must not begin at the top of that stack, where the handler is.
alternate_stack()
{
	cat > "$tmp/alternate.c" <<-'END'
	#define _GNU_SOURCE
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <time.h>
	#include <unistd.h>
	static volatile int hits;
	static void *stack_of(void)
	{
		stack_t now;

		return sigaltstack(NULL, &now) || now.ss_flags & SS_DISABLE ? NULL : now.ss_sp;
	}
	static void handler(int sig)
	{
		volatile int kept = 42;
		struct timespec t;

		(void)sig;
		hits += !clock_gettime(CLOCK_MONOTONIC, &t) && getppid() && kept == 42;
	}
	int main(void)
	{
		const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
		size_t size = 4 * (size_t)sysconf(_SC_SIGSTKSZ);
		const stack_t own = { .ss_sp = malloc(size), .ss_size = size };

		if (!own.ss_sp || sigaltstack(&own, NULL) || sigaction(SIGUSR1, &action, NULL))
			return 1;
		for (int i = 0; i < 200; i++)
			raise(SIGUSR1);
		printf("%d\n", hits);
		return hits != 200 || stack_of() != own.ss_sp;
	}
	END
	${CC:-cc} -O2 -o "$tmp/alternate" "$tmp/alternate.c" || return 1
	for ways in break jump,short,span; do
		(JUMPFUNC_AGENT_WAYS=$ways && export JUMPFUNC_AGENT_WAYS &&
			traced 'clock_gettime,getppid' "$tmp/alternate") || return 1
		cut -d' ' -f1 "$tmp/events" | sort | uniq -c
		[ "$(cat "$tmp/out")" = 200 ] && [ "$(count libc.so.6:getppid)" = 200 ] &&
			[ "$(count 'libc.so.6:.*clock_gettime')" = 200 ] || return 1
	done
}

# Good ones, long ones, at the end of memory, and what is none.
strings()
{
	cat > "$tmp/strings.c" <<-END
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	__attribute__((__noinline__)) int takes(const char *a, long b, const char *c) { __asm__ volatile("" : : "r" (a), "r" (c) : "memory"); return a != c; }
	static void *last(void *first)
	{
		pthread_join(*(pthread_t *)first, NULL);
		takes("alone", 6, "");
		exit(!fopen("/dev/null", "re"));
	}
	int main(void)
	{
		static pthread_t first, other;
		char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), big[2000];
		char *hidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(p + 4096, 4096);
		memcpy(p + 4096 - 6, "at end", 6);
		memset(big, 'x', sizeof(big));
		big[sizeof(big) - 1] = 0;
		takes("first", 1, "");
		takes((char *)16, 2, NULL);
		takes(big + sizeof(big) - 256, 7, big + sizeof(big) - 257);
		takes(p + 4096 - 6, 3, p + 4096);
		takes(big, 4, (char *)-1);
		takes(hidden, 5, (char *)0x8000000000000000);
		first = pthread_self();
		pthread_create(&other, NULL, last, &first);
		pthread_exit(NULL);
	}
	END
	${CC:-cc} -O1 -pthread -o "$tmp/strings" "$tmp/strings.c" && traced 'takes(string,_,string),libc*:fopen(string,string)' "$tmp/strings" || return 1
	sed 's/.*arg1 = \([^,]*\),.* arg0_string = /\1 /' "$tmp/events" | tee "$tmp/found"
	[ "$(count strings:takes)" = 7 ] && grep -q '^0x1 "first", arg2_string = "" }' "$tmp/found" &&
		grep -q '^0x2 "(unreadable)", arg2_string = "(null)" }' "$tmp/found" &&
		grep -q '^0x3 "at end...", arg2_string = "(unreadable)" }' "$tmp/found" &&
		grep -Eq '^0x7 "x{255}", arg2_string = "x{252}\.\.\." }' "$tmp/found" &&
		grep -Eq '^0x4 "x{252}\.\.\.", arg2_string = "\(unreadable\)" }' "$tmp/found" &&
		grep -q '^0x5 "(unreadable)", arg2_string = "(unreadable)" }' "$tmp/found" &&
		grep -q '^0x6 "alone", arg2_string = "" }' "$tmp/found" &&
		grep -q '"/dev/null", arg1_string = "re" }' "$tmp/found"
}

# A filter that kills for what copies a string: before the program begins, later, and by each way in which it is installed.
filtered()
{
	cat > "$tmp/filtered.c" <<-END
	#define _GNU_SOURCE
	#include <linux/filter.h>
	#include <linux/seccomp.h>
	#include <pthread.h>
	#include <stddef.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static unsigned int action = SECCOMP_RET_KILL_PROCESS;
	static volatile int installed, began;
	__attribute__((__noinline__)) int takes(const char *a) { __asm__ volatile("" : : "r" (a) : "memory"); return a != NULL; }
	static int install(int way)
	{
		struct sock_filter f[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, action),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog prog = { 4, f };
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			return 1;
		if (way == 'p')
			return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
		if (way == 'q')
			return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, way == 't' ? SECCOMP_FILTER_FLAG_TSYNC : 0, &prog);
	}
	static void *other(void *arg)
	{
		int last = 0;
		while (!last) {
			last = installed;
			takes("other");
			began = 1;
			usleep(20);
		}
		return arg;
	}
	int main(int argc, char **argv)
	{
		pthread_t thread;
		if (argc != 3)
			return 1;
		if (strchr(argv[2], 'a'))
			action = SECCOMP_RET_ALLOW;
		if (*argv[2] == 'x') {
			if (install('p'))
				return 2;
			execl(argv[0], argv[0], argv[1], "n", NULL);
			return 3;
		}
		takes("before");
		if (*argv[2] == 't' && pthread_create(&thread, NULL, other, NULL))
			return 4;
		while (*argv[2] == 't' && !began)
			;
		if (*argv[2] != 'n' && install(*argv[2]))
			return 5;
		installed = 1;
		if (*argv[2] == 't')
			pthread_join(thread, NULL);
		takes("after");
		takes(NULL);
		return 0;
	}
	END
	${CC:-cc} -O1 -pthread -o "$tmp/filtered" "$tmp/filtered.c" || return 1
	for how in x p q s t xa pa; do
		[ "$how" = xa ] && JUMPFUNC_AGENT_STRINGS=always && export JUMPFUNC_AGENT_STRINGS
		traced 'filtered:takes(string)' "$tmp/filtered" "$tmp/filtered" "$how"
		rc=$?
		sed -n 's/.* arg0_string = /'"$how"' /p' "$tmp/events" | sort | uniq -c
		seen=$(sed -n 's/.* arg0_string = \("[^o].*"\) }/\1/p' "$tmp/events" | tail -3 | tr '\n' ' ')
		echo "$seen"
		[ "$rc" = 0 ] || break
		case $how in
		x) want='"(seccomp)" "(seccomp)" "(null)" ' ;;
		?a) want='"before" "after" "(null)" ' ;;
		*) want='"before" "(seccomp)" "(null)" ' ;;
		esac
		if [ "$how" = t ]; then
			grep -q '"other"' "$tmp/events" && [ "$(grep -c '"(seccomp)"' "$tmp/events")" -ge 2 ] || rc=1
			case $seen in *'"(seccomp)" "(null)" ') ;; *) rc=1 ;; esac
		else
			[ "$seen" = "$want" ] || rc=1
		fi
		[ "$rc" = 0 ] || break
	done
	unset JUMPFUNC_AGENT_STRINGS
	[ "$rc" = 0 ]
}

python_strings()
{
	printf 'def abc(): pass\nabc()\n' > "$tmp/named.py"
	traced 'python:line,python:function__entry(string,string)' "$python" -S -E "$tmp/named.py" || return 1
	tail -4 "$tmp/events"
	grep -q 'arg1_string = ".*/named.py", arg2_string = "abc" }' "$tmp/events"
}

# A program's environment is its own after main() has begun. What is asked for comes later, from a thread of the program.
no_environment()
{
	cat > "$tmp/plugin.c" <<-END
	#include <stdio.h>
	__attribute__((__noinline__)) int late(int a) { __asm__ volatile(""); return a + 1; }
	int calls(void) { return late(1); }
	END
	cat > "$tmp/gone.c" <<-END
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <locale.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		int (*calls)(void);
		setlocale(LC_ALL, "C.UTF-8");
		environ = (char **)16;
		void *h = dlopen(argv[argc - 1], RTLD_NOW);
		if (!h)
			return 1;
		*(void **)&calls = dlsym(h, "calls");
		return calls() != 2;
	}
	END
	${CC:-cc} -O1 -fPIC -shared -o "$tmp/plugin.so" "$tmp/plugin.c" && ${CC:-cc} -o "$tmp/gone" "$tmp/gone.c" -ldl || return 1
	traced 'plugin.so:late' "$tmp/gone" "$tmp/plugin.so" || return 1
	cat "$tmp/events" "$tmp/err"
	[ "$(count plugin.so:late)" = 1 ] || return 1
	# What is wrong is said without it, too.
	JUMPFUNC_TRACE_DIR=$tmp/nowhere JUMPFUNC_AGENT=plugin.so:late LD_PRELOAD=$agent "$tmp/gone" "$tmp/plugin.so" 2> "$tmp/err" || return 1
	cat "$tmp/err"
	grep -q 'nothing is recorded: No such file or directory' "$tmp/err"
}

# What is not in the metadata is not recorded, or nothing could be read: here a part of libc's functions is.
metadata_limited()
{
	rm -rf "$tmp/traces"
	mkdir "$tmp/traces"
	(ulimit -f 400 && JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_TRACE_PACKET_SIZE=4096 JUMPFUNC_AGENT='libc.so.6:*' LD_PRELOAD=$agent \
		timeout 60 sh -c 'for i in 1 2 3; do echo "$i"; done') > "$tmp/out" 2> "$tmp/err" || { cat "$tmp/err"; return 1; }
	cat "$tmp/err"
	[ "$(tr '\n' ' ' < "$tmp/out")" = "1 2 3 " ] && grep -q 'told of it: File too large' "$tmp/err" &&
		events "$tmp/traces"/* && [ -s "$tmp/events" ]
}

# In a locale whose converter is a shared object, objects come and go while probes are looked for.
many_bytes()
{
	cat > "$tmp/loads.c" <<-END
	#include <dlfcn.h>
	#include <locale.h>
	#include <stdio.h>
	int main(int argc, char **argv)
	{
		int told = 0;
		if (argc != 2 || !setlocale(LC_ALL, "ja_JP.eucjp"))
			return 1;
		for (;;) {
			void *h = dlopen(argv[1], RTLD_NOW);
			if (!h || dlclose(h))
				return 1;
			if (!told++ && puts("ready") < 0)
				return 1;
			fflush(stdout);
		}
	}
	END
	echo 'int nothing;' > "$tmp/nothing.c"
	mkdir -p "$tmp/locale" && localedef -i ja_JP -f EUC-JP "$tmp/locale/ja_JP.eucjp" 2> /dev/null
	${CC:-cc} -o "$tmp/loads" "$tmp/loads.c" -ldl && ${CC:-cc} -fPIC -shared -o "$tmp/nothing.so" "$tmp/nothing.c" || return 1
	rm -rf "$tmp/traces"
	mkdir -p "$tmp/traces" "$tmp/run"
	chmod 700 "$tmp/run"
	: > "$tmp/out"
	XDG_RUNTIME_DIR=$tmp/run
	export XDG_RUNTIME_DIR
	LOCPATH=$tmp/locale JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces LD_PRELOAD=$agent \
		"$tmp/loads" "$tmp/nothing.so" > "$tmp/out" 2>&1 &
	pid=$!
	tries=0
	until grep -q ready "$tmp/out" || [ "$tries" = 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	timeout 30 "$build/jf-trace" record "$pid" free && timeout 30 "$build/jf-trace" enable "$pid" malloc &&
		timeout 30 "$build/jf-trace" disable "$pid" malloc
	rc=$?
	cat "$tmp/out"
	kill -9 "$pid"
	wait "$pid" 2> /dev/null
	unset XDG_RUNTIME_DIR
	[ "$rc" = 0 ]
}

if ! command -v babeltrace2 > /dev/null; then
	skip "all" "babeltrace2"
	tap_end
fi
check "nothing matches" nothing_matches
check "probes that are switched by the control socket, while objects come and go" asked
check "what is no pattern" wrong_patterns
check "functions that are made for it" made_for_it
check "a program with a pwrite() of its own" own_pwrite
check "a program with a close() of its own that does not know a thread yet" own_close
for kind in address thread memory; do
	# Debian 13 has these libraries in a package of their own.
	if echo 'int main(void) { return 0; }' | clang "-fsanitize=$kind" -o "$tmp/needs" -xc - 2> /dev/null; then
		check "a program of clang's, with -fsanitize=$kind" sanitized "$kind"
	else
		skip "a program of clang's, with -fsanitize=$kind" "clang, libclang-rt-dev"
	fi
done
check "names of 600 characters" long_names
check "a handler on an alternate stack" alternate_stack
check "strings" strings
check "strings and filters of system calls" filtered
check "a program that has no environment any more" no_environment
check "metadata that has no room" metadata_limited
if command -v localedef > /dev/null && [ -e /usr/share/i18n/locales/ja_JP ] && [ -e /usr/share/i18n/charmaps/EUC-JP.gz ]; then
	check "a locale of many bytes" many_bytes
else
	skip "a locale of many bytes" "ja_JP's source (locales)"
fi
if echo '#include <sys/sdt.h>' | ${CC:-cc} -E - > /dev/null 2>&1; then
	check "a program with the static library" own_copy ""
	check "one that exports it" own_copy "-rdynamic"
else
	skip "a program with the static library" "sys/sdt.h (systemtap-sdt-dev)"
fi
check "probes of our <sys/sdt.h>, which the program records itself" own_sdt
# From 3.13 on python has no notes for functions and lines.
if grep -q function__entry "$python" 2> /dev/null; then
	# This python is at a fixed address, and the heap, which is at a random one, is sometimes where a note's jump would lead.
	JUMPFUNC_AGENT_WAYS=jump,short,span,break
	export JUMPFUNC_AGENT_WAYS
	check "python's notes" python_notes
	check "arguments of a note" python_arguments
	check "strings of a note" python_strings
	check "children" children
	check "a process that is killed" killed
	unset JUMPFUNC_AGENT_WAYS
else
	skip "python's notes" "/usr/bin/python3 has none for functions"
fi
check "all functions of libc by jump, span" all_of_libc jump,span 'libc.so.6:*'
# From 2.41 on sigaction() of SIGABRT, which python calls, calls pthread_rwlock_wrlock() with all signals blocked.
check "all functions of libc but locks by jump, break" all_of_libc jump,break 'libc.so.6:[!p_]*,libc.so.6:p[!t]*,libc.so.6:_[!_]*,libc.so.6:__[!p]*'
if command -v zstd > /dev/null; then
	check "functions of libc" libc_functions
else
	skip "functions of libc" "zstd"
fi
if ${CXX:-c++} -O2 -rdynamic -pthread -o "$tmp/exceptions" "$here/exceptions.cc" 2> /dev/null; then
	check "libstdc++'s notes" cxx_notes
	check "exceptions" exceptions
else
	skip "exceptions" "g++"
fi
if command -v redis-server > /dev/null && command -v redis-cli > /dev/null; then
	check "redis" redis
else
	skip "redis" "redis-server"
fi
tap_end
