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

# made NAME FLAGS...: the program $tmp/NAME of what is read, without the agent.
made()
{
	program=$1
	shift
	cat > "$tmp/$program.c"
	${CC:-cc} -O1 -pthread "$@" -o "$tmp/$program" "$tmp/$program.c" -ldl
}

# same PROGRAM ARGUMENTS...: it says with the agent, in $tmp/out, what it says without.
same()
{
	"$@" > "$tmp/plain" || return 1
	[ -s "$tmp/plain" ] && traced "$globs" "$@" && diff "$tmp/plain" "$tmp/out"
}

plugin()
{
	made plugin.so -fPIC -shared <<-END
	__attribute__((__noinline__)) int plugged(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int calls(void) { return plugged(1); }
	END
}

# dlopen() is no cancellation point, and none with the agent.
cancelled()
{
	made cancelled <<-END
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

# A thread whose stack is as small as one may be loads an object.
small_stack()
{
	made small <<-END
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
	made blocking <<-END
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
	made memory <<-END
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
	made little <<-END
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
	made no_address <<-END
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
	made filtered_note <<-END
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
	made breakpoints <<-END
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
	made short_note <<-END
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

# A profiler in the process: a timer's signal comes anywhere, and its handler unwinds.
profiled()
{
	made profiled <<-END
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
	made blocks <<-END
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
	made filters <<-END
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

# What cannot be looked at without a breakpoint is not: then no string is read, and that is said.
no_look_at_filters()
{
	JUMPFUNC_AGENT_WAYS="break"
	export JUMPFUNC_AGENT_WAYS
	traced 'libc.so.6:prctl,filters:takes(string)' "$tmp/filters" p
	rc=$?
	unset JUMPFUNC_AGENT_WAYS
	cat "$tmp/events" "$tmp/err"
	[ "$rc" = 0 ] && [ "$(grep -c '"(seccomp)"' "$tmp/events")" = 4 ] && grep -q 'no strings are read, as filters by prctl() would not be seen' "$tmp/err"
}

# A debugger's breakpoint, or a uprobe, stands on one of an object's probes while another object is unloaded.
foreign()
{
	made foreign <<-END
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
	made second/libneeded.so -fPIC -shared -Wl,-soname,libneeded.so <<-END
	int needed(void) { return 1; }
	END
	made late.so -fPIC -shared -Wl,--no-as-needed "$tmp/second/libneeded.so" -Wl,-soname,late.so <<-END
	__attribute__((__noinline__)) int late(int a) { __asm__ volatile("" : "+r" (a)); return a + 1; }
	int calls(void) { return late(1); }
	END
	made within <<-END
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
	made forking <<-END
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
	made other.so -fPIC -shared <<-END
	int __jf_provider_register(void *provider) { return provider ? -22 : 0; }
	END
	mkdir "$tmp/other" || return 1
	JUMPFUNC_TRACE_DIR=$tmp/other JUMPFUNC_AGENT=getppid LD_PRELOAD="$tmp/other.so $agent" sh -c 'echo $PPID' > "$tmp/out" 2> "$tmp/err"
	cat "$tmp/err"
	grep -q . "$tmp/out" && grep -q 'libjumpfunc-trace .* of another version; nothing is recorded' "$tmp/err" &&
		[ "$(grep -c . "$tmp/err")" = 1 ] && [ -z "$(find "$tmp/other" -type f)" ]
}

if ! command -v babeltrace2 > /dev/null; then
	skip "all" "babeltrace2"
	tap_end
fi
plugin
check "a cancelled thread that loads an object" cancelled
check "a thread of a small stack that loads an object" small_stack
check "an object that is loaded while another thread forks" loads_in_fork 1048576 0
check "the same, in a thread of a small stack" loads_in_fork 16384 0
check "the same, in a thread that blocks all signals" loads_in_fork 1048576 1
check "a libjumpfunc-trace of another version" another_version
if command -v setarch > /dev/null && setarch -R true; then
	check "a thread that blocks all signals loads an object" blocks_and_loads
else
	skip "a thread that blocks all signals loads an object" "setarch -R"
fi
check "no memory" no_memory
check "no memory for the agent's own stack" little_memory
check "arguments at no address" no_address
check "an argument in memory in a filter" filtered_note
check "breakpoints are named" breakpoints
check "a short note" short_note
check "a profiler" profiled
check "another's breakpoint on a probe while an object is unloaded" foreign
mkdir -m 700 "$tmp/run"
check "the agent looks at what is loaded within a dlopen()" within_dlopen
check "the end of recording beside a thread that blocks all signals" blocks_all jump,short,span,break
check "the same, with breakpoints that stay and are named" blocks_all break
check "filters of system calls by libc's own functions" filters
check "filters that would not be seen" no_look_at_filters
tap_end
