#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# What tracing costs a program that has much: processor time for each object that it opens, plain ones, ones with a
# key and ones with 2,000, and for each function that is switched on; the longest fork() while that is done; what a name in the
# trace costs; and the dlopen() of one object after many patterns. Each row should be level.
# usage: growth.sh BUILD
#   CC	the compiler, cc if unset
set -eu
build=${1:?usage: growth.sh BUILD}
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/traces" "$tmp/plain" "$tmp/key" "$tmp/keys"
export JUMPFUNC_TRACE_DIR="$tmp/traces" XDG_RUNTIME_DIR="$tmp"
agent=$build/libjumpfunc-agent.so
cc=${CC:-cc}

objects="500 1000 2000"
functions="10000 20000 40000"

echo 'int of_object; int *address(void); int *address(void) { return &of_object; }' > "$tmp/plain.c"
$cc -O2 -fPIC -shared -o "$tmp/plain.so" "$tmp/plain.c"
printf '%s\n' '#include <jumpfunc/branch.h>' 'DEFINE_JF_KEY_ARRAY_FALSE(growth_keys, 2000);' \
	'int growth(void); int growth(void) { return jf_branch_unlikely(&growth_keys[7]); }' > "$tmp/keys.c"
for kind in key keys; do
	[ $kind = keys ] && source=$tmp/keys.c || source=$here/scale/plugin.c
	$cc -O2 -fPIC -shared -I"$top/include" -o "$tmp/$kind.so" "$source" -L"$build" -ljumpfunc -Wl,-rpath,"$build"
done
for kind in plain key keys; do
	for i in $(seq 0 1999); do cp "$tmp/$kind.so" "$tmp/$kind/$i.so"; done
done

# of N: a program with so many functions, each of which begins with an instruction of five bytes
of()
{
	seq "$1" | awk 'BEGIN { print ".text" }
		{ printf ".globl f%d\n.type f%d,@function\n.p2align 4\nf%d: movl $1,%%eax\nret\n", $1, $1, $1 }
		END { print ".section .note.GNU-stack,\"\",@progbits" }' > "$tmp/f.s"
	$cc -O2 -o "$tmp/growth$1" "$here/growth/main.c" "$tmp/f.s" -ldl
}

row()
{
	printf '%-58s' "$1"
	shift
	printf ' %10s' "$@"
	echo
}

# with GLOB PROGRAM...: traced
with()
{
	glob=$1
	shift
	JUMPFUNC_AGENT=$glob LD_PRELOAD=$agent "$@" 2> "$tmp/err" || { cat "$tmp/err" >&2; exit 1; }
}

of 0
# shellcheck disable=SC2086 # several words
row "objects" $objects
for kind in plain key keys; do
	for how in no agent; do
		set --
		for n in $objects; do
			if [ $how = agent ]; then
				set -- "$@" "$(with 'none:such' "$tmp/growth0" objects "$tmp/$kind" "$n")"
			else
				set -- "$@" "$("$tmp/growth0" objects "$tmp/$kind" "$n")"
			fi
		done
		row "dlopen() and dlclose(), $kind, $([ $how = agent ] && echo "with the agent" || echo "without"), us on a CPU each" "$@"
	done
done

# shellcheck disable=SC2086
row "functions" $functions
set --
for n in $functions; do
	of "$n"
	us=$(with "growth$n:f*" "$tmp/growth$n" start)
	set -- "$@" "$(awk "BEGIN { printf \"%.1f\", $us / $n }")"
done
row "switched on as the program starts, us on a CPU each" "$@"

set --
for n in $functions; do
	JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent "$tmp/growth$n" forks 5 > "$tmp/forks" &
	pid=$!
	until grep -q begins "$tmp/forks"; do sleep 0.1; done
	"$build/jf-trace" record "$pid" "growth$n:f*" > /dev/null
	wait "$pid"
	set -- "$@" "$(awk 'END { printf "%.1f", $1 / 1000 }' "$tmp/forks")"
done
row "the longest fork() while jf-trace switches them on, ms" "$@"

# cpu N COMMAND...: its processor time by N, in us; its output is nothing
cpu()
{
	num=$1
	shift
	("$@" > "$tmp/out" 2> "$tmp/err" || { cat "$tmp/err" >&2; exit 1; }; times) |
		awk -v num="$num" 'NR == 2 { gsub(/[ms]/, " "); printf "%.1f", ($1 * 60 + $2 + $3 * 60 + $4) * 1000000 / num }'
}

run_of() { "$build/jf-trace" run --no-report -o "$tmp/t$1" -e "growth$1:f*" -- "$tmp/growth$1" start; }
report_of() { "$build/jf-trace" report "$tmp/t$1"; }
script_of() { "$build/jf-trace" script "$tmp/t$1"; }
recover_of() { "$build/jf-recover" "$tmp/t$1"/* "$tmp/copy$1"; }

names="14000 28000 57000"
for n in $names; do of "$n"; done

# name_row WORDS HOW
name_row()
{
	words=$1
	how=$2
	set --
	for n in $names; do set -- "$@" "$(cpu "$n" "$how" "$n")"; done
	row "$words, us on a CPU each" "$@"
}

# shellcheck disable=SC2086
row "names in a trace" $names
name_row "jf-trace run --no-report, all of it" run_of
name_row "jf-trace report" report_of
name_row "jf-trace script, as at the end of run" script_of
name_row "jf-recover" recover_of

# after HOW N: the dlopen() of an object with 2,000 functions after so many patterns of another one
after()
{
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	JUMPFUNC_TRACE_CONTROL=1 LD_PRELOAD=$agent "$tmp/growth0" later "$tmp/functions.so" > "$tmp/later" < "$tmp/in" &
	pid=$!
	exec 9> "$tmp/in"
	until grep -q begins "$tmp/later"; do sleep 0.1; done
	"$build/jf-trace" record "$pid" growth0:main > /dev/null
	for i in $(seq 1000 1000 "$2"); do
		globs=$(seq -f 'growth0:none%g' $((i - 999)) "$i")
		# shellcheck disable=SC2086 # several words
		"$build/jf-trace" enable "$pid" $globs > /dev/null 2>&1 || :
		# shellcheck disable=SC2086
		[ "$1" = on ] || "$build/jf-trace" disable "$pid" $globs > /dev/null 2>&1 || :
	done
	echo >&9
	exec 9>&-
	wait "$pid"
	sed -n 2p "$tmp/later"
}

patterns="3000 6000 12000"
seq 2000 | awk '{ printf "int g%d(void); int g%d(void) { return %d; }\n", $1, $1, $1 }' > "$tmp/functions.c"
$cc -O2 -fPIC -shared -o "$tmp/functions.so" "$tmp/functions.c"
# shellcheck disable=SC2086
row "patterns of another object" $patterns
for how in on off; do
	set --
	for n in $patterns; do set -- "$@" "$(after $how "$n")"; done
	row "dlopen() of 2,000 functions while they are $how, us on a CPU" "$@"
done
