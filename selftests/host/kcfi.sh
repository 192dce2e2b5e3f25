#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What stands in front of a trampoline where indirect calls compare types: the same as in front of a
# function of its type, in each layout that kernels have.  With a clang that can do it, and with the
# headers of a kernel of harness/kernels.tab (KERNEL, default 6.1), which need not be built so.
set -u
# shellcheck source=selftests/host/built.sh
. "$(dirname "$0")/built.sh"

clang=
for c in clang clang-19 clang-16; do
	command -v $c >/dev/null && $c -fsanitize=kcfi -x c -c -o /dev/null - </dev/null 2>/dev/null || continue
	clang=$c
	break
done
[ -n "$clang" ] || skip_all "no clang here that has -fsanitize=kcfi"
need_build
# Where the headers are, as kbuild would say it.
cmd=$BUILD/src/.jf_core.o.cmd

# Two of one name and of different types, as two files of a module may have them.
for n in one two; do
	[ $n = one ] && type=long || type='char *'
	cat >"$work/$n.c" <<-EOF
		#include <linux/module.h>
		#include <jumpfunc/dynfunc.h>
		$type $n(int a, $type b);
		$type $n(int a, $type b) { return b; }
		DEFINE_DYNFUNC_LOCAL(d_op, $n);
		void *also_$n(void);
		void *also_$n(void) { return (void *)&$n; }
		DEFINE_DYNFUNC(d_$n, $n);
	EOF
done

# compile NAME FLAG...
compile()
{
	local name=$1 flags; shift
	flags=$(head -n 1 "$cmd" | grep -oE -- ' (-nostdinc|-I[^ ]+|-include [^ ]+|-D(__KERNEL__|MODULE)|-std=[^ ]+)' |
		tr '\n' ' ')
	# shellcheck disable=SC2086
	(cd "$(info kdir)" && "$clang" -I"$TOP/include" $flags -w -O2 -fshort-wchar -fno-PIE -mno-sse -mno-80387 \
		-mno-red-zone -mcmodel=kernel -falign-functions=16 -fno-asynchronous-unwind-tables -fsanitize=kcfi \
		-DCONFIG_CFI_CLANG -DKBUILD_BASENAME="\"$name\"" -DKBUILD_MODNAME='"kcfi"' "$@" \
		-c -o "$work/$name.o" "$work/$name.c") 2>&1
}

# front FILE SYMBOL: the 16 bytes in front of it, in hexadecimal
front()
{
	local value ndx section
	read -r value ndx < <(readelf -sW "$1" | awk -v n="$2" '$8 == n {print $2, $7}')
	section=$(readelf -SW "$1" | sed 's/^ *\[ *//; s/\]//' | awk -v n="$ndx" '$1 == n {print $2}')
	objdump -s -j "$section" --start-address=$((16#$value - 16)) --stop-address=$((16#$value)) "$1" |
		awk '/^ [0-9a-f]+ /{print $2 $3 $4 $5}'
}

for layout in plain padded; do
	case $layout in
	plain) set -- ;;
	padded) set -- -DCONFIG_CALL_PADDING -DCONFIG_FUNCTION_PADDING_BYTES=11 -fpatchable-function-entry=11,11 ;;
	esac
	log=$(compile one "$@" && compile two "$@"); rc=$?
	result $rc "$layout: clang compiles two dynamic functions each" "$log"
	[ $rc = 0 ] || continue
	result "$(ld -m elf_x86_64 -r -o "$work/both.o" "$work/one.o" "$work/two.o"; echo $?)" "$layout: ... and they link" ""
	for n in one two; do
		want=$(front "$work/$n.o" $n)
		for d in d_$n d_op; do
			got=$(front "$work/$n.o" "dynfunc_$d")
			result "$([ -n "$want" ] && [ "$got" = "$want" ]; echo $?)" "$layout: in front of $d is the type of $n: $want" "$got"
		done
		# The linker must not have anything left to fill in there: it would fill in one for all.
		got=$(readelf -rW "$work/$n.o" | grep __kcfi_typeid)
		result "$([ -z "$got" ]; echo $?)" "$layout: ... and it is final" "$got"
	done
	result "$([ "$(front "$work/one.o" one)" != "$(front "$work/two.o" two)" ]; echo $?)" "$layout: two types are two" ""
	got=$(front "$work/both.o" dynfunc_d_two)
	result "$([ "$got" = "$(front "$work/two.o" two)" ]; echo $?)" "$layout: linking changes none of them" "$got"
done
tap_end
