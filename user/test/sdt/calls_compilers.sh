#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR LGPL-2.1
# jf-sdt and objects of each compiler that can be had: a row for each, with the options whose objects became a program
# that does what it should, and the forms of calls in them.
# usage: calls_compilers.sh BUILDS [ROOT...]
# Each ROOT is a folder with another system, whose gcc-N and clang-N are run there (chroot, which takes root).
# The tests are called by check(), which shellcheck does not see.
# shellcheck disable=SC2317
set -u
builds=$1
shift
user=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../tap.sh
. "$user/test/tap.sh"
tap_begin
CC=${CC:-cc}
tool=$builds/jf-sdt-san
link="-L$builds -ljumpfunc -Wl,-rpath,$builds"

# Once for all, so that no other system needs headers. Without attributes that not all compilers take.
for f in calls_prog calls_second; do
	"$CC" -E -P -I"$user/../include" -I"$user/test/sdt" -pthread "$user/test/sdt/$f.c" > "$tmp/$f.all" || exit 1
	sed "s/__attribute__ ((__malloc__ ([^()]*)))//g; s/__attribute__ ((__access__ (__none__, [^()]*)))//g" "$tmp/$f.all" > "$tmp/$f.i"
done

# object ROOT COMPILER SOURCE OBJECT OPTIONS...: in $tmp; ROOT is a folder, or / for this system
object()
{
	root=$1 compiler=$2 source=$3 object=$4
	shift 4
	if [ "$root" = / ]; then
		"$compiler" "$@" -w -pthread -c -o "$tmp/$object" "$tmp/$source"
		return
	fi
	# A compiler reads and writes files, which the other system gets in a folder of its own.
	place=$(mktemp -d "$root/tmp/calls.XXXXXX") && cp "$tmp/$source" "$place/a.i" &&
		chroot "$root" "/usr/bin/$compiler" "$@" -w -pthread -c -o "/tmp/${place##*/}/a.o" "/tmp/${place##*/}/a.i" &&
		mv "$place/a.o" "$tmp/$object"
	rc=$?
	rm -rf "$place"
	return "$rc"
}

# one ROOT COMPILER OPTIONS...: objects, changed, a program, undone
one()
{
	root=$1 compiler=$2
	shift 2
	object "$root" "$compiler" calls_prog.i a.o "$@" && object "$root" "$compiler" calls_second.i b.o "$@" &&
		cp "$tmp/a.o" "$tmp/a.old" && "$tool" "$tmp/a.o" "$tmp/b.o" && "$tool" --verify "$tmp/a.o" "$tmp/b.o" || return 1
	"$tool" --list "$tmp/a.o" "$tmp/b.o" | cut -f 3 >> "$tmp/forms"
	pie=
	case " $* " in *" -fno-pic "*) pie=-no-pie ;; esac
	# shellcheck disable=SC2086
	"$CC" $pie -pthread -o "$tmp/prog" "$tmp/a.o" "$tmp/b.o" $link && "$tmp/prog" && JUMPFUNC_TRAP=always "$tmp/prog" &&
		"$tool" --undo "$tmp/a.o" && cmp "$tmp/a.o" "$tmp/a.old"
}

# Each line is one set of options.
options='-O0
-O1
-O2
-O3
-Os
-O2 -fPIC
-O2 -fno-pic
-O2 -fno-plt
-O0 -fno-plt
-O2 -fno-plt -fcf-protection=full
-O2 -fcf-protection=full
-O2 -fcf-protection=none
-O2 -mcmodel=medium
-O2 -fno-optimize-sibling-calls
-O2 -ffunction-sections -fno-asynchronous-unwind-tables'

all()
{
	echo "$options" > "$tmp/options"
	: > "$tmp/forms"
	num=0 bad=''
	while read -r set; do
		num=$((num + 1))
		# shellcheck disable=SC2086
		one "$1" "$2" $set < /dev/null || bad="$bad [$set]"
	done < "$tmp/options"
	count() { grep -c "^$1\$" "$tmp/forms"; }
	row="$num sets of options$([ -z "$bad" ] || echo ", not:$bad"); $(count call) calls, $(count tail) at functions' ends, $(count test) tests"
	[ -z "$bad" ] && [ "$(count call)" -gt 0 ] && [ "$(count tail)" -gt 0 ] && [ "$(count test)" -gt 0 ]
}

# row ROOT COMPILER
row()
{
	version=$(if [ "$1" = / ]; then "$2" --version; else chroot "$1" "/usr/bin/$2" --version; fi 2> /dev/null | head -n 1)
	check "${version:-$2}" all "$1" "$2"
	[ "$tests" = "$skipped" ] || echo "#   $row"
}

for root in / "$@"; do
	[ "$root" = / ] || [ -d "$root/tmp" ] || { echo "calls_compilers.sh: no system in $root" >&2; exit 2; }
	for n in 9 10 11 12 13 14 15 16 17 18 19 20 21; do
		for c in gcc-$n clang-$n; do
			[ ! -x "${root%/}/usr/bin/$c" ] || row "$root" "$c"
		done
	done
done
tap_end
