#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# jf-sdt: objects of each compiler that is here, each form of call and each linker; what is refused; undo; 5,000
# probes.
# usage: calls.sh BUILDS
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
CXX=${CXX:-c++}
tool=$builds/jf-sdt-san
flags="-I$user/../include -I$user/test/sdt -pthread -g"
link="-L$builds -ljumpfunc -Wl,-rpath,$builds"

# objects COMPILER FLAGS...: $tmp/a.o and $tmp/b.o
objects()
{
	# shellcheck disable=SC2086
	"$@" $flags -c -o "$tmp/a.o" "$user/test/sdt/calls_prog.c" &&
		"$@" $flags -c -o "$tmp/b.o" "$user/test/sdt/calls_second.c"
}

runs()
{
	"$tmp/prog" && JUMPFUNC_TRAP=always "$tmp/prog"
}

# program "LINKER'S OPTIONS" COMPILER FLAGS...
program()
{
	options=$1
	shift
	# shellcheck disable=SC2086
	objects "$@" && cp "$tmp/a.o" "$tmp/a.old" && "$tool" "$tmp/a.o" "$tmp/b.o" && "$tool" --verify "$tmp/a.o" "$tmp/b.o" &&
		"$@" -x none -pthread -o "$tmp/prog" "$tmp/a.o" "$tmp/b.o" $options $link && runs &&
		"$tool" --undo "$tmp/a.o" && cmp "$tmp/a.o" "$tmp/a.old"
}

static_program()
{
	objects "$CC" -O2 && "$tool" "$tmp/a.o" "$tmp/b.o" &&
		"$CC" -static -pthread -o "$tmp/prog" "$tmp/a.o" "$tmp/b.o" "$builds/libjumpfunc.a" && runs
}

# One more object, made of two, as kernels and libraries are linked in parts.
in_parts()
{
	# shellcheck disable=SC2086
	objects "$CC" -O2 && "$tool" "$tmp/a.o" "$tmp/b.o" && "$CC" -r -nostdlib -o "$tmp/ab.o" "$tmp/a.o" "$tmp/b.o" &&
		"$CC" -pthread -o "$tmp/prog" "$tmp/ab.o" $link && runs
}

# --- what it says ---------------------------------------------------------------------

lists()
{
	objects "$CC" -O2 && "$tool" --list "$tmp/b.o" > "$tmp/before" && "$tool" "$tmp/b.o" &&
		"$tool" --list "$tmp/b.o" > "$tmp/after" || return 1
	cat "$tmp/before"
	cmp "$tmp/before" "$tmp/after" && grep -q "^calls:guarded	second_guarded+0x[0-9a-f]*	test	$tmp/b.o$" "$tmp/after" &&
		grep -q "^calls:shared	second+0x[0-9a-f]*	call	" "$tmp/after" && [ "$(grep -c '^calls:' "$tmp/after")" = 4 ]
}

verifies()
{
	objects "$CC" -O2 && ! "$tool" --verify "$tmp/b.o" && "$tool" "$tmp/b.o" && "$tool" --verify "$tmp/b.o" || return 1
	cp "$tmp/b.o" "$tmp/c.o"
	# A byte of the text that is another one.
	printf '\220' | dd of="$tmp/c.o" bs=1 seek=70 conv=notrunc 2> /dev/null
	! "$tool" --verify "$tmp/c.o" && ! "$tool" --undo "$tmp/c.o" && "$tool" --undo "$tmp/b.o" && ! "$tool" --verify "$tmp/b.o"
}

again()
{
	objects "$CC" -O2 && chmod 640 "$tmp/b.o" && ln -sf b.o "$tmp/link.o" && "$tool" "$tmp/link.o" &&
		cp "$tmp/b.o" "$tmp/c.o" && "$tool" "$tmp/b.o" && cmp "$tmp/b.o" "$tmp/c.o" &&
		[ -L "$tmp/link.o" ] && [ "$(stat -c %a "$tmp/b.o")" = 640 ]
}

# An object without such calls is not written at all.
no_probes()
{
	echo 'int f(void) { return 1; }' > "$tmp/n.c" && "$CC" -c -o "$tmp/n.o" "$tmp/n.c" && chmod 444 "$tmp/n.o" &&
		inode=$(stat -c %i "$tmp/n.o") && "$tool" "$tmp/n.o" && [ "$(stat -c %i "$tmp/n.o")" = "$inode" ]
}

# One that is defined is a function like any other.
defined()
{
	cat > "$tmp/d.c" <<-'END'
	void __dtrace_a___b(void);
	void __dtrace_a___b(void) { }
	int f(void);
	int f(void) { __dtrace_a___b(); return 1; }
	END
	"$CC" -O0 -fPIC -c -o "$tmp/d.o" "$tmp/d.c" && cp "$tmp/d.o" "$tmp/d.old" && "$tool" "$tmp/d.o" &&
		cmp "$tmp/d.o" "$tmp/d.old" && [ -z "$("$tool" --list "$tmp/d.o")" ]
}

other_prefix()
{
	cat > "$tmp/o.c" <<-'END'
	#include <jumpfunc/sdt.h>
	#include <string.h>
	void trace_it_is_here(long x);
	void trace_io___begins(void);
	void other(void);
	void other(void) { trace_io___begins(); }
	int traceenabled_it_is_here(void);
	static long last;
	static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
	{
		(void)data;
		last = strcmp(sdt->tp.name, "app:it_is_here") ? -1 : (long)words[0];
	}
	int main(void)
	{
		int bad = traceenabled_it_is_here() || jf_sdt_register("app:*", tell, 0) != 1;
		trace_it_is_here(5);
		return bad || last != 5 || traceenabled_it_is_here() != 1 || jf_sdt_register("io:begins", tell, 0) != 1;
	}
	END
	# shellcheck disable=SC2086
	"$CC" $flags -O2 -c -o "$tmp/o.o" "$tmp/o.c" && "$tool" --prefix trace_ --provider app "$tmp/o.o" &&
		"$tool" --verify "$tmp/o.o" && "$CC" -o "$tmp/o" "$tmp/o.o" $link && "$tmp/o"
}

# is_wrong TEXT ARGUMENT...: a wrong command line is told in one line, which has the text and where to read on
is_wrong()
{
	text=$1
	shift
	"$tool" "$@" 2> "$tmp/err"
	[ $? = 2 ] && [ "$(wc -l < "$tmp/err")" = 1 ] && grep -qF -- "$text" "$tmp/err" && grep -q -- '--help' "$tmp/err" && return
	echo "jf-sdt $*:"
	cat "$tmp/err"
	return 1
}

usage_is_told()
{
	"$tool" --help | grep -q '^usage: jf-sdt ' && "$tool" --version | grep -q '^jf-sdt [0-9]' || return 1
	for option in --help --version; do
		"$tool" "$option" > /dev/full 2> "$tmp/err"
		[ "$?" = 1 ] && grep -q 'the output cannot be written' "$tmp/err" || { echo "$option, to a full disk"; return 1; }
	done
	is_wrong 'no file given' && is_wrong '--nothing' --nothing x.o && is_wrong '-x' -x x.o && is_wrong '--prefix' --prefix &&
		is_wrong 'two characters' --prefix= x.o && is_wrong 'nor a compiler' --run || return 1
	"$tool" "$tmp/not-there.o" 2> "$tmp/err"
	[ $? = 1 ] && grep -q 'not-there.o: No such file' "$tmp/err"
}

# --- what is refused ------------------------------------------------------------------

# refused TEXT COMPILER FLAGS... FILE: neither that object nor the one beside it is changed.
refused()
{
	text=$1
	shift
	objects "$CC" -O2 && mkdir -p "$tmp/r" && cp "$tmp/b.o" "$tmp/r/b.o" && "$@" -o "$tmp/r/a.o" -c || return 1
	cp "$tmp/r/a.o" "$tmp/a.old"
	"$tool" "$tmp/r/b.o" "$tmp/r/a.o" 2> "$tmp/err"
	rc=$?
	cat "$tmp/err"
	[ "$rc" = 1 ] && grep -q "^jf-sdt: $tmp/r/a.o: .*$text" "$tmp/err" && cmp "$tmp/r/a.o" "$tmp/a.old" &&
		cmp "$tmp/r/b.o" "$tmp/b.o" && [ "$(ls "$tmp/r")" = "a.o
b.o" ]
}

source_of()
{
	cat > "$tmp/$1"
}

source_of address.c <<'END'
void __dtrace_a___b(void);
void *f(void);
void *f(void) { return (void *)__dtrace_a___b; }
END
source_of data.c <<'END'
void __dtrace_a___b(void);
void (*pointer)(void) = __dtrace_a___b;
END
source_of test.c <<'END'
int __dtraceenabled_a___b(void);
int f(void);
int f(void) { return __dtraceenabled_a___b(); }
END
source_of plain.c <<'END'
void __dtrace_a___b(int);
int f(int x);
int f(int x) { __dtrace_a___b(x); return x; }
END
source_of condition.s <<'END'
	.text
	.type f, @function
f:	test %edi, %edi
	jne __dtrace_a___b@PLT
	ret
END
source_of prefix.s <<'END'
	.text
	.type f, @function
f:	push %rax
	bnd call __dtrace_a___b@PLT
	pop %rax
	ret
END
source_of middle.s <<'END'
	.text
	.type f, @function
f:	push %rax
	movabs $0xe8, %rax
	.reloc . - 7, R_X86_64_PC32, __dtrace_a___b - 4
	pop %rax
	ret
END
source_of addend.s <<'END'
	.text
	.type f, @function
f:	call __dtrace_a___b + 3
	ret
END
source_of twice.s <<'END'
	.text
	.type f, @function
f:	call __dtrace_a___b@PLT
	.reloc . - 4, R_X86_64_PC32, other - 4
	ret
END
source_of unknown.s <<'END'
	.text
	.type f, @function
f:	.byte 0x06			# no instruction
	call __dtrace_a___b@PLT
	ret
END
source_of name.s <<'END'
	.text
	.type f, @function
f:	call "__dtrace_a___b c"@PLT
	ret
END

# --- 5,000 probes -----------------------------------------------------------------------

thousands()
{
	awk 'BEGIN {
		for (i = 0; i < 5000; i++)
			printf "void __dtrace_many___p%d(long a, long b);\n__attribute__((noinline)) long f%d(long x)\n{\n" \
				"\t__dtrace_many___p%d(x, %d);\n\treturn x + %d;\n}\n", i, i, i, i, i
		print "long (*const all[5000])(long) = {"
		for (i = 0; i < 5000; i++)
			printf "f%d,\n", i
		print "};"
	}' > "$tmp/many.c"
	cat > "$tmp/main.c" <<-'END'
	#include <jumpfunc/sdt.h>
	#include <jumpfunc/stats.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>

	extern long (*const all[5000])(long);
	static unsigned long hits, bad, wrong;
	static int stop;

	static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
	{
		(void)data;
		__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
		if (words[0] != 77 || atol(sdt->tp.name + 6) != (long)words[1])
			__atomic_fetch_add(&bad, 1, __ATOMIC_RELAXED);
	}

	static void *run(void *arg)
	{
		long rounds = (long)arg, n, i;

		for (n = 0; rounds ? n < rounds : !__atomic_load_n(&stop, __ATOMIC_RELAXED); n++)
			for (i = 0; i < 5000; i++)
				if (all[i](77) != 77 + i)
					__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		return NULL;
	}

	static void threads(pthread_t *t, long rounds)
	{
		int i;

		for (i = 0; i < 3; i++)
			pthread_create(&t[i], NULL, run, (void *)rounds);
	}

	static void join(pthread_t *t)
	{
		int i;

		for (i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
	}

	int main(void)
	{
		struct jf_stats before, after;
		unsigned long syncs = 0;
		pthread_t t[3];
		int i, err = 0;

		threads(t, 0);
		for (i = 0; i < 20; i++) {
			jf_stats_get(&before, sizeof(before));
			err |= jf_sdt_register("many:*", tell, NULL) != 5000;
			jf_stats_get(&after, sizeof(after));
			if (after.syncs - before.syncs > syncs)
				syncs = after.syncs - before.syncs;
			err |= jf_sdt_unregister("many:*", tell, NULL) != 5000;
		}
		stop = 1;
		join(t);
		jf_quiesce();
		printf("beside changes: %lu hits, %lu with other arguments; at most %lu broadcasts\n", hits, bad, syncs);
		err |= bad || syncs > 3;
		hits = 0;
		err |= jf_sdt_register("many:*", tell, NULL) != 5000;
		threads(t, 4);
		join(t);
		err |= jf_sdt_unregister("many:*", tell, NULL) != 5000;
		threads(t, 1);
		join(t);
		printf("on: %lu hits of %d, %lu with other arguments, %lu other results\n", hits, 3 * 4 * 5000, bad, wrong);
		return err || hits != 3 * 4 * 5000 || bad || wrong;
	}
	END
	# shellcheck disable=SC2086
	"$CC" -O2 -w -c -o "$tmp/many.o" "$tmp/many.c" && "$builds/jf-sdt" "$tmp/many.o" &&
		[ "$("$builds/jf-sdt" --list "$tmp/many.o" | wc -l)" = 5000 ] &&
		"$CC" $flags -O2 -o "$tmp/many" "$tmp/main.c" "$tmp/many.o" $link && "$tmp/many" && "$tmp/many"
}

# --- gdb ----------------------------------------------------------------------------------

source_of back.c <<'END'
#include <jumpfunc/sdt.h>
void __dtrace_a___b(int);
static void tell(void *data, const struct jf_sdt *sdt, const unsigned long *words)
{
	(void)data;
	(void)sdt;
	(void)words;
}
__attribute__((noinline)) int caller(int x);
__attribute__((noinline)) int caller(int x) { __dtrace_a___b(x); return x + 1; }
int main(void) { return jf_sdt_register("a:b", tell, 0) != 1 || caller(1) != 2; }
END
backtrace()
{
	# shellcheck disable=SC2086
	"$CC" $flags -O1 -c -o "$tmp/back.o" "$tmp/back.c" && "$tool" "$tmp/back.o" && "$CC" -o "$tmp/back" "$tmp/back.o" $link &&
		gdb -q -batch -nx -ex 'break tell' -ex run -ex bt "$tmp/back" > "$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	grep -q '^#[0-9].* caller (x=\(x@entry=\)\?1)' "$tmp/gdb" && grep -q '^#[0-9].* main ()' "$tmp/gdb"
}

for o in 0 1 2 3; do
	check "$CC -O$o" program "" "$CC" -O$o
done
check "$CC -fno-plt" program "" "$CC" -O2 -fno-plt
check "$CC -fno-plt -O0 -fcf-protection=full" program "" "$CC" -O0 -fno-plt -fcf-protection=full
check "$CC -fcf-protection=none, functions in sections" program -Wl,--gc-sections "$CC" -O2 -fcf-protection=none -ffunction-sections
check "$CC, no PIE, no tables for unwinding" program "" "$CC" -O2 -fno-pie -no-pie -fno-asynchronous-unwind-tables -fno-unwind-tables
check "$CXX" program "" "$CXX" -x c++ -std=c++17 -O2
check "$CXX -fno-plt -O0" program "" "$CXX" -x c++ -std=c++17 -O0 -fno-plt
check "linked statically" static_program
check "linked in parts" in_parts
for ld in lld gold; do
	if have ld.$ld; then
		check "$ld" program "-fuse-ld=$ld -Wl,--gc-sections" "$CXX" -x c++ -std=c++17 -O2 -ffunction-sections
		check "$ld --icf=all" program "-fuse-ld=$ld -Wl,--icf=all" "$CC" -O2 -ffunction-sections
	else
		skip "$ld" "apt-get install lld binutils"
	fi
done
for other in gcc-10 gcc-11 gcc-13 gcc-14 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19; do
	have $other || continue
	check "$other -O2" program "" $other -O2
	check "$other -O0 -fno-plt" program "" $other -O0 -fno-plt
done
if have clang++; then
	check "clang++ -O2" program "" clang++ -x c++ -std=c++17 -O2
fi

check "--list, before and after" lists
check "--verify" verifies
check "again, by a link, with the file's mode" again
check "no probes, nothing is written" no_probes
check "a function that is defined" defined
check "other prefixes and providers" other_prefix
check "usage, and files that are not there" usage_is_told

check "refused: gcc's LTO" refused "link-time optimisation" "$CC" -O2 -flto "$tmp/plain.c"
check "refused: gcc's fat LTO" refused "link-time optimisation" "$CC" -O2 -flto -ffat-lto-objects "$tmp/plain.c"
if have clang; then
	check "refused: clang's LTO" refused "link-time optimisation" clang -O2 -flto "$tmp/plain.c"
fi
check "refused: an address" refused "f+0x[0-9a-f]*: __dtrace_a___b: its address is used" "$CC" -O2 "$tmp/address.c"
check "refused: an address, -fPIC" refused "f+0x[0-9a-f]*: __dtrace_a___b: its address is used" "$CC" -O2 -fPIC "$tmp/address.c"
check "refused: an address in data" refused "__dtrace_a___b: its address is kept in data" "$CC" -O2 "$tmp/data.c"
check "refused: the large code model" refused "f+0x[0-9a-f]*: __dtrace_a___b: its address is used" "$CC" -O2 -mcmodel=large -fno-pic "$tmp/plain.c"
check "refused: a test at a function's end" refused "f+0[x0-9a-f]*: __dtraceenabled_a___b: a test at" "$CC" -O2 "$tmp/test.c"
check "refused: a jump on a condition" refused "f+0x[24]: __dtrace_a___b: a jump on a condition" "$CC" "$tmp/condition.s"
check "refused: a prefix" refused "f+0x2: __dtrace_a___b: the instructions before it" "$CC" "$tmp/prefix.s"
check "refused: an operand that looks like a call" refused "__dtrace_a___b: the instructions before it" "$CC" "$tmp/middle.s"
check "refused: a call of what comes after the begin" refused "f+0[x0-9a-f]*: __dtrace_a___b: its address is used" "$CC" "$tmp/addend.s"
check "refused: a call that is another one, too" refused "f+0[x0-9a-f]*: __dtrace_a___b: the instructions before it" "$CC" "$tmp/twice.s"
check "refused: after what is no instruction" refused "f+0x1: __dtrace_a___b: the instructions before it" "$CC" "$tmp/unknown.s"
check "refused: a name that is none" refused "is the name of no probe" "$CC" "$tmp/name.s"

check "5,000 probes, in one transaction, beside threads" thousands
if have gdb; then
	check "gdb finds callers of a probe" backtrace
else
	skip "gdb finds callers of a probe" "apt-get install gdb"
fi
tap_end
