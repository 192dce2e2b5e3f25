#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The blocks of the documents, by their classes (harness/blocks): what is C compiles, as a program's and as a module's;
# what is a Kbuild builds it; numbers of a layout are those of the compiler; commands name what is there, and those that
# are said to need a loaded module do.  Those for chroots are run by harness/check-docs, those for the VM by
# selftests/tests/blocks.sh.  TAP on stdout.
set -u
# shellcheck source=selftests/host/built.sh
. "$(dirname "$0")/built.sh"
blocks=$TOP/harness/blocks
cd "$TOP" || exit

all=$("$blocks" list 2>&1); result $? "each block of the documents has a class" "$all"
# of LANGUAGE CLASS: where they are
of() { awk -v a="$1" -v b="$2" '$2 == a && $3 == b {print $1}' <<<"$all"; }

# ---- what harness/blocks refuses ----

mkdir -p "$work/docs/docs" "$work/docs/user"
touch "$work/docs/README.md" "$work/docs/user/README.md"
# refuses WHAT PATTERN; the document is read from stdin
refuses()
{
	cat >"$work/docs/docs/x.md"
	! out=$(JF_DOCS=$work/docs "$blocks" list 2>&1) && grep -qE "^docs/x\.md:[0-9]+: $2" <<<"$out"
	result $? "$1 is refused" "$out"
}
refuses "a fence without a class" 'no class "sh"' <<<$'```sh\nmake\n```'
refuses "... and without a language" 'no class ""' <<<$'text\n\n```\nmake\n```'
refuses "a class that there is not" 'no class "sh anywhere"' <<<$'```sh anywhere\nmake\n```'
refuses "a suite that there is not" '"sh run" is followed by "potato"' <<<$'```sh run potato\nmake\n```'
refuses "a fence that is not closed" 'this fence is never closed' <<<$'```sh run\nmake'
refuses "a fence with nothing in it" 'there is nothing in it' <<<$'```sh run\n```'
refuses "a block that has an indent and no fence" 'a block that is indented' <<<$'text:\n\n    make\n'
printf '%s\n' '* one' '' '      more of it' '' '```sh run' 'make' '' '    x' '```' >"$work/docs/docs/x.md"
out=$(JF_DOCS=$work/docs "$blocks" list 2>&1) && [ "$out" = "docs/x.md:5 sh run" ] && [ "$("$blocks" show README.md:1 2>&1; echo $?)" != 0 ]
result $? "an indent in a list or in a fence is none" "$out"

# ---- pictures ----

mkdir "$work/pictures"
out=$(harness/pictures "$work/pictures" 2>&1 && diff -r "$work/pictures" docs/pictures 2>&1)
result $? "docs/pictures has the pictures that harness/pictures draws" "$out"

out=$(harness/readme-chart | diff - docs/probes.svg); result $? "docs/probes.svg shows the numbers of the table in README.md" "$out"

# ---- tables ----

for doc in README.md docs/tests.md docs/limits.md docs/costs.md; do
	out=$(awk -F'|' '/^\|/ { for (i = 2; i < NF; i++) if (split($i, words, " ") >= 60) print FNR ": " $i }' "$doc")
	[ -z "$out" ] || not_ok "$doc: a cell of a table has less than 60 words" "$out"
done
ok "tables of the documents can be read"

# ---- programs ----

make -s -C user lib >"$work/log" 2>&1; result $? "the library builds" "$(cat "$work/log")"
# An object for each block; one with main() is linked, too.
program_block()
{
	local cc=$1 at=$2 src=$work/block.c
	shift 2
	"$blocks" show "$at" >"$src"
	$cc -std=gnu11 -O2 -Wall -Werror -Iinclude "$@" -c -o "$work/block.o" "$src" &&
		{ ! grep -q '\<main(' "$src" || $cc -o "$work/block" "$work/block.o" -L"$lib" -ljumpfunc -Wl,-rpath,"$lib"; }
}
lib=${JF_BUILD:-$TOP/build}/user
for cc in gcc clang; do
	command -v $cc >/dev/null || { skip "programs by $cc" "harness/deps.sh outside"; continue; }
	for at in $(of c program) $(awk '$2 == "c" && $3 == "module" && $4 == "program" {print $1}' <<<"$all"); do
		out=$(program_block $cc "$at" 2>&1); result $? "$at compiles as a program, by $cc" "$out"
		out=$(program_block $cc "$at" -DJF_GENERIC 2>&1); result $? "... and in the generic form" "$out"
	done
done
while read -r at _ _ file; do
	file=${file#file=}
	out=$(diff <(grep -v SPDX "$file") <("$blocks" show "$at")); result $? "$at is $file" "$out"
done < <(grep ' file=' <<<"$all")
out=$(program_block gcc "$(grep ' file=user/examples/hello\.c' <<<"$all" | cut -d ' ' -f 1)" && "$work/block" && "$work/block" world)
[ "$out" = "hello, world" ]; result $? "hello.c says hello, if it is asked to" "$out"

# ---- layouts ----

while read -r at _ _ header _ struct; do
	# A line that begins with a number has the name of what stands there; the end of the structure has none.
	{
		echo "#include <stddef.h>"
		echo "#include <${header#include/}>"
		"$blocks" show "$at" | sed -nE "s/^ *([0-9]+) +([a-z_]+).*/\1 \2/p" | while read -r offset name; do
			if grep -qE "[[:space:]*]$name(\[.*)?;" "$header"; then
				echo "_Static_assert(offsetof(struct $struct, $name) == $offset, \"$name\");"
			else
				echo "_Static_assert(sizeof(struct $struct) == $offset, \"$name\");"
			fi
		done
	} >"$work/layout.c"
	out=$(gcc -Iinclude -c -o "$work/layout.o" "$work/layout.c" 2>&1) && [ "$(grep -c Static_assert "$work/layout.c")" -gt 1 ]
	result $? "$at: the numbers are those of struct $struct" "$out"
done < <(grep ' text offsets ' <<<"$all")

# ---- commands ----

# targets FOLDER: what make knows there
targets() { make -C "${1:-.}" -pqr : 2>/dev/null | sed -nE 's/^([a-zA-Z][-a-zA-Z0-9_]*):.*/\1/p'; }
# unknown AT: what a block names that is not there
unknown()
{
	local line folder words word
	"$blocks" show "$1" | sed 's/^# //; s/[[:space:]]#.*//' | while IFS= read -r line; do
		while IFS= read -r words; do
			folder=.
			set -f
			# shellcheck disable=SC2086 # words
			set -- $words
			[ "${1:-}" = make ] || continue
			shift
			[ "${1:-}" != -C ] || { folder=$2; shift 2; }
			for word; do
				[[ $word == *=* ]] || targets "$folder" | grep -qx "$word" || echo "no target $word in $folder"
			done
		done < <(tr ';&|' '\n' <<<"$line")
		while IFS= read -r word; do
			case $word in *.ko) word=${word%.ko}.c ;; esac
			[ -e "$word" ] || echo "no file $word"
		done < <(grep -oP '(^|[ <(])\K(harness|scripts|selftests|user|samples|docs)/[^ )>]*' <<<"$line")
	done
}
for at in $(of sh run) $(of console run) $(of sh vm) $(of console vm) $(of sh check); do
	if grep -q "^$at console" <<<"$all"; then text=$("$blocks" show "$at" | sed -n 's/^# //p'); else text=$("$blocks" show "$at"); fi
	out=$(bash -n <<<"$text" 2>&1) && [ -n "$text" ]; result $? "$at can be read by a shell" "$out"
	out=$(unknown "$at"); [ -z "$out" ]; result $? "... and names what is there" "$out"
done
for at in $(of sh vm) $(of console vm); do
	out=$("$blocks" show "$at"); grep -qE '\<(insmod|modprobe|rmmod)\>|/sys/kernel/' <<<"$out"
	result $? "$at needs a loaded module: a chroot will not do" "$out"
done
for at in $(of sh check); do
	out=$("$blocks" show "$at" | grep -vE '^make( -C [a-z]+)?( [-a-z]+)+( *#.*)?$'); [ -z "$out" ]
	result $? "$at has commands of tests alone, which are not run by one of themselves" "$out"
done
out=$(harness/check-docs -n bookworm trixie sid) && [ "$(cut -d ' ' -f 2 <<<"$out" | sort -u)" = "$({ of sh run; of console run; } | sort)" ]
result $? "each block for a chroot is run by harness/check-docs" "$out"

# ---- modules ----

say=$(harness/build.sh "$KERNEL" 2>&1) || { skip "modules" "they do not build for $KERNEL: $(tail -n 1 <<<"$say")"; tap_end; exit; }
[ "$(info toolchain)" = host ] || { skip "modules" "no compiler for kernel $KERNEL on this machine"; tap_end; exit; }
installed=$work/installed/usr
log=$(make -s headers_install KVER="$(info release)" DESTDIR="$work/installed" PREFIX=/usr 2>&1)
result $? "the headers are installed" "$log"
mkdir -p "$installed/share/jumpfunc/symvers/$(info release)"
cp "$BUILD/src/Module.symvers" "$installed/share/jumpfunc/symvers/$(info release)"
for at in $(of make kbuild); do
	mkdir -p "$work/module"
	"$blocks" show "$at" | sed "s,/usr/,$installed/," >"$work/module/Kbuild"
	echo 'obj-m += all_blocks.o' >>"$work/module/Kbuild"
	objects='more.o'
	printf '%s\n' '#include <linux/module.h>' 'MODULE_LICENSE("GPL");' >"$work/module/more.c"
	i=0
	for c in $(of c module | grep "^${at%:*}:"); do
		i=$((i + 1))
		# It names functions of its reader's.
		{ echo '#include <linux/module.h>'; "$blocks" show "$c"; } >"$work/module/block$i.c"
		grep -qE '\<int fast\(' "$work/module/block$i.c" && echo 'int fast(int a, int b); int fast(int a, int b) { return a; } int slow(int a, int b); int slow(int a, int b) { return b; }
			void probe(void *data, int len); void probe(void *data, int len) { }' >>"$work/module/more.c"
		objects="$objects block$i.o"
	done
	echo "all_blocks-y := $objects" >>"$work/module/Kbuild"
	log=$(env -i PATH="$PATH" LC_ALL=C make -C "$(info kdir)" CONFIG_DEBUG_INFO_BTF_MODULES= M="$work/module" modules 2>&1) &&
		[ -e "$work/module/all_blocks.ko" ] && [ $i -gt 0 ]
	result $? "$at and what is C for modules there build a module" "$log"
	warn=$(grep -iE 'warning|objtool|undefined' <<<"$log" | grep -vE 'the compiler differs from the one|Skipping BTF generation')
	[ -z "$warn" ]; result $? "... without a warning" "$warn"
done
tap_end
