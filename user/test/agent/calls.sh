#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# Calls of functions, from entry to exit: in programs that count their own, and in the distribution's.
# usage: calls.sh BUILD
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
# All is kept.
JUMPFUNC_TRACE_MODE=keep
export JUMPFUNC_TRACE_MODE

# counted COMPILER FLAGS...: each call that returns is a record, and each that does not is counted as left.
counted()
{
	"$@" -g -pthread -o "$tmp/counted" "$here/calls.cc" 2> "$tmp/log" || { cat "$tmp/log"; return 1; }
	# Where the kernel has put the program, memory may be in use to which bytes of the text lead.
	for _ in 1 2 3 4 5 6 7 8; do
		traced 'call/counted:c_*' "$tmp/counted" || return 1
		grep -q 'no memory in reach' "$tmp/err" || break
	done
	grep 'is not recorded' "$tmp/err" | grep -v '\.cold at .*it never returns' && return 1
	python3 "$here/calls.py" "$tmp/out" "$tmp/events"
}

# cancelled FLAGS...: threads that end in the midst of calls; the next ones have their stacks.
cancelled()
{
	${CC:-cc} "$@" -pthread -o "$tmp/cancelled" "$here/cancelled.c" || return 1
	for _ in 1 2 3 4 5 6 7 8; do
		traced 'call/cancelled:k_*' "$tmp/cancelled" || return 1
		grep -q 'no memory in reach' "$tmp/err" || break
	done
	grep 'is not recorded' "$tmp/err" | grep -v '\.cold at .*it never returns' && return 1
	python3 "$here/cancelled.py" "$tmp/out" "$tmp/events"
}

# stepped leaves|calls FLAGS...: a handler at each instruction of a recorded call.
stepped()
{
	way=$1
	shift
	${CC:-cc} "$@" -o "$tmp/stepped" "$here/stepped.c" || return 1
	for _ in 1 2 3 4 5 6 7 8; do
		traced 'call/stepped:k_*' "$tmp/stepped" "$way" || return 1
		grep -q 'no memory in reach' "$tmp/err" || break
	done
	python3 "$here/stepped.py" "$way" "$tmp/out" "$tmp/events"
}

# Refused, with the reason, and the others are recorded.
refused()
{
	cat > "$tmp/refused.c" <<-'END'
	__asm__(".globl r_loops\n.type r_loops, @function\nr_loops: .cfi_startproc\ndec %edi\njnz r_loops\nret\n.cfi_endproc\n.size r_loops, . - r_loops\n"
		".globl r_data\n.type r_data, @function\nr_data: .cfi_startproc\nmov $3, %eax\nret\n.byte 6\n.cfi_endproc\n.size r_data, . - r_data");
	void r_loops(int times);
	int r_data(void);
	__attribute__((__noinline__)) int r_well(int x) { return x + r_data(); }
	int main(void) { r_loops(3); return r_well(4) != 7; }
	END
	${CC:-cc} -O1 -o "$tmp/refused" "$tmp/refused.c" || return 1
	traced 'call/refused:r_*' "$tmp/refused" || return 1
	cat "$tmp/err"
	grep -q 'refused:r_loops at .* is not recorded: a branch leads back to its begin' "$tmp/err" &&
		grep -q 'refused:r_data at .* is not recorded: it has bytes that are no instruction' "$tmp/err" &&
		[ "$(count refused:r_well)" = 1 ] && [ "$(wc -l < "$tmp/events")" = 1 ]
}

# Each function has its own pattern, and the jump at an exit has bytes of the next function in its distance.
apart()
{
	for i in 0 1 2 3 4 5 6 7 8 9; do
		echo "__attribute__((__noinline__)) int n_$i(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x + $i; }"
	done > "$tmp/apart.c"
	echo 'int main(void) { return n_0(0) + n_1(0) + n_2(0) + n_3(0) + n_4(0) + n_5(0) + n_6(0) + n_7(0) + n_8(0) + n_9(0) != 45; }' >> "$tmp/apart.c"
	for flags in -O0 "-Os -fno-align-functions"; do
		# shellcheck disable=SC2086 # several words
		${CC:-cc} $flags -fcf-protection=none -o "$tmp/apart" "$tmp/apart.c" || return 1
		for kind in call/ ''; do for order in "0 1 2 3 4 5 6 7 8 9" "9 8 7 6 5 4 3 2 1 0" "5 4 6 3 7 2 8 1 9 0"; do
			globs=
			for i in $order; do
				[ "$i" = 4 ] && globs=$globs,apart:n_4 || globs=$globs,${kind}apart:n_$i
			done
			# As above: memory may be in use there.
			for _ in 1 2 3 4 5 6 7 8; do
				traced "${globs#,}" "$tmp/apart" || return 1
				grep -q 'no memory in reach' "$tmp/err" || break
			done
			cat "$tmp/err"
			[ "$(sort -u "$tmp/events" | wc -l)" -ge 10 ] && [ "$(wc -l < "$tmp/events")" = 10 ] || { echo "$flags: $kind $order"; return 1; }
		done; done
	done
}

# makes_late FLAGS: a round of calls for each line; with an argument other threads call them all the time, too.
makes_late()
{
	for i in 0 1 2 3 4 5 6 7 8 9; do
		echo "__attribute__((__noinline__)) int n_$i(int x) { __asm__ volatile(\"\" : \"+r\"(x)); return x + $i; }"
	done > "$tmp/late.c"
	cat >> "$tmp/late.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	static int ends;
	static int all(int x)
	{
		return n_9(n_8(n_7(n_6(n_5(n_4(n_3(n_2(n_1(n_0(x))))))))));
	}
	static void *calls(void *unused)
	{
		while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
			if (all(5) != 50)
				abort();
		return unused;
	}
	int main(int argc, char **argv)
	{
		pthread_t thread[3];
		int i, c;

		(void)argv;
		for (i = 0; argc > 1 && i < 3; i++)
			pthread_create(&thread[i], NULL, calls, NULL);
		do {
			puts(all(1) == 46 ? "done" : "wrong");
			fflush(stdout);
			c = getchar();
		} while (c != EOF && c != 'q');
		ends = 1;
		for (i = 0; argc > 1 && i < 3; i++)
			pthread_join(thread[i], NULL);
		return 0;
	}
	END
	# shellcheck disable=SC2086 # several words
	${CC:-cc} $1 -fcf-protection=none -pthread -o "$tmp/late" "$tmp/late.c"
}

# late_begins ARGUMENT...: it runs, and has one function on.
late_begins()
{
	rm -rf "$tmp/run" "$tmp/traces" "$tmp/in3" "$tmp/answers3"
	mkdir -m 700 "$tmp/run" "$tmp/traces"
	mkfifo "$tmp/in3" "$tmp/answers3" || return 1
	XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces LD_PRELOAD=$agent \
		"$tmp/late" "$@" < "$tmp/in3" > "$tmp/answers3" 2> "$tmp/err" &
	pid=$!
	exec 3> "$tmp/in3" 4< "$tmp/answers3"
	tool="env XDG_RUNTIME_DIR=$tmp/run $build/jf-trace"
	late_goes && $tool record -o "$tmp/traces" -e "${kind}late:n_$first" "$pid" > "$tmp/log" 2>&1 && late_listed 1
}

late_goes() { read -r word <&4 && [ "$word" = "done" ]; }
late_ends() { exec 3>&- 4<&- 4> /dev/null; wait "$pid"; }

# late_listed NUMBER: so many are on.
late_listed()
{
	[ "$($tool list -e "${kind}late:n_*" "$pid" 2> /dev/null | grep -c "^${kind%/} *on")" = "$1" ] && return
	cat "$tmp/log"
	$tool list -e "${kind}late:n_*" "$pid"
	return 1
}

# One that is refused leaves the others on.
late_refused()
{
	cat "$tmp/log"
	$tool list -e "${kind}late:n_*" "$pid"
	late_listed $((n - 1)) || touch "$tmp/lost"
}

# One after the other, while it runs, on and then off: all that are on are recorded, each once in a round.
switches_late()
{
	first=${1%% *}
	late_begins || return 1
	n=1
	for i in ${1#* }; do
		n=$((n + 1))
		$tool enable "$pid" -e "${kind}late:n_$i" > "$tmp/log" 2>&1 || { late_refused; return 1; }
		late_listed "$n" && echo >&3 && late_goes || return 1
	done
	for i in ${1#* }; do
		n=$((n - 1))
		$tool disable "$pid" -e "${kind}late:n_$i" > "$tmp/log" 2>&1 && late_listed "$n" && echo >&3 && late_goes || { cat "$tmp/log"; return 1; }
	done
	$tool disable "$pid" -e "${kind}late:n_*" && $tool enable "$pid" -e "${kind}late:n_*" && late_listed 10 && echo >&3 && late_goes
}

late()
{
	for flags in -O0 "-Os -fno-align-functions"; do
		makes_late "$flags" || return 1
		for kind in call/ function/; do for order in "0 1 2 3 4 5 6 7 8 9" "9 8 7 6 5 4 3 2 1 0" "5 4 6 3 7 2 8 1 9 0"; do
			# As above: memory may be in use there.
			for _ in 1 2 3 4 5 6 7 8; do
				switches_late "$order" > "$tmp/why" 2>&1
				status=$?
				late_ends || return 1
				[ "$status" != 0 ] && [ ! -e "$tmp/lost" ] && grep -q -e 'no memory in reach' -e 'another probe is there' "$tmp/why" || break
			done
			[ "$status" = 0 ] || { echo "$flags: $kind $order"; cat "$tmp/why"; return 1; }
			# 2 + ... + 10 as they come, 9 + ... + 1 as they go, and all.
			events "$tmp/traces"/* || return 1
			[ "$(wc -l < "$tmp/events")" = 109 ] || { echo "$flags: $kind $order: $(cut -d' ' -f1 "$tmp/events" | sort | uniq -c)"; return 1; }
		done; done
	done
}

# The same while threads are in all of them: each result is right.
late_storm()
{
	makes_late "-Os -fno-align-functions" || return 1
	kind=call/
	for order in "5 4 6 3 7 2 8 1 9 0" "0 1 2 3 4 5 6 7 8 9"; do
		for _ in 1 2 3 4 5 6 7 8; do
			switches_late_in_storm "$order" > "$tmp/why" 2>&1
			status=$?
			late_ends || { cat "$tmp/why" "$tmp/err"; return 1; }
			[ "$status" != 0 ] && [ ! -e "$tmp/lost" ] && grep -q -e 'no memory in reach' -e 'another probe is there' "$tmp/why" || break
		done
		[ "$status" = 0 ] || { echo "$order"; cat "$tmp/why"; return 1; }
	done
}

switches_late_in_storm()
{
	first=${1%% *}
	late_begins storm || return 1
	for _ in 1 2 3; do
		n=1
		for i in ${1#* }; do
			n=$((n + 1))
			$tool enable "$pid" -e "${kind}late:n_$i" > "$tmp/log" 2>&1 || { late_refused; return 1; }
			late_listed "$n" || return 1
		done
		echo >&3 && late_goes || return 1
		for i in ${1#* }; do
			$tool disable "$pid" -e "${kind}late:n_$i" > "$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
		done
		late_listed 1 || return 1
	done
}

# Data that look like an exit: the program's result is the same.
data()
{
	cat > "$tmp/data.c" <<-'END'
	#include <stdio.h>
	#define MADE(name, ...) __asm__(".globl " #name "\n.type " #name ", @function\n.p2align 4\n" #name ": .cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n"); long name(long)
	MADE(i_inline, "mov %rdi, %rax\njmp 2f\n.byte 0x48, 0xb8, 1, 2, 3\n2: add $0x55, %rax\nxor $0x202020c3, %eax\nrol $0, %al\nnop\nret");
	MADE(i_constant, "lea 1f(%rip), %rax\nmov (%rax, %rdi, 8), %rax\nret\n.p2align 3\n1: .quad 0x50202020202020c3\n.byte 0x90");
	MADE(i_well, "mov %rdi, %rax\nret");
	int main(void) { printf("%#lx %#lx %ld\n", i_inline(5), i_constant(0), i_well(3)); return 0; }
	END
	${CC:-cc} -O1 -o "$tmp/data" "$tmp/data.c" || return 1
	traced 'call/data:i_*' "$tmp/data" || return 1
	cat "$tmp/out" "$tmp/err"
	[ "$(cat "$tmp/out")" = '0x20202099 0x50202020202020c3 3' ] && [ "$(count data:i_well)" = 1 ] &&
		grep -q 'data:i_inline at .* is not recorded: a branch leads into the midst of an instruction' "$tmp/err" &&
		grep -q 'data:i_constant at .* is not recorded: an instruction names an address in it' "$tmp/err"
}

# Another sets breakpoints where functions begin. The bytes there are no part of a jump's distance at the exit of the function before.
beside()
{
	cat > "$tmp/beside.c" <<-'END'
	#include <stdio.h>
	#include <sys/mman.h>
	#define MADE(name, ...) ".globl " #name "\n.type " #name ", @function\n" #name ": .cfi_startproc\n" \
		__VA_ARGS__ "\n.cfi_endproc\n.size " #name ", . - " #name "\n"
	__asm__(".p2align 4\n" MADE(b_ret, "push %rbx\n.cfi_adjust_cfa_offset 8\ncall b_long\npop %rbx\n.cfi_adjust_cfa_offset -8\nret")
		MADE(b_long, "endbr64\nmov $1, %eax\nmov $7, %eax\nret") MADE(b_next, "push %rbp\n.cfi_adjust_cfa_offset 8\nmov %rsp, %rbp\n"
		"pop %rbp\n.cfi_adjust_cfa_offset -8\nret\n.p2align 4"));
	int b_ret(void); int b_long(void); int b_next(void);
	__attribute__((__noinline__, __noclone__)) void o_ends(void) { b_long(); }
	__attribute__((__noinline__, __noclone__)) int o_next(int x) { return x + 1; }
	static void breaks(void *at)
	{
		*(volatile char *)at = (char)0xcc;
	}
	int main(void)
	{
		char *page = (char *)((unsigned long)b_ret & ~4095UL);
		volatile int sum = 0;

		o_ends();
		sum += b_ret() + b_long() + b_next() * 0 + o_next(1);
		if (mprotect(page, 4096 * 2, PROT_READ | PROT_WRITE | PROT_EXEC))
			return 2;
		breaks(b_next);
		breaks(o_next);
		o_ends();
		printf("%d %d\n", sum, b_long());
		breaks(b_long);
		b_ret == NULL ? 0 : puts("well");
		return 0;
	}
	END
	for level in -O0 -O2; do
		${CC:-cc} "$level" -fno-reorder-functions -w -o "$tmp/beside" "$tmp/beside.c" || return 1
		JUMPFUNC_AGENT_WAYS=jump,short,span traced 'call/beside:[bo]_*' "$tmp/beside" || return 1
		cat "$tmp/out" "$tmp/err" "$tmp/events"
		[ "$(cat "$tmp/out")" = "16 7
well" ] && grep -q 'beside:b_ret at .* is not recorded: its exit at .* another function begins beside it' "$tmp/err" || return 1
		# In place of an instruction before the exit there is room.
		[ "$(count beside:b_long)" = 5 ] || return 1
	done
}

# A thread with a small stack, and a coroutine's stack below that, which is dropped while a call there is not over.
small()
{
	cat > "$tmp/small.c" <<-'END'
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <ucontext.h>
	#define SIZE (256 * 1024)
	static ucontext_t back, one;
	__attribute__((__noinline__)) int s_work(int x, int waits)
	{
		if (waits)
			swapcontext(&one, &back);
		__asm__ volatile("" ::: "memory");
		return x * 3 + 1;
	}
	static void waits(void) { s_work(1, 1); }
	static void works(void) { printf("%d\n", s_work(5, 0)); }
	static void go(char *stack, void (*fn)(void))
	{
		getcontext(&one);
		one.uc_stack.ss_sp = stack;
		one.uc_stack.ss_size = SIZE;
		one.uc_link = &back;
		makecontext(&one, fn, 0);
		swapcontext(&back, &one);
	}
	static void *thread(void *arg)
	{
		char *stack[2], *at = (char *)((unsigned long)&stack & ~4095UL);
		int i;

		for (i = 0; i < 2; i++)
			do {
				at -= SIZE;
				stack[i] = mmap(at, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			} while (stack[i] == MAP_FAILED);
		go(stack[0], waits);
		munmap(stack[0], SIZE);
		go(stack[1], works);
		return arg;
	}
	int main(void)
	{
		pthread_attr_t attr;
		pthread_t t;

		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, SIZE);
		return pthread_create(&t, &attr, thread, NULL) || pthread_join(t, NULL);
	}
	END
	${CC:-cc} -O1 -pthread -o "$tmp/small" "$tmp/small.c" || return 1
	traced 'call/small:s_work' "$tmp/small" || return 1
	cat "$tmp/out" "$tmp/err" "$tmp/events"
	[ "$(cat "$tmp/out")" = 16 ] && [ "$(count small:s_work)" = 1 ]
}

# The sums agree with the program's own: they count each call that has returned, and have all the time that the program has slept.
timed()
{
	${CXX:-c++} -O2 -g -pthread -o "$tmp/counted" "$here/calls.cc" 2> "$tmp/log" || { cat "$tmp/log"; return 1; }
	for _ in 1 2 3 4 5 6 7 8; do
		"$build/jf-trace" time --csv -o "$tmp/table" -e 'counted:c_*' -- "$tmp/counted" > "$tmp/out" || return 1
		# As in counted().
		[ "$(grep -c 'counted:c_[a-z_]*"' "$tmp/table")" = 15 ] && break
	done
	cat "$tmp/table"
	python3 - "$tmp/out" "$tmp/table" <<-'END' || return 1
	import csv, sys
	rows = {r["function"].split(":")[1]: {k: int(v) for k, v in r.items() if k != "function"} for r in csv.DictReader(open(sys.argv[2]))}
	slept = 0
	for line in open(sys.argv[1]):
	    words = line.split()
	    if words[0] == "slept":
	        slept = int(words[1])
	    elif words[0] != "tail":
	        calls = rows[words[0]]["calls"] if words[0] in rows else 0
	        assert calls == int(words[2]), (words, calls)
	assert rows["c_sleeps"]["total_ns"] >= slept * 0.999, slept
	for name, r in rows.items():
	    assert r["self_ns"] <= r["total_ns"] <= (r["mean_ns"] + 1) * r["calls"], r
	    # All calls are in their mean, and calls within others of the function in no total.
	    assert name == "c_recurses" or r["mean_ns"] * r["calls"] <= r["total_ns"], r
	    assert r["p50_ns"] <= r["p99_ns"] <= r["max_ns"] <= r["total_ns"], r
	assert rows["c_recurses"]["mean_ns"] * rows["c_recurses"]["calls"] > rows["c_recurses"]["total_ns"], rows
	END
	"$build/jf-trace" time --json -o /dev/fd/4 -e 'counted:c_sleeps' -- "$tmp/counted" 4>&1 > "$tmp/out" 2> "$tmp/said2" | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert [r["calls"] for r in rows] == [5], rows' || return 1
	"$build/jf-trace" time -e 'call/counted:c_last' -- "$tmp/counted" 2>&1 > "$tmp/out" | grep -q ' 1 .*counted:c_last' || return 1
	[ -x "$tmp/refused" ] || refused > "$tmp/log" || return 1
	"$build/jf-trace" time -e 'refused:r_*' -- "$tmp/refused" > "$tmp/said2" 2>&1 || return 1
	grep -q 'jf-trace: 2 functions have no times: ' "$tmp/said2" && grep -q ' 1 .*refused:r_well' "$tmp/said2" || { cat "$tmp/said2"; return 1; }
	traced 'time/counted:c_last' "$tmp/counted"
	grep -q 'c_last at .* is not recorded: sums of calls are kept in mode count alone' "$tmp/err"
}

# A function that calls itself, by whatever way, has the time of its outermost calls: with one of these that is the longest call.
recursive()
{
	cat > "$tmp/itself.c" <<-'END'
	#include <setjmp.h>
	#include <time.h>
	#include <ucontext.h>
	#define FUNCTION __attribute__((__noinline__, __noclone__))
	static char stack[1 << 16];
	static ucontext_t back, one;
	static jmp_buf out;
	static void rest(void) { nanosleep(&(struct timespec){ 0, 100000 }, NULL); }
	FUNCTION int i_once(void) { rest(); return 1; }
	FUNCTION int i_down(int n) { int x = n ? i_down(n - 1) : i_once(); return x + 1; }
	FUNCTION int i_odd(int n);
	FUNCTION int i_even(int n) { int x = n ? i_odd(n - 1) : i_once(); return x + 1; }
	FUNCTION int i_odd(int n) { int x = n ? i_even(n - 1) : i_once(); return x + 1; }
	FUNCTION int i_leaps(int n) { if (n == 1) longjmp(out, 1); int x = n ? i_leaps(n - 1) : i_once(); return x + 1; }
	FUNCTION int i_beside(int n) { int x = n ? i_beside(n - 1) : i_once(); return x + 1; }
	static void beside(void) { i_beside(20); }
	int main(void)
	{
		i_down(50);
		i_even(41);
		if (!setjmp(out))
			i_leaps(9);
		i_leaps(0);
		getcontext(&one);
		one.uc_stack.ss_sp = stack;
		one.uc_stack.ss_size = sizeof(stack);
		one.uc_link = &back;
		makecontext(&one, beside, 0);
		swapcontext(&back, &one);
		return 0;
	}
	END
	${CC:-cc} -O1 -o "$tmp/itself" "$tmp/itself.c" || return 1
	for _ in 1 2 3 4 5 6 7 8; do
		"$build/jf-trace" time --csv -o "$tmp/table" -e 'itself:i_*' -- "$tmp/itself" 2> "$tmp/said2" || { cat "$tmp/said2"; return 1; }
		grep -q 'no times' "$tmp/said2" || break
	done
	cat "$tmp/table" "$tmp/said2"
	python3 - "$tmp/table" <<-'END'
	import csv, sys
	rows = {r["function"].split(":")[1]: {k: int(v) for k, v in r.items() if k != "function"} for r in csv.DictReader(open(sys.argv[1]))}
	calls = {"i_down": 51, "i_even": 21, "i_odd": 21, "i_leaps": 1, "i_beside": 21, "i_once": 4}
	assert {n: r["calls"] for n, r in rows.items()} == calls, rows
	for name, r in rows.items():
	    assert name == "i_once" or r["total_ns"] == r["max_ns"], (name, r)
	    # The mean is of all calls, of which each has the rest in it.
	    assert r["mean_ns"] >= 99000, (name, r)
	END
}

# Calls that have no time, for they were left or go on, are told, and are in tables for programs.
without_time()
{
	cat > "$tmp/open.c" <<-'END'
	#include <pthread.h>
	#include <setjmp.h>
	#include <stdlib.h>
	#include <sys/wait.h>
	#include <ucontext.h>
	#include <unistd.h>
	#define FUNCTION __attribute__((__noinline__, __noclone__))
	static char stack[1 << 16];
	static ucontext_t back, one;
	static jmp_buf out;
	FUNCTION int o_leaps(int i) { if (i % 3 == 0) longjmp(out, 1); __asm__ volatile("" : "+r" (i)); return i; }
	FUNCTION void *o_ends(void *arg) { if (arg) pthread_exit(NULL); return arg; }
	FUNCTION int o_forks(void) { int pid = fork(); waitpid(pid, NULL, 0); return pid; }
	FUNCTION void o_waits(void) { swapcontext(&one, &back); __asm__ volatile(""); }
	FUNCTION void o_exits(int i) { if (i) exit(0); __asm__ volatile(""); }
	int main(void)
	{
		static volatile int i;
		pthread_t t;

		for (i = 0; i < 900; i++)
			if (!setjmp(out))
				o_leaps(i);
		for (i = 0; i < 10; i++)
			if (pthread_create(&t, NULL, o_ends, stack) || pthread_join(t, NULL))
				return 1;
		getcontext(&one);
		one.uc_stack.ss_sp = stack;
		one.uc_stack.ss_size = sizeof(stack);
		makecontext(&one, o_waits, 0);
		swapcontext(&back, &one);
		if (!o_forks())
			_exit(0);
		o_exits(0);
		o_exits(1);
	}
	END
	${CC:-cc} -O1 -pthread -o "$tmp/open" "$tmp/open.c" || return 1
	for _ in 1 2 3 4 5 6 7 8; do
		"$build/jf-trace" time --csv -o "$tmp/table" -e 'open:o_*' -- "$tmp/open" 2> "$tmp/said2" || { cat "$tmp/said2"; return 1; }
		grep -q 'no times' "$tmp/said2" || break
	done
	cat "$tmp/table" "$tmp/said2"
	python3 - "$tmp/table" <<-'END' || return 1
	import csv, sys
	rows = {r["function"].split(":")[1]: [int(r[n]) for n in ("calls", "left", "inside")] for r in csv.DictReader(open(sys.argv[1]))}
	# A thread that ends is seen when another one begins its calls.
	left = rows["o_ends"][1]
	want = {"o_leaps": [600, 300, 0], "o_ends": [0, left, 10 - left], "o_waits": [0, 0, 1], "o_forks": [2, 0, 0], "o_exits": [1, 0, 1]}
	assert rows == want and left, rows
	END
	grep -q '^jf-trace: not in the table: 30[0-9]* calls left by longjmp(), an exception or the end of a thread: 300 of open:o_leaps, [0-9]* of open:o_ends$' "$tmp/said2" &&
		grep -q '^jf-trace: not in the table: [0-9]* calls that had not returned at the end: .*1 of open:o_exits' "$tmp/said2" || return 1
	# The filter is asked at the end of a call: of the others nothing is known.
	"$build/jf-trace" time --json -o "$tmp/table" -e 'open:o_leaps' --if 'ret == 1' -- "$tmp/open" 2> "$tmp/said2" || { cat "$tmp/said2"; return 1; }
	cat "$tmp/table"
	grep -q '"calls":1,.*"left":300,"inside":0' "$tmp/table" || return 1
	# A call that goes on as the sums end is not one that those after it have left.
	cat > "$tmp/goes.c" <<-'END'
	#include <unistd.h>
	__attribute__((__noinline__)) int o_sleeps(int n) { usleep(400000); __asm__ volatile("" : "+r" (n)); return n; }
	int main(void) { for (;;) o_sleeps(1); }
	END
	${CC:-cc} -O1 -o "$tmp/goes" "$tmp/goes.c" || return 1
	"$tmp/goes" &
	goes=$!
	for _ in 1 2; do
		XDG_RUNTIME_DIR=$tmp timeout -s INT 2 "$build/jf-trace" time --csv -p "$goes" -e 'goes:o_*' > "$tmp/table" 2> "$tmp/said2"
		cat "$tmp/table" "$tmp/said2"
	done
	kill "$goes"
	wait "$goes"
	grep -q '^[1-9].*"goes:o_sleeps",0,1$' "$tmp/table"
}

# Patterns of names that the source has; a pattern that matches nothing is told as it was written.
times_by_source()
{
	cat > "$tmp/shop.cc" <<-'END'
	namespace shop { __attribute__((__noinline__)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } }
	int main() { return shop::fib(10) != 55; }
	END
	${CXX:-c++} -O1 -Wl,--no-as-needed -o "$tmp/shop" "$tmp/shop.cc" || return 1
	for glob in shop::fib call/shop:shop::fib 'function/shop::f*'; do
		"$build/jf-trace" time -e "$glob" -- "$tmp/shop" 2> "$tmp/said2" || { cat "$tmp/said2"; return 1; }
		cat "$tmp/said2"
		grep -q ' 177 .*shop:shop::fib(int)$' "$tmp/said2" && ! grep '^jf-trace: ' "$tmp/said2" || return 1
	done
	"$build/jf-trace" time -e shop::fob -- "$tmp/shop" 2> "$tmp/said2" || return 1
	cat "$tmp/said2"
	grep -q "no probe matches 'shop::fob'; did you mean 'shop:shop::fib'" "$tmp/said2" && ! grep time/ "$tmp/said2" || return 1
	for glob in 'event/*' 'note/*' 'call>1ms/fib' 'fib(string)'; do
		"$build/jf-trace" time -e "$glob" -- "$tmp/shop" 2> "$tmp/said2"
		[ "$?" = 2 ] || { echo "$glob"; return 1; }
		grep time/ "$tmp/said2" && return 1
	done
	true
}

# The number of an event is read without a look at the text after it, so metadata of many events is read once.
number_alone()
{
	cat > "$tmp/number.c" <<-'END'
	#include "ids.h"
	#include <sys/mman.h>
	int main(void)
	{
		char *two = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		static const char text[] = "\n\tid =   885;";
		char *at = two + 4096 - (sizeof(text) - 1);
		unsigned int id;

		if (two == MAP_FAILED || mprotect(two + 4096, 4096, PROT_NONE))
			return 2;
		memcpy(at, text, sizeof(text) - 1);
		return !(jf_id_parse(at, &id) && id == 885 && jf_id_parse("id = 1;", &id) && id == 1 && !jf_id_parse("id = ;", &id) &&
			 !jf_id_parse("id = 7", &id) && !jf_id_parse("it = 7;", &id));
	}
	END
	${CC:-cc} -O1 -Wall -Werror -I"$here/../../trace" -o "$tmp/number" "$tmp/number.c" || return 1
	"$tmp/number" || return 1
	# By no other way.
	! grep -n 'sscanf.* id = ' "$here"/../../trace/*.c "$here"/../../trace/tool/*.c "$here"/../../trace/tool/*/*.c
}

# Functions have the same fields: they are in the metadata of each child twice at most, in full and as a structure with a name.
same_fields()
{
	cat > "$tmp/fields.c" <<-'END'
	#include <sys/wait.h>
	#include <unistd.h>
	#define F(n) __attribute__((__noinline__)) long s_f##n(long x) { __asm__ volatile(".nops 8"); return x + n; }
	F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
	int main(void)
	{
		long (*f[])(long) = { s_f0, s_f1, s_f2, s_f3, s_f4, s_f5, s_f6, s_f7, s_f8, s_f9 };
		for (int child = 1; child < 3; child++) {
			if (fork()) {
				wait(0);
				continue;
			}
			for (long i = 0; i < 10; i++)
				f[i](1000 * child + i);
			_exit(0);
		}
		return 0;
	}
	END
	${CC:-cc} -O1 -falign-functions=64 -o "$tmp/fields" "$tmp/fields.c" || return 1
	want=$(for child in 1 2; do for i in 0 1 2 3 4 5 6 7 8 9; do printf 'fields:s_f%d %#x\n' "$i" $((1000 * child + i)); done; done)
	for kind in '' call/; do
		rm -rf "$tmp/kept"
		"$build/jf-trace" run --mode keep -o "$tmp/kept" -e "${kind}fields:s_*" -e 'libc.so.6:*' -- "$tmp/fields" > "$tmp/out" 2> "$tmp/err" ||
			{ cat "$tmp/err"; return 1; }
		grep -q 'no memory in reach' "$tmp/err" && ! grep -q 'libc.so.6:[^ ]* the first: no memory' "$tmp/err" && { cat "$tmp/err"; return 1; }
		for folder in "$tmp"/kept/*; do
			echo "$(wc -c < "$folder/metadata") bytes, $(grep -c '^event' "$folder/metadata") events: $(grep -c '_arg5;' "$folder/metadata") times arg5"
			[ "$(grep -c '_arg5;' "$folder/metadata")" -le 4 ] && [ "$(grep -c '^event' "$folder/metadata")" -gt 1000 ] || return 1
			"$build/jf-recover" "$folder" "$tmp/whole" > /dev/null && babeltrace2 "$tmp/whole" > "$tmp/whole.txt" && rm -r "$tmp/whole" || return 1
			babeltrace2 "$folder" | diff - "$tmp/whole.txt" || return 1
		done
		have=$(sed -n 's/.* \(fields:s_f[0-9]\): .* arg0 = 0x\([0-9A-F]*\),.*/\1 0x\2/p' "$tmp/err" | tr A-F a-f | sort -k2)
		[ "$have" = "$(echo "$want" | sort -k2)" ] || { echo "$have"; return 1; }
	done
	"$build/jf-trace" report --summary "$tmp/kept" > "$tmp/said2" && [ "$(grep -c ' 2 fields:s_f[0-9]$' "$tmp/said2")" = 10 ]
}

# While a table is written to a full pipe: the program has ended, and ^C ends this.
interrupted()
{
	awk 'BEGIN { for (i = 0; i < 200; i++) printf "__attribute__((__noinline__)) long i_f%d(long x) { __asm__ volatile(\"nop;nop;nop\"); return x + %d; }\n", i, i;
		print "int main(void) { long s = 0;"; for (i = 0; i < 200; i++) printf "s += i_f%d(s);\n", i; print "return s == 1; }" }' > "$tmp/interrupted.c"
	${CC:-cc} -O1 -o "$tmp/interrupted" "$tmp/interrupted.c" || return 1
	python3 - "$build/jf-trace" "$tmp" <<-'END'
	import array, fcntl, os, re, shutil, signal, subprocess, sys, termios, time
	tool, tmp = sys.argv[1:]
	os.mkfifo(tmp + "/table.fifo")
	r = os.open(tmp + "/table.fifo", os.O_RDONLY | os.O_NONBLOCK)
	fcntl.fcntl(r, 1031, 4096)	# F_SETPIPE_SZ
	p = subprocess.Popen([tool, "time", "--json", "-o", tmp + "/table.fifo", "-e", "interrupted:i_*", "--", tmp + "/interrupted"], stderr=subprocess.PIPE)
	n = array.array("i", [0])
	for _ in range(300):
	    fcntl.ioctl(r, termios.FIONREAD, n)
	    if n[0] == 4096:
	        break
	    time.sleep(0.1)
	assert n[0] == 4096, n
	p.send_signal(signal.SIGINT)
	try:
	    said = p.communicate(timeout=30)[1].decode()
	finally:
	    p.kill()
	print(p.returncode, said)
	folder = re.search("jf-trace: interrupted; the trace is in (.*)\n", said).group(1)
	assert p.returncode == 130 and os.path.isdir(folder)
	shutil.rmtree(folder)
	END
}

# An option that a command does not have is told as it was typed.
options()
{
	while read -r command words typed; do
		# shellcheck disable=SC2046
		"$build/jf-trace" "$command" $(echo "$words" | tr , ' ') x > "$tmp/said2" 2>&1
		[ "$?" = 2 ] && grep -qF -- "jf-trace: $command has no option '$typed'" "$tmp/said2" || { cat "$tmp/said2"; return 1; }
	done <<-'END'
	report --summary,--min,1ms --min
	report --summary,--min=1ms --min
	report --mode,keep --mode
	report --packets,4 --packets
	report -i,1 -i
	report --events,-p,1,-n,1 -n
	count --csv --csv
	time --csv,--summary --summary
	stop --events --events
	report -D -D
	report --nonsense --nonsense
	END
}

# Not among messages; and among the program's own lines only by -o -.
formats()
{
	cat > "$tmp/formats.cc" <<-'END'
	#include <cstdio>
	#include <unistd.h>
	namespace shop { __attribute__((__noinline__)) int buy(const char *) { __asm__ volatile(""); return getppid(); } }
	int main(int argc, char **) { puts("its own"); fflush(stdout); for (int i = 0; i < 500; i++) { shop::buy(""); if (argc > 1) usleep(100000); } }
	END
	${CXX:-c++} -O1 -Wl,--no-as-needed -o "$tmp/formats" "$tmp/formats.cc" || return 1
	for form in csv json; do
		"$build/jf-trace" time --"$form" -e 'shop::*' "$tmp/formats" > "$tmp/out" 2> "$tmp/said2"
		[ "$?" = 2 ] && [ ! -s "$tmp/out" ] && grep -q -e "need -o FILE" "$tmp/said2" || { cat "$tmp/said2"; return 1; }
		"$build/jf-trace" time --"$form" -o - -e 'shop::*' "$tmp/formats" > "$tmp/out" 2> "$tmp/said2" || return 1
		cat "$tmp/out"
		[ "$(head -n 1 "$tmp/out")" = 'its own' ] && grep -q '500.*formats:shop::buy(char const\*)"' "$tmp/out" && [ ! -s "$tmp/said2" ] || return 1
		"$build/jf-trace" time --"$form" --mangled -o "$tmp/table" -e 'shop::*' "$tmp/formats" > "$tmp/out" || return 1
		[ "$(cat "$tmp/out")" = 'its own' ] && grep -q '500.*formats:_ZN4shop3buyEPKc"' "$tmp/table" || return 1
	done
	"$build/jf-trace" count -o - -e 'function/shop::*' "$tmp/formats" | grep -q '500 .*formats:shop::buy(char const\*)' || return 1
	rm -rf "$tmp/run"
	mkdir -m 700 "$tmp/run"
	XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent "$tmp/formats" slowly > "$tmp/out" &
	pid=$!
	awaits grep -q own "$tmp/out" || return 1
	XDG_RUNTIME_DIR=$tmp/run timeout -s INT 3 "$build/jf-trace" time --csv -e 'shop::buy' -p "$pid" > "$tmp/table" 2> "$tmp/said2"
	on_terminal
	live=$?
	kill "$pid"
	wait "$pid"
	cat "$tmp/table" "$tmp/said2"
	[ "$(head -n 1 "$tmp/table" | cut -d, -f1)" = calls ] && grep -q 'shop::buy(char const\*)"' "$tmp/table" && [ "$live" = 0 ]
}

# Of the process $pid: the table each 0.3 s, and one at ^C. Elsewhere than on a terminal that one alone.
on_terminal()
{
	XDG_RUNTIME_DIR=$tmp/run timeout -s INT 2 "$build/jf-trace" time -i 0.3 -e 'shop::buy' -p "$pid" > "$tmp/plain" 2> "$tmp/said2"
	cat "$tmp/plain" "$tmp/said2"
	[ "$(grep -c FUNCTION "$tmp/plain")" = 1 ] && ! grep -q ';' "$tmp/plain" || return 1
	have script || return 0
	XDG_RUNTIME_DIR=$tmp/run script -qec "timeout --foreground -s INT 3 '$build/jf-trace' time -i 0.3 -e shop::buy -p $pid" /dev/null \
		> "$tmp/screen" 2>&1 < /dev/null
	cat "$tmp/screen"
	[ "$(grep -c 'after [0-9]* s; ^C ends it' "$tmp/screen")" -ge 2 ] &&
		[ "$(grep -c 'shop::buy(char const\*)' "$tmp/screen")" -ge 3 ] &&
		[ "$(grep FUNCTION "$tmp/screen" | tail -n 1 | grep -c after)" = 0 ]
}

# 900 functions
write_many()
{
	awk 'BEGIN { for (i = 0; i < 900; i++) printf "__attribute__((__noinline__)) long i_f%d(long x) { __asm__ volatile(\"nop;nop;nop;nop;nop\"); return x + %d; }\n", i, i;
		print "int main(void) { long s = 0;"; for (i = 0; i < 900; i++) printf "s += i_f%d(s);\n", i; print "return s == 1; }" }' > "$tmp/many.c"
}

# More functions than there are numbers for.
too_many()
{
	write_many && ${CC:-cc} -O1 -fno-ipa-icf -o "$tmp/many" "$tmp/many.c" || return 1
	"$build/jf-trace" time --csv -o "$tmp/table" -e 'many:i_*' -- "$tmp/many" 2> "$tmp/said2"
	status=$?
	cat "$tmp/said2"
	wc -l < "$tmp/table"
	[ "$status" = 123 ] && grep -q '136 functions are beyond the 764 that one process can have; take a narrower pattern' "$tmp/said2" &&
		! grep -q 'No space' "$tmp/said2" || return 1
	"$build/jf-trace" time --csv -o "$tmp/table" -e 'many:i_f*[13579]' -- "$tmp/many" 2> "$tmp/said2"
	status=$?
	[ "$status" = 0 ] && ! grep beyond "$tmp/said2"
}

# Numbers are taken as long as the process lives: others can still be counted and recorded in it, and
# the trace of these is not slow to read by the names of the sums.
many_and_others()
{
	write_many || return 1
	sed 's/int main(void) {/#include <stdio.h>\n#include <unistd.h>\nlong other(long x) { __asm__ volatile("nop;nop;nop;nop;nop"); return x; }\nint main(void) { char c; printf("ready\\n"); fflush(stdout); while (read(0, \&c, 1) == 1) {/; s/return s == 1;/other(s); } return 0;/' "$tmp/many.c" > "$tmp/live.c"
	${CC:-cc} -O1 -fno-ipa-icf -rdynamic -o "$tmp/live" "$tmp/live.c" && rm -f "$tmp/in" && mkfifo "$tmp/in" || return 1
	JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$build/libjumpfunc-agent.so "$tmp/live" < "$tmp/in" > "$tmp/words" 2> "$tmp/told" &
	live=$!
	exec 9> "$tmp/in"
	awaits grep -q ready "$tmp/words" || return 1
	timeout -s INT 3 "$build/jf-trace" time -p "$live" -e 'live:i_*' > "$tmp/said2" 2>&1
	cat "$tmp/said2"
	ends 0 "$build/jf-trace" record -p "$live" -o "$tmp/others" -e call/live:other && echo >&9
	rc=$?
	grep -c '^event' "$tmp"/others/*/metadata
	[ "$rc" = 0 ] && [ "$(grep -c '^event' "$tmp"/others/*/metadata)" -lt 2000 ]
	rc=$?
	exec 9>&-
	wait "$live"
	[ "$rc" = 0 ] && "$build/jf-trace" script "$tmp/others" 2> /dev/null | grep -q live:other
}

# No program is started then.
times_of_nothing()
{
	printf '#!/bin/sh\ntouch "%s/was"\n' "$tmp" > "$tmp/touches"
	chmod +x "$tmp/touches"
	"$build/jf-trace" time "$tmp/touches" > "$tmp/said2" 2>&1
	[ "$?" = 2 ] && [ ! -e "$tmp/was" ] && grep -q 'time of which functions' "$tmp/said2" || { cat "$tmp/said2"; return 1; }
	"$build/jf-trace" time > "$tmp/said2" 2>&1
	[ "$?" = 2 ] || return 1
	mkdir -p "$tmp/no_trace"
	"$build/jf-trace" time "$tmp/no_trace" > "$tmp/said2" 2>&1
	[ "$?" = 1 ] && grep -q 'no trace, and no folder' "$tmp/said2"
}

# A pattern without a kind means entries; both can be recorded.
entries()
{
	[ -x "$tmp/refused" ] || refused > "$tmp/log" || return 1
	traced 'refused:r_well' "$tmp/refused" || return 1
	grep -q duration "$tmp/events" && return 1
	[ "$(count refused:r_well)" = 1 ] || return 1
	traced 'r_well,call/r_well' "$tmp/refused" || return 1
	cat "$tmp/events"
	[ "$(count refused:r_well)" = 2 ] && [ "$(grep -c 'ret = 0x7, duration' "$tmp/events")" = 1 ] || return 1
	traced 'call/r_well(string),r_well' "$tmp/refused" || return 1
	grep -q 'is no pattern of probes: of calls no argument is recorded as a string' "$tmp/err" && [ "$(count refused:r_well)" = 1 ]
}

# While calls are going on: a call that was entered before has no record, nor has one that was entered while the probe was off.
switched()
{
	cat > "$tmp/switched.c" <<-'END'
	#include <stdio.h>
	__attribute__((__noinline__)) long s_waits(long level)
	{
		char line[16];

		if (level)
			return s_waits(level - 1) + level;
		while (fgets(line, sizeof(line), stdin) && line[0] != 'r')
			;
		__asm__ volatile("");
		return 0;
	}
	int main(void)
	{
		long i;

		puts("waits");
		fflush(stdout);
		for (i = 0; i < 4; i++) {
			s_waits(i);
			puts("returned");
			fflush(stdout);
		}
		return 0;
	}
	END
	${CC:-cc} -O0 -o "$tmp/switched" "$tmp/switched.c" || return 1
	rm -rf "$tmp/traces" "$tmp/run"
	mkdir -m 700 "$tmp/traces" "$tmp/run"
	mkfifo "$tmp/in" "$tmp/answers" 2> /dev/null
	XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 JUMPFUNC_TRACE_DIR=$tmp/traces LD_PRELOAD=$agent \
		"$tmp/switched" < "$tmp/in" > "$tmp/answers" 2> "$tmp/err" &
	pid=$!
	exec 3> "$tmp/in" 4< "$tmp/answers"
	read -r _ <&4
	tool="env XDG_RUNTIME_DIR=$tmp/run $build/jf-trace"
	$tool record -o "$tmp/traces" -e call/s_waits "$pid" > /dev/null || return 1
	echo r >&3; read -r _ <&4				# s_waits(0) was entered before
	sleep 0.1; $tool disable "$pid" call/s_waits || return 1	# s_waits(1), s_waits(0) are entered
	echo r >&3; read -r _ <&4				# s_waits(2) and those within are entered while it is off
	sleep 0.1; $tool enable "$pid" call/s_waits || return 1
	echo r >&3; read -r _ <&4
	echo r >&3; read -r _ <&4				# s_waits(3) and the three within are whole
	exec 3>&- 4<&-
	wait "$pid" || return 1
	events "$tmp/traces"/* || return 1
	cut -d, -f3- "$tmp/events"
	[ "$(count switched:s_waits)" = 4 ] && [ "$(grep -c 'depth = [0-3], left = [02]' "$tmp/events")" = 4 ]
}

# An exception leaves each call: the tool does not say that no thread has come by.
excepted()
{
	cat > "$tmp/excepted.cc" <<-'END'
	__attribute__((__noinline__)) int e_throws(int x) { if (x) throw x; return 1; }
	int main(void) { try { e_throws(1); } catch (...) { return 0; } return 1; }
	END
	${CXX:-c++} -O1 -o "$tmp/excepted" "$tmp/excepted.cc" || return 1
	"$build/jf-trace" run -e 'call/*e_throws*' -- "$tmp/excepted" 2> "$tmp/log" || { cat "$tmp/log"; return 1; }
	cat "$tmp/log"
	grep -q "e_throws(int), but no such call has returned" "$tmp/log" && ! grep -q 'come by' "$tmp/log"
}

# Each that sleeps for 50 ms is recorded, and none that takes less than 20.
shortest()
{
	cat > "$tmp/shortest.c" <<-'END'
	#include <unistd.h>
	__attribute__((__noinline__)) int m_naps(int x) { if (x % 100 == 7) usleep(50000); return x; }
	int main(void) { int i, sum = 0; for (i = 0; i < 400; i++) sum += m_naps(i); return sum != 79800; }
	END
	${CC:-cc} -O1 -o "$tmp/shortest" "$tmp/shortest.c" || return 1
	rm -rf "$tmp/out1"
	"$build/jf-trace" run --no-report --min 20ms -o "$tmp/out1" -e 'call/m_naps' -- "$tmp/shortest" || return 1
	events "$tmp/out1"/* || return 1
	cut -d, -f3- "$tmp/events"
	for x in 7 6B CF 133; do grep -q "arg0 = 0x$x," "$tmp/events" || return 1; done
	sed 's/.*duration = \([0-9]*\),.*/\1/' "$tmp/events" | awk '$1 < 20000000 { exit 1 }' || return 1
	traced 'call>20ms/m_naps,m_naps' "$tmp/shortest" || return 1
	[ "$(grep -vc duration "$tmp/events")" = 400 ] && [ "$(grep -c duration "$tmp/events")" -lt 400 ] || return 1
	"$build/jf-trace" run --min 20ms -e function/m_naps -- "$tmp/shortest"
	[ "$?" = 2 ] || return 1
	# A pattern without a kind is of calls then.
	"$build/jf-trace" run --min 20ms -e m_naps -- "$tmp/shortest" 2> "$tmp/log" || { cat "$tmp/log"; return 1; }
	[ "$(grep -c 'm_naps.*duration' "$tmp/log")" -ge 4 ] && ! grep m_naps "$tmp/log" | grep -qv duration || { cat "$tmp/log"; return 1; }
	"$build/jf-trace" run --min 20 -e call/m_naps -- "$tmp/shortest"
	[ "$?" = 2 ]
}

listed()
{
	rm -rf "$tmp/run"
	mkdir -m 700 "$tmp/run"
	cat > "$tmp/listed.c" <<-'END'
	#include <stdio.h>
	__asm__(".globl l_loops\n.type l_loops, @function\nl_loops: .cfi_startproc\ndec %edi\njnz l_loops\nret\n.cfi_endproc\n.size l_loops, . - l_loops");
	int l_well(int x) { return x; }
	int main(void) { puts("waits"); fflush(stdout); getchar(); return 0; }
	END
	${CC:-cc} -o "$tmp/listed" "$tmp/listed.c" || return 1
	mkfifo "$tmp/in2" "$tmp/answers2"
	XDG_RUNTIME_DIR=$tmp/run JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent "$tmp/listed" < "$tmp/in2" > "$tmp/answers2" &
	pid=$!
	exec 3> "$tmp/in2" 4< "$tmp/answers2"
	read -r _ <&4
	XDG_RUNTIME_DIR=$tmp/run "$build/jf-trace" list -e 'call/listed:l_*' "$pid" > "$tmp/list"
	exec 3>&- 4<&-
	wait "$pid"
	cat "$tmp/list"
	grep -q '^call .*listed:l_loops.*a branch leads back to its begin' "$tmp/list" && grep -q '^call .*listed:l_well' "$tmp/list"
}

all_of_libc()
{
	traced 'call/libc.so.6:*' /usr/bin/python3 -c 'import json; print(len(json.dumps(list(range(500)))))' || return 1
	refused=$(grep 'is not recorded' "$tmp/err" | grep -vc 'it never returns')
	cut -d' ' -f1 "$tmp/events" | sort | uniq -c | sort -rn | head -5
	echo "$refused refused"
	[ "$(cat "$tmp/out")" = 2390 ] && [ "$(cut -d' ' -f1 "$tmp/events" | sort -u | wc -l)" -gt 30 ] && [ "$refused" -lt 300 ] &&
		! grep -v duration "$tmp/events"
}

for level in -O0 -O2 '-O3 -fcf-protection'; do
	# shellcheck disable=SC2086
	check "a program that counts its calls, $level" counted ${CXX:-c++} $level
done
if command -v clang++ > /dev/null; then
	check 'the same by clang' counted clang++ -O2
else
	skip 'the same by clang' 'no clang++'
fi
check 'threads that are cancelled anywhere' cancelled -O2
check 'threads that are cancelled anywhere, -O0' cancelled -O0
for level in -O0 -O2; do
	check "a handler leaves a call at each of its instructions, $level" stepped leaves $level
	check "a handler calls at each instruction of a call, $level" stepped calls $level
done
check 'no function whose exits are not known' refused
check 'no function that has data in it' data
check 'functions beside each other, each by its own pattern' apart
check 'functions beside each other, one after the other in a process that runs' late
check 'the same, beside threads that call them' late_storm
check 'no jump that reaches into the begin of another function' beside
check 'a small stack, and others below it' small
check 'entries, and both' entries
check 'sums' timed
check 'sums of functions that call themselves' recursive
check 'calls that sums do not have' without_time
check 'sums by names of the source' times_by_source
check 'sums of no function' times_of_nothing
check 'sums in formats of programs' formats
check 'sums of too many functions' too_many
check "others beside the times of too many functions" many_and_others
check 'options that a command does not have' options
check 'numbers of many events' number_alone
check 'fields that many functions have' same_fields
check 'sums, and ^C while they are written' interrupted
check 'on and off while calls go on' switched
check 'calls that an exception leaves' excepted
check 'only those that take long' shortest
check 'the list says why not' listed
if [ -x /usr/bin/python3 ]; then
	check 'all functions of libc' all_of_libc
else
	skip 'all functions of libc' 'no python3'
fi
tap_end
