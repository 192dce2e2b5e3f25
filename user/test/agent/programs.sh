#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# libjumpfunc-agent.so in programs that it must not disturb, which are in a state that few are in.
# usage: programs.sh BUILD
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

# same PROGRAM ARGUMENTS...: it says with the agent, in $tmp/out, what it says without.
same()
{
	"$@" > "$tmp/plain" || return 1
	[ -s "$tmp/plain" ] && traced "$globs" "$@" && diff "$tmp/plain" "$tmp/out"
}

plugin()
{
	build_c plugin.so -fPIC -shared <<-END
	__attribute__((__noinline__)) int plugged(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int calls(void) { return plugged(1); }
	END
}

# dlopen() is no cancellation point, and none with the agent.
cancelled()
{
	build_c cancelled <<-END
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static void *opens(void *path)
	{
		pthread_cancel(pthread_self());
		void *h = dlopen(path, RTLD_NOW);
		int (*calls)(void);

		if (!h)
			return NULL;
		*(void **)&calls = dlsym(h, "calls");
		printf("opened, %d\n", calls());
		fflush(stdout);
		pthread_testcancel();
		return NULL;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;
		void *r;
		int pid;

		alarm(30);
		if (pthread_create(&t, NULL, opens, argv[argc - 1]) || pthread_join(t, &r))
			return 1;
		printf("%s\n", r == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
		if (!dlopen("libm.so.6", RTLD_NOW))
			return 2;
		pid = fork();
		if (!pid)
			_exit(0);
		printf("%d\n", waitpid(pid, NULL, 0) == pid);
		return 0;
	}
	END
	globs=plugin.so:plugged
	same "$tmp/cancelled" "$tmp/plugin.so" && [ "$(count plugin.so:plugged)" = 1 ]
}

# A program without libstdc++ loads an object that needs it: the dynamic linker says so before libstdc++ is relocated.
comes_with_libstdcxx()
{
	cat > "$tmp/shop.cc" <<-END
	#include <stdexcept>
	namespace shop { __attribute__((__noinline__)) int price(int n)
	{
		try { if (n > 2) throw std::runtime_error("dear"); } catch (std::exception &e) { return e.what()[0]; }
		return 0;
	} }
	END
	"${CXX:-c++}" -shared -fPIC -O1 -o "$tmp/shop.so" "$tmp/shop.cc" || return 1
	build_c shopper -ldl <<-END
	#include <dlfcn.h>
	#include <stdio.h>
	#include <stdlib.h>
	int main(int argc, char **argv)
	{
		void *h = dlopen(argv[argc - 1], RTLD_NOW);
		int (*price)(int);

		if (!h)
			return 1;
		*(void **)&price = dlsym(h, "_ZN4shop5priceEi");
		printf("%d %d\n", price(3), getenv("NOT_THERE") != NULL);
		return 0;
	}
	END
	for globs in getenv '*alloc' 'getenv,no_such*' 'shop.so:*' 'libstdc++.so.6:std::*' '_ZN4shop*'; do
		same "$tmp/shopper" "$tmp/shop.so" || { echo "$globs"; return 1; }
	done
	[ "$(count shop.so:_ZN4shop5priceEi)" = 1 ] || return 1
	# The dynamic linker comes to libstdc++'s first function when it has relocated all.
	globs='shop::*'
	same "$tmp/shopper" "$tmp/shop.so" && [ "$(count shop.so:_ZN4shop5priceEi)" = 1 ]
}

# A thread whose stack is as small as one may be loads an object.
small_stack()
{
	build_c small <<-END
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	static void *opens(void *path)
	{
		void *h = dlopen(path, RTLD_NOW);
		int (*calls)(void);

		if (!h)
			return NULL;
		*(void **)&calls = dlsym(h, "calls");
		printf("%d\n", calls());
		return NULL;
	}
	int main(int argc, char **argv)
	{
		pthread_attr_t a;
		pthread_t t;

		pthread_attr_init(&a);
		return argc != 3 || pthread_attr_setstacksize(&a, strtoul(argv[1], NULL, 0)) ||
			pthread_create(&t, &a, opens, argv[2]) || pthread_join(t, NULL);
	}
	END
	globs=plugin.so:plugged
	for size in 16384 24576 32768; do
		echo "$size"
		same "$tmp/small" "$size" "$tmp/plugin.so" && [ "$(count plugin.so:plugged)" = 1 ] || return 1
	done
}

# Where addresses are not random the dynamic linker is close below the end of all: a thread that blocks all signals loads an object.
blocks_and_loads()
{
	build_c blocking <<-END
	#include <dlfcn.h>
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	static void *opens(void *path)
	{
		sigset_t all;
		int (*calls)(void);
		void *h;

		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		h = dlopen(path, RTLD_NOW);
		*(void **)&calls = h ? dlsym(h, "calls") : NULL;
		printf("%d\n", h ? calls() : -1);
		return NULL;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;

		return pthread_create(&t, NULL, opens, argv[argc - 1]) || pthread_join(t, NULL);
	}
	END
	globs=blocking:main
	same setarch -R "$tmp/blocking" "$tmp/plugin.so"
}

# No memory is to be had any more: each record is there, or is counted as lost.
no_memory()
{
	build_c memory <<-END
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/resource.h>
	static volatile int go;
	__attribute__((__noinline__)) int target(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	/* One that has recorded, and one that has not. */
	static void *calls(void *first)
	{
		int i = first ? target(0) > 0 : 0;

		__atomic_fetch_add(&go, 1, __ATOMIC_SEQ_CST);
		while (go < 3)
			;
		for (; i < 50000; i++)
			target(i);
		return NULL;
	}
	int main(void)
	{
		struct rlimit none = { 1 << 20, 1 << 20 };
		pthread_t t[2];
		int i;

		for (i = 0; i < 2; i++)
			if (pthread_create(&t[i], NULL, calls, i ? &t[0] : NULL))
				return 1;
		while (go < 2)
			;
		if (setrlimit(RLIMIT_AS, &none))
			return 2;
		go = 3;
		for (i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		puts("called");
		return 0;
	}
	END
	globs=memory:target
	same "$tmp/memory" || return 1
	"$build/jf-recover" "$tmp/traces"/* "$tmp/recovered" | tee "$tmp/counts"
	[ "$(awk '$1 ~ /^(records|discarded|overwritten)$/ { sum += $2 } END { print sum }' "$tmp/counts")" = 100000 ]
}

# An object is loaded where there is memory for it, and for a probe's code, but not for the agent's own stack.
little_memory()
{
	build_c little <<-END
	#include <dlfcn.h>
	#include <stdio.h>
	#include <sys/resource.h>
	__attribute__((__noinline__)) int begins(int a) { __asm__ volatile("" : "+r" (a)); return a + 100000; }
	int main(int argc, char **argv)
	{
		/* It maps what is recorded into. */
		unsigned long pages = (unsigned long)begins(argc);
		FILE *f = fopen("/proc/self/statm", "r");
		struct rlimit little;
		int (*calls)(void);
		void *h;

		if (!f || fscanf(f, "%lu", &pages) != 1 || argc != 2)
			return 1;
		fclose(f);
		little.rlim_cur = little.rlim_max = pages * 4096 + (250 << 10);
		if (setrlimit(RLIMIT_AS, &little))
			return 2;
		h = dlopen(argv[1], RTLD_NOW);
		if (!h) {
			puts(dlerror());
			return 3;
		}
		*(void **)&calls = dlsym(h, "calls");
		printf("%d\n", calls());
		return 0;
	}
	END
	globs=little:begins,plugin.so:plugged
	same "$tmp/little" "$tmp/plugin.so" || return 1
	cat "$tmp/err"
	[ "$(count plugin.so:plugged)" = 1 ]
}

# A note's argument that the program itself does not read: it is 0 where p is NULL, or no address, and does no harm.
no_address()
{
	build_c no_address <<-END
	#include <stdio.h>
	#include <string.h>
	#define NOTE(name, args) ".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n"	\\
		"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"jfnoaddress\"\n"				\\
		".asciz \"" name "\"\n.asciz \"" args "\"\n994: .balign 4\n.popsection\n"
	void note(const void *p, long index);
	__asm__(".text\n.globl note\n.type note, @function\nnote: push %rbp\nmov %rdi, %rbp\n990: nop\n"
		NOTE("note", "8@(%rdi) -4@8(%rbp) 2@(%rdi,%rsi,2) 8@8(%rsp) 1@-1(%rdi)") "pop %rbp\nret\n.size note, . - note");
	int main(void)
	{
		static char p[128];

		memset(p, 0x11, sizeof(p));
		note(p + 64, 4);
		note(NULL, 1);
		note((void *)0x8000000000000000, 0);
		note((void *)-1, 0);
		puts("alive");
		return 0;
	}
	END
	globs='jfnoaddress:*'
	same "$tmp/no_address" || return 1
	sed 's/.*{ arg1 = \([^,]*\), arg2 = \([^,]*\), arg3 = \([^,]*\), arg4 = 0x[^,]*, arg5 = \([^,]*\) }/\1 \2 \3 \4/' "$tmp/events" | tee "$tmp/seen"
	printf '%s\n' "0x1111111111111111 286331153 4369 17" "0x0 0 0 0" "0x0 0 0 0" "0x0 0 0 0" | diff - "$tmp/seen"
}

# An argument in memory takes no system call, for which a filter may kill.
filtered_note()
{
	build_c filtered_note <<-END
	#include <linux/filter.h>
	#include <linux/seccomp.h>
	#include <stddef.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	void note(const long *p);
	__asm__(".text\n.globl note\n.type note, @function\nnote: 990: nopl 0(%rax,%rax,1)\nret\n.size note, . - note\n"
		".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n"
		"992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"jffiltered\"\n.asciz \"note\"\n.asciz \"-8@8(%rdi)\"\n994: .balign 4\n"
		".popsection");
	int main(void)
	{
		static const long s[2] = { 1, 2 };
		struct sock_filter f[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog p = { sizeof(f) / sizeof(*f), f };
		int i;

		/* A thread makes files when it records for the first time. */
		note(s);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
			return 1;
		for (i = 0; i < 99; i++)
			note(s);
		if (write(1, "alive\n", 6) != 6)
			return 2;
		_exit(0);
	}
	END
	globs='jffiltered:*'
	same "$tmp/filtered_note" && [ "$(count 'jffiltered:note')" = 100 ] && [ "$(grep -c 'arg1 = 2 ' "$tmp/events")" = 100 ]
}

# What is a breakpoint is named: a thread that blocks SIGTRAP must not come by.
breakpoints()
{
	build_c breakpoints <<-END
	#include <stdio.h>
	__attribute__((__noinline__)) int target(int a) { __asm__ volatile("" : "+r" (a)); return a + 100000; }
	__attribute__((__noinline__)) int other(int a) { __asm__ volatile("" : "+r" (a)); return a + 200000; }
	int main(void) { printf("%d\n", target(1) + other(1)); return 0; }
	END
	globs=target,other
	same "$tmp/breakpoints" || return 1
	cat "$tmp/err"
	! grep breakpoint "$tmp/err" || return 1
	JUMPFUNC_AGENT_WAYS="break" same "$tmp/breakpoints" || return 1
	cat "$tmp/err"
	grep -q '^libjumpfunc-agent: breakpoints:target at .* is a breakpoint: ' "$tmp/err" &&
		grep -q ': 2 probes are by breakpoint: a thread that blocks SIGTRAP dies there$' "$tmp/err"
}

# The only jump that there is for a short note may lead to where the heap grows to: it is one all the same, with room for a heap.
short_note()
{
	build_c short_note <<-END
	#define _DEFAULT_SOURCE
	#include <stdio.h>
	#include <unistd.h>
	void note(void);
	/* Of the distance all bytes are given, 0x780000c3. */
	__asm__(".text\n.globl note\n.type note, @function\nnote: 990: nop\nret\n.byte 0, 0, 0x78\n.size note, . - note\n"
		".pushsection .note.stapsdt, \"\", \"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n"
		"992: .balign 4\n993: .8byte 990b, 0, 0\n.asciz \"jfshort\"\n.asciz \"note\"\n.asciz \"\"\n994: .balign 4\n.popsection");
	int main(void)
	{
		int i;

		for (i = 0; i < 256; i++) {
			note();
			if (sbrk(1 << 20) == (void *)-1)
				break;
		}
		printf("%d MiB\n", i);
		return 0;
	}
	END
	JUMPFUNC_AGENT_WAYS=jump,short,span
	export JUMPFUNC_AGENT_WAYS
	globs='jfshort:*'
	same "$tmp/short_note"
	rc=$?
	unset JUMPFUNC_AGENT_WAYS
	cat "$tmp/err"
	[ "$rc" = 0 ] && [ "$(count jfshort:note)" = 256 ]
}

# Notes beside each other, at a function's begin, and of two names at one place: each is recorded, in any order of on and off.
made_adjacent()
{
	build_c adjacent -fPIE -pie "$@" <<-END
	#include <stdio.h>
	#define NOTE(name) __asm__ volatile("990: nop\n.pushsection .note.stapsdt, \"\", \"note\"\n" \\
		".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \\
		"993: .8byte 990b, 0, 0\n.asciz \"beside\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n.popsection")
	#define TWICE(name, other) __asm__ volatile("990: nop\n.pushsection .note.stapsdt, \"\", \"note\"\n" \\
		".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \\
		"993: .8byte 990b, 0, 0\n.asciz \"beside\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n" \\
		".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \\
		"993: .8byte 990b, 0, 0\n.asciz \"beside\"\n.asciz \"" other "\"\n.asciz \"\"\n994: .balign 4\n.popsection")
	/* What follows makes distances to below the program, where there is memory for certain: nops, and clc. */
	#define FAR(bytes) __asm__ volatile(".byte " bytes : : : "cc")
	__attribute__((__noinline__)) int five(int a)
	{ NOTE("a"); NOTE("b"); NOTE("c"); NOTE("d"); NOTE("e"); FAR("0x90, 0x90, 0x90, 0x90"); __asm__ volatile("" : "+r" (a)); return a + 1; }
	__attribute__((__noinline__)) int begins(int a) { NOTE("begin"); __asm__ volatile("" : "+r" (a)); return a + 100000; }
	__attribute__((__noinline__)) int apart(int a)
	{ NOTE("near"); a += 2; __asm__ volatile("" : "+r" (a)); NOTE("far"); return a + 100000; }
	__attribute__((__noinline__)) int twice(int a) { a += 3; TWICE("one", "other"); __asm__ volatile("" : "+r" (a)); return a + 100000; }
	int alias(int a) __attribute__((__alias__("twice")));
	/* To the last note, past the others. */
	__attribute__((__noinline__)) int jumps(int a)
	{ if (a & 1) NOTE("odd"); NOTE("always"); FAR("0xf8, 0x90, 0xf8, 0x90"); __asm__ volatile("" : "+r" (a)); return a + 1; }
	int main(void)
	{
		int i, sum = 0;

		for (i = 0; i < 10; i++)
			sum += five(i) + begins(i) + apart(i) + twice(i) + jumps(i);
		printf("%d\n", sum);
		return 0;
	}
	END
}

# each NUMBER NAME...: so many records of each
each()
{
	number=$1
	shift
	for name in "$@"; do
		[ "$(count "$name")" = "$number" ] || { echo "# $(count "$name") of $name"; sort "$tmp/events" | uniq -c; cat "$tmp/err"; return 1; }
	done
}

adjacent()
{
	for flags in "" -O0 -O2 -Os; do
		# shellcheck disable=SC2086
		made_adjacent $flags || return 1
		echo "# $flags"
		globs='beside:*'
		same "$tmp/adjacent" && each 10 beside:a beside:b beside:c beside:d beside:e beside:begin beside:near beside:far \
			beside:one beside:other beside:always && each 5 beside:odd || return 1
		# The last ones of a row, and the first.
		for globs in beside:e,beside:c,beside:a beside:b,beside:d,beside:a; do
			same "$tmp/adjacent" && each 10 beside:a "${globs%%,*}" || return 1
			[ "$(wc -l < "$tmp/events")" = 30 ] || return 1
		done
	done
	made_adjacent -O2 || return 1
	globs='beside:*,adjacent:five,adjacent:begins,adjacent:apart,adjacent:twice,adjacent:jumps'
	same "$tmp/adjacent" && each 10 beside:a beside:e beside:begin beside:near beside:one beside:other adjacent:five adjacent:begins \
		adjacent:apart adjacent:twice adjacent:jumps
}

names_of_one()
{
	made_adjacent -O2 || return 1
	globs='adjacent:alias'
	same "$tmp/adjacent" && each 10 adjacent:alias && [ "$(wc -l < "$tmp/events")" = 10 ] || return 1
	globs='adjacent:alia*'
	same "$tmp/adjacent" && each 10 adjacent:alias && [ "$(wc -l < "$tmp/events")" = 10 ] || return 1
	globs='adjacent:alias,adjacent:twice'
	same "$tmp/adjacent" && each 10 adjacent:alias adjacent:twice && [ "$(wc -l < "$tmp/events")" = 20 ] || return 1
	# A call is one record of those that wildcards match.
	globs='adjacent:[at][lw]*'
	same "$tmp/adjacent" && [ "$(grep -c -e '^adjacent:alias ' -e '^adjacent:twice ' "$tmp/events")" = 10 ]
}

# accounted NUMBER: all that were made are recorded, overwritten or discarded, in all traces.
accounted()
{
	told=0
	for folder in "$tmp/traces"/*; do
		rm -rf "$tmp/copy"
		"$build/jf-recover" "$folder" "$tmp/copy" > "$tmp/sums" || return 1
		told=$((told + $(awk '/^(records|discarded|overwritten) / { n += $2 } END { print n }' "$tmp/sums")))
	done
	[ "$told" = "$1" ] && return 0
	echo "# $told of $1"
	cat "$tmp/sums" "$tmp/err"
	return 1
}

# A child of vfork() is killed while it makes a packet: its parent goes on. Each calls of renameat() kills.
killed_child()
{
	build_c killed <<-END
	#include <linux/filter.h>
	#include <linux/seccomp.h>
	#include <stddef.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 100000; }
	static volatile int calls;
	int main(void)
	{
		struct sock_filter all[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, 0x80000000),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog filter = { sizeof(all) / sizeof(*all), all };
		int i, k, status;
		pid_t pid;

		for (k = 0; k < 3; k++) {
			pid = vfork();
			if (!pid) {
				prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
				syscall(SYS_seccomp, 1, 0, &filter);
				for (i = 0; i < 10000; i++) {
					calls++;
					work(i);
				}
				_exit(0);
			}
			waitpid(pid, &status, 0);
			fprintf(stderr, "child: %d\n", status);
			for (i = 0; i < 200; i++) {
				calls++;
				work(i);
			}
		}
		/* The record for which a child was killed is none. */
		fprintf(stderr, "calls: %d\n", calls - 3);
		return 0;
	}
	END
	# Without that the agent looks at the filter, and makes no system call.
	JUMPFUNC_AGENT_STRINGS=always JUMPFUNC_TRACE_PACKET_SIZE=4096 traced killed:work "$tmp/killed" || return 1
	grep -q 'child: 31$' "$tmp/err" || { cat "$tmp/err"; return 1; }
	accounted "$(sed -n 's/^calls: //p' "$tmp/err")"
}

# Two that share their variables record at the same time.
shares_variables()
{
	build_c shares <<-END
	#define _GNU_SOURCE
	#include <sched.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/wait.h>
	__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 100000; }
	static char stack[65536] __attribute__((__aligned__(64)));
	static volatile int go;
	static int child(void *x)
	{
		go = 1;
		for (int i = 0; i < 300000; i++)
			work(i);
		return x != NULL;
	}
	int main(int argc, char **argv)
	{
		int status;
		pid_t pid;

		if (argc > 1)
			work(1);
		pid = clone(child, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
		while (!go)
			;
		for (int i = 0; i < 300000 - (argc > 1); i++)
			work(i);
		waitpid(pid, &status, 0);
		return status;
	}
	END
	for first in "" first; do
		# shellcheck disable=SC2086
		traced shares:work "$tmp/shares" $first && accounted 600000 || return 1
	done
}

# fork() does not wait until thousands of functions are on, or off.
forks_within()
{
	{
		i=0
		while [ "$i" -lt 3000 ]; do
			echo "__attribute__((__noinline__)) int f$i(int a) { __asm__ volatile(\"nopl 8(%%rax,%%rax)\" : \"+r\" (a)); return a + $i; }"
			i=$((i + 1))
		done
		echo "static int (*const all[])(int a) = {"
		i=0
		while [ "$i" -lt 3000 ]; do
			echo "f$i,"
			i=$((i + 30))
		done
		cat <<-END
		};
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define NUM ((int)(sizeof(all) / sizeof(*all)))
		static unsigned char plain[NUM];
		static volatile int over;
		static int changed(void)
		{
			int i, num = 0;
			for (i = 0; i < NUM; i++)
				num += *(volatile unsigned char *)all[i] != plain[i];
			return num;
		}
		static void *asks(void *tool)
		{
			char line[4096];
			snprintf(line, sizeof(line), "%s enable %d 'within:f*'", (char *)tool, getpid());
			over = system(line) ? 2 : 1;
			return NULL;
		}
		int main(int argc, char **argv)
		{
			int i, was, within = 0;
			pthread_t t;
			pid_t pid;

			for (i = 0; i < NUM; i++)
				plain[i] = *(volatile unsigned char *)all[i];
			pthread_create(&t, NULL, asks, argv[argc - 1]);
			while (!over) {
				was = changed();
				if (!was || was == NUM)
					continue;
				pid = fork();
				if (!pid)
					_exit(f0(1) + f2999(1) != 3001);
				within += changed() < NUM;
				waitpid(pid, &i, 0);
				if (i)
					return 3;
			}
			pthread_join(t, NULL);
			fprintf(stderr, "%d within, %d of %d\n", within, changed(), NUM);
			return over != 1;
		}
		END
	} > "$tmp/within.c"
	${CC:-cc} -O1 -pthread -o "$tmp/within" "$tmp/within.c" || return 1
	JUMPFUNC_TRACE_CONTROL=1 XDG_RUNTIME_DIR=$tmp/run traced within:main "$tmp/within" "$build/jf-trace" || return 1
	cat "$tmp/err"
	within=$(sed -n 's/ within, .*//p' "$tmp/err")
	[ "$within" -ge 1 ] && grep -q 'within, 100 of 100' "$tmp/err"
}

# A pattern has either name of a file: the link's, by which it was executed or loaded, and its own. Of the program the
# executed name is shown.
links()
{
	build_c real_name -L"$tmp" -Wl,--no-as-needed -l:liblinked.so.1 -Wl,-rpath,"$tmp" <<-END
	#include <unistd.h>
	int linked(int a);
	int __attribute__((__noinline__)) works(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int main(int argc, char **argv)
	{
		(void)argv;
		if (argc > 1)
			pause();
		return works(1) + linked(1) != 5;
	}
	END
	ln -sf real_name "$tmp/link_name"
	for program in link_name real_name; do
		for names in link_name:works,liblinked.so.1:linked real_name:works,liblinked.so.1.2:linked; do
			set -- -e "${names%,*}" -e "${names#*,}" -- "$tmp/$program"
			case $program:$names in
			real_name:link_name*) continue ;;
			esac
			"$build/jf-trace" run -o "$tmp/links" "$@" > "$tmp/out" 2> "$tmp/err"
			rc=$?
			rm -rf "$tmp/links"
			echo "# $program, $names: $rc"
			cat "$tmp/out" "$tmp/err"
			[ "$rc" = 0 ] && grep -q "$program:works" "$tmp/err" && grep -q 'liblinked.so.1:linked' "$tmp/err" &&
				! grep -q matches "$tmp/err" || return 1
		done
	done
	"$build/jf-trace" list -e real_name:works "$tmp/link_name" | grep works &&
		"$build/jf-trace" list -e link_name:works "$tmp/link_name" | grep works || return 1
	# Before the agent is there, its files say it.
	"$tmp/link_name" waits &
	pid=$!
	awaits grep -q liblinked "/proc/$pid/maps"
	for known in real_name:works link_name:works liblinked.so.1.2:linked liblinked.so.1:linked liblinked.so:linked; do
		"$build/jf-trace" list -e "$known" "$pid"
		rc=$?
		[ "$rc" = "$([ "$known" = liblinked.so:linked ] && echo 4 || echo 0)" ] || { echo "$known: $rc"; kill "$pid"; return 1; }
	done
	kill "$pid"
}

linked_object()
{
	build_c liblinked.so.1.2 -fPIC -shared -Wl,-soname,liblinked.so.1 <<-END
	int linked(int a);
	int linked(int a) { __asm__ volatile("" : "+r" (a)); return a + 2; }
	END
	ln -sf liblinked.so.1.2 "$tmp/liblinked.so.1" && links
}

# A function and a note that have a group in common; a kind before the pattern chooses.
kinds()
{
	build_c kinds <<-END
	__attribute__((__noinline__)) int turn(int a) { __asm__ volatile("nop; nop; nop; nop" : "+r" (a)); return a + 1; }
	int main(void)
	{
		__asm__ volatile("990: nop\nnopl 0(%rax,%rax,1)\n.pushsection .note.stapsdt, \"\", \"note\"\n"
			".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
			"993: .8byte 990b, 0, 0\n.asciz \"kinds\"\n.asciz \"wheel\"\n.asciz \"\"\n994: .balign 4\n.popsection");
		return turn(1) != 2;
	}
	END
	traced note/kinds:* "$tmp/kinds" && [ "$(count kinds:wheel)" = 1 ] && [ "$(count kinds:turn)" = 0 ] &&
		traced function/kinds:* "$tmp/kinds" && [ "$(count kinds:wheel)" = 0 ] && [ "$(count kinds:turn)" = 1 ] &&
		traced kinds:* "$tmp/kinds" && [ "$(count kinds:wheel)" = 1 ] && [ "$(count kinds:turn)" = 1 ] &&
		"$build/jf-trace" list -e note/turn -e event/kinds:* -e function/kinds:t* "$tmp/kinds" > "$tmp/list" &&
		grep -q '^function .*kinds:turn' "$tmp/list" && [ "$(wc -l < "$tmp/list")" = 1 ] && return 0
	cat "$tmp/events" "$tmp/list"
	return 1
}

# Floats and doubles of a note, as SystemTap's header describes them: in each kind of register, and in memory.
reals()
{
	build_c reals <<-END
	__attribute__((__noinline__)) static void at(double a, float b, double c)
	{
		register float high __asm__("xmm12") = b;

		__asm__ volatile("990: nop\nnopl 0(%%rax,%%rax,1)\n.pushsection .note.stapsdt, \"\", \"note\"\n"
			".balign 4\n.4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"
			"993: .8byte 990b, 0, 0\n.asciz \"reals\"\n.asciz \"here\"\n.asciz \"8f@%0 -4f@%1 8f@%2\"\n994: .balign 4\n.popsection"
			: : "x" (a), "x" (high), "m" (c));
	}
	int main(void) { at(1.5, -2.25f, 1e300); return 0; }
	END
	traced reals:here "$tmp/reals" && grep 'arg1 = 1.5, arg2 = -2.25, arg3 = 1e+300' "$tmp/events" && return 0
	cat "$tmp/events"
	return 1
}

# Objects whose names lead nowhere when their functions are asked for, by the program itself.
made_moved()
{
	build_c moved.so -fPIC -shared <<-END
	int plugged(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int calls(void) { return plugged(1); }
	END
	build_c moved <<-END
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		char path[64] = "./moved.so", buf[65536], command[256];
		int in = open(path, O_RDONLY), fd = -1, (*calls)(void);
		void *h;
		ssize_t n;

		if (!strcmp(argv[1], "memfd")) {
			fd = memfd_create("moved", 0);
			snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
		} else if (!strcmp(argv[1], "removed")) {
			strcpy(path, "./removed.so");
			fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0700);
		}
		while (fd >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
			if (write(fd, buf, n) != n)
				return 1;
		h = strcmp(argv[1], "dlmopen") ? dlopen(path, RTLD_NOW) : dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
		*(void **)&calls = h ? dlsym(h, "calls") : NULL;
		if (!calls)
			return puts(dlerror());
		if (fd >= 0)
			close(fd);
		unlink("./removed.so");
		if (chdir("/"))
			return 2;
		snprintf(command, sizeof(command), "LD_PRELOAD= %s record %d '*:plugged' 2>&1", argv[2], (int)getpid());
		n = system(command);
		printf("%d %d\n", (int)n, calls());
		return 0;
	}
	END
}

# moved HOW COMMAND...: its output is in $tmp/out, with that of jf-trace.
moved()
{
	how=$1
	shift
	rm -rf "$tmp/moved_run" "$tmp/traces"
	mkdir -m 700 "$tmp/moved_run" "$tmp/traces"
	[ $# = 0 ] || { chmod 711 "$tmp" && chown 65534:65534 "$tmp/moved_run" "$tmp/traces" "$tmp/home"; }
	(cd "$tmp/home" && timeout 60 "$@" env JUMPFUNC_TRACE_CONTROL=1 XDG_RUNTIME_DIR="$tmp/moved_run" JUMPFUNC_TRACE_DIR="$tmp/traces" \
		LD_PRELOAD="$agent" "$tmp/moved" "$how" "$build/jf-trace") > "$tmp/out" 2> "$tmp/err"
	rc=$?
	[ "$rc" = 0 ] || cat "$tmp/out" "$tmp/err"
	return "$rc"
}

# The kernel lets root open what is mapped.
no_names()
{
	made_moved && mkdir -p "$tmp/home" && cp "$tmp/moved.so" "$tmp/home/" || return 1
	moved dlmopen
	named='1 object that dlmopen() loaded, ./moved.so the first'
	grep -q "$named" "$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }
	# Asked for before it comes, and not again.
	(cd "$tmp/home" && JUMPFUNC_TRACE_DIR="$tmp/traces" JUMPFUNC_AGENT='*:plugged' LD_PRELOAD="$agent" "$tmp/moved" dlmopen 'LD_PRELOAD= true') \
		> "$tmp/out" 2> "$tmp/err"
	grep -q "$named" "$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }
	for how in relative removed memfd; do
		if moved "$how" && events "$tmp"/moved_run/jumpfunc/moved-* && grep -q '^[^ ]*:plugged ' "$tmp/events"; then
			continue
		fi
		echo "# $how"
		cat "$tmp/out" "$tmp/err" "$tmp/events"
		return 1
	done
}

# Others can open a file by the name that it has by now; a file that has none is named.
no_names_for_others()
{
	made_moved && mkdir -p "$tmp/home" && cp "$tmp/moved.so" "$tmp/home/" || return 1
	moved relative setpriv --reuid=65534 --regid=65534 --clear-groups && events "$tmp"/moved_run/jumpfunc/moved-* &&
		grep -q '^[^ ]*:plugged ' "$tmp/events" || { cat "$tmp/out" "$tmp/err"; return 1; }
	moved removed setpriv --reuid=65534 --regid=65534 --clear-groups
	cat "$tmp/out" "$tmp/err"
	grep -q 'nothing of ./removed.so is found, its file cannot be read' "$tmp/err"
}

# Rights that change for the thread that calls: its control thread has them, too, or setresuid() ends the program.
rights()
{
	mkdir -m 700 "$tmp/rights_run"
	for how in "--inh-caps=+net_raw --ambient-caps=+net_raw" "--securebits=+no_setuid_fixup" "--securebits=+noroot"; do
		# shellcheck disable=SC2086
		XDG_RUNTIME_DIR=$tmp/rights_run JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent timeout 20 \
			setpriv $how --reuid=65534 --regid=65534 --clear-groups sh -c 'grep -h Cap /proc/self/task/*/status | sort | uniq -c; id -u' \
			> "$tmp/out" 2> "$tmp/err"
		rc=$?
		# shellcheck disable=SC2086
		setpriv $how --reuid=65534 --regid=65534 --clear-groups sh -c 'grep -h Cap /proc/self/task/*/status | sort | uniq -c; id -u' > "$tmp/want"
		sed 's/^/# /' "$tmp/out" "$tmp/err"
		[ "$rc" = 0 ] && tail -n 1 "$tmp/out" | grep -qx 65534 &&
			[ "$(awk '/Cap/ { print $2, $3 }' "$tmp/out")" = "$(awk '/Cap/ { print $2, $3 }' "$tmp/want")" ] || return 1
	done
}

# A filter that kills a program for a new thread: none begins after such a change, and a line says so.
no_thread()
{
	build_c denied <<-END
	#include <linux/filter.h>
	#include <linux/seccomp.h>
	#include <stddef.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		struct sock_filter code[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 435 /* clone3 */, 1, 0),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		};
		struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			return 1;
		if (argc > 1 && !strcmp(argv[1], "prctl") ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) : (int)syscall(SYS_seccomp, 1, 0, &prog))
			return 1;
		prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
		prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
		puts("alive");
		return 0;
	}
	END
	mkdir -m 700 "$tmp/denied_run"
	for how in prctl syscall; do
		XDG_RUNTIME_DIR=$tmp/denied_run JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent timeout 20 "$tmp/denied" "$how" > "$tmp/out" 2> "$tmp/err"
		rc=$?
		sed 's/^/# /' "$tmp/out" "$tmp/err"
		[ "$rc" = 0 ] && grep -qx alive "$tmp/out" && [ "$(grep -c 'no control from now on' "$tmp/err")" = 1 ] || return 1
	done
}

# A thread of the kernel for io_uring blocks all signals: a function that takes breakpoints for a moment is changed all the same.
kernels_thread()
{
	build_c ring.so -fPIC -shared <<-END
	int five(int a);
	__asm__(".globl five\n.type five, @function\nfive: .cfi_startproc\nmov \$5, %eax\nret\n.cfi_endproc\n.size five, . - five\n");
	END
	build_c rings <<-END
	#include <dlfcn.h>
	#include <linux/io_uring.h>
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(int argc, char **argv)
	{
		struct io_uring_params p = { .flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 10000 };
		int (*five)(int a);
		void *h;

		if (syscall(SYS_io_uring_setup, 4, &p) < 0)
			puts("none");
		h = dlopen(argv[argc - 1], RTLD_NOW);
		*(void **)&five = h ? dlsym(h, "five") : NULL;
		return !h || five(1) != 5;
	}
	END
	JUMPFUNC_AGENT_WAYS=jump
	export JUMPFUNC_AGENT_WAYS
	traced ring.so:five "$tmp/rings" "$tmp/ring.so"
	rc=$?
	unset JUMPFUNC_AGENT_WAYS
	cat "$tmp/err" "$tmp/events"
	[ "$rc" = 0 ] && { grep -q none "$tmp/out" || [ "$(count ring.so:five)" = 1 ]; }
}

# A sanitizer's own functions are the program's, and all of them are recorded: also those by which a thread begins and ends.
all_of_sanitizers()
{
	build_c plainly <<-END
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static long sum;
	static void add(long a)
	{
		pthread_mutex_lock(&m);
		sum += a;
		pthread_mutex_unlock(&m);
	}
	static void *work(void *arg)
	{
		long i;
		char *p;

		for (i = 1; i < 1000; i++) {
			p = malloc(i);
			memset(p, i, i);
			add(p[i / 2] & 1);
			free(p);
		}
		return arg;
	}
	static void on_signal(int sig) { (void)sig; }
	int main(void)
	{
		struct sigaction a = { .sa_handler = on_signal };
		pthread_t t[3];
		int i, status;
		pid_t child;

		sigaction(SIGUSR1, &a, NULL);
		raise(SIGUSR1);
		for (i = 0; i < 3; i++)
			pthread_create(&t[i], NULL, work, NULL);
		for (i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
		child = fork();
		if (!child)
			_exit(3);
		waitpid(child, &status, 0);
		printf("%ld %d\n", sum, WEXITSTATUS(status));
		return 0;
	}
	END
	sanitizers=0
	for sanitizer in address thread memory; do
		${CLANG:-clang} -g -O1 -fsanitize="$sanitizer" -o "$tmp/$sanitizer" "$tmp/plainly.c" 2> "$tmp/err" || {
			echo "# not by this clang: $sanitizer"
			continue
		}
		sanitizers=$((sanitizers + 1))
		globs="$sanitizer:*"
		TSAN_OPTIONS=ignore_noninstrumented_modules=1 && export TSAN_OPTIONS
		same "$tmp/$sanitizer" && grep -q "^$sanitizer:" "$tmp/events" || { tail -n 3 "$tmp/err"; return 1; }
	done
	[ "$sanitizers" != 0 ]
}

# A profiler in the process: a timer's signal comes anywhere, and its handler unwinds.
profiled()
{
	build_c profiled <<-END
	#include <execinfo.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/time.h>
	static volatile int traces;
	static void unwinds(int sig)
	{
		void *frame[64];

		traces += sig == SIGPROF && backtrace(frame, 64) > 0;
	}
	__attribute__((__noinline__)) int hot(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int main(void)
	{
		struct itimerval each = { { 0, 1000 }, { 0, 1000 } };
		void *frame[4];
		int i = 0;

		/* It loads an object, the first time. */
		backtrace(frame, 4);
		signal(SIGPROF, unwinds);
		setitimer(ITIMER_PROF, &each, NULL);
		while (traces < 300)
			i = hot(i);
		puts("unwound");
		return 0;
	}
	END
	globs=profiled:hot
	same "$tmp/profiled" && [ "$(count profiled:hot)" -gt 0 ]
}

# A worker blocks all signals, so text cannot be changed: recording ends all the same, and begins again.
blocks_all()
{
	build_c blocks <<-END
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	__attribute__((__noinline__)) int stays(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	static void *worker(void *arg)
	{
		sigset_t all;

		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		puts("blocked");
		fflush(stdout);
		for (;;)
			pause();
		return arg;
	}
	int main(void)
	{
		pthread_t t;
		int i;

		if (pthread_create(&t, NULL, worker, NULL))
			return 1;
		for (i = 0; i >= 0; usleep(1000))
			i = stays(i & 1);
		return 0;
	}
	END
	: > "$tmp/out"
	XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT=blocks:stays \
		JUMPFUNC_AGENT_WAYS=$1 LD_PRELOAD=$agent "$tmp/blocks" > "$tmp/out" 2> "$tmp/agent-err" &
	pid=$!
	for _ in $(seq 100); do
		grep -q blocked "$tmp/out" && break
		sleep 0.1
	done
	done_with=0
	for command in stop "list -e blocks:stays" "record -e blocks:stays" stop; do
		# shellcheck disable=SC2086
		XDG_RUNTIME_DIR=$tmp/run timeout 30 "$build/jf-trace" $command "$pid" > "$tmp/$1-${command%% *}" || done_with=1
		cat "$tmp/$1-${command%% *}"
	done
	kill "$pid"
	wait "$pid" 2> "$tmp/err"
	[ "$1" != break ] || { grep 'blocks:stays.*the breakpoint stays' "$tmp/$1-list" && grep 'the breakpoint stays' "$tmp/agent-err"; } || return 1
	return "$done_with"
}

# A filter that is installed by libc's own functions, which the program has asked libc itself for, and kills for what copies strings.
filters()
{
	build_c filters <<-END
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <linux/filter.h>
	#include <linux/seccomp.h>
	#include <pthread.h>
	#include <stddef.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	static void *libc;
	__attribute__((__noinline__)) int takes(const char *a) { __asm__ volatile("" : : "r" (a) : "memory"); return a != NULL; }
	static void *install(void *way)
	{
		struct sock_filter f[] = {
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		};
		struct sock_fprog prog = { 4, f };
		int (*call_prctl)(int option, ...);
		long (*call_syscall)(long nr, ...);
		long ret;

		*(void **)&call_prctl = dlsym(libc, "prctl");
		*(void **)&call_syscall = dlsym(libc, "syscall");
		ret = call_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (!ret)
			ret = *(char *)way == 'p' ? call_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) :
			      *(char *)way == 'q' ? call_syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0) :
			      call_syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, *(char *)way == 't' ? SECCOMP_FILTER_FLAG_TSYNC : 0, &prog);
		printf("installed: %ld\n", ret);
		takes("after");
		return NULL;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;

		libc = dlopen("libc.so.6", RTLD_NOW);
		if (!libc || argc != 2)
			return 1;
		takes("before");
		prctl(PR_GET_DUMPABLE);
		takes("not yet");
		if (*argv[1] != 't')
			install(argv[1]);
		else if (pthread_create(&t, NULL, install, argv[1]) || pthread_join(t, NULL))
			return 2;
		takes("at last");
		return 0;
	}
	END
	for way in p q s t; do
		# The two are probes, too, and record, whether that is asked for before or later.
		for globs in 'filters:takes(string),libc.so.6:prctl,libc.so.6:syscall' 'libc.so.6:prctl,libc.so.6:syscall,filters:takes(string)'; do
			same "$tmp/filters" "$way"
			rc=$?
			seen=$(sed -n 's/.* arg0_string = \(".*"\) }/\1/p' "$tmp/events" | tr '\n' ' ')
			echo "$way $rc $seen $(count libc.so.6:prctl) $(count libc.so.6:syscall)"
			[ "$rc" = 0 ] && [ "$seen" = '"before" "not yet" "(seccomp)" "(seccomp)" ' ] || return 1
			case $way in
			p) [ "$(count libc.so.6:prctl)" = 3 ] || return 1 ;;
			*) [ "$(count libc.so.6:prctl)" = 2 ] && [ "$(count libc.so.6:syscall)" -ge 1 ] || return 1 ;;
			esac
		done
	done
}

# They are looked at by no breakpoint, also if all probes are.
look_without_break()
{
	JUMPFUNC_AGENT_WAYS="break"
	export JUMPFUNC_AGENT_WAYS
	traced 'libc.so.6:prctl,filters:takes(string)' "$tmp/filters" p
	rc=$?
	unset JUMPFUNC_AGENT_WAYS
	cat "$tmp/events" "$tmp/err"
	[ "$rc" = 0 ] && [ "$(grep -c '"(seccomp)"' "$tmp/events")" = 2 ] && grep -q '"not yet"' "$tmp/events" &&
		grep -q 'filters:takes at .* is a breakpoint' "$tmp/err" && ! grep -q 'prctl at .* is a breakpoint' "$tmp/err"
}

# A debugger's breakpoint, or a uprobe, stands on one of an object's probes while another object is unloaded.
foreign()
{
	build_c foreign <<-END
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <stdint.h>
	#include <stdio.h>
	#include <unistd.h>
	#define TEN_BYTES __asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0, 0, 0x0f, 0x1f, 0x44, 0, 0" : "+r" (a))
	__attribute__((__noinline__)) int broken(int a) { TEN_BYTES; return a + 1; }
	__attribute__((__noinline__)) int beside(int a) { TEN_BYTES; return a + 2; }
	int main(int argc, char **argv)
	{
		off_t at = (off_t)(uintptr_t)broken;
		int fd = open("/proc/self/mem", O_RDWR), i;
		unsigned char was, brk = 0xcc;
		void *h;

		/* After an endbr64. */
		at += *(unsigned char *)(uintptr_t)at == 0xf3 ? 4 : 0;
		for (i = 0; i < 10; i++)
			beside(i);
		if (pread(fd, &was, 1, at) != 1 || pwrite(fd, &brk, 1, at) != 1)
			return 1;
		h = dlopen(argv[argc - 1], RTLD_NOW);
		if (!h || dlclose(h) || pwrite(fd, &was, 1, at) != 1)
			return 2;
		for (i = 0; i < 10; i++)
			beside(i);
		puts("done");
		return 0;
	}
	END
	globs=foreign:broken,foreign:beside
	same "$tmp/foreign" "$tmp/plugin.so" && [ "$(count foreign:beside)" = 20 ]
}

# A thread is within dlopen(), which waits for a library that the object needs, while the agent is told to look at what is loaded.
within_dlopen()
{
	mkdir "$tmp/first" "$tmp/second" && mkfifo "$tmp/first/libneeded.so" || return 1
	build_c second/libneeded.so -fPIC -shared -Wl,-soname,libneeded.so <<-END
	int needed(void) { return 1; }
	END
	build_c late.so -fPIC -shared -Wl,--no-as-needed "$tmp/second/libneeded.so" -Wl,-soname,late.so <<-END
	__attribute__((__noinline__)) int late(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int calls(void) { return late(1); }
	END
	build_c within <<-END
	#include <dlfcn.h>
	#include <stdio.h>
	#include <unistd.h>
	__attribute__((__noinline__)) int begins(int a) { __asm__ volatile("" : "+r" (a)); return a; }
	int main(int argc, char **argv)
	{
		int (*calls)(void);
		void *h;

		alarm(60);
		h = begins(argc) == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
		if (!h) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&calls = dlsym(h, "calls");
		return calls() != 2;
	}
	END
	# The linker passes over a library of the other class.
	{ printf '\177ELF\001\001\001' && head -c 57 /dev/zero; } > "$tmp/other-class"
	for command in list enable disable; do
		rm -rf "$tmp/traces" && mkdir "$tmp/traces"
		LD_LIBRARY_PATH=$tmp/first:$tmp/second XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces \
			JUMPFUNC_AGENT=within:begins,late.so:late LD_PRELOAD=$agent "$tmp/within" "$tmp/late.so" 2> "$tmp/err" &
		pid=$!
		case $command in
		list) set -- list -e late.so:nothing "$pid" ;;
		*) set -- "$command" "$pid" late.so:nothing ;;
		esac
		# It opens when the dynamic linker does.
		# shellcheck disable=SC2016
		XDG_RUNTIME_DIR=$tmp/run timeout 60 sh -c 'exec > "$1"; shift; "$@" >&2; cat "$0"' "$tmp/other-class" "$tmp/first/libneeded.so" \
			"$build/jf-trace" "$@"
		wait "$pid" || { cat "$tmp/err"; return 1; }
		events "$tmp/traces"/* && cat "$tmp/events"
		[ "$(count late.so:late)" = 1 ] || return 1
	done
}

# A thread loads an object while another one is in fork(), after the agent's handler for that has been called: handlers that
# are registered first are called last before fork(), and the program's own are the first if nothing was before them.
# loads_in_fork SIZE MASK: that has a stack of so many bytes, and blocks all signals with MASK, as one does that forks.
loads_in_fork()
{
	build_c forking <<-END
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <pthread.h>
	#include <sched.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static volatile int stage;
	static int blocks;
	static void before(void)
	{
		if (stage != 1)
			return;
		stage = 2;
		while (stage != 3)
			sched_yield();
	}
	static void first(int argc, char **argv, char **env) { pthread_atfork(before, NULL, NULL); }
	__attribute__((__section__(".preinit_array"), __used__)) static void (*begin)(int, char **, char **) = first;
	static void *forks(void *arg)
	{
		sigset_t all, was;
		int pid;

		sigfillset(&all);
		if (blocks)
			pthread_sigmask(SIG_BLOCK, &all, &was);
		stage = 1;
		pid = fork();
		if (!pid)
			_exit(0);
		if (blocks)
			pthread_sigmask(SIG_SETMASK, &was, NULL);
		return waitpid(pid, NULL, 0) == pid ? NULL : arg;
	}
	int main(int argc, char **argv)
	{
		pthread_attr_t a;
		int (*calls)(void);
		void *h, *wrong;
		pthread_t t;

		alarm(30);
		blocks = argv[2][0] == '1';
		pthread_attr_init(&a);
		if (pthread_attr_setstacksize(&a, strtoul(argv[1], NULL, 0)) || pthread_create(&t, &a, forks, argv))
			return 1;
		while (stage != 2)
			sched_yield();
		h = dlopen(argv[3], RTLD_NOW);
		stage = 3;
		if (pthread_join(t, &wrong) || wrong || !h)
			return 2;
		*(void **)&calls = dlsym(h, "calls");
		printf("%d\n", calls());
		return 0;
	}
	END
	globs=plugin.so:plugged
	same "$tmp/forking" "$1" "$2" "$tmp/plugin.so" && [ "$(count plugin.so:plugged)" = 1 ]
}

# A program that brings a libjumpfunc-trace which does not know this agent's version: it records nothing, and says why.
another_version()
{
	build_c other.so -fPIC -shared <<-END
	int __jf_provider_register(void *provider) { return provider ? -22 : 0; }
	END
	mkdir "$tmp/other" || return 1
	JUMPFUNC_TRACE_DIR=$tmp/other JUMPFUNC_AGENT=getppid LD_PRELOAD="$tmp/other.so $agent" sh -c 'echo $PPID' > "$tmp/out" 2> "$tmp/err"
	cat "$tmp/err"
	grep -q . "$tmp/out" && grep -q 'libjumpfunc-trace .* of another version; nothing is recorded' "$tmp/err" &&
		[ "$(grep -c . "$tmp/err")" = 1 ] && [ -z "$(find "$tmp/other" -type f)" ]
}

# The first thread ends, and later the last one; a child of vfork() returns from main(), which leads the parent's first thread to
# the same end. The thread that serves the socket is no reason to stay: the C library's handlers run, and the status is the same.
last_thread()
{
	build_c last <<-END
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static void *works(void *arg)
	{
		usleep(200000);
		puts("works");
		return arg;
	}
	static void ends(void)
	{
		puts("ends");
		fflush(stdout);
	}
	int main(int argc, char **argv)
	{
		pthread_t t;

		alarm(50);
		if (argc > 1 && !strcmp(argv[1], "vfork")) {
			if (!vfork()) {
				execl("./there-is-none", "there-is-none", (char *)0);
				return 1;
			}
			wait(0);
			return 0;
		}
		atexit(ends);
		if (argc > 1 && pthread_create(&t, NULL, works, NULL))
			return 1;
		pthread_exit(NULL);
	}
	END
	globs=last:main
	for what in "" worker; do
		# shellcheck disable=SC2086
		JUMPFUNC_TRACE_CONTROL=1 XDG_RUNTIME_DIR=$tmp/run same "$tmp/last" $what && [ "$(count last:main)" = 1 ] || return 1
	done
	"$tmp/last" vfork && JUMPFUNC_TRACE_CONTROL=1 XDG_RUNTIME_DIR=$tmp/run traced "$globs" "$tmp/last" vfork
}

# The first thread ends by a system call, and the process has its status.
raw_exit()
{
	build_c raw_exit -rdynamic <<-END
	#include <sys/syscall.h>
	#include <unistd.h>
	__attribute__((__noinline__)) long begins(long a) { __asm__ volatile("" : "+r" (a)); return a; }
	int main(void) { syscall(SYS_exit, begins(3)); }
	END
	JUMPFUNC_TRACE_CONTROL=1 XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_DIR=$tmp/traces JUMPFUNC_AGENT=raw_exit:begins LD_PRELOAD=$agent timeout 30 "$tmp/raw_exit"
	rc=$?
	echo "status $rc"
	[ "$rc" = 3 ]
}

# A thread that may not read the counter of the processor loses records, which are counted.
no_counter()
{
	build_c no_counter -rdynamic <<-END
	#include <linux/seccomp.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/prctl.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((__noinline__)) long works(long a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	static void *thread(void *arg) { works(1); return arg; }
	static int status_of(void (*fn)(void))
	{
		int status;

		if (!fork())
			fn();
		wait(&status);
		return status;
	}
	static void strict(void)
	{
		works(1);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		works(2);
		syscall(SYS_exit, 4);
	}
	static void forbids(void)
	{
		pthread_t t;

		works(1);
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		works(2);
		if (!pthread_create(&t, NULL, thread, NULL))
			pthread_join(t, NULL);
		prctl(PR_SET_TSC, PR_TSC_ENABLE);
		works(3);
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		exit(5);
	}
	int main(void)
	{
		int a = status_of(strict), b = status_of(forbids);

		printf("%x %x\n", a, b);
		return 0;
	}
	END
	for globs in no_counter:works call/no_counter:works; do
		same "$tmp/no_counter" && [ "$(cat "$tmp/out")" = "400 500" ] && [ "$(count no_counter:works)" = 3 ] || { cat "$tmp/out" "$tmp/events"; return 1; }
	done
}

# A thread with another block than the C library's, or none, for a while or from its begin on: nothing of it is recorded, and it lives.
without_variables()
{
	build_c foreign -no-pie -fno-stack-protector <<-'END'
	#define _GNU_SOURCE
	#include <asm/prctl.h>
	#include <sched.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int arch_prctl(int code, unsigned long addr);
	#define SIZE 0x10000
	static char stack[SIZE] __attribute__((__aligned__(16)));
	static volatile long result;
	static volatile int running;
	void child(void);
	static long call(long nr, long a, long b)
	{
		long ret;

		__asm__ volatile("syscall" : "=a" (ret) : "a" (nr), "D" (a), "S" (b) : "rcx", "r11", "memory");
		return ret;
	}
	__attribute__((__noinline__)) long works(long a) { __asm__ volatile("nop; nop; nop; nop; nop" : "+r" (a)); return a + 1; }
	/* By the C library's functions, or by an instruction of its own, which nothing sees. */
	static long with(unsigned long base, const char *way)
	{
		unsigned long own;
		long sum = 0;

		if (call(SYS_arch_prctl, ARCH_GET_FS, (long)&own))
			return -1;
		if (*way == 's' ? syscall(SYS_arch_prctl, ARCH_SET_FS, base) : *way == 'a' ? arch_prctl(ARCH_SET_FS, base) : call(SYS_arch_prctl, ARCH_SET_FS, base))
			return -1;
		for (int i = 0; i < 10; i++)
			sum += works(i);
		if (*way == 's')
			syscall(SYS_arch_prctl, ARCH_SET_FS, own);
		else
			call(SYS_arch_prctl, ARCH_SET_FS, own);
		return sum;
	}
	void child(void)
	{
		result = 0;
		for (int i = 0; i < 10; i++)
			result += works(i);
	}
	static long thread(unsigned long base)
	{
		register long ctid __asm__("r10") = (long)&running;
		register long tls __asm__("r8") = base;
		long ret;

		running = 1;
		__asm__ volatile("syscall; test %%rax, %%rax; jnz 1f; xor %%ebp, %%ebp; call child; mov $60, %%eax; xor %%edi, %%edi; syscall; 1:"
			: "=a" (ret) : "a" (SYS_clone), "D" (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			CLONE_SETTLS | CLONE_CHILD_CLEARTID), "S" (stack + SIZE), "d" (0), "r" (ctid), "r" (tls) : "rcx", "r11", "memory");
		while (ret > 0 && running)
			sched_yield();
		return ret > 0 ? result : ret;
	}
	int main(int argc, char **argv)
	{
		char *a = mmap(NULL, 3 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		/* None; one that is not there; one with nothing before it; with zeros before it; the same, as the ABI has a thread's block. */
		unsigned long bases[] = { 0, 16, 1, (unsigned long)a + SIZE, (unsigned long)a + 2 * SIZE, (unsigned long)a + 2 * SIZE + 64, (unsigned long)a + 2 * SIZE + 3 };

		munmap(a, SIZE);
		*(char **)(a + SIZE) = a + SIZE;
		*(char **)(a + 2 * SIZE + 64) = a + 2 * SIZE + 64;
		for (int turn = 0; turn < 3; turn++)
			for (unsigned long i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
				/* One that is not there, on a stack where it was there: by a function of the C library. */
				long one = i < 3 && *argv[1] == 'i' ? 55 : with(bases[i], argv[1]), other = thread(bases[i]);

				printf("%ld %ld %ld\n", one, other, works(turn + argc));
			}
		return 0;
	}
	END
	for way in instruction:330 syscall:420 arch_prctl:420; do
		for globs in foreign:works call/foreign:works; do
			same "$tmp/foreign" "${way%:*}" && [ "$(count foreign:works)" = 21 ] && ! run "$globs" "$tmp/foreign" "${way%:*}" &&
				[ "$rc" = 123 ] && grep -q "records 21, overwritten 0, discarded ${way#*:};" "$tmp/err" || return 1
		done
	done
}

# It loses the right to read the counter, and then loads objects, forks, and has children that do.
loses_counter()
{
	build_c loses -rdynamic <<-END
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((__noinline__)) long works(long a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	static void *thread(void *arg) { works(1); return arg; }
	static int loads(const char *path)
	{
		int (*calls)(void), ret;
		void *h = dlopen(path, RTLD_NOW);

		if (!h)
			return -1;
		*(void **)&calls = dlsym(h, "calls");
		ret = calls();
		dlclose(h);
		return ret;
	}
	int main(int argc, char **argv)
	{
		int status = 0, how = 0;
		pthread_t t;

		works(argc);
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		for (int i = 0; i < 3; i++) {
			if (loads(argv[1]) != 2 || pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
				return 2;
			if (!fork()) {
				if (i == 2)
					prctl(PR_SET_TSC, PR_TSC_ENABLE);
				_exit((int)works(loads(argv[1])));
			}
			wait(&status);
			printf("%x\n", status);
		}
		prctl(PR_GET_TSC, &how);
		printf("%d\n", how);
		return 0;
	}
	END
	for control in "" 1; do
		for globs in loses:works,plugin.so:plugged call/loses:works,plugin.so:plugged; do
			JUMPFUNC_TRACE_CONTROL=$control XDG_RUNTIME_DIR=$tmp/run
			export JUMPFUNC_TRACE_CONTROL XDG_RUNTIME_DIR
			[ "$control" ] || unset JUMPFUNC_TRACE_CONTROL
			same "$tmp/loses" "$tmp/plugin.so" && [ "$(count loses:works)" -ge 1 ]
			rc=$?
			unset JUMPFUNC_TRACE_CONTROL XDG_RUNTIME_DIR
			[ "$rc" = 0 ] || return 1
		done
	done
}

# All text of a process is compared with its files, after a change at the begin, and after others by another thread.
no_breakpoints()
{
	build_c compared <<-END
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/stat.h>
	#include <unistd.h>
	static char line[4096];
	static unsigned char file[1 << 16];
	int main(void)
	{
		unsigned long start, end, offset, breakpoints = 0, changed = 0, i, n;
		char path[4096];
		FILE *maps;
		int fd;

		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
		maps = fopen("/proc/self/maps", "r");
		while (maps && fgets(line, sizeof(line), maps)) {
			if (sscanf(line, "%lx-%lx r-xp %lx %*s %*s %4000s", &start, &end, &offset, path) != 4 || *path != '/')
				continue;
			fd = open(path, O_RDONLY);
			if (fd < 0)
				return 2;
			for (; start < end; start += n, offset += n) {
				n = end - start < sizeof(file) ? end - start : sizeof(file);
				memset(file, 0, sizeof(file));
				if (pread(fd, file, n, (off_t)offset) < 0)
					return 3;
				for (i = 0; i < n; i++) {
					changed += file[i] != ((unsigned char *)start)[i];
					breakpoints += file[i] != 0xcc && ((unsigned char *)start)[i] == 0xcc;
				}
			}
			close(fd);
		}
		printf("%lu breakpoints, %s changed\n", breakpoints, changed > 400 ? "much" : "little");
		return 0;
	}
	END
	for ways in "" jump,short,span break; do
		rm -rf "$tmp/traces" "$tmp/in" "$tmp/out" && mkdir "$tmp/traces" && mkfifo "$tmp/in" || return 1
		(
			[ -z "$ways" ] || { JUMPFUNC_AGENT_WAYS=$ways && export JUMPFUNC_AGENT_WAYS; }
			JUMPFUNC_TRACE_CONTROL=1 XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_DIR=$tmp/traces LD_PRELOAD=$agent \
				JUMPFUNC_AGENT='compared:*,libc.so.6:[a-k]*' exec timeout -k 5 60 "$tmp/compared" < "$tmp/in" > "$tmp/out" 2> "$tmp/err"
		) &
		exec 8> "$tmp/in"
		awaits grep -qs ready "$tmp/out" || return 1
		pid=$(pgrep -P "$!" -x compared)
		for what in enable:'libc.so.6:[l-s]*' disable:'libc.so.6:[e-n]*' enable:'libc.so.6:[g-i]*'; do
			XDG_RUNTIME_DIR=$tmp/run "$build/jf-trace" "${what%%:*}" "$pid" "${what#*:}" > "$tmp/answer" 2>&1 || { cat "$tmp/answer"; return 1; }
		done
		echo go >&8
		exec 8>&-
		wait "$!" || { cat "$tmp/out" "$tmp/err"; return 1; }
		cat "$tmp/out"
		# What looks for them finds those that are asked for.
		if [ "$ways" = break ]; then
			grep -q '^[1-9][0-9]* breakpoints, much changed' "$tmp/out" || return 1
		else
			grep -qx '0 breakpoints, much changed' "$tmp/out" || return 1
		fi
	done
}

# A loop that begins in a function's first five bytes, in a thread that blocks all signals: it would die of a breakpoint.
loop_at_begin()
{
	build_c loop -no-pie <<-'END'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	long len(const void *list), whole(long a);
	/* In neither is there room for a jump but over several instructions; and four bytes that lead nowhere. */
	__asm__(".text\n.globl len\n.type len, @function\nlen: xor %eax, %eax\n1: test %rdi, %rdi\nje 2f\nmov (%rdi), %rdi\ninc %rax\n"
		"jmp 1b\n2: ret\n.size len, . - len\n"
		".globl whole\n.type whole, @function\nwhole: xor %eax, %eax\nadd %rdi, %rax\nadd %rdi, %rax\nret\n.size whole, . - whole\n");
	static void *list[1000];
	static void *counts(void *arg)
	{
		sigset_t all;

		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, NULL);
		printf("%ld %ld\n", len(list), whole(4));
		return arg;
	}
	int main(void)
	{
		pthread_t t;

		for (int i = 0; i < 999; i++)
			list[i] = &list[i + 1];
		return pthread_create(&t, NULL, counts, NULL) || pthread_join(t, NULL);
	}
	END
	globs=loop:len,loop:whole
	JUMPFUNC_AGENT_WAYS=span && export JUMPFUNC_AGENT_WAYS
	same "$tmp/loop"
	rc=$?
	unset JUMPFUNC_AGENT_WAYS
	cat "$tmp/err"
	[ "$rc" = 0 ] && [ "$(count loop:whole)" = 1 ] && [ "$(count loop:len)" = 0 ] &&
		grep -q 'loop:len at .* is not recorded: .*leads into the first five bytes' "$tmp/err" && same "$tmp/loop"
}

# A handler of the program's own for SIGTRAP, as compilers and crash reporters have it.
own_handler()
{
	build_c handler -no-pie <<-'END'
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	int leaf(int a);
	/* Too short for a jump, and four bytes that lead nowhere. */
	__asm__(".text\n.globl leaf\n.type leaf, @function\nleaf: lea 1(%rdi), %eax\nret\nint3\nint3\nint3\n.size leaf, 4\n");
	__attribute__((__noinline__)) int other(int a) { __asm__ volatile("" : "+r" (a)); return a + 2; }
	static void crash(int sig)
	{
		printf("fatal signal %d\n", sig);
		fflush(stdout);
		_exit(99);
	}
	int main(void)
	{
		signal(SIGTRAP, crash);
		printf("%d\n", leaf(1) + other(2));
		return 0;
	}
	END
	globs=handler:leaf,handler:other
	same "$tmp/handler" && grep -q 'handler:leaf at .* is not recorded: ' "$tmp/err" && [ "$(count handler:other)" = 1 ]
}

# Real-time threads record for the first time, and so do ordinary ones of the same processor, which have a lock meanwhile. One that
# waited for it by itself would take all of the processor, until the kernel throttles it after 950 ms.
real_time()
{
	build_c realtime <<-'END'
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <sched.h>
	#include <stdio.h>
	#include <sys/resource.h>
	#include <time.h>
	#include <unistd.h>
	static volatile int over;
	static long calls, busy;
	__attribute__((__noinline__)) void work(int i) { __asm__ volatile("nop; nop; nop; nop; nop" : : "r" (i)); }
	static void *once(void *real)
	{
		struct timespec t;

		work(1);
		/* What the thread has run itself, whatever else the machine does. */
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		if (real) {
			calls++;
			busy += t.tv_sec || t.tv_nsec > 300000000;
		}
		return NULL;
	}
	static void *ordinary(void *arg)
	{
		pthread_t t;

		while (!over)
			if (!pthread_create(&t, NULL, once, NULL))
				pthread_join(t, NULL);
		return arg;
	}
	static void *real(void *arg)
	{
		struct timespec rest = { 0, 100000 };
		pthread_t t;

		while (!over) {
			rest.tv_nsec = 100000 + rest.tv_nsec * 7 % 100003;
			nanosleep(&rest, NULL);
			if (!pthread_create(&t, NULL, once, "real"))
				pthread_join(t, NULL);
		}
		return arg;
	}
	int main(void)
	{
		struct sched_param param = { .sched_priority = 10 };
		pthread_t o, r;
		pthread_attr_t a;
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(sched_getcpu(), &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			return 1;
		pthread_attr_init(&a);
		pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&a, SCHED_FIFO);
		pthread_attr_setschedparam(&a, &param);
		if (pthread_create(&r, &a, real, NULL))
			return 77;
		if (pthread_create(&o, NULL, ordinary, NULL))
			return 1;
		sleep(6);
		over = 1;
		pthread_join(o, NULL);
		pthread_join(r, NULL);
		printf("%ld of some calls\n", busy);
		return calls < 10;
	}
	END
	globs=realtime:work
	same "$tmp/realtime"
}

# The same where breakpoints are asked for: the library's handler stays in front, and the program cannot tell.
own_handler_behind()
{
	build_c signals <<-'END'
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <sched.h>
	#include <signal.h>
	#include <stdio.h>
	#include <string.h>
	static volatile int ends, sum;
	__attribute__((__noinline__)) int leaf(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	static void one(int sig) { printf("one: %d\n", sig); }
	static void two(int sig, siginfo_t *info, void *context) { printf("two: %d, %d\n", sig, info->si_code == SI_TKILL && context); }
	static void *calls(void *arg)
	{
		while (!ends)
			sum += leaf(1);
		return arg;
	}
	int main(void)
	{
		struct sigaction a, old;
		pthread_t t;

		if (pthread_create(&t, NULL, calls, NULL))
			return 1;
		while (sum < 100)
			sched_yield();
		printf("%d\n", signal(SIGTRAP, one) == SIG_DFL);
		raise(SIGTRAP);
		memset(&a, 0, sizeof(a));
		a.sa_sigaction = two;
		a.sa_flags = SA_SIGINFO;
		for (int i = 0; i < 1000; i++) {
			if (sigaction(SIGTRAP, &a, &old) || old.sa_handler != one)
				return 2;
			if (sigaction(SIGTRAP, NULL, &old) || old.sa_sigaction != two || !(old.sa_flags & SA_SIGINFO))
				return 3;
			if (i == 500)
				raise(SIGTRAP);
			if (signal(SIGTRAP, one) != (void (*)(int))two)
				return 4;
		}
		signal(SIGTRAP, SIG_IGN);
		raise(SIGTRAP);
		ends = 1;
		pthread_join(t, NULL);
		signal(SIGUSR1, one);
		raise(SIGUSR1);
		printf("%d\n", leaf(1));
		return 0;
	}
	END
	# Of the two that are traced one is by a breakpoint.
	globs=signals:leaf,signals:main
	JUMPFUNC_AGENT_WAYS=jump,short,break && export JUMPFUNC_AGENT_WAYS
	same "$tmp/signals"
	rc=$?
	# Memory may be in use where the code of a breakpoint has to be.
	for _ in 1 2 3 4 5 6 7 8; do
		[ "$rc" = 0 ] && JUMPFUNC_AGENT_WAYS='break' && export JUMPFUNC_AGENT_WAYS && same "$tmp/signals"
		rc=$?
		grep -q 'no memory in reach' "$tmp/err" || break
	done
	unset JUMPFUNC_AGENT_WAYS
	[ "$rc" = 0 ] && grep -q 'signals:leaf at .* is a breakpoint' "$tmp/err" && [ "$(count signals:leaf)" -gt 1 ]
}

# run GLOBS PROGRAM ARGUMENTS...: by jf-trace, which shows the trace on standard error
run()
{
	globs=$1
	shift
	timeout -k 5 60 "$build/jf-trace" run -e "$globs" "$@" > "$tmp/out" 2> "$tmp/err"
	rc=$?
	cat "$tmp/out" "$tmp/err"
	return "$rc"
}

# The dynamic linker says nothing of an auxiliary library that it cannot load.
not_beside()
{
	mkdir -p "$tmp/alone" && cp "$build/libjumpfunc-agent.so" "$tmp/alone/" || return 1
	LD_PRELOAD=$tmp/alone/libjumpfunc-agent.so sh -c 'exec echo runs' > "$tmp/out" 2> "$tmp/err" && [ "$(cat "$tmp/out")" = runs ] &&
		says 'libjumpfunc-agent-glibc.so cannot be loaded' || return 1
	LD_PRELOAD=$agent JUMPFUNC_TRACE=none:none echo runs > "$tmp/out" 2> "$tmp/err" && [ "$(cat "$tmp/out")" = runs ] && [ ! -s "$tmp/err" ]
}

# A program of another C library, and a child that is one: they run as they do without the agent.
other_libc()
{
	CC=musl-gcc build_c musl <<-END || return 1
	#include <stdio.h>
	int main(void) { puts("runs"); return 3; }
	END
	run musl:main "$tmp/musl"
	[ "$?" = 3 ] && [ "$(cat "$tmp/out")" = runs ] && grep -q 'it is for glibc, and .*/musl has another C library, .*ld-musl' "$tmp/err" &&
		! grep -q Error "$tmp/err" || return 1
	# shellcheck disable=SC2016
	run libc.so.6:getppid sh -c '"$1"; echo "child $? of $PPID"' sh "$tmp/musl" || return 1
	grep -qx runs "$tmp/out" && grep -q 'child 3' "$tmp/out" && grep -q getppid: "$tmp/err" &&
		! grep -v 'getppid: {' "$tmp/err" | grep -qv '^jf-trace: records 1, ' || return 1
	JUMPFUNC=verbose LD_PRELOAD=$agent "$tmp/musl" 2>&1 | grep -q 'nothing is recorded: this program has another C library'
}

# Its sanitizer is a shared library, which is to come first.
shared_asan()
{
	build_c asan -fsanitize=address <<-END
	#include <stdio.h>
	#include <stdlib.h>
	__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int main(void)
	{
		const char *options = getenv("ASAN_OPTIONS");

		printf("%d %.12s\n", work(1), options ? options : "");
		return 0;
	}
	END
	run asan:work "$tmp/asan" && grep -qx '2 verify_asan_' "$tmp/out" && grep -q asan:work: "$tmp/err" || return 1
	ASAN_OPTIONS=verbosity=0 && export ASAN_OPTIONS && run asan:work "$tmp/asan"
	rc=$?
	unset ASAN_OPTIONS
	[ "$rc" = 0 ] && grep -qx '2 verbosity=0:' "$tmp/out" && grep -q asan:work: "$tmp/err"
}

# What the agent does is no race of the program's, and what the user has said of ThreadSanitizer stays.
thread_sanitizer()
{
	build_c tsan -fsanitize=thread <<-END
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	__attribute__((__noinline__)) int work(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	static void *runs(void *arg) { for (int i = 0; i < 1000; i++) work(i); return arg; }
	int main(void)
	{
		const char *options = getenv("TSAN_OPTIONS");
		pthread_t t[4];

		for (int i = 0; i < 4; i++)
			if (pthread_create(&t[i], NULL, runs, NULL))
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		puts(options ? options : "none");
		return 0;
	}
	END
	for _ in 1 2 3 4; do
		run 'tsan:*' "$tmp/tsan"
		rc=$?
		# It may record nothing: the sanitizer's own thread comes first.
		[ "$rc" = 0 ] || [ "$rc" = 123 ] || return 1
		grep -qx 'ignore_noninstrumented_modules=1' "$tmp/out" && ! grep WARNING "$tmp/err" || return 1
	done
	TSAN_OPTIONS=ignore_noninstrumented_modules=0 && export TSAN_OPTIONS && run tsan:main "$tmp/tsan"
	unset TSAN_OPTIONS
	grep -qx 'ignore_noninstrumented_modules=1:ignore_noninstrumented_modules=0' "$tmp/out"
}

if ! command -v babeltrace2 > /dev/null; then
	skip "all" "babeltrace2"
	tap_end
fi
plugin
check "a cancelled thread that loads an object" cancelled
check "an object that comes with libstdc++" comes_with_libstdcxx
check "a thread of a small stack that loads an object" small_stack
check "an object that is loaded while another thread forks" loads_in_fork 1048576 0
check "the same, in a thread of a small stack" loads_in_fork 16384 0
check "the same, in a thread that blocks all signals" loads_in_fork 1048576 1
check "a libjumpfunc-trace of another version" another_version
check "the agent is not beside the library that is preloaded" not_beside
if command -v setarch > /dev/null && setarch -R true; then
	check "a thread that blocks all signals loads an object" blocks_and_loads
else
	skip "a thread that blocks all signals loads an object" "setarch -R"
fi
if command -v musl-gcc > /dev/null; then
	check "a program of another C library, and a child" other_libc
else
	skip "a program of another C library" "musl-gcc"
fi
if echo 'int main(void) { return 0; }' | ${CC:-cc} -fsanitize=address -o "$tmp/needs" -xc - 2> /dev/null && readelf -d "$tmp/needs" | grep -q libasan; then
	check "a program whose sanitizer is a shared library" shared_asan
else
	skip "a program whose sanitizer is a shared library" "libasan"
fi
if command -v chrt > /dev/null && chrt -f 10 true 2> /dev/null; then
	check "real-time threads beside others" real_time
else
	skip "real-time threads beside others" "chrt -f"
fi
if echo 'int main(void) { return 0; }' | ${CC:-cc} -fsanitize=thread -o "$tmp/needs" -xc - 2> /dev/null && "$tmp/needs"; then
	check "a program with ThreadSanitizer" thread_sanitizer
else
	skip "a program with ThreadSanitizer" "libtsan"
fi
check "no memory" no_memory
check "no memory for the agent's own stack" little_memory
check "arguments at no address" no_address
check "an argument in memory in a filter" filtered_note
check "breakpoints are named" breakpoints
check "a short note" short_note
check "probes beside each other and at one place" adjacent
check "two names of one function" names_of_one
check "a child of vfork() that is killed in the agent" killed_child
check "a clone with its parent's variables" shares_variables
check "fork() while thousands of functions are switched on" forks_within
check "a thread of the kernel" kernels_thread
# Debian 13 has clang's libraries of sanitizers in a package of their own.
if echo 'int main(void) { return 0; }' | "${CLANG:-clang}" -fsanitize=address -o "$tmp/needs" -xc - 2> /dev/null; then
	check "all functions of programs with sanitizers" all_of_sanitizers
else
	skip "all functions of programs with sanitizers" "clang, libclang-rt-dev"
fi
check "a profiler" profiled
check "kinds of probes" kinds
if [ "$(id -u)" != 0 ]; then
	skip "objects whose names lead nowhere" "only root can open what is mapped, and become another user"
elif ! have setpriv; then
	skip "objects whose names lead nowhere" "no setpriv (apt-get install util-linux)"
else
	check "objects whose names lead nowhere" no_names
	check "the same for a user without rights" no_names_for_others
	check "rights of one thread" rights
	check "no new thread where a filter can kill for it" no_thread
fi
check "either name of a symbolic link" linked_object
check "floats and doubles of notes" reals
check "another's breakpoint on a probe while an object is unloaded" foreign
check "the first thread ends, and the last one" last_thread
check "the first thread ends by a system call" raw_exit
check "threads that may not read the counter of the processor" no_counter
check "threads without the C library's variables" without_variables
check "a program that loses it, and loads objects and forks" loses_counter
check "the agent looks at what is loaded within a dlopen()" within_dlopen
check "no breakpoint is left in the text" no_breakpoints
check "a loop that begins in a function's first five bytes" loop_at_begin
check "a program with a handler of SIGTRAP" own_handler
check "the same, beside breakpoints that are asked for" own_handler_behind
check "the end of recording beside a thread that blocks all signals" blocks_all jump,short,span,break
check "the same, with breakpoints that stay and are named" blocks_all break
check "filters of system calls by libc's own functions" filters
check "filters are looked at by no breakpoint" look_without_break
tap_end
